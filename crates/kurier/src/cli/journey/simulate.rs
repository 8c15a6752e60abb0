//! `kurier journey simulate`: a definition over recorded events, of a file or of a log.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use kurier_core::event::{Kind, Position};
use kurier_core::id::{IdentityKey, JourneyId};
use kurier_core::journey::{Known, Simulation, Summary};
use kurier_core::segment::Definition as Segment;
use kurier_core::time::Timestamp;
use kurier_core::value::Value;
use serde_json::json;

use super::super::desk::Desk;
use super::super::import::in_words;
use super::super::table;
use super::{good, read};

/// How long a journey goes on after the last event, if it does not say.
const AFTER_DAYS: i64 = 400;
const DAY_MICROS: i64 = 86_400_000_000;
const BATCH_MAX: usize = 5_000;

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
    let Some(mut draft) = Draft::read(args, IdentityKey::new([0; 32]))? else {
        return Ok(ExitCode::FAILURE);
    };
    let events = read_events(file)?;
    draft.begin(args, events.first().map(|(at, _, _)| *at))?;
    for (at, number, raw) in &events {
        if !draft.comes_to(*at) {
            break;
        }
        let said = draft.simulation.say(raw, *at);
        said.map_err(|problems| anyhow::anyhow!("line {number} {}", in_words(&problems)))?;
    }
    tell(args, draft)
}

/// Over what clients said, as the log has it, with the segments as they are now.
pub async fn run_on_log(desk: &Desk, args: &SimulateArgs) -> anyhow::Result<ExitCode> {
    let Some(mut draft) = Draft::read(args, desk.grant.workspace.key.clone())? else {
        return Ok(ExitCode::FAILURE);
    };
    let (store, workspace) = (&desk.app.store, desk.grant.workspace.id);
    let head = store.log.head().await?;
    let bar = desk.bar(head, "replayed");
    let (mut after, mut is_begun) = (Position(0), false);
    while after < head {
        let batch = store.log.read(after, BATCH_MAX).await?;
        let Some(last) = batch.last() else { break };
        after = last.position;
        bar.set_position(after.0.unsigned_abs());
        for recorded in batch.iter().filter(|r| r.workspace == workspace) {
            let at = recorded.event.recorded_at;
            if !std::mem::replace(&mut is_begun, true) {
                for segment in store.segments.segments(desk.scope()).await? {
                    draft.segments.push(segment.definition);
                }
                draft.begin(args, Some(at))?;
            }
            if is_of_history(recorded.event.kind) && draft.comes_to(at) {
                draft.simulation.replay(recorded);
            }
        }
    }
    bar.finish_and_clear();
    tell(args, draft)
}

/// Segments are taken as they are now, whatever they were then.
const fn is_of_history(kind: Kind) -> bool {
    use Kind::{SegmentChanged, SegmentCreated, SegmentDeleted};
    !matches!(kind, SegmentCreated | SegmentChanged | SegmentDeleted)
}

/// A definition that is published when its time comes.
struct Draft {
    simulation: Simulation,
    journey: JourneyId,
    document: Option<Value>,
    segments: Vec<Segment>,
    from: Timestamp,
    to: Option<Timestamp>,
    last: Timestamp,
}

impl Draft {
    /// `None` if the definition has faults, which were told.
    fn read(args: &SimulateArgs, key: IdentityKey) -> anyhow::Result<Option<Self>> {
        let Some((definition, document)) = good(&args.file, &Known::default())? else {
            return Ok(None);
        };
        Ok(Some(Self {
            simulation: Simulation::new(key),
            journey: JourneyId::of_name(&definition.name),
            document: Some(document),
            segments: Vec::new(),
            from: Timestamp::default(),
            to: args.to,
            last: Timestamp::default(),
        }))
    }

    /// Begins with the first event, or when the journey is published if that is earlier.
    fn begin(&mut self, args: &SimulateArgs, first: Option<Timestamp>) -> anyhow::Result<()> {
        self.last = first.unwrap_or_default();
        self.from = args.from.unwrap_or(self.last);
        self.simulation.pass_to(self.last.min(self.from));
        for segment in &self.segments {
            self.simulation.define(segment);
        }
        for segment in &args.segment {
            define(&mut self.simulation, segment)?;
        }
        Ok(())
    }

    /// Whether an event at this instant is still to be taken in; the journey is published
    /// before it, if it is time.
    fn comes_to(&mut self, at: Timestamp) -> bool {
        if self.to.is_some_and(|to| at > to) {
            return false;
        }
        if at >= self.from {
            self.publish();
        }
        self.last = at;
        true
    }

    fn publish(&mut self) {
        if let Some(document) = self.document.take() {
            self.simulation.pass_to(self.from);
            self.simulation.publish(self.journey, 1, document);
        }
    }

    fn finish(mut self) -> Summary {
        self.publish();
        let end = self.last.shifted(AFTER_DAYS * DAY_MICROS);
        self.simulation.pass_to(self.to.unwrap_or(end));
        self.simulation.summary()
    }
}

fn tell(args: &SimulateArgs, draft: Draft) -> anyhow::Result<ExitCode> {
    let summary = draft.finish();
    if args.json {
        println!("{}", json!(summary));
    } else {
        report(&summary);
    }
    Ok(ExitCode::SUCCESS)
}

/// An event's time, its line, and its text.
type Line = (Timestamp, usize, String);

fn define(simulation: &mut Simulation, segment: &str) -> anyhow::Result<()> {
    let Some((name, expression)) = segment.split_once('=') else {
        bail!("--segment is written NAME=EXPRESSION");
    };
    let made = simulation.define_segment(name.trim(), expression.trim());
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
