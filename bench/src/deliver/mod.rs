//! Delivery: messages into the queue and out of it, beside a bare loop and beside three job
//! queues; and how long one message takes when there is nothing else to do.

mod message;
mod own;
mod peer;
mod report;
mod single;
mod sink;
mod way;

use std::path::PathBuf;

use serde::Serialize;

use crate::bare;
use crate::database::fresh;
use crate::plan::Database;
use crate::report::number;

const DATABASE: &str = "bench_deliver";
const BARE: &str = "bare loop, PostgreSQL";
/// So many messages are sent one after the other, when there is nothing else to do.
const SINGLES: usize = 500;

#[derive(clap::Args)]
pub struct Args {
    /// Messages that are queued and drained
    #[arg(long, default_value_t = 100_000)]
    messages: usize,
    /// Messages that go to the sinks
    #[arg(long, default_value_t = 20_000)]
    letters: usize,
    /// Rounds; the medians are shown
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// One database only
    #[arg(long)]
    only: Option<Database>,
    /// Kurier and the bare loop alone
    #[arg(long)]
    no_peers: bool,
    /// The outbox alone
    #[arg(long)]
    no_sinks: bool,
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

/// How long one message took, of one side in one round.
#[derive(Debug, Serialize)]
struct Latency {
    round: usize,
    side: String,
    p50_ms: f64,
    p99_ms: f64,
}

impl Latency {
    fn of(round: usize, side: &str, (p50_ms, p99_ms): (f64, f64)) -> Self {
        eprintln!("    {side}: p50 {p50_ms:.2} ms, p99 {p99_ms:.2} ms");
        Self {
            round,
            side: side.to_owned(),
            p50_ms,
            p99_ms,
        }
    }
}

/// All that was measured.
#[derive(Debug, Default, Serialize)]
struct Measured {
    speeds: Vec<Speed>,
    latencies: Vec<Latency>,
}

pub async fn run(args: &Args) -> anyhow::Result<()> {
    let mut measured = Measured::default();
    let ways = way::Way::all()?;
    for number in 0..args.rounds {
        eprintln!("==> round {} of {}", number + 1, args.rounds);
        round(args, number, &ways, &mut measured).await?;
    }
    report::write(args, &measured)
}

async fn round(
    args: &Args,
    round: usize,
    ways: &[way::Way],
    measured: &mut Measured,
) -> anyhow::Result<()> {
    measured.speeds.push(bare_loop(args, round).await?);
    let ways = &ways[..if args.no_sinks { 1 } else { ways.len() }];
    for database in args.databases() {
        for way in ways {
            let speed = own::run(args, round, database, way).await?;
            measured.speeds.push(speed);
        }
        for cause in single::Cause::ALL {
            let latency = single::run(args, round, database, cause).await?;
            measured.latencies.push(latency);
        }
    }
    if !args.no_peers {
        for peer in peer::PEERS {
            let (speed, latency) = peer::run(args, round, peer).await?;
            measured.speeds.push(speed);
            measured.latencies.push(latency);
        }
    }
    Ok(())
}

async fn bare_loop(args: &Args, round: usize) -> anyhow::Result<Speed> {
    let url = fresh(&args.postgres, DATABASE).await?;
    let payloads = message::payloads(args.messages);
    let seconds = bare::queue::run(&url, &payloads).await?;
    Ok(Speed::of(round, BARE, args.messages, seconds))
}
