//! `kurier content export`: documents with the keys they have, for another place.

use std::process::ExitCode;

use clap::Args;
use kurier_core::content::{Keyspace, Slugger};

use super::{document, documents, node};
use crate::cli::desk::Desk;
use crate::cli::output;
use crate::config::Config;

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Documents by source, or nodes by key with everything below them; all if none is named
    #[arg(value_name = "DOCUMENT")]
    documents: Vec<String>,
}

pub async fn run(desk: &Desk, config: &Config, args: &ExportArgs) -> anyhow::Result<ExitCode> {
    match desk.json {
        true => keyspace(desk, config, args).await?,
        false => markdown(desk, args).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A document as it was given, a node with everything below it.
async fn markdown(desk: &Desk, args: &ExportArgs) -> anyhow::Result<()> {
    if args.documents.is_empty() {
        for held in documents(desk, &[]).await? {
            print!("{}", held.body.source);
        }
    }
    for named in &args.documents {
        match node(desk, named).await {
            Ok((held, at @ 1..)) => println!("{}", held.section(at)),
            _ => print!("{}", document(desk, named).await?.body.source),
        }
    }
    Ok(())
}

/// A line for each key, as the keyspace has it.
async fn keyspace(desk: &Desk, config: &Config, args: &ExportArgs) -> anyhow::Result<()> {
    for held in documents(desk, &args.documents).await? {
        let body = &held.body;
        let slugger = Slugger::new(&body.document.settings);
        let keyspace = Keyspace::new(&body.document, &body.source, config.content.siblings);
        let mut lines = String::new();
        for entry in keyspace.entries(&slugger) {
            lines.push_str(&serde_json::to_string(&entry)?);
            lines.push('\n');
        }
        print!("{lines}");
        if output::is_closed() {
            break;
        }
    }
    Ok(())
}
