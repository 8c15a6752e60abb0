//! The segment benchmark: six queries on Kurier and on what they would otherwise be asked of,
//! over the same data, in interleaved rounds. The members must be the same everywhere.

pub mod data;
mod outcome;
pub mod own;
mod report;
mod side;

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::ValueEnum;
use serde::Serialize;

use outcome::Outcome;
use side::Side;

/// What is asked, as Kurier's users write it.
pub const QUERIES: [(&str, &str); 6] = [
    (
        "a",
        "contact.country = 'DE' AND contact.plan IN ('pro', 'team')",
    ),
    (
        "b",
        "EXISTS (event WHERE event_type = 'purchase' AND event_time > now() - 30d)",
    ),
    (
        "c",
        "COUNT(event WHERE event_type = 'purchase' AND properties.amount > 100) >= 3",
    ),
    (
        "d",
        "SUM(event.properties.amount WHERE event_type = 'purchase' AND event_time > now() - 90d) > 500 \
         AND NOT EXISTS (event WHERE event_type = 'refund')",
    ),
    (
        "e",
        "COUNT(event WHERE event_type = 'login' AND event_time > now() - 90d) >= 5 \
         AND COUNT(event WHERE event_type = 'login' AND event_time > now() - 7d) = 0",
    ),
    (
        "f",
        "(contact.country = 'DE' AND contact.plan IN ('pro', 'team') \
          AND EXISTS (event WHERE event_type = 'purchase' AND event_time > now() - 30d)) \
         OR (contact.age >= 30 \
          AND COUNT(event WHERE event_type = 'purchase' AND properties.amount > 100) >= 3) \
         OR (contact.score > 50 AND contact.tags CONTAINS 'vip' \
          AND COUNT(event WHERE event_type = 'login' AND event_time > now() - 90d) >= 5 \
          AND COUNT(event WHERE event_type = 'login' AND event_time > now() - 7d) = 0)",
    ),
];

pub const KURIER: &str = "kurier";
/// Of these the best counts, in whatever form; PostgreSQL is shown beside them.
const ENGINES: [&str; 6] = [
    "duckdb-name",
    "duckdb-time",
    "polars",
    "clickhouse-name",
    "clickhouse-contact",
    "clickhouse-memory",
];
const POSTGRES: &str = "postgres";
/// Runs of a visit: so many that warm up, because another side was at work before, and so many
/// of which the median counts. The slow one gets fewer.
const RUNS: (usize, usize) = (2, 5);
const RUNS_OF_SLOW: (usize, usize) = (0, 1);

#[derive(clap::Args)]
pub struct Args {
    #[arg(long, value_enum, default_value_t = Which::Both)]
    size: Which,
    /// Rounds; the medians are shown
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Only these sides (Kurier always): duckdb-name, duckdb-time, polars, clickhouse-name,
    /// clickhouse-contact, clickhouse-memory, postgres
    #[arg(long, value_delimiter = ',')]
    sides: Option<Vec<String>>,
    /// The Python that has the peers' packages
    #[arg(long)]
    python: PathBuf,
    /// The folder of the peers' programs
    #[arg(long)]
    peers: PathBuf,
    /// Where the data is, a folder for each size
    #[arg(long)]
    data: PathBuf,
    /// Where the results go as JSON
    #[arg(long)]
    out: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Which {
    Small,
    Large,
    Both,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Size {
    Small,
    Large,
}

impl Size {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Large => "large",
        }
    }

    pub const fn title(self) -> &'static str {
        match self {
            Self::Small => "100,000 contacts, 2,000,000 events",
            Self::Large => "1,000,000 contacts, 20,000,000 events",
        }
    }
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let sizes = match args.size {
        Which::Small => vec![Size::Small],
        Which::Large => vec![Size::Large],
        Which::Both => vec![Size::Small, Size::Large],
    };
    let mut outcomes = Vec::new();
    for size in sizes {
        outcomes.push(measure(args, size)?);
    }
    report::write(&outcomes, args)
}

fn measure(args: &Args, size: Size) -> anyhow::Result<Outcome> {
    let scratch = tempfile::tempdir()?;
    let folder = std::fs::canonicalize(args.data.join(size.name()))?;
    eprintln!(
        "==> {}: Kurier, only events with two properties",
        size.name()
    );
    let mut two_properties = own_command(&folder)?;
    let two_properties = Side::start(KURIER, two_properties.arg("--two-properties"))?
        .load
        .clone();
    let mut sides = Vec::new();
    for name in wanted(args) {
        eprintln!("==> {}: loading {name}", size.name());
        let mut command = command(args, name, (&folder, scratch.path()))?;
        sides.push(Side::start(name, &mut command)?);
    }
    let mut outcome = Outcome::new(size, two_properties, &sides);
    // Round 0 warms up and is not counted.
    for round in 0..=args.rounds {
        eprintln!("==> {}: round {round} of {}", size.name(), args.rounds);
        // Nobody always comes first, and everybody follows everybody.
        sides.rotate_left(1);
        for (query, _) in QUERIES {
            for side in &mut sides {
                let is_slow = side.name == POSTGRES && size == Size::Large;
                let samples = side.ask(round, query, if is_slow { RUNS_OF_SLOW } else { RUNS })?;
                outcome.add(samples);
            }
        }
    }
    Ok(outcome)
}

fn wanted(args: &Args) -> Vec<&'static str> {
    let chosen = |name: &&str| {
        let chosen = args.sides.as_ref();
        chosen.is_none_or(|sides| sides.iter().any(|side| side == name))
    };
    let others = ENGINES.into_iter().chain([POSTGRES]).filter(chosen);
    std::iter::once(KURIER).chain(others).collect()
}

fn own_command(folder: &Path) -> anyhow::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("segment-side").arg(folder);
    Ok(command)
}

fn command(args: &Args, name: &str, (folder, scratch): (&Path, &Path)) -> anyhow::Result<Command> {
    if name == KURIER {
        return own_command(folder);
    }
    let (program, order) = name.split_once('-').unwrap_or((name, ""));
    let mut command = Command::new(&args.python);
    command
        .arg(args.peers.join(format!("segments/{program}_side.py")))
        .arg(folder)
        .args(Some(order).filter(|order| !order.is_empty()))
        .arg(scratch);
    Ok(command)
}
