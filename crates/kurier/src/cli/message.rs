//! `kurier message`: the ledger of what was asked for and what became of it.

mod read;

use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use kurier_core::id::{ContactId, MessageId};
use kurier_core::message::{MessageState, Reason};
use kurier_core::projection::MessageSummary;
use kurier_core::time::Timestamp;
use kurier_store::{MessageFilter, MessageQuery};

use super::desk::Desk;
use super::table;
use super::workspace::WorkspaceArgs;
use crate::config::Config;
use crate::http;

#[derive(Debug, Args)]
pub struct MessageArgs {
    #[command(subcommand)]
    command: MessageCommand,
}

#[derive(Debug, Subcommand)]
enum MessageCommand {
    /// List messages, newest first
    List(List),
    /// Count messages by channel, state, reason and what the channel said
    Counts(Counts),
    /// Show a message with every attempt
    Show(Show),
    /// Show what a message says: its subject and its words
    #[command(
        after_help = "Example:\n  kurier message read --to ann@example.com --state sent --wait 10"
    )]
    Read(read::ReadArgs),
}

#[derive(Debug, Args)]
struct List {
    #[command(flatten)]
    filter: FilterArgs,
    /// How many
    #[arg(long, default_value_t = 50)]
    limit: usize,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Args)]
struct Counts {
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Args)]
pub struct Show {
    /// The message's id
    pub id: MessageId,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub struct Output {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub workspace: WorkspaceArgs,
}

/// Which messages; all that is given must hold.
#[derive(Debug, Clone, Default, Args)]
pub struct FilterArgs {
    /// Of the contact with this id
    #[arg(long, value_name = "ID")]
    contact: Option<ContactId>,
    /// Of this journey, by its id or name
    #[arg(long)]
    pub journey: Option<String>,
    /// Asked for by this node
    #[arg(long)]
    node: Option<String>,
    /// Of this channel, as it was asked for
    #[arg(long)]
    channel: Option<String>,
    /// Written with this template
    #[arg(long)]
    template: Option<String>,
    /// About this topic
    #[arg(long)]
    topic: Option<String>,
    /// To this address
    #[arg(long, value_name = "ADDRESS")]
    to: Option<String>,
    /// In this state; may be given more than once
    #[arg(long, value_parser = state)]
    state: Vec<MessageState>,
    /// For this reason
    #[arg(long, value_parser = reason)]
    reason: Option<Reason>,
    /// What the channel said last, such as `http 503`
    #[arg(long)]
    code: Option<String>,
    /// Asked for at this time or later
    #[arg(long, value_name = "TIME")]
    since: Option<Timestamp>,
    /// Asked for before this time
    #[arg(long, value_name = "TIME")]
    before: Option<Timestamp>,
}

fn state(text: &str) -> Result<MessageState, String> {
    let known = MessageState::ALL.iter().map(|it| it.as_str());
    let known: Vec<&str> = known.collect();
    MessageState::of(text).ok_or_else(|| format!("there are {}", known.join(", ")))
}

fn reason(text: &str) -> Result<Reason, String> {
    let known = Reason::ALL.iter().map(|it| it.as_str());
    let known: Vec<&str> = known.collect();
    Reason::of(text).ok_or_else(|| format!("there are {}", known.join(", ")))
}

impl FilterArgs {
    /// Whether nothing is asked for: then everything is meant.
    pub fn is_empty(&self) -> bool {
        let texts = [&self.journey, &self.node, &self.channel, &self.template];
        let more = [&self.topic, &self.to, &self.code];
        let is_open = texts.iter().chain(&more).all(|text| text.is_none());
        let is_timeless = self.since.is_none() && self.before.is_none();
        is_open
            && is_timeless
            && self.contact.is_none()
            && self.reason.is_none()
            && self.state.is_empty()
    }

    pub async fn read(self, desk: &Desk) -> anyhow::Result<MessageFilter> {
        let journey = match &self.journey {
            Some(named) => Some(super::journey::find(desk, named).await?.id),
            None => None,
        };
        Ok(MessageFilter {
            contacts: self.contact.map(|contact| vec![contact]),
            journey,
            node: self.node,
            channel: self.channel,
            template: self.template,
            topic: self.topic,
            address: self.to,
            states: self.state,
            reason: self.reason,
            code: self.code,
            since: self.since,
            before: self.before,
            ..MessageFilter::default()
        })
    }
}

pub async fn run(config: &Config, args: MessageArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        MessageCommand::List(args) => list(config, args).await?,
        MessageCommand::Counts(args) => counts(config, args).await?,
        MessageCommand::Show(args) => show(config, args).await?,
        MessageCommand::Read(args) => read::run(config, args).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The desk, with the ledger up to date.
pub async fn open(config: &Config, output: &Output) -> anyhow::Result<Desk> {
    let desk = Desk::open(config, &output.workspace, output.json).await?;
    desk.app.messages.drain().await?;
    Ok(desk)
}

async fn list(config: &Config, args: List) -> anyhow::Result<()> {
    let desk = open(config, &args.output).await?;
    let filter = args.filter.read(&desk).await?;
    print_list(&desk, filter, args.limit).await
}

pub async fn print_list(desk: &Desk, filter: MessageFilter, limit: usize) -> anyhow::Result<()> {
    let query = MessageQuery {
        filter,
        after: None,
        limit,
    };
    let page = desk
        .app
        .store
        .messages
        .messages(desk.scope(), &query)
        .await?;
    if desk.json {
        for message in &page.messages {
            println!("{}", http::message_json(message));
        }
        return Ok(());
    }
    let header = [
        "id", "asked", "channel", "template", "to", "state", "reason", "code", "tries",
    ];
    table::print(&header, page.messages.iter().map(row));
    if page.has_more {
        println!("there are more; --limit shows them");
    }
    Ok(())
}

fn row(message: &MessageSummary) -> Vec<String> {
    let request = &message.request;
    let or_dash = |text: Option<&str>| text.unwrap_or("-").to_owned();
    let contact = message.contact.map(|it| it.to_string());
    vec![
        request.message.to_string(),
        message.requested_at.to_string(),
        request.channel.clone(),
        or_dash(request.template.as_deref()),
        or_dash(request.to.as_deref().or(contact.as_deref())),
        message.state.as_str().to_owned(),
        or_dash(message.reason.map(|it| it.as_str())),
        or_dash(message.code.as_deref()),
        message.attempts.to_string(),
    ]
}

async fn counts(config: &Config, args: Counts) -> anyhow::Result<()> {
    let desk = open(config, &args.output).await?;
    let filter = args.filter.read(&desk).await?;
    print_counts(&desk, &filter).await
}

pub async fn print_counts(desk: &Desk, filter: &MessageFilter) -> anyhow::Result<()> {
    let counts = desk
        .app
        .store
        .messages
        .message_counts(desk.scope(), filter)
        .await?;
    if desk.json {
        for count in counts {
            println!("{}", http::count_json(count));
        }
        return Ok(());
    }
    let or_dash = |text: Option<&str>| text.unwrap_or("-").to_owned();
    let rows = counts.iter().map(|it| {
        vec![
            it.count.to_string(),
            it.channel.clone(),
            it.state.as_str().to_owned(),
            or_dash(it.reason.map(|it| it.as_str())),
            or_dash(it.code.as_deref()),
        ]
    });
    table::print(&["messages", "channel", "state", "reason", "code"], rows);
    Ok(())
}

/// As JSON, which holds everything there is to see.
pub async fn show(config: &Config, args: Show) -> anyhow::Result<()> {
    let desk = open(config, &args.output).await?;
    let found = desk
        .app
        .store
        .messages
        .message(desk.scope(), args.id)
        .await?;
    let found = found.context("there is no such message")?;
    println!("{}", http::message_detail_json(found)?);
    Ok(())
}
