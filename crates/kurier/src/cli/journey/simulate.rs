//! `kurier journey simulate`: a definition over recorded events, of a file or of a log.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use kurier_core::event::Position;
use kurier_core::id::{IdentityKey, JourneyId};
use kurier_core::journey::{Known, Summary};
use kurier_core::time::Timestamp;
use serde_json::json;

use super::super::desk::Desk;
use super::super::import::in_words;
use super::super::table;
use super::{good, read};
use crate::flow::simulate::Rehearsal;

#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// A definition, YAML or JSON
    file: PathBuf,
    /// Events as NDJSON, as in POST /v1/batch, each with its timestamp [default: the log]
    #[arg(long, value_name = "FILE")]
    pub(super) events: Option<PathBuf>,
    /// A segment that the journey names, as NAME=EXPRESSION; those of the log are known
    #[arg(long, value_name = "NAME=EXPRESSION")]
    segment: Vec<String>,
    /// The journey is published then; what came before is history [default: the first event]
    #[arg(long, value_name = "TIME")]
    from: Option<Timestamp>,
    /// The simulation ends then [default: 400 days after the last event]
    #[arg(long, value_name = "TIME")]
    to: Option<Timestamp>,
    /// Answer in JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Over the events of a file.
pub fn run(args: &SimulateArgs, file: &Path) -> anyhow::Result<ExitCode> {
    let Some(mut rehearsal) = draft(args, IdentityKey::new([0; 32]))? else {
        return Ok(ExitCode::FAILURE);
    };
    let events = read_events(file)?;
    rehearsal.begin(events.first().map(|(at, _, _)| *at));
    for (at, number, raw) in &events {
        if !rehearsal.comes_to(*at) {
            break;
        }
        let said = rehearsal.simulation.say(raw, *at);
        said.map_err(|problems| anyhow::anyhow!("line {number} {}", in_words(&problems)))?;
    }
    tell(args, rehearsal)
}

/// Over what clients said, as the log has it, with the segments as they are now.
pub async fn run_on_log(desk: &Desk, args: &SimulateArgs) -> anyhow::Result<ExitCode> {
    let Some(mut rehearsal) = draft(args, desk.grant.workspace.key.clone())? else {
        return Ok(ExitCode::FAILURE);
    };
    let store = &desk.app.store;
    let bar = desk.bar(store.log.head().await?, "replayed");
    let told = |position: Position| bar.set_position(position.0.unsigned_abs());
    rehearsal
        .replay(store, desk.scope(), Position(0), told)
        .await?;
    bar.finish_and_clear();
    tell(args, rehearsal)
}

/// `None` if the definition has faults, which were told.
fn draft(args: &SimulateArgs, key: IdentityKey) -> anyhow::Result<Option<Rehearsal>> {
    let Some((definition, document)) = good(&args.file, &Known::default())? else {
        return Ok(None);
    };
    let journey = JourneyId::of_name(&definition.name);
    let mut rehearsal = Rehearsal::new(key, journey, document);
    (rehearsal.from, rehearsal.to) = (args.from, args.to);
    for segment in &args.segment {
        define(&mut rehearsal, segment)?;
    }
    Ok(Some(rehearsal))
}

fn tell(args: &SimulateArgs, rehearsal: Rehearsal) -> anyhow::Result<ExitCode> {
    let summary = rehearsal.finish().summary();
    if args.json {
        println!("{}", json!(summary));
    } else {
        report(&summary);
    }
    Ok(ExitCode::SUCCESS)
}

/// An event's time, its line, and its text.
type Line = (Timestamp, usize, String);

fn define(rehearsal: &mut Rehearsal, segment: &str) -> anyhow::Result<()> {
    let Some((name, expression)) = segment.split_once('=') else {
        bail!("--segment is written NAME=EXPRESSION");
    };
    let made = rehearsal
        .simulation
        .define_segment(name.trim(), expression.trim());
    made.map_err(|fault| anyhow::anyhow!("segment {name}: {fault:?}"))
}

/// In the order of their times: a recorded file need not be.
fn read_events(path: &Path) -> anyhow::Result<Vec<Line>> {
    let text = read(path)?;
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let events = lines.map(|(at, line)| {
        read_event(line, at + 1).with_context(|| format!("{} line {}", path.display(), at + 1))
    });
    let mut events = events.collect::<anyhow::Result<Vec<Line>>>()?;
    events.sort_by_key(|(at, number, _)| (*at, *number));
    Ok(events)
}

fn read_event(line: &str, number: usize) -> anyhow::Result<Line> {
    let mut object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line)?;
    // When it was sent says nothing of when it happened.
    object.remove("sentAt");
    let names = ["timestamp", "originalTimestamp"];
    let time = names.iter().find_map(|name| object.get(*name)?.as_str());
    let at = time.context("the event has no timestamp")?.parse()?;
    Ok((at, number, serde_json::to_string(&object)?))
}

fn report(summary: &Summary) {
    println!(
        "{} run(s) of {} contact(s), {} message(s)",
        summary.runs,
        summary.contacts,
        summary
            .messages
            .iter()
            .map(|count| count.count)
            .sum::<usize>()
    );
    let finished = summary.finished.iter();
    let finished =
        finished.map(|(ending, runs)| vec![runs.to_string(), format!("ended: {ending}")]);
    let waiting = summary.waiting.iter();
    let waiting = waiting.map(|(node, runs)| vec![runs.to_string(), format!("waiting at {node}")]);
    println!();
    table::print(&["runs", "outcome"], finished.chain(waiting));
    let paths = summary.paths.iter();
    println!();
    table::print(
        &["runs", "path"],
        paths.map(|p| vec![p.runs.to_string(), p.path.clone()]),
    );
    let messages = summary.messages.iter().map(|m| {
        let names = (m.channel.clone(), m.template.clone());
        vec![m.day.clone(), names.0, names.1, m.count.to_string()]
    });
    println!();
    table::print(&["day", "channel", "template", "messages"], messages);
}
