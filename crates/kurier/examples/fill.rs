//! Writes a log of so many events directly, without HTTP, for measuring what follows it:
//! `cargo run --release --example fill -- DATA EVENTS CONTACTS`, then `kurier serve --data DATA`.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, bail};
use kurier::app::open_store;
use kurier::config::Database;
use kurier::{clock, keyring};
use kurier_core::accept::{Reception, accept};
use kurier_store::Scope;

const BATCH: u64 = 5_000;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [folder, events, contacts] = &args[..] else {
        bail!("give a data folder, how many events, and of how many contacts");
    };
    let (events, contacts): (u64, u64) = (events.parse()?, contacts.parse()?);
    let folder = PathBuf::from(folder);
    let store = open_store(&Database::Embedded { folder }).await?;
    if store.access.workspaces().await?.is_empty() {
        let founding = keyring::found(store.access.as_ref(), "default", None, None).await?;
        println!("admin key {}", founding.admin_key);
    }
    let workspaces = store.access.workspaces().await?;
    let workspace = workspaces.first().context("a workspace")?;
    let began = Instant::now();
    for first in (0..events).step_by(BATCH as usize) {
        let reception = Reception {
            key: &workspace.key,
            received_at: clock::now(),
            sent_at: None,
            kind: None,
            fresh_id: &clock::fresh_event_id,
        };
        let batch =
            (first..events.min(first + BATCH)).map(|n| accept(&said(n, contacts), &reception));
        let batch: Result<Vec<_>, _> = batch.collect();
        let batch = batch.map_err(|problems| anyhow::anyhow!("{problems:?}"))?;
        store.log.append(Scope(workspace.id), batch).await?;
    }
    println!("{events} events in {:.1} s", began.elapsed().as_secs_f64());
    Ok(())
}

/// First everyone says who they are, then what they did.
fn said(n: u64, contacts: u64) -> String {
    // Spread without a pattern, and the same every time.
    let mixed = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 24;
    let user = mixed % contacts;
    if n < contacts {
        let plan = ["free", "pro", "team"][n as usize % 3];
        return format!(
            r#"{{"type":"identify","userId":"user{n}","traits":{{"plan":"{plan}","email":"user{n}@example.com"}}}}"#
        );
    }
    let (event, amount) = (
        ["login", "view", "buy", "search"][mixed as usize % 4],
        mixed % 500,
    );
    format!(
        r#"{{"type":"track","userId":"user{user}","event":"{event}","properties":{{"amount":{amount},"page":"p{}"}}}}"#,
        mixed % 100
    )
}
