//! `kurier log`: where the log stands, and moving old months out of its way.

use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, Subcommand};
use kurier_core::projection;
use kurier_core::time::Timestamp;
use kurier_store::{Scrub, Store};
use serde_json::json;

use super::table;
use crate::app::open_store;
use crate::config::{Config, Database};

#[derive(Debug, Args)]
pub struct LogArgs {
    #[command(subcommand)]
    command: LogCommand,
}

#[derive(Debug, Subcommand)]
enum LogCommand {
    /// How far the log and its readers have come
    Status {
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
    /// Write the embedded database anew, so that no stray copy of erased data is left in it;
    /// nothing can be written meanwhile
    Scrub,
    /// Move the months before a date into the archive, which rebuilds still read (PostgreSQL)
    Archive {
        /// Months that end before this date's month are moved, such as 2026-01-01
        #[arg(long, value_name = "DATE")]
        before: Timestamp,
    },
}

pub async fn run(config: &Config, args: LogArgs) -> anyhow::Result<ExitCode> {
    let store = open_store(&config.database).await?;
    match args.command {
        LogCommand::Status { json } => status(&store, json).await?,
        LogCommand::Scrub => {
            store.log.scrub(Scrub::Whole).await?;
            println!("scrubbed");
        }
        LogCommand::Archive { before } => archive(config, &store, before).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn status(store: &Store, as_json: bool) -> anyhow::Result<()> {
    let head = store.log.head().await?;
    let mut rows = Vec::new();
    for projection in projection::ALL {
        let position = store.views.checkpoint(projection.name()).await?;
        let set_aside = store.views.poisoned(projection.name()).await?;
        rows.push((
            projection.name(),
            position.0,
            head.0 - position.0,
            set_aside,
        ));
    }
    if as_json {
        let list: Vec<_> = rows
            .iter()
            .map(|(name, position, lag, set_aside)| {
                json!({"name": name, "position": position, "lag": lag, "set_aside": set_aside})
            })
            .collect();
        println!("{}", json!({"position": head, "projections": list}));
        return Ok(());
    }
    println!("log position {head}");
    let cells = |(name, position, lag, set_aside): (&str, i64, i64, u64)| {
        vec![
            name.to_owned(),
            position.to_string(),
            lag.to_string(),
            set_aside.to_string(),
        ]
    };
    table::print(
        &["projection", "position", "lag", "set aside"],
        rows.into_iter().map(cells),
    );
    Ok(())
}

async fn archive(config: &Config, store: &Store, before: Timestamp) -> anyhow::Result<()> {
    if let Database::Embedded { .. } = config.database {
        bail!("the embedded database keeps all months in one file; there is nothing to archive");
    }
    let moved = store.log.archive(before).await?;
    match moved.as_slice() {
        [] => println!("no month ends before {before}"),
        months => println!("archived {}", months.join(", ")),
    }
    Ok(())
}
