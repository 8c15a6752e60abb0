//! Measures Kurier beside what it is compared with. `./dev bench ingest` runs `ingest`; the
//! other commands are its parts, for looking closer (with a profiler attached, say).

mod bare;
mod bundle;
mod client;
mod clock;
mod content;
mod database;
mod deliver;
mod differential;
mod edge;
mod evaluations;
mod event;
mod freshness;
mod ingest;
mod journeys;
mod keys;
mod load;
mod outcome;
mod plan;
mod projections;
mod report;
mod segments;
mod server;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// The same allocator as Kurier's: the bare loop is not to lose by another one.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Parser)]
#[command(about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// The whole ingest benchmark (called by bench/ingest.sh, which prepares what it needs)
    Ingest(plan::Args),
    /// The segment benchmark (called by bench/segments.sh, which prepares what it needs)
    Segments(segments::Args),
    /// Kurier's side of the segment benchmark
    SegmentSide {
        /// The data of one size
        folder: PathBuf,
        /// Load only events that have two properties
        #[arg(long)]
        two_properties: bool,
    },
    /// Random expressions, the same members as in DuckDB (called by bench/differential.sh)
    Differential(differential::Args),
    /// Random texts, the same keys as by a second implementation (called by bench/keys.sh)
    Keys(keys::Args),
    /// One contact against one segment (called by bench/evaluations.sh)
    Evaluations(evaluations::Args),
    /// The content benchmark (called by bench/content.sh, which prepares what it needs)
    Content(content::Args),
    /// One way to read Markdown (a part of the content benchmark)
    ContentSide {
        #[arg(value_enum)]
        way: content::side::Way,
        file: PathBuf,
        #[arg(long, default_value_t = 3)]
        rounds: usize,
    },
    /// The journey benchmark (called by bench/journeys.sh, which prepares what it needs)
    Journeys(journeys::Args),
    /// The delivery benchmark (called by bench/deliver.sh, which prepares what it needs)
    Deliver(deliver::Args),
    /// The projection benchmark (called by bench/projections.sh, which prepares what it needs)
    Projections(projections::Args),
    /// Events into Redis through the edge, beside a bare pipeline (a part of bench/projections.sh)
    Edge(edge::Args),
    /// The bundle benchmark (called by bench/bundle.sh, which prepares what it needs)
    Bundle(bundle::Args),
    /// Bare axum that answers what Redis has (a part of the bundle benchmark)
    BundleBare {
        #[arg(long)]
        redis: String,
    },
    /// Freshness, previews and restarts (called by bench/freshness.sh)
    Freshness(freshness::Args),
    /// Sends events to a running server
    Load {
        #[arg(long)]
        address: SocketAddr,
        /// Write key; without it the server is taken to be the Node peer
        #[arg(long)]
        key: Option<String>,
        #[arg(long, default_value_t = 100)]
        events: usize,
        #[arg(long, default_value_t = 64)]
        connections: usize,
        #[arg(long, default_value_t = 8.0)]
        seconds: f64,
    },
    /// The least server that takes events in and groups them (a part of the ingest benchmark)
    BareHandler {
        #[arg(long)]
        postgres: String,
    },
    /// Inserts rows without any server between: a SQLite file, or a postgres:// URL, both made
    /// if they are empty
    Bare {
        database: String,
        #[arg(long, default_value_t = 8.0)]
        seconds: f64,
    },
}

fn main() -> anyhow::Result<()> {
    let command = Cli::parse().command;
    let mut runtime = match &command {
        // What is measured runs in this process, as it does in a server.
        Command::Edge(_) => tokio::runtime::Builder::new_multi_thread(),
        // Who measures takes as little as can be of what the measured needs.
        _ => tokio::runtime::Builder::new_current_thread(),
    };
    runtime.enable_all().build()?.block_on(run(command))
}

async fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Ingest(args) => ingest::run(&args).await,
        Command::Segments(args) => segments::run(&args),
        Command::SegmentSide {
            folder,
            two_properties,
        } => segments::own::serve(&folder, two_properties),
        Command::Evaluations(args) => evaluations::run(&args),
        Command::Keys(args) => keys::run(&args),
        Command::Content(args) => content::run(&args).await,
        Command::ContentSide { way, file, rounds } => content::side::run(way, &file, rounds),
        Command::Projections(args) => projections::run(&args).await,
        Command::Edge(args) => edge::run(&args).await,
        Command::BareHandler { postgres } => bare::handler::serve(postgres),
        Command::Bundle(args) => bundle::run(&args).await,
        Command::BundleBare { redis } => bundle::serve_bare(redis),
        Command::Freshness(args) => freshness::run(&args).await,
        Command::Journeys(args) => journeys::run(&args).await,
        Command::Deliver(args) => deliver::run(&args).await,
        Command::Differential(args) => differential::run(&args),
        Command::Load {
            address,
            key,
            events,
            connections,
            seconds,
        } => {
            let target = key.map_or(event::Target::Node, event::Target::Kurier);
            let shape = load::Shape {
                events,
                connections,
            };
            let measured = load::run(address, &target, shape, load::WARM_UP, seconds).await?;
            println!("{}", serde_json::to_string_pretty(&measured)?);
            Ok(())
        }
        Command::Bare { database, seconds } => {
            let rate = if database.starts_with("postgres") {
                bare::postgres::run(&database, seconds).await?
            } else {
                bare::sqlite::run(&PathBuf::from(database), seconds)?
            };
            println!("{rate:.0} events/s");
            Ok(())
        }
    }
}
