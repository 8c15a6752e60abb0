//! `kurier journey`: journeys from files, for which neither data nor a server is needed; and
//! those of a workspace, beside a server or without one.

mod apply;
mod check;
mod graph;
mod look;
mod simulate;
mod test;
mod turn;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use kurier_core::id::JourneyId;
use kurier_core::journey::{Checked, Definition, Fault, Known};
use kurier_core::projection::JourneySummary;
use kurier_core::value::Value;

use super::desk::Desk;
use super::eval::underlined;
use super::workspace::WorkspaceArgs;
use crate::config::Config;
use crate::flow::journey::Turn;

#[derive(Debug, Args)]
pub struct JourneyArgs {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Say everything that is wrong with definitions
    Check(check::CheckArgs),
    /// Draw a definition
    Graph(graph::GraphArgs),
    /// Run fixtures: what is given to a journey, and what is expected of it
    Test(test::TestArgs),
    /// Run a definition over recorded events, with a clock of its own, sending nothing
    Simulate(simulate::SimulateArgs),
    /// Make or change journeys from files, and publish them
    #[command(after_help = APPLY_EXAMPLES)]
    Apply(apply::ApplyArgs),
    /// List all journeys
    List(look::ListArgs),
    /// Show a journey
    Show(look::ShowArgs),
    /// Count who entered a journey, is at each node, and left it by which way
    Stats(look::StatsArgs),
    /// List the runs of a journey, newest first
    #[command(
        after_help = "Example:\n  kurier journey instances 'Abandoned cart' --node an-hour --status active"
    )]
    Instances(look::InstancesArgs),
    /// Show a run: its state, its path and why it went so
    Instance(look::InstanceArgs),
    /// Pause a journey: nobody enters it, and nobody in it moves on
    Pause(turn::TurnArgs),
    /// Resume a paused journey
    Resume(turn::TurnArgs),
    /// Retire a journey: nobody enters it any more, and who is in it goes on
    Retire(turn::TurnArgs),
    /// Send a contact into a journey
    #[command(
        after_help = "Example:\n  kurier journey trigger Onboarding --user ann --state plan='\"pro\"'"
    )]
    Trigger(turn::TriggerArgs),
}

const APPLY_EXAMPLES: &str = "Examples:
  kurier journey apply journeys/*.yaml
  kurier journey apply cart.yaml --draft";

impl JourneyArgs {
    /// Whether it is about the journeys of a workspace, and not only about files.
    pub const fn needs_data(&self) -> bool {
        match &self.command {
            Command::Check(_) | Command::Graph(_) | Command::Test(_) => false,
            Command::Simulate(args) => args.events.is_none(),
            _ => true,
        }
    }

    const fn answers_json(&self) -> bool {
        match &self.command {
            Command::Simulate(args) => args.json,
            Command::Apply(args) => args.json,
            Command::List(args) => args.json,
            Command::Show(args) => args.json,
            Command::Stats(args) => args.json,
            Command::Instances(args) => args.json,
            Command::Instance(args) => args.json,
            Command::Pause(args) | Command::Resume(args) | Command::Retire(args) => args.json,
            Command::Trigger(args) => args.json,
            _ => false,
        }
    }
}

pub fn run(args: &JourneyArgs) -> anyhow::Result<ExitCode> {
    match &args.command {
        Command::Check(args) => check::run(args),
        Command::Graph(args) => graph::run(args),
        Command::Test(args) => test::run(args),
        Command::Simulate(args) => match &args.events {
            Some(file) => simulate::run(args, file),
            None => bail!("without --events, give the data of a log"),
        },
        _ => bail!("this command needs a workspace"),
    }
}

/// What is about the journeys of a workspace.
pub async fn run_with(config: &Config, args: JourneyArgs) -> anyhow::Result<ExitCode> {
    let mut desk = Desk::open(config, &args.workspace, args.answers_json()).await?;
    let done = match &args.command {
        Command::Simulate(args) => simulate::run_on_log(&desk, args).await,
        Command::Apply(args) => apply::run(&desk, args).await,
        Command::List(_) => look::list(&desk).await,
        Command::Show(args) => look::show(&desk, args).await,
        Command::Stats(args) => look::stats(&desk, args).await,
        Command::Instances(args) => look::instances(&desk, args).await,
        Command::Instance(args) => look::instance(&desk, args).await,
        Command::Pause(args) => turn::run(&desk, args, Turn::Pause).await,
        Command::Resume(args) => turn::run(&desk, args, Turn::Resume).await,
        Command::Retire(args) => turn::run(&desk, args, Turn::Retire).await,
        Command::Trigger(args) => turn::trigger(&mut desk, args).await,
        _ => run(&args),
    };
    desk.close().await;
    done
}

/// The journey of this name or id, once everything is folded.
pub async fn find(desk: &Desk, named: &str) -> anyhow::Result<JourneySummary> {
    desk.drain().await?;
    let journeys = &desk.app.store.journeys;
    let by_name = JourneyId::of_name(named);
    for id in [Some(by_name), named.parse().ok()].into_iter().flatten() {
        if let Some(found) = journeys.journey(desk.scope(), id).await? {
            return Ok(found);
        }
    }
    bail!("there is no journey `{named}`")
}

fn read(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// A definition without faults, and the document it was read from; or its faults, told.
fn good(path: &Path, known: &Known) -> anyhow::Result<Option<(Definition, Value)>> {
    let text = read(path)?;
    let Checked { definition, faults } = kurier_core::journey::check(&text, 1, known);
    let Some(definition) = definition else {
        tell(path, &faults);
        return Ok(None);
    };
    let document = kurier_core::journey::read_document(&text);
    let document = document.map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))?;
    Ok(Some((definition, document)))
}

/// Tells faults to a person, an expression's with its place underlined.
fn tell(path: &Path, faults: &[Fault]) {
    for fault in faults {
        let word = if fault.is_fault() { "fault" } else { "warning" };
        let path = path.display();
        match &fault.expression {
            None => eprintln!("{path}: {word}: {fault}"),
            Some((text, span)) => {
                let error = kurier_core::expr::Error {
                    suggestion: fault.suggestion.clone(),
                    ..kurier_core::expr::Error::new(*span, &fault.message)
                };
                let place = fault.place();
                eprintln!("{path}: {word}: {place}:\n{}", underlined(text, &error));
            }
        }
    }
}
