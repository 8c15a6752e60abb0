//! Projections: a counter and a summary over one log, live and rebuilt, beside a bare loop over
//! the same log and beside two event stores.

mod bare_postgres;
mod bare_sqlite;
mod event;
mod own;
mod peer;
mod report;
mod summary;

use std::path::PathBuf;

use serde::Serialize;
use sqlx::{Connection as _, Executor as _, PgConnection};

use crate::database::fresh;
use crate::plan::Database;
use crate::report::number;
use own::{Place, Took};

const BARE_BATCH: i64 = 10_000;

#[derive(clap::Args)]
pub struct Args {
    /// Events that are folded
    #[arg(long, default_value_t = 1_000_000)]
    events: usize,
    /// Contacts they are about
    #[arg(long, default_value_t = 50_000)]
    contacts: usize,
    /// Events that the peers fold
    #[arg(long, default_value_t = 20_000)]
    peer_events: usize,
    /// Rounds; the medians are shown
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// One database only
    #[arg(long)]
    only: Option<Database>,
    /// Kurier and the bare loop alone
    #[arg(long)]
    no_peers: bool,
    /// The folder of the peers, their packages installed
    #[arg(long)]
    peers: PathBuf,
    /// A Python that has the peers' packages
    #[arg(long)]
    python: PathBuf,
    /// A PostgreSQL server that databases may be made on
    #[arg(long, env = "TEST_POSTGRES_URL")]
    postgres: String,
    /// Where the results go as JSON
    #[arg(long)]
    out: PathBuf,
}

/// Events a second of one side in one round.
#[derive(Debug, Serialize)]
struct Speed {
    round: usize,
    side: String,
    events_per_second: f64,
}

#[derive(Default)]
struct Measured(Vec<Speed>);

impl Measured {
    fn add(&mut self, round: usize, side: &str, events: usize, seconds: f64) {
        let events_per_second = events as f64 / seconds;
        eprintln!("    {side}: {} events/s", number(events_per_second, 0));
        self.0.push(Speed {
            round,
            side: side.to_owned(),
            events_per_second,
        });
    }

    fn took(&mut self, args: &Args, round: usize, side: &str, took: &Took) {
        let parts = [
            ("live", took.upserted),
            ("live, processed_events", took.remembered),
            ("rebuild", took.rebuilt),
        ];
        for (part, seconds) in parts {
            self.add(round, &format!("{side}, {part}"), args.events, seconds);
        }
    }
}

pub async fn run(args: &Args) -> anyhow::Result<()> {
    let mut measured = Measured::default();
    let databases = match args.only {
        Some(database) => vec![database],
        None => vec![Database::Sqlite, Database::Postgres],
    };
    for database in databases {
        eprintln!(
            "==> {}: {} events",
            database.name(),
            number(args.events as f64, 0)
        );
        match database {
            Database::Sqlite => on_sqlite(args, &mut measured).await?,
            Database::Postgres => on_postgres(args, &mut measured).await?,
        }
    }
    if !args.no_peers {
        for round in 0..args.rounds {
            for peer in peer::PEERS {
                let (events, seconds) = peer::run(args, peer).await?;
                measured.add(round, peer, events, seconds);
            }
        }
    }
    report::write(args, &measured)
}

async fn on_sqlite(args: &Args, measured: &mut Measured) -> anyhow::Result<()> {
    let home = tempfile::tempdir()?;
    let path = home.path().join("kurier.db");
    let place = Place::Sqlite(&path);
    event::fill(&place.open().await?, args.events, args.contacts).await?;
    let execute = |sql: &str| -> anyhow::Result<()> {
        let connection = rusqlite::Connection::open(&path)?;
        connection.busy_timeout(std::time::Duration::from_secs(10))?;
        Ok(connection.execute_batch(sql)?)
    };
    execute(&own::sqlite_tables())?;
    for round in 0..args.rounds {
        measured.took(args, round, "bare, SQLite", &bare_sqlite::run(&path)?);
        let store = place.open().await?;
        let took = own::run(&store, async || execute(own::FORGET)).await?;
        measured.took(args, round, "Kurier, SQLite", &took);
    }
    Ok(())
}

async fn on_postgres(args: &Args, measured: &mut Measured) -> anyhow::Result<()> {
    let url = fresh(&args.postgres, "bench_projections").await?;
    let place = Place::Postgres(&url);
    event::fill(&place.open().await?, args.events, args.contacts).await?;
    let execute = async |sql: &'static str| -> anyhow::Result<()> {
        let mut connection = PgConnection::connect(&url).await?;
        connection.execute(sqlx::raw_sql(sql)).await?;
        Ok(connection.close().await?)
    };
    execute(own::TABLES).await?;
    execute("ANALYZE").await?;
    for round in 0..args.rounds {
        let bare = bare_postgres::run(&url).await?;
        measured.took(args, round, "bare, PostgreSQL", &bare);
        let store = place.open().await?;
        let took = own::run(&store, async || execute(own::FORGET).await).await?;
        measured.took(args, round, "Kurier, PostgreSQL", &took);
    }
    Ok(())
}
