//! `kurier bundle evidence`: what became of messages and who wants none, as one version.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, ensure};
use clap::Args;
use kurier_core::bundle::{Kind, Version};
use kurier_core::time::Timestamp;
use serde_json::json;

use crate::cli::desk::Desk;
use crate::clock;
use crate::flow::evidence;

#[derive(Debug, Args)]
pub struct EvidenceArgs {
    /// Where the evidence is kept: with it, and with nothing else, an event can be shown later
    file: PathBuf,
    /// From when on: 2026-11-01T00:00:00Z; since the log began if nothing is said
    #[arg(long, value_name = "TIME")]
    from: Option<Timestamp>,
    /// Until when, that time not included; until now if nothing is said
    #[arg(long, value_name = "TIME")]
    to: Option<Timestamp>,
}

pub async fn run(desk: &Desk, args: &EvidenceArgs) -> anyhow::Result<ExitCode> {
    let (store, scope) = (&desk.app.store, desk.scope());
    let from = args.from.unwrap_or(Timestamp::from_millis(0));
    let time = (from, args.to.unwrap_or_else(clock::now));
    ensure!(time.0 < time.1, "--from is not before --to");
    let gathered = evidence::gather(store, scope, time).await?;
    ensure!(
        !gathered.is_too_large(),
        "these are more events than one batch holds: gather a shorter time"
    );
    let summary = gathered.summary();
    let summary = summary.context("nothing is known of messages or consent in that time")?;
    // First, since what is published and not kept proves nothing.
    let shown = args.file.display();
    std::fs::write(&args.file, serde_json::to_vec(&gathered)?)
        .with_context(|| format!("cannot write {shown}"))?;
    evidence::publish(store, scope, &summary).await?;
    desk.app.versions.drain().await?;
    let (title, content) = (summary.title(), summary.canonical());
    let id = Version::new(Kind::Evidence, &title, &content, Vec::new())?.id();
    let count = summary.count;
    match desk.json {
        true => println!(
            "{}",
            json!({"versionId": id, "name": title, "events": count, "root": summary.root})
        ),
        false => println!("{count} event(s) gathered in {shown}: {title} {id}"),
    }
    Ok(ExitCode::SUCCESS)
}
