//! A server with a long log on SQLite: previews, and how long it takes to be back.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use kurier_core::event::{Event, Position};
use kurier_core::projection;
use kurier_store::{Batch, Scope, Store, Workspace};

use super::api::Api;
use super::{Args, Long, Place, open, quantiles, start, start_with};
use crate::segments::data::{Data, Maker};
use crate::segments::{QUERIES, Size};
use crate::server::Server;

const BATCH: usize = 20_000;
const PREVIEWS: usize = 40;
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Snapshots are written so often here, and after so many events: what a server at rest has
/// after the default two minutes is there sooner, and the tail behind it is as long.
const SNAPSHOT_SECONDS: u64 = 20;
const SNAPSHOT_EVENTS: u64 = 100_000;
/// Who has written none by then writes none.
const SNAPSHOT_PATIENCE: Duration = Duration::from_secs(600);
/// The last event of the log: who knows it has folded everything before.
const LAST: &str = r#"{"id": 4294967295, "signup": 1767225600, "traits": {"last": true}}"#;
const IS_LAST: &str = "contact.last = TRUE";

pub async fn run(args: &Args, size: Size, folder: &Path) -> anyhow::Result<Long> {
    let data_folder = folder.join("long");
    std::fs::create_dir(&data_folder)?;
    let place = Place::Folder(data_folder);
    // It makes the workspace and its keys.
    drop(start(&args.kurier, &place, folder)?);
    let data = Data::open(&args.data.join(size.name()))?;
    eprintln!("==> appending: {}", size.title());
    let store = open(&place).await?;
    let began = Instant::now();
    append(&store, &data).await?;
    let append_seconds = began.elapsed().as_secs_f64();
    skip_projections(&store).await?;
    drop(store);
    eprintln!("==> first start");
    let (server, first_start_seconds) = started(args, &place, folder).await?;
    eprintln!("==> waiting for a snapshot");
    let tail = snapshot_tail(&server).await?;
    eprintln!("==> previews");
    let preview_ms = previews(&server, &data).await?;
    drop(server);
    eprintln!("==> restart");
    let (server, restart_seconds) = started(args, &place, folder).await?;
    Ok(Long {
        size,
        append_seconds,
        first_start_seconds,
        restart_seconds,
        tail,
        preview_ms,
        rss_mb: server.memory()?.0,
    })
}

async fn append(store: &Store, data: &Data) -> anyhow::Result<()> {
    let Workspace { id, key, .. } = store
        .access
        .workspaces()
        .await?
        .pop()
        .context("a workspace")?;
    let mut maker = Maker::new(key);
    let mut batch = Vec::with_capacity(BATCH);
    for line in data.contacts()? {
        batch.push(maker.contact(&line?)?);
        flush(store, Scope(id), &mut batch, BATCH).await?;
    }
    for row in data.rows()? {
        batch.push(maker.event(&row, data)?);
        flush(store, Scope(id), &mut batch, BATCH).await?;
    }
    batch.push(maker.contact(LAST)?);
    flush(store, Scope(id), &mut batch, 1).await
}

async fn flush(
    store: &Store,
    scope: Scope,
    batch: &mut Vec<Event>,
    full: usize,
) -> anyhow::Result<()> {
    if batch.len() >= full {
        store.log.append(scope, std::mem::take(batch)).await?;
    }
    Ok(())
}

/// Only the reactor is measured: the read models are told that they have seen everything.
async fn skip_projections(store: &Store) -> anyhow::Result<()> {
    let to = store.log.head().await?;
    for projection in projection::ALL {
        let from = store.views.checkpoint(projection.name()).await?;
        let between = (from, to.max(Position(0)));
        let batch = Batch::new(*projection, between, projection::Folded::default());
        store.views.apply(batch).await?;
    }
    Ok(())
}

fn settings() -> [(&'static str, String); 2] {
    [
        ("KURIER_SNAPSHOT_SECONDS", SNAPSHOT_SECONDS.to_string()),
        ("KURIER_SNAPSHOT_EVENTS", SNAPSHOT_EVENTS.to_string()),
    ]
}

/// Waits for the snapshot after which none is due; how many events of the log are behind it. A
/// server that is killed before it would be measured as one that starts for the first time.
async fn snapshot_tail(server: &Server) -> anyhow::Result<u64> {
    let began = Instant::now();
    loop {
        let log = server.readiness().await?.log_position;
        let kept = server.metric("kurier_snapshot_position").await?;
        let tail = kept.map(|kept| log.saturating_sub(kept as u64));
        if let Some(tail) = tail.filter(|tail| *tail < SNAPSHOT_EVENTS) {
            return Ok(tail);
        }
        anyhow::ensure!(
            began.elapsed() < SNAPSHOT_PATIENCE,
            "no snapshot of the log's end was written: {kept:?} of {log}"
        );
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Starts a server; how long until it knows the last event.
async fn started(args: &Args, place: &Place, folder: &Path) -> anyhow::Result<(Server, f64)> {
    let began = Instant::now();
    let server = start_with(&args.kurier, place, folder, &settings())?;
    let mut api = Api::connect(server.address).await?;
    while api.preview(IS_LAST, None).await? == 0 {
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok((server, began.elapsed().as_secs_f64()))
}

async fn previews(server: &Server, data: &Data) -> anyhow::Result<Vec<(String, f64, f64)>> {
    let mut api = Api::connect(server.address).await?;
    let now = data.now().to_string();
    let mut all = Vec::new();
    for (name, text) in QUERIES {
        let mut spent = Vec::with_capacity(PREVIEWS);
        for _ in 0..PREVIEWS {
            let began = Instant::now();
            api.preview(text, Some(&now)).await?;
            spent.push(began.elapsed().as_secs_f64() * 1e3);
        }
        let (p50, p99) = quantiles(spent);
        all.push((name.to_owned(), p50, p99));
    }
    Ok(all)
}
