//! Journeys: how many steps a second are durable, beside DBOS and Restate; and what a great
//! many waiting instances take.

mod own;
mod peer;
mod waiting;

pub use own::publish;

use std::path::PathBuf;

use serde::Serialize;

use crate::outcome::{Verdict, median};
use crate::plan::Database;
use crate::report::{keep, number, table, targets};

/// Trigger, condition, wait, send, exit.
pub const STEPS: usize = 5;
/// How long every run waits, on every side.
pub const WAIT_MS: u64 = 1_000;
const POSTGRES_RATIO: f64 = 10.0;
const SQLITE_RATIO: f64 = 15.0;
const WAITING_MB_MAX: f64 = 1_000.0;
const LATE_MS_MAX: f64 = 1_000.0;
const RECOVERY_SECONDS_MAX: f64 = 15.0;
const DATABASE: &str = "bench_journeys";

#[derive(clap::Args)]
pub struct Args {
    /// Contacts that go through Kurier's journey
    #[arg(long, default_value_t = 100_000)]
    contacts: usize,
    /// Runs on each peer; they are slower
    #[arg(long, default_value_t = 10_000)]
    runs: usize,
    /// Instances that wait while timers and the restart are measured
    #[arg(long, default_value_t = 1_000_000)]
    waiting: usize,
    /// Rounds of steps; the medians are shown
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// One database only
    #[arg(long)]
    only: Option<Database>,
    /// The server program
    #[arg(long)]
    kurier: PathBuf,
    /// The folder of the peers, their packages installed
    #[arg(long)]
    peers: PathBuf,
    /// A PostgreSQL server that databases may be made on
    #[arg(long, env = "TEST_POSTGRES_URL")]
    postgres: String,
    /// Where the results go as JSON
    #[arg(long)]
    out: PathBuf,
}

impl Args {
    fn databases(&self) -> Vec<Database> {
        match self.only {
            Some(database) => vec![database],
            None => vec![Database::Sqlite, Database::Postgres],
        }
    }
}

/// Steps a second of one side in one round.
#[derive(Debug, Serialize)]
struct Speed {
    round: usize,
    side: String,
    runs: usize,
    seconds: f64,
    steps_per_second: f64,
}

impl Speed {
    fn of(round: usize, side: &str, runs: usize, seconds: f64) -> Self {
        let steps_per_second = (runs * STEPS) as f64 / seconds;
        eprintln!("    {side}: {steps_per_second:.0} steps/s");
        Self {
            round,
            side: side.to_owned(),
            runs,
            seconds,
            steps_per_second,
        }
    }
}

pub async fn run(args: &Args) -> anyhow::Result<()> {
    let mut speeds = Vec::new();
    for round in 0..args.rounds {
        eprintln!("==> round {} of {}", round + 1, args.rounds);
        for database in args.databases() {
            let seconds = own::run(args, database).await?;
            let side = database.name();
            speeds.push(Speed::of(round, side, args.contacts, seconds));
        }
        let seconds = peer::dbos(args).await?;
        speeds.push(Speed::of(round, "DBOS", args.runs, seconds));
        let seconds = peer::restate(args)?;
        speeds.push(Speed::of(round, "Restate", args.runs, seconds));
    }
    let mut crowds = Vec::new();
    for database in args.databases() {
        eprintln!("==> {} waiting on {}", args.waiting, database.name());
        crowds.push(waiting::run(args, database).await?);
    }
    report(args, &speeds, &crowds)
}

/// A new database on the PostgreSQL server, in place of the one before.
pub async fn fresh_database(args: &Args) -> anyhow::Result<String> {
    crate::database::fresh(&args.postgres, DATABASE).await
}

fn speed(speeds: &[Speed], side: &str) -> f64 {
    let of_side = speeds.iter().filter(|speed| speed.side == side);
    median(of_side.map(|speed| speed.steps_per_second).collect())
}

fn report(args: &Args, speeds: &[Speed], crowds: &[waiting::Crowd]) -> anyhow::Result<()> {
    let best = speed(speeds, "DBOS").max(speed(speeds, "Restate"));
    let mut steps = table(&["", "runs", "steps/s", "of the better peer"]);
    for side in ["SQLite", "PostgreSQL", "DBOS", "Restate"] {
        let runs = speeds.iter().find(|speed| speed.side == side);
        if let Some(runs) = runs.map(|speed| speed.runs) {
            let rate = speed(speeds, side);
            let ratio = format!("{:.2}", rate / best);
            steps.add_row([
                side.to_owned(),
                number(runs as f64, 0),
                number(rate, 0),
                ratio,
            ]);
        }
    }
    println!(
        "\nSteps a second, durable: medians of {} rounds\n\n{steps}\n",
        args.rounds
    );
    println!("{}\n", waiting::table_of(crowds));
    let verdicts = verdicts(args, speeds, best, crowds);
    println!("{}\n", targets(&verdicts));
    let json = serde_json::json!({"speeds": speeds, "crowds": crowds, "verdicts": verdicts});
    keep(&args.out, &json)
}

fn verdicts(args: &Args, speeds: &[Speed], best: f64, crowds: &[waiting::Crowd]) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for database in args.databases() {
        let needed = match database {
            Database::Sqlite => SQLITE_RATIO,
            Database::Postgres => POSTGRES_RATIO,
        };
        let name = database.name();
        let found = speed(speeds, name) / best;
        verdicts.push(Verdict::at_least(
            format!("{name}: steps/s of the better peer's"),
            found,
            needed,
        ));
    }
    for crowd in crowds {
        let name = crowd.database.name();
        let limits = [
            ("MB of memory", crowd.rss_mb, WAITING_MB_MAX),
            (
                "ms that timers are late at p99",
                crowd.late_ms.1,
                LATE_MS_MAX,
            ),
            (
                "s until it goes on after kill -9",
                crowd.recovery_seconds,
                RECOVERY_SECONDS_MAX,
            ),
        ];
        for (what, found, limit) in limits {
            verdicts.push(Verdict::at_most(
                format!("{name}, all waiting: {what}"),
                found,
                limit,
            ));
        }
    }
    verdicts
}
