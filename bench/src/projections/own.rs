//! Kurier: its runner and its rebuild, over either database.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use kurier::flow::{Projector, rebuild};
use kurier::http::Pressure;
use kurier_store::{Postgres, Sqlite, Store};
use tokio::sync::watch;

use super::summary::{REMEMBERED, Summaries, UPSERTED};

pub const TABLES: &str = "
    CREATE TABLE bench_summary (workspace UUID NOT NULL, contact UUID NOT NULL,
      event_count BIGINT NOT NULL, amount BIGINT NOT NULL, last_type TEXT, revision BIGINT NOT NULL,
      PRIMARY KEY (workspace, contact));
    CREATE TABLE bench_count (workspace UUID NOT NULL, event_type TEXT NOT NULL,
      total BIGINT NOT NULL, revision BIGINT NOT NULL, PRIMARY KEY (workspace, event_type));";

/// SQLite has fewer types, and tables in the order of their keys.
pub fn sqlite_tables() -> String {
    let strict = TABLES.replace("UUID", "BLOB").replace("BIGINT", "INTEGER");
    strict.replace("));", ")) STRICT, WITHOUT ROWID;")
}

pub const FORGET: &str = "
    DELETE FROM bench_summary; DELETE FROM bench_count;
    DELETE FROM processed_events; DELETE FROM checkpoint;";

/// Seconds for all events: live with rows that know how far they are, live with
/// `processed_events`, and rebuilt.
pub struct Took {
    pub upserted: f64,
    pub remembered: f64,
    pub rebuilt: f64,
}

pub enum Place<'a> {
    Sqlite(&'a Path),
    Postgres(&'a str),
}

impl Place<'_> {
    pub async fn open(&self) -> anyhow::Result<Store> {
        Ok(match self {
            Self::Sqlite(path) => Sqlite::open(path)?.into(),
            Self::Postgres(url) => Postgres::open(url).await?.into(),
        })
    }
}

pub async fn live(store: &Store, of: &'static Summaries) -> anyhow::Result<f64> {
    let projector = Projector::of(store.clone(), Arc::new(Pressure::default()), of);
    let began = Instant::now();
    projector.drain().await?;
    Ok(began.elapsed().as_secs_f64())
}

pub async fn rebuilt(store: &Store) -> anyhow::Result<f64> {
    let work = watch::Sender::default();
    let began = Instant::now();
    rebuild::rebuild(store, &UPSERTED, &work).await?;
    Ok(began.elapsed().as_secs_f64())
}

pub async fn run(
    store: &Store,
    forget: impl AsyncFn() -> anyhow::Result<()>,
) -> anyhow::Result<Took> {
    forget().await?;
    let remembered = live(store, &REMEMBERED).await?;
    forget().await?;
    let upserted = live(store, &UPSERTED).await?;
    let rebuilt = rebuilt(store).await?;
    Ok(Took {
        upserted,
        remembered,
        rebuilt,
    })
}
