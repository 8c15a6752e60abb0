//! `kurier content import`: documents as files have them.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use kurier_core::content::{Diff, Encoding};
use serde_json::json;

use super::files::{self, File};
use super::warn_of;
use crate::cli::desk::Desk;
use crate::flow::content::{Importer, Outcome, Standing, catch_up};
use crate::http::OutcomeView;

#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Files, folders, or - for what is piped in
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Change nothing, and show key by key what would be changed
    #[arg(long)]
    dry_run: bool,
    /// What names the document that is piped in
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// The folder that documents are named from
    #[arg(long, value_name = "DIR", default_value = ".")]
    root: PathBuf,
    /// Take bytes that are not UTF-8 for U+FFFD, instead of refusing their document
    #[arg(long)]
    lossy: bool,
}

/// What became of all documents.
#[derive(Default)]
struct Tally {
    outcomes: Vec<Outcome>,
    refused: usize,
}

pub async fn run(desk: &Desk, args: &ImportArgs) -> anyhow::Result<ExitCode> {
    let files = files::all(&args.paths, &args.root, args.source.as_deref())?;
    let bar = bar(desk, files.iter().map(|file| file.bytes).sum());
    let mut tally = Tally::default();
    let mut importer = Importer::new(&desk.app, desk.scope(), args.dry_run);
    for portion in files::portions(files) {
        let bytes: u64 = portion.iter().map(|file| file.bytes).sum();
        bar.set_message(at_work(&tally, &portion));
        take(&mut importer, &portion, args, &mut tally).await?;
        bar.inc(bytes);
    }
    bar.finish_and_clear();
    if importer.position.is_some() {
        catch_up(&desk.app).await?;
    }
    let gone = tally.outcomes.iter().flat_map(|it| &it.diff.gone);
    warn_of(desk, &gone.copied().collect::<Vec<_>>()).await?;
    tell(desk, args, &tally);
    Ok(match tally.refused {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

async fn take(
    importer: &mut Importer<'_>,
    portion: &[File],
    args: &ImportArgs,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    let encoding = match args.lossy {
        true => Encoding::Lossy,
        false => Encoding::Strict,
    };
    let mut sources = Vec::with_capacity(portion.len());
    for file in portion {
        match file.read(encoding)? {
            Ok(source) => sources.push(source),
            Err((source_id, reason)) => tally.outcomes.push(Outcome {
                source_id,
                standing: Standing::Refused(reason),
                key: None,
                diff: Diff::default(),
                warning: None,
            }),
        }
    }
    tally.outcomes.extend(importer.take(sources).await?);
    let is_refused = |it: &&Outcome| matches!(it.standing, Standing::Refused(_));
    tally.refused = tally.outcomes.iter().filter(is_refused).count();
    Ok(())
}

fn bar(desk: &Desk, bytes: u64) -> ProgressBar {
    if desk.json {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(bytes);
    let style = "{spinner} {wide_bar} {bytes}/{total_bytes}, {msg}, {eta} left";
    bar.set_style(ProgressStyle::with_template(style).expect("the template is valid"));
    // One large document is one step: that it is being worked on is to be seen.
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// How many are done, and with which it goes on.
fn at_work(tally: &Tally, portion: &[File]) -> String {
    let done = tally.outcomes.len();
    let first = portion.first().map_or("", |file| file.id.as_str());
    format!("{done} done, at {first}")
}

fn tell(desk: &Desk, args: &ImportArgs, tally: &Tally) {
    if desk.json {
        let views = tally.outcomes.iter().cloned().map(OutcomeView::from);
        println!("{}", json!(views.collect::<Vec<_>>()));
        return;
    }
    for outcome in &tally.outcomes {
        tell_one(args, outcome);
    }
    let sum = |count: fn(&Outcome) -> usize| tally.outcomes.iter().map(count).sum::<usize>();
    let counted = |wanted: &Standing| {
        let same = tally.outcomes.iter();
        same.filter(|it| it.standing == *wanted).count()
    };
    println!(
        "{}{} document{}: {} new, {} changed, {} unchanged, {} refused; keys: {} new, {} changed, {} gone",
        if args.dry_run { "would import " } else { "" },
        tally.outcomes.len(),
        if tally.outcomes.len() == 1 { "" } else { "s" },
        counted(&Standing::New),
        counted(&Standing::Changed),
        counted(&Standing::Unchanged),
        tally.refused,
        sum(|it| it.diff.new.len()),
        sum(|it| it.diff.changed.len()),
        sum(|it| it.diff.gone.len()),
    );
}

/// Documents that are as they were are only counted.
fn tell_one(args: &ImportArgs, outcome: &Outcome) {
    let source = &outcome.source_id;
    let key = outcome.key.map(|key| key.to_string()).unwrap_or_default();
    match &outcome.standing {
        Standing::Refused(reason) => eprintln!("{source}: {reason}"),
        Standing::New => println!("{source}: new, {key}"),
        Standing::Changed => println!("{source}: changed, {key}"),
        Standing::Unchanged => {}
    }
    if let Some(warning) = &outcome.warning {
        eprintln!("{source}: its front matter {warning}");
    }
    if args.dry_run {
        let diff = &outcome.diff;
        let signs = [("+", &diff.new), ("~", &diff.changed), ("-", &diff.gone)];
        for (sign, keys) in signs {
            keys.iter().for_each(|key| println!("  {sign} {key}"));
        }
    }
}
