//! `kurier suppression`: who is kept from what.

mod import;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use kurier_core::message::{SkipReason, SuppressionSource};
use kurier_store::{Suppressed, SuppressionQuery};
use serde_json::json;

use super::desk::Desk;
use super::table;
use super::workspace::WorkspaceArgs;
use crate::config::Config;
use crate::flow::suppress::{self, Fault, Wanted, Written};
use crate::http::SuppressionView;

const PAGE: usize = 500;

#[derive(Debug, Args)]
pub struct SuppressionArgs {
    #[command(subcommand)]
    command: SuppressionCommand,
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// Answer in JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum SuppressionCommand {
    /// List addresses and what is kept from them, newest first
    List(ListArgs),
    /// Keep addresses from everything, or from a topic
    Add(AddArgs),
    /// Let an address have messages again, or those on a topic
    Remove(OneArgs),
    /// Keep the addresses in a CSV file from everything, or from a topic
    Import(import::ImportArgs),
    /// Say whether a message would be sent to an address; the exit code is 1 if not
    Check(OneArgs),
}

#[derive(Debug, Args)]
struct ListArgs {
    /// Only this address
    #[arg(long)]
    address: Option<String>,
    /// Only this topic; `*` is every topic, an empty one everything
    #[arg(long)]
    topic: Option<String>,
    /// Only with this reason
    #[arg(long)]
    reason: Option<String>,
    /// At most so many
    #[arg(long, default_value_t = 100)]
    limit: usize,
}

#[derive(Debug, Args)]
struct How {
    /// Only this topic; `*` is every topic [default: everything]
    #[arg(long)]
    topic: Option<String>,
    /// email, phone or other [default: by the looks of the address]
    #[arg(long)]
    kind: Option<String>,
}

#[derive(Debug, Args)]
struct AddArgs {
    #[arg(required = true)]
    addresses: Vec<String>,
    #[command(flatten)]
    how: How,
    /// unsubscribed, bounced, complained or manual [default: manual]
    #[arg(long)]
    reason: Option<String>,
}

#[derive(Debug, Args)]
struct OneArgs {
    address: String,
    #[command(flatten)]
    how: How,
}

impl OneArgs {
    fn written(&self) -> Written<'_> {
        Written {
            address: &self.address,
            kind: self.how.kind.as_deref(),
            topic: self.how.topic.as_deref(),
            reason: None,
        }
    }
}

pub async fn run(config: &Config, args: SuppressionArgs) -> anyhow::Result<ExitCode> {
    let desk = Desk::open(config, &args.workspace, args.json).await?;
    match args.command {
        SuppressionCommand::List(args) => list(&desk, &args).await,
        SuppressionCommand::Add(args) => add(&desk, &args).await,
        SuppressionCommand::Remove(args) => remove(&desk, &args).await,
        SuppressionCommand::Import(args) => import::run(&desk, &args).await,
        SuppressionCommand::Check(args) => check(&desk, &args).await,
    }
}

fn in_words((field, detail): Fault) -> anyhow::Error {
    anyhow::anyhow!("{field} {detail}")
}

async fn list(desk: &Desk, args: &ListArgs) -> anyhow::Result<ExitCode> {
    let written = Written {
        address: args.address.as_deref().unwrap_or_default(),
        topic: args.topic.as_deref(),
        reason: args.reason.as_deref(),
        kind: None,
    };
    let address = args.address.as_ref().map(|_| written.address());
    let reach = args.topic.as_ref().map(|_| written.reach());
    let key = &desk.grant.workspace.key;
    let query = SuppressionQuery {
        address: address.transpose().map_err(in_words)?.map(|it| it.key(key)),
        reach: reach.transpose().map_err(in_words)?,
        reason: written.reason().map_err(in_words)?,
        after: None,
        limit: args.limit,
    };
    let rows = pages(desk, query).await?;
    if desk.json {
        let views: Vec<_> = rows.into_iter().map(SuppressionView::from).collect();
        println!("{}", json!(views));
    } else {
        show(rows);
    }
    Ok(ExitCode::SUCCESS)
}

async fn pages(desk: &Desk, mut query: SuppressionQuery) -> anyhow::Result<Vec<Suppressed>> {
    let store = &desk.app.store;
    let (mut rows, limit): (Vec<Suppressed>, usize) = (Vec::new(), query.limit);
    loop {
        query.limit = PAGE.min(limit - rows.len());
        let page = store
            .suppressions
            .suppressions(desk.scope(), &query)
            .await?;
        let last = page.suppressions.last();
        query.after = last.map(|it| (it.created_at, it.address_key, it.reach.clone()));
        let workspace = &desk.grant.workspace;
        rows.extend(suppress::readable(store, workspace, page.suppressions).await?);
        if !page.has_more || rows.len() >= limit {
            return Ok(rows);
        }
    }
}

fn show(rows: Vec<Suppressed>) {
    let rows = rows.into_iter().map(|row| {
        let contact = row.contact.map(|contact| format!("contact {contact}"));
        vec![
            row.address
                .or(contact)
                .unwrap_or_else(|| "(forgotten)".into()),
            match row.reach.as_str() {
                "" => "everything".to_owned(),
                "*" => "every topic".to_owned(),
                topic => topic.to_owned(),
            },
            row.reason.as_str().to_owned(),
            row.source.as_str().to_owned(),
            row.created_at.to_string(),
        ]
    });
    table::print(&["address", "from", "reason", "source", "since"], rows);
}

async fn add(desk: &Desk, args: &AddArgs) -> anyhow::Result<ExitCode> {
    let read = |address: &String| {
        let written = Written {
            address,
            kind: args.how.kind.as_deref(),
            topic: args.how.topic.as_deref(),
            reason: args.reason.as_deref(),
        };
        let named = |(field, detail)| anyhow::anyhow!("{address}: {field} {detail}");
        written.read().map_err(named)
    };
    let wanted: Vec<Wanted> = args.addresses.iter().map(read).collect::<Result<_, _>>()?;
    let (store, workspace) = (&desk.app.store, &desk.grant.workspace);
    let fresh = suppress::suppress(store, workspace, &wanted, SuppressionSource::Cli).await?;
    let added = fresh.iter().filter(|fresh| **fresh).count();
    let known = fresh.len() - added;
    if desk.json {
        println!("{}", json!({"added": added, "known": known}));
    } else {
        println!("{added} added, {known} known already");
    }
    Ok(ExitCode::SUCCESS)
}

async fn remove(desk: &Desk, args: &OneArgs) -> anyhow::Result<ExitCode> {
    let written = args.written();
    let address = written.address().map_err(in_words)?;
    let reach = written.reach().map_err(in_words)?;
    let (store, workspace) = (&desk.app.store, &desk.grant.workspace);
    let source = SuppressionSource::Cli;
    let removed = suppress::release(store, workspace, &address, &reach, source).await?;
    if desk.json {
        println!("{}", json!({"removed": removed}));
    } else if removed {
        println!("{address} may be sent to again");
    } else {
        println!("{address} is not suppressed so");
    }
    Ok(code(removed))
}

async fn check(desk: &Desk, args: &OneArgs) -> anyhow::Result<ExitCode> {
    let written = args.written();
    let address = written.address().map_err(in_words)?;
    let topic = args.how.topic.as_deref().map(str::parse).transpose()?;
    let asked = vec![(address.key(&desk.grant.workspace.key), topic)];
    let standing = desk.app.store.suppressions.standing(desk.scope(), asked);
    let reason = standing.await?.into_iter().next().flatten();
    if desk.json {
        println!("{}", json!({"sent": reason.is_none(), "reason": reason}));
    } else {
        let verdict = reason.map_or("may be sent to", SkipReason::as_str);
        println!("{address}: {verdict}");
    }
    Ok(code(reason.is_none()))
}

fn code(is_well: bool) -> ExitCode {
    if is_well {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
