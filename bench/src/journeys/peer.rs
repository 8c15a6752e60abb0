//! The peers: Node programs that say how long their runs took.

use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde::Deserialize;

use super::{Args, WAIT_MS, fresh_database};

#[derive(Deserialize)]
struct Told {
    runs: usize,
    seconds: f64,
}

pub async fn dbos(args: &Args) -> anyhow::Result<f64> {
    let url = fresh_database(args).await?;
    let mut command = node(args, "dbos.mjs");
    command.env("PGURL", url);
    seconds(args, &mut command)
}

pub fn restate(args: &Args) -> anyhow::Result<f64> {
    let folder = tempfile::tempdir()?;
    let mut command = node(args, "restate.mjs");
    command.arg(folder.path()).env("RESTATE_LOGGING", "ERROR");
    seconds(args, &mut command)
}

fn node(args: &Args, program: &str) -> Command {
    let mut command = Command::new("node");
    command
        .arg(program)
        .args([args.runs.to_string(), WAIT_MS.to_string()])
        .current_dir(&args.peers)
        .stderr(Stdio::inherit());
    command
}

fn seconds(args: &Args, command: &mut Command) -> anyhow::Result<f64> {
    let output = command.output().context("node does not start")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_default();
    let told: Told =
        serde_json::from_str(last).with_context(|| format!("the peer said: {text}"))?;
    ensure!(told.runs == args.runs, "the peer ran {} times", told.runs);
    Ok(told.seconds)
}
