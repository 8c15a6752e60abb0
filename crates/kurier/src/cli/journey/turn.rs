//! Pausing, resuming, retiring; and sending contacts in.

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use kurier_core::id::ContactId;
use kurier_core::journey::{RESERVED_KEYS, Triggering};
use kurier_core::projection::JourneyStanding;
use kurier_core::value::{Object, Value};
use serde_json::json;

use super::find;
use crate::cli::desk::Desk;
use crate::flow::journey::{self, Turn};
use crate::{flow, http};

#[derive(Debug, Args)]
pub struct TurnArgs {
    /// The journey, by name or id
    journey: String,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

pub async fn run(desk: &Desk, args: &TurnArgs, turn: Turn) -> anyhow::Result<ExitCode> {
    let journey = find(desk, &args.journey).await?;
    let said = turn.say(&desk.app.store, desk.scope(), &journey).await?;
    if let Err(detail) = said {
        bail!("{detail}");
    }
    let journey = find(desk, &args.journey).await?;
    match desk.json {
        true => println!("{}", json!(http::JourneyView::from(&journey))),
        false => println!("{} is {}", journey.name, journey.standing.as_str()),
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Debug, Args)]
pub struct TriggerArgs {
    /// The journey, by name or id
    journey: String,
    /// The contact's user id
    #[arg(
        long,
        value_name = "ID",
        required_unless_present = "id",
        conflicts_with = "id"
    )]
    user: Option<String>,
    /// The contact's id, instead of its user id
    #[arg(long)]
    id: Option<ContactId>,
    /// Runs with different keys do not know of each other
    #[arg(long)]
    key: Option<String>,
    /// Custom state to begin with; the value is read as JSON if it is
    #[arg(long, value_name = "NAME=VALUE", value_parser = state)]
    state: Vec<(String, Value)>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

fn state(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
    if RESERVED_KEYS.contains(&name) || name.is_empty() {
        return Err(format!("`{name}` is a key that Kurier sets itself"));
    }
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::Text(value.to_owned()));
    Ok((name.to_owned(), value))
}

pub async fn trigger(desk: &mut Desk, args: &TriggerArgs) -> anyhow::Result<ExitCode> {
    let journey = find(desk, &args.journey).await?;
    if journey.standing != JourneyStanding::Active {
        bail!(
            "nobody enters `{}`: it is {}",
            journey.name,
            journey.standing.as_str()
        );
    }
    let id = match (&args.user, args.id) {
        (Some(user), _) => desk.grant.workspace.key.contact_of_user(user),
        (None, id) => id.context("give --user or --id")?,
    };
    desk.app.projector.drain().await?;
    let contact = flow::live_contact(&desk.app.store, desk.scope(), id).await?;
    let contact = contact.context("there is no such contact")?.id;
    let triggering = Triggering {
        journey: journey.id,
        key: args.key.clone(),
        state: Object::from_iter(args.state.iter().cloned()),
    };
    let (store, scope) = (desk.app.store.clone(), desk.scope());
    let (position, instance) = journey::trigger(&store, scope, contact, &triggering).await?;
    desk.settle(position).await?;
    let entered = store.journeys.instance(scope, instance).await?.is_some();
    if desk.json {
        println!("{}", json!({"entered": entered, "instance": instance}));
    } else {
        match entered {
            true => println!("entered: {instance}"),
            false => println!("not entered: the re-entry policy is against it, or not yet for it"),
        }
    }
    Ok(ExitCode::SUCCESS)
}
