//! `kurier dead`: messages that came to an end that is not a good one.

use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, Subcommand};
use kurier_core::id::MessageId;
use kurier_core::message::MessageState;
use kurier_store::MessageFilter;

use super::desk::Desk;
use super::message::{FilterArgs, Output, Show, open, print_counts, print_list, show};
use crate::config::Config;
use crate::flow::{Act, act_on};

#[derive(Debug, Args)]
pub struct DeadArgs {
    #[command(subcommand)]
    command: DeadCommand,
}

#[derive(Debug, Subcommand)]
enum DeadCommand {
    /// List dead letters: failed for good, or nobody knows whether they arrived
    List(List),
    /// Show a dead letter with every attempt
    Show(Show),
    /// Queue dead letters again, under their ids; every guard looks at them again
    Redrive(Chosen),
    /// Put dead letters away: they are in this list no more
    Discard(Chosen),
}

#[derive(Debug, Args)]
struct List {
    #[command(flatten)]
    filter: FilterArgs,
    /// Count them by their causes instead
    #[arg(long)]
    causes: bool,
    /// How many
    #[arg(long, default_value_t = 50)]
    limit: usize,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Args)]
struct Chosen {
    /// The messages' ids; without any, the filter says which
    ids: Vec<MessageId>,
    #[command(flatten)]
    filter: FilterArgs,
    /// All of them
    #[arg(long, conflicts_with = "ids")]
    all: bool,
    #[command(flatten)]
    output: Output,
}

pub async fn run(config: &Config, args: DeadArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        DeadCommand::List(args) => list(config, args).await?,
        DeadCommand::Show(args) => show(config, args).await?,
        DeadCommand::Redrive(args) => act(config, args, Act::Redrive).await?,
        DeadCommand::Discard(args) => act(config, args, Act::Discard).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(config: &Config, args: List) -> anyhow::Result<()> {
    let desk = open(config, &args.output).await?;
    let filter = dead(args.filter, &desk).await?;
    match args.causes {
        true => print_counts(&desk, &filter).await,
        false => print_list(&desk, filter, args.limit).await,
    }
}

/// Which dead letters are meant: what a guard skipped is one only if it is asked for.
async fn dead(filter: FilterArgs, desk: &Desk) -> anyhow::Result<MessageFilter> {
    let mut filter = filter.read(desk).await?;
    if filter.states.is_empty() && filter.reason.is_none() {
        filter.states = vec![MessageState::Failed, MessageState::Unknown];
    }
    filter.is_discarded = Some(false);
    Ok(filter)
}

async fn act(config: &Config, args: Chosen, act: Act) -> anyhow::Result<()> {
    let has_filter = !args.filter.is_empty();
    if args.ids.is_empty() && !has_filter && !args.all {
        bail!("say which: ids, a filter, or --all");
    }
    if !args.ids.is_empty() && has_filter {
        bail!("give ids or a filter, not both");
    }
    let desk = open(config, &args.output).await?;
    let chosen = match args.ids.is_empty() {
        true => Err(dead(args.filter, &desk).await?),
        false => Ok(args.ids),
    };
    let done = act_on(&desk.app.store, desk.scope(), act, chosen).await?;
    let word = match act {
        Act::Redrive => "queued again",
        Act::Discard => "put away",
    };
    match desk.json {
        true => println!("{}", serde_json::json!({"messages": done})),
        false => println!("{done} message(s) {word}"),
    }
    Ok(())
}
