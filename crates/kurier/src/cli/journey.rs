//! `kurier journey`: journeys from files. Nothing here needs data or a server.

mod check;
mod graph;
mod simulate;
mod test;

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use kurier_core::journey::{Checked, Definition, Fault, Known};
use kurier_core::value::Value;

use super::eval::underlined;

#[derive(Debug, Args)]
pub struct JourneyArgs {
    #[command(subcommand)]
    command: Command,
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
}

pub fn run(args: &JourneyArgs) -> anyhow::Result<ExitCode> {
    match &args.command {
        Command::Check(args) => check::run(args),
        Command::Graph(args) => graph::run(args),
        Command::Test(args) => test::run(args),
        Command::Simulate(args) => simulate::run(args),
    }
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
