//! The peers: Node programs that say how long it took to queue, to drain, and for one job when
//! there is nothing else to do.

use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde::Deserialize;

use super::{Args, Latency, SINGLES, Speed};
use crate::database::fresh;

pub const PEERS: [&str; 3] = ["graphile-worker", "pg-boss", "BullMQ"];

#[derive(Deserialize)]
struct Told {
    messages: usize,
    enqueue_seconds: f64,
    drain_seconds: f64,
    latency_ms: (f64, f64),
}

pub async fn run(args: &Args, round: usize, peer: &str) -> anyhow::Result<(Speed, Latency)> {
    let url = fresh(&args.postgres, super::DATABASE).await?;
    let output = Command::new("node")
        .arg(format!("{}.mjs", peer.to_lowercase()))
        .args([args.messages.to_string(), SINGLES.to_string()])
        .current_dir(&args.peers)
        .env("PGURL", url)
        .env("REDIS_URL", &args.redis)
        .stderr(Stdio::inherit())
        .output()
        .context("node does not start")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_default();
    let told: Told =
        serde_json::from_str(last).with_context(|| format!("the peer said: {text}"))?;
    ensure!(
        told.messages == args.messages,
        "the peer queued {}",
        told.messages
    );
    let seconds = (told.enqueue_seconds, told.drain_seconds);
    let speed = Speed::of(round, peer, told.messages, seconds);
    Ok((speed, Latency::of(round, peer, told.latency_ms)))
}
