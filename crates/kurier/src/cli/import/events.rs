//! Events from NDJSON.

use std::io::BufReader;
use std::process::ExitCode;

use clap::Args;
use kurier_core::accept::{Problem, Reception, accept};
use kurier_core::event::Event;
use kurier_core::id::EventId;

use super::lines::Lines;
use super::{Common, Import};
use crate::app::App;
use crate::clock;

#[derive(Debug, Args)]
pub struct EventsArgs {
    #[command(flatten)]
    common: Common,
}

pub async fn run(app: &App, args: EventsArgs) -> anyhow::Result<ExitCode> {
    let mut import = Import::begin(app, &args.common).await?;
    let done = import.resume_after().await?;
    let file = import.source.file.try_clone()?;
    let mut lines = Lines::new(BufReader::with_capacity(1 << 20, file));
    let mut last = 0;
    while let Some(line) = lines.read()? {
        last = line.number;
        match line.text {
            Ok("") => {}
            _ if line.number <= done => import.skip(),
            text => {
                let event = text.and_then(|item| read_item(&import, line.number, item));
                import.take(line.number, event, line.bytes).await?;
            }
        }
    }
    import.finish(last).await
}

fn read_item(import: &Import<'_>, line: u64, item: &str) -> Result<Event, String> {
    // A captured item's sentAt is that of its capture: it says nothing of our clock.
    let item = without_sent_at(item)?;
    let fresh_id = &|| EventId::of_message(&import.message_id(line));
    let reception = Reception {
        key: &import.workspace.key,
        received_at: clock::now(),
        sent_at: None,
        kind: None,
        fresh_id,
    };
    accept(&item, &reception).map_err(|problems| in_words(&problems))
}

fn without_sent_at(item: &str) -> Result<std::borrow::Cow<'_, str>, String> {
    if !item.contains("\"sentAt\"") {
        return Ok(item.into());
    }
    let mut object: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(item).map_err(|e| e.to_string())?;
    object.remove("sentAt");
    serde_json::to_string(&object)
        .map(Into::into)
        .map_err(|e| e.to_string())
}

pub fn in_words(problems: &[Problem]) -> String {
    let words = problems
        .iter()
        .map(|p| format!("{} {}", p.pointer.trim_start_matches('/'), p.detail));
    words.collect::<Vec<_>>().join("; ").trim().to_owned()
}
