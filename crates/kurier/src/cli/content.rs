//! `kurier content`: Markdown, and what it became; beside a server or without one.

mod check;
mod export;
mod files;
mod import;
mod look;

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{anyhow, bail};
use clap::{Args, Subcommand};
use kurier_core::content::{Key, withdrawn};

use super::desk::Desk;
use super::workspace::WorkspaceArgs;
use crate::config::Config;
use crate::flow::content::{Found, Held, gone, used, withdraw};

#[derive(Debug, Args)]
pub struct ContentArgs {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// Answer in JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Import documents: files, folders with all Markdown in them, or - for what is piped in
    #[command(after_help = IMPORT_EXAMPLE)]
    Import(import::ImportArgs),
    /// Show a document or a node of one
    Show(look::ShowArgs),
    /// Show documents as trees of keys
    Tree(look::TreeArgs),
    /// Print documents as they were imported, or with --json their whole keyspace
    Export(export::ExportArgs),
    /// Say what is wrong or odd with keys: their form, doubles, lengths
    Check(check::CheckArgs),
    /// Take a document away: its keys are gone for ever
    Withdraw(WithdrawArgs),
}

const IMPORT_EXAMPLE: &str = "Examples:
  kurier content import handbook/ --dry-run
  kurier content import handbook/ terms.md
  curl -s https://example.com/terms.md | kurier content import - --source terms.md";

#[derive(Debug, Args)]
struct WithdrawArgs {
    /// The document, by its source or its key
    document: String,
}

pub async fn run(config: &Config, args: ContentArgs) -> anyhow::Result<ExitCode> {
    let desk = Desk::open(config, &args.workspace, args.json).await?;
    desk.drain().await?;
    let done = match &args.command {
        Command::Import(args) => import::run(&desk, args).await,
        Command::Show(args) => look::show(&desk, args).await,
        Command::Tree(args) => look::tree(&desk, args).await,
        Command::Export(args) => export::run(&desk, config, args).await,
        Command::Check(args) => check::run(&desk, config, args).await,
        Command::Withdraw(args) => take_away(&desk, args).await,
    };
    desk.close().await;
    done
}

async fn take_away(desk: &Desk, args: &WithdrawArgs) -> anyhow::Result<ExitCode> {
    let held = document(desk, &args.document).await?;
    let source = &held.known.source_id;
    if withdraw(&desk.app, desk.scope(), source).await?.is_none() {
        bail!("`{source}` is not there any more");
    }
    let keys = withdrawn(&held.body.document);
    let count = keys.len();
    warn_of(desk, &keys).await?;
    match desk.json {
        true => println!("{}", serde_json::json!({"source": source, "gone": count})),
        false => println!("withdrew {source}: {count} keys are gone"),
    }
    Ok(ExitCode::SUCCESS)
}

fn key(text: &str) -> anyhow::Result<Key> {
    let no_key = |_| anyhow!("`{text}` is no key; keys are like para:refund_policy:001");
    text.parse().map_err(no_key)
}

/// Messages cannot be sent that quote what is gone.
async fn warn_of(desk: &Desk, gone: &[Key]) -> anyhow::Result<()> {
    for (key, used) in used(&desk.app, desk.scope(), gone).await? {
        let templates = used.templates.iter().map(|it| format!("template {it}"));
        let journeys = used.journeys.iter().map(|it| format!("journey {it}"));
        let by: Vec<String> = templates.chain(journeys).collect();
        eprintln!("warning: {key} goes, and is quoted by {}", by.join(", "));
    }
    Ok(())
}

/// The node of a key.
async fn node(desk: &Desk, text: &str) -> anyhow::Result<(Arc<Held>, usize)> {
    let key = key(text)?;
    match desk.app.library.find(desk.scope(), key).await? {
        Found::Node { held, at } => Ok((held, at)),
        Found::Unknown => bail!("there is no content `{key}`"),
        Found::Gone { node, import } => bail!("{}", gone(&node, import.as_ref())),
    }
}

/// A document by its source, or by the key of it or of anything in it.
async fn document(desk: &Desk, named: &str) -> anyhow::Result<Arc<Held>> {
    let library = &desk.app.library;
    if let Some(known) = library.of_source(desk.scope(), named).await?
        && let Some(held) = library.held(desk.scope(), &known).await?
    {
        return Ok(held);
    }
    match named.parse::<Key>() {
        Ok(_) => Ok(node(desk, named).await?.0),
        Err(_) => bail!("there is no document `{named}`"),
    }
}

/// All documents, or those that are named.
async fn documents(desk: &Desk, named: &[String]) -> anyhow::Result<Vec<Arc<Held>>> {
    let mut all = Vec::new();
    for name in named {
        all.push(document(desk, name).await?);
    }
    if named.is_empty() {
        let library = &desk.app.library;
        for known in library.documents(desk.scope()).await? {
            all.extend(library.held(desk.scope(), &known).await?);
        }
    }
    Ok(all)
}
