//! A great many instances that wait: what they take in memory and on disk, how late timers are
//! among them, and how long a server needs to go on after kill -9.

use std::path::Path;
use std::time::Instant;

use comfy_table::Table;
use kurier_core::event::{Kind, Position};
use serde::Serialize;
use sqlx::{Connection as _, PgConnection};

use super::Args;
use super::own::{definition, place, publish, send, until};
use crate::freshness::{Place, open, quantiles, start};
use crate::plan::Database;
use crate::report::{number, table};

/// So many have a timer that comes soon.
const SOON: usize = 20_000;
const SOON_WAIT: &str = "5s";
const READ_MAX: usize = 10_000;

#[derive(Debug, Serialize)]
pub struct Crowd {
    pub database: Database,
    waiting: usize,
    enter_seconds: f64,
    pub rss_mb: f64,
    memory_bytes_each: f64,
    disk_bytes_each: f64,
    /// How late timers were: the median and the 99th percentile.
    pub late_ms: (f64, f64),
    pub recovery_seconds: f64,
}

pub async fn run(args: &Args, database: Database) -> anyhow::Result<Crowd> {
    let folder = tempfile::tempdir()?;
    let place = place(args, database, folder.path()).await?;
    let mut server = start(&args.kurier, &place, folder.path())?;
    publish(&place, &definition("later", "later", "30d")).await?;
    publish(&place, &definition("soon", "soon", SOON_WAIT)).await?;
    let (idle_mb, _) = server.memory()?;
    let empty = disk(&place).await?;
    let began = Instant::now();
    send(server.address, "later", args.waiting).await?;
    until(server.address, "journey.entered", args.waiting).await?;
    let enter_seconds = began.elapsed().as_secs_f64();
    server.catch_up().await?;
    let (rss_mb, _) = server.memory()?;
    let full = disk(&place).await?;
    send(server.address, "soon", SOON).await?;
    until(server.address, "journey.finished", SOON).await?;
    let late_ms = quantiles(lateness(&place).await?);
    server.kill();
    let recovery_seconds = recover(args, &place, folder.path()).await?;
    let each = |total: f64| total / args.waiting as f64;
    Ok(Crowd {
        database,
        waiting: args.waiting,
        enter_seconds,
        rss_mb,
        memory_bytes_each: each((rss_mb - idle_mb) * 1e6),
        disk_bytes_each: each(full - empty),
        late_ms,
        recovery_seconds,
    })
}

/// Starts again and waits until it has reacted to an event that came after.
async fn recover(args: &Args, place: &Place, folder: &Path) -> anyhow::Result<f64> {
    let began = Instant::now();
    let server = start(&args.kurier, place, folder)?;
    publish(place, &definition("again", "again", "1s")).await?;
    send(server.address, "again", 1).await?;
    until(server.address, "journey.entered", 1).await?;
    Ok(began.elapsed().as_secs_f64())
}

/// From when a run was to end to when that was written, in ms.
async fn lateness(place: &Place) -> anyhow::Result<Vec<f64>> {
    let store = open(place).await?;
    let (mut after, mut late) = (Position(0), Vec::new());
    loop {
        let batch = store.log.read(after, READ_MAX).await?;
        let Some(last) = batch.last() else {
            return Ok(late);
        };
        after = last.position;
        let ended = batch.iter().map(|recorded| &recorded.event);
        let ended = ended.filter(|event| event.kind == Kind::JourneyFinished);
        late.extend(
            ended.map(|event| event.recorded_at.micros_since(event.occurred_at) as f64 / 1_000.0),
        );
    }
}

async fn disk(place: &Place) -> anyhow::Result<f64> {
    match place {
        Place::Folder(folder) => folder_bytes(folder),
        Place::Url(url) => {
            let mut connection = PgConnection::connect(url).await?;
            let size = "SELECT pg_database_size(current_database())";
            let bytes: i64 = sqlx::query_scalar(size).fetch_one(&mut connection).await?;
            Ok(bytes as f64)
        }
    }
}

fn folder_bytes(folder: &Path) -> anyhow::Result<f64> {
    let mut bytes = 0.0;
    for entry in std::fs::read_dir(folder)? {
        let data = entry?.metadata()?;
        if data.is_file() {
            bytes += data.len() as f64;
        }
    }
    Ok(bytes)
}

pub fn table_of(crowds: &[Crowd]) -> Table {
    let mut rows = table(&[
        "all waiting",
        "instances",
        "entered in s",
        "RSS MB",
        "memory B each",
        "disk B each",
        "late p50 ms",
        "p99 ms",
        "recovery s",
    ]);
    for crowd in crowds {
        rows.add_row([
            crowd.database.name().to_owned(),
            number(crowd.waiting as f64, 0),
            number(crowd.enter_seconds, 1),
            number(crowd.rss_mb, 0),
            number(crowd.memory_bytes_each, 0),
            number(crowd.disk_bytes_each, 0),
            number(crowd.late_ms.0, 0),
            number(crowd.late_ms.1, 0),
            number(crowd.recovery_seconds, 1),
        ]);
    }
    rows
}
