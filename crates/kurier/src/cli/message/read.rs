//! `kurier message read`: what a message says.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use clap::Args;
use kurier_core::id::MessageId;
use kurier_core::message::Rendered;
use kurier_core::projection::MessageSummary;
use kurier_store::MessageQuery;

use super::{FilterArgs, Output};
use crate::cli::desk::{Desk, LOOK_EVERY};
use crate::config::Config;
use crate::http;

#[derive(Debug, Args)]
pub struct ReadArgs {
    /// The message's id; without it the newest one that the options mean
    #[arg(conflicts_with_all = ["FilterArgs", "wait"])]
    id: Option<MessageId>,
    #[command(flatten)]
    filter: FilterArgs,
    /// Wait so many seconds at most until there is one
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    wait: u64,
    #[command(flatten)]
    output: Output,
}

pub async fn run(config: &Config, args: ReadArgs) -> anyhow::Result<()> {
    let desk = super::open(config, &args.output).await?;
    let found = match args.id {
        Some(id) => {
            let found = desk.app.store.messages.message(desk.scope(), id).await?;
            found.context("there is no such message")?
        }
        None => await_newest(&desk, args.filter, args.wait).await?,
    };
    let rendered = desk
        .app
        .post
        .write(desk.scope(), &found.request, found.changed_at)
        .await
        .with_context(|| format!("message {} cannot be shown", found.request.message))?;
    match desk.json {
        true => println!("{}", http::message_content_json(&found, rendered)),
        false => print(&found, rendered),
    }
    Ok(())
}

async fn await_newest(
    desk: &Desk,
    filter: FilterArgs,
    seconds: u64,
) -> anyhow::Result<MessageSummary> {
    let query = MessageQuery {
        filter: filter.read(desk).await?,
        after: None,
        limit: 1,
    };
    let (began, limit) = (Instant::now(), Duration::from_secs(seconds));
    loop {
        let messages = &desk.app.store.messages;
        let mut page = messages.messages(desk.scope(), &query).await?;
        if let Some(newest) = page.messages.pop() {
            return Ok(newest);
        }
        ensure!(limit > Duration::ZERO, "there is no such message");
        let is_waiting = began.elapsed() < limit;
        ensure!(is_waiting, "no such message came within {seconds} s");
        tokio::time::sleep(LOOK_EVERY).await;
        desk.app.messages.drain().await?;
    }
}

/// As a mail program shows it: heads, an empty line, the words.
fn print(message: &MessageSummary, rendered: Rendered) {
    let request = &message.request;
    let contact = message.contact.map(|it| it.to_string());
    let sent_by = message.standing.sent_by.as_deref();
    let state = message.state.as_str();
    let state = sent_by.map_or_else(|| state.to_owned(), |by| format!("{state} by {by}"));
    let heads = [
        ("to", request.to.clone().or(contact)),
        ("channel", Some(request.channel.clone())),
        ("state", Some(state)),
        ("subject", rendered.subject),
    ];
    for (name, value) in heads {
        if let Some(value) = value {
            println!("{name:<9}{value}");
        }
    }
    let words = rendered.text.or(rendered.json).or(rendered.html);
    println!("\n{}", words.unwrap_or_default().trim_end());
}
