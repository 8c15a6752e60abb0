//! `kurier content check`: are keys what keys are to be?

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use kurier_core::content::{Keyspace, Report, Severity, Slugger, check};
use serde_json::json;

use super::documents;
use crate::cli::desk::Desk;
use crate::config::Config;

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Files with a key on each line, - for what is piped in; all keys of the workspace if none
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

pub async fn run(desk: &Desk, config: &Config, args: &CheckArgs) -> anyhow::Result<ExitCode> {
    let keys = match args.files.is_empty() {
        true => kept(desk, config).await?,
        false => given(&args.files)?,
    };
    let report = check(keys.iter().map(String::as_str));
    match desk.json {
        true => println!("{}", json!(report)),
        false => tell(&report),
    }
    Ok(match report.severity() {
        Some(Severity::Error) => ExitCode::FAILURE,
        _ => ExitCode::SUCCESS,
    })
}

/// The keys of all nodes, and of all sets once.
async fn kept(desk: &Desk, config: &Config) -> anyhow::Result<Vec<String>> {
    let (mut nodes, mut sets) = (Vec::new(), BTreeSet::new());
    for held in documents(desk, &[]).await? {
        let body = &held.body;
        let slugger = Slugger::new(&body.document.settings);
        let keyspace = Keyspace::new(&body.document, &body.source, config.content.siblings);
        let keys = body.document.nodes.iter().map(|node| node.key.to_string());
        nodes.extend(keys);
        let entries = keyspace.entries(&slugger).map(|entry| entry.key);
        sets.extend(entries.filter(|key| key.parse::<kurier_core::content::Key>().is_err()));
    }
    nodes.extend(sets);
    Ok(nodes)
}

fn given(files: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    let mut keys = Vec::new();
    for file in files {
        let text = match file.as_os_str() == "-" {
            true => std::io::read_to_string(std::io::stdin()),
            false => std::fs::read_to_string(file),
        };
        let text = text.with_context(|| format!("cannot read {}", file.display()))?;
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        keys.extend(lines.map(str::to_owned));
    }
    Ok(keys)
}

fn tell(report: &Report) {
    let lists = [
        ("error: not the form of a key", &report.format_violations),
        ("error: there twice", &report.duplicates),
        ("warning: longer than usual", &report.length_violations),
    ];
    for (what, keys) in lists {
        keys.iter().for_each(|key| println!("{what}: {key}"));
    }
    for (identifier, types) in &report.cross_type {
        let types: Vec<&str> = types.iter().map(|it| it.as_str()).collect();
        println!(
            "info: several types are called {identifier}: {}",
            types.join(", ")
        );
    }
    println!(
        "{} keys, {:.1} bytes on average: {} of a wrong form, {} twice, {} long",
        report.total_keys,
        report.average_length,
        report.format_violations.len(),
        report.duplicates.len(),
        report.length_violations.len(),
    );
}
