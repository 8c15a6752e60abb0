//! `kurier journey simulate`: a definition over recorded events.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use kurier_core::id::JourneyId;
use kurier_core::journey::{Known, Simulation, Summary};
use kurier_core::time::Timestamp;
use kurier_core::value::Value;
use serde_json::json;

use super::super::import::in_words;
use super::super::table;
use super::{good, read};

/// How long a journey goes on after the last event, if it does not say.
const AFTER_DAYS: i64 = 400;
const DAY_MICROS: i64 = 86_400_000_000;

#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// A definition, YAML or JSON
    file: PathBuf,
    /// Events as NDJSON, as in POST /v1/batch, each with its timestamp
    #[arg(long, value_name = "FILE")]
    events: PathBuf,
    /// A segment that the journey names, as NAME=EXPRESSION
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
    json: bool,
}

pub fn run(args: &SimulateArgs) -> anyhow::Result<ExitCode> {
    let Some((_, document)) = good(&args.file, &Known::default())? else {
        return Ok(ExitCode::FAILURE);
    };
    let events = read_events(&args.events)?;
    let summary = simulate(args, document, &events)?;
    if args.json {
        println!("{}", json!(summary));
    } else {
        report(&summary);
    }
    Ok(ExitCode::SUCCESS)
}

/// An event's time, its line, and its text.
type Line = (Timestamp, usize, String);

fn simulate(args: &SimulateArgs, document: Value, events: &[Line]) -> anyhow::Result<Summary> {
    let mut simulation = Simulation::default();
    let first = events.first().map(|(at, _, _)| *at).unwrap_or_default();
    let from = args.from.unwrap_or(first);
    simulation.pass_to(first.min(from));
    for segment in &args.segment {
        define(&mut simulation, segment)?;
    }
    let mut unpublished = Some(document);
    let mut last = first;
    let within = |at: Timestamp| args.to.is_none_or(|to| at <= to);
    for (at, number, raw) in events.iter().filter(|(at, _, _)| within(*at)) {
        if *at >= from {
            publish(&mut simulation, from, unpublished.take());
        }
        let said = simulation.say(raw, *at);
        said.map_err(|problems| anyhow::anyhow!("line {number} {}", in_words(&problems)))?;
        last = *at;
    }
    publish(&mut simulation, from, unpublished.take());
    let end = args.to.unwrap_or(last.shifted(AFTER_DAYS * DAY_MICROS));
    simulation.pass_to(end);
    Ok(simulation.summary())
}

fn publish(simulation: &mut Simulation, from: Timestamp, document: Option<Value>) {
    if let Some(document) = document {
        simulation.pass_to(from);
        simulation.publish(JourneyId::of_name("simulated"), 1, document);
    }
}

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
