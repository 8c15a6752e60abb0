//! The peers: event stores of their own, with the same events and the same two tables.

use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde::Deserialize;

use super::Args;
use crate::database::fresh;

pub const PEERS: [&str; 3] = ["Emmett, per event", "Emmett, batched", "eventsourcing"];

#[derive(Deserialize)]
struct Told {
    events: usize,
    seconds: f64,
}

/// How many events the peer folded, and in how many seconds. Emmett's consumer may stop while
/// a few are still to come: it is judged by those it folded.
pub async fn run(args: &Args, peer: &str) -> anyhow::Result<(usize, f64)> {
    let url = fresh(&args.postgres, "bench_projections_peer").await?;
    let mut command = match peer.split_once(", ") {
        Some((_, mode)) => {
            let mut node = Command::new("node");
            node.args(["emmett.mjs", mode]);
            node
        }
        None => {
            let mut python = Command::new(&args.python);
            python.arg("eventsourcing_peer.py");
            python
        }
    };
    let output = command
        .arg(args.peer_events.to_string())
        .current_dir(&args.peers)
        .env("PGURL", url)
        .stderr(Stdio::inherit())
        .output()
        .context("the peer does not start")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_default();
    let told: Told =
        serde_json::from_str(last).with_context(|| format!("the peer said: {text}"))?;
    let folded = told.events;
    ensure!(
        2 * folded > args.peer_events,
        "the peer folded {folded} events"
    );
    Ok((folded, told.seconds))
}
