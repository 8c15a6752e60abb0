//! Delivery: messages into the queue and out of it, beside a bare loop and beside three job
//! queues; and how long one message takes when there is nothing else to do.

mod message;
mod own;

use std::path::PathBuf;

use serde::Serialize;

use crate::bare;
use crate::database::fresh;
use crate::outcome::{Verdict, median};
use crate::plan::Database;
use crate::report::{keep, number, table, targets};

const DATABASE: &str = "bench_deliver";
const BARE: &str = "bare loop, PostgreSQL";
const BARE_RATIO: f64 = 0.5;

#[derive(clap::Args)]
pub struct Args {
    /// Messages that are queued and drained
    #[arg(long, default_value_t = 100_000)]
    messages: usize,
    /// Rounds; the medians are shown
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
    /// A Redis server that may be emptied
    #[arg(long, env = "TEST_REDIS_URL")]
    redis: String,
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

/// Messages a second of one side in one round.
#[derive(Debug, Serialize)]
struct Speed {
    round: usize,
    side: String,
    messages: usize,
    enqueue_per_second: f64,
    drain_per_second: f64,
}

impl Speed {
    fn of(round: usize, side: &str, messages: usize, seconds: (f64, f64)) -> Self {
        let count = messages as f64;
        let speed = Self {
            round,
            side: side.to_owned(),
            messages,
            enqueue_per_second: count / seconds.0,
            drain_per_second: count / seconds.1,
        };
        eprintln!(
            "    {side}: in {} a second, out {}",
            number(speed.enqueue_per_second, 0),
            number(speed.drain_per_second, 0)
        );
        speed
    }
}

pub async fn run(args: &Args) -> anyhow::Result<()> {
    let mut speeds = Vec::new();
    for round in 0..args.rounds {
        eprintln!("==> round {} of {}", round + 1, args.rounds);
        speeds.push(bare_loop(args, round).await?);
        for database in args.databases() {
            speeds.push(own::outbox(args, round, database).await?);
        }
    }
    report(args, &speeds)
}

async fn bare_loop(args: &Args, round: usize) -> anyhow::Result<Speed> {
    let url = fresh(&args.postgres, DATABASE).await?;
    let payloads = message::payloads(args.messages);
    let seconds = bare::queue::run(&url, &payloads).await?;
    Ok(Speed::of(round, BARE, args.messages, seconds))
}

/// The median of one side's rounds.
fn drain(speeds: &[Speed], side: &str) -> f64 {
    let of_side = speeds.iter().filter(|speed| speed.side == side);
    median(of_side.map(|speed| speed.drain_per_second).collect())
}

fn report(args: &Args, speeds: &[Speed]) -> anyhow::Result<()> {
    let mut rows = table(&["", "messages", "into the queue/s", "out of it/s"]);
    let mut sides: Vec<&str> = Vec::new();
    for speed in speeds {
        if !sides.contains(&speed.side.as_str()) {
            sides.push(&speed.side);
        }
    }
    for side in sides {
        let of_side: Vec<&Speed> = speeds.iter().filter(|speed| speed.side == side).collect();
        let enqueue = of_side.iter().map(|speed| speed.enqueue_per_second);
        rows.add_row([
            side.to_owned(),
            number(of_side[0].messages as f64, 0),
            number(median(enqueue.collect()), 0),
            number(drain(speeds, side), 0),
        ]);
    }
    println!(
        "\nMessages a second: medians of {} rounds\n\n{rows}\n",
        args.rounds
    );
    let verdicts = verdicts(speeds);
    println!("{}\n", targets(&verdicts));
    let json = serde_json::json!({"speeds": speeds, "verdicts": verdicts});
    keep(&args.out, &json)
}

fn verdicts(speeds: &[Speed]) -> Vec<Verdict> {
    let own = drain(speeds, "Kurier, PostgreSQL");
    vec![Verdict::at_least(
        "PostgreSQL to the outbox, of the bare loop",
        own / drain(speeds, BARE),
        BARE_RATIO,
    )]
}
