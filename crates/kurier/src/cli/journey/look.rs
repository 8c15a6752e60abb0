//! Looking at journeys and the runs through them.

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use kurier_core::contact::Contact;
use kurier_core::id::InstanceId;
use kurier_core::journey::Status;
use kurier_core::projection::{InstanceSummary, JourneySummary};
use kurier_store::{InstanceFilter, InstanceQuery};
use serde_json::json;

use super::find;
use crate::cli::desk::Desk;
use crate::cli::table;
use crate::http::{InstanceDetail, InstanceView, JourneyView, StatsView};
use crate::{flow, http};

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

pub async fn list(desk: &Desk) -> anyhow::Result<ExitCode> {
    desk.drain().await?;
    let all = desk.app.store.journeys.journeys(desk.scope()).await?;
    if desk.json {
        let list: Vec<JourneyView> = all.iter().map(JourneyView::from).collect();
        println!("{}", json!(list));
        return Ok(ExitCode::SUCCESS);
    }
    let row = |journey: JourneySummary| {
        let version = journey.version.map(|version| version.to_string());
        vec![
            journey.name,
            journey.standing.as_str().to_owned(),
            version.unwrap_or_default(),
            if journey.has_draft { "yes" } else { "" }.to_owned(),
            journey.id.to_string(),
        ]
    };
    let header = ["name", "standing", "version", "draft", "id"];
    table::print(&header, all.into_iter().map(row));
    Ok(ExitCode::SUCCESS)
}

#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The journey, by name or id
    journey: String,
    /// Answer in JSON, with the definitions
    #[arg(long)]
    pub json: bool,
}

pub async fn show(desk: &Desk, args: &ShowArgs) -> anyhow::Result<ExitCode> {
    let journey = find(desk, &args.journey).await?;
    if desk.json {
        let detail = http::with_definitions(&desk.app, desk.scope(), &journey).await?;
        println!("{}", json!(detail));
        return Ok(ExitCode::SUCCESS);
    }
    let version = journey.version.map(|version| version.to_string());
    println!("id          {}", journey.id);
    println!("name        {}", journey.name);
    println!("standing    {}", journey.standing.as_str());
    println!("version     {}", version.as_deref().unwrap_or("none yet"));
    println!(
        "draft       {}",
        if journey.has_draft { "yes" } else { "no" }
    );
    println!("created at  {}", journey.created_at);
    println!("changed at  {}", journey.changed_at);
    Ok(ExitCode::SUCCESS)
}

#[derive(Debug, Args)]
pub struct StatsArgs {
    /// The journey, by name or id
    journey: String,
    /// Only this version
    #[arg(long, value_name = "N")]
    version: Option<u32>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

pub async fn stats(desk: &Desk, args: &StatsArgs) -> anyhow::Result<ExitCode> {
    let journey = find(desk, &args.journey).await?;
    let stats = StatsView::of(&desk.app.store, desk.scope(), &journey, args.version).await?;
    if desk.json {
        println!("{}", json!(stats));
        return Ok(ExitCode::SUCCESS);
    }
    let endings = stats.endings.iter();
    let endings: Vec<String> = endings.map(|(ending, n)| format!("{n} {ending}")).collect();
    let ended = match endings.is_empty() {
        true => "none ended".to_owned(),
        false => format!("ended: {}", endings.join(", ")),
    };
    println!(
        "{} entered, {} active, {ended}",
        stats.entered, stats.active
    );
    if stats.nodes.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    println!();
    let nodes = stats.nodes.into_iter().map(|it| {
        let numbers = [it.entered, it.at, it.left].map(|number| number.to_string());
        [vec![it.node], numbers.to_vec()].concat()
    });
    table::print(&["node", "entered", "at", "left"], nodes);
    println!();
    let edges = stats.edges.into_iter();
    let edges = edges.map(|it| vec![it.node, it.by, it.to, it.count.to_string()]);
    table::print(&["from", "by", "to", "times"], edges);
    Ok(ExitCode::SUCCESS)
}

#[derive(Debug, Args)]
pub struct InstancesArgs {
    /// The journey, by name or id
    journey: String,
    /// Only runs at this node
    #[arg(long)]
    node: Option<String>,
    /// Only runs that are active, completed or cancelled
    #[arg(long, value_parser = status)]
    status: Option<Status>,
    /// Only runs of the contact with this user id
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// Only runs of this version
    #[arg(long, value_name = "N")]
    version: Option<u32>,
    /// Show so many
    #[arg(long, default_value_t = 50)]
    limit: usize,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

fn status(text: &str) -> Result<Status, String> {
    Status::named(text).ok_or_else(|| "write active, completed or cancelled".to_owned())
}

pub async fn instances(desk: &Desk, args: &InstancesArgs) -> anyhow::Result<ExitCode> {
    let journey = find(desk, &args.journey).await?;
    desk.app.projector.drain().await?;
    let contacts = match &args.user {
        Some(user) => Some(contact(desk, user).await?.ids()),
        None => None,
    };
    let query = InstanceQuery {
        filter: InstanceFilter {
            journey: Some(journey.id),
            version: args.version,
            node: args.node.clone(),
            status: args.status,
            contacts,
        },
        after: None,
        limit: args.limit,
    };
    let page = desk
        .app
        .store
        .journeys
        .instances(desk.scope(), &query)
        .await?;
    if desk.json {
        let list: Vec<InstanceView> = page.instances.iter().map(InstanceView::from).collect();
        println!("{}", json!(list));
        return Ok(ExitCode::SUCCESS);
    }
    print(desk, &page.instances).await?;
    if page.has_more {
        println!("and more; --limit shows more");
    }
    Ok(ExitCode::SUCCESS)
}

async fn contact(desk: &Desk, user: &str) -> anyhow::Result<Contact> {
    let id = desk.grant.workspace.key.contact_of_user(user);
    let found = flow::live_contact(&desk.app.store, desk.scope(), id).await?;
    found.with_context(|| format!("there is no contact with the user id `{user}`"))
}

async fn print(desk: &Desk, runs: &[InstanceSummary]) -> anyhow::Result<()> {
    let ids: Vec<_> = runs.iter().filter_map(|run| run.contact).collect();
    let contacts = flow::live_contacts(&desk.app.store, desk.scope(), &ids).await?;
    let rows = runs.iter().map(|run| {
        let contact = run.contact.and_then(|id| contacts.get(&id));
        let user = contact.and_then(|contact| contact.user_id.clone());
        let ending = run.ending.map_or("", |ending| ending.as_str());
        vec![
            run.id.to_string(),
            user.unwrap_or_default(),
            run.key.clone().unwrap_or_default(),
            run.version.to_string(),
            run.status.as_str().to_owned(),
            ending.to_owned(),
            run.node.clone(),
            run.entered_at.to_string(),
        ]
    });
    let header = [
        "id",
        "user id",
        "key",
        "version",
        "status",
        "ending",
        "node",
        "entered at",
    ];
    table::print(&header, rows);
    Ok(())
}

#[derive(Debug, Args)]
pub struct InstanceArgs {
    /// The run's id
    id: InstanceId,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

pub async fn instance(desk: &Desk, args: &InstanceArgs) -> anyhow::Result<ExitCode> {
    desk.drain().await?;
    let (store, scope) = (&desk.app.store, desk.scope());
    let Some(instance) = store.journeys.instance(scope, args.id).await? else {
        bail!("there is no run `{}`", args.id);
    };
    let detail = InstanceDetail::of(store, scope, &instance).await?;
    match desk.json {
        true => println!("{}", json!(detail)),
        false => tell(&detail),
    }
    Ok(ExitCode::SUCCESS)
}

fn tell(detail: &InstanceDetail) {
    let run = &detail.instance;
    let journey = detail.journey_name.as_deref().unwrap_or(&run.journey);
    println!("journey     {journey}, version {}", run.version);
    println!("contact     {}", run.contact.as_deref().unwrap_or("erased"));
    if let Some(key) = &run.key {
        println!("key         {key}");
    }
    match (run.ending, &run.ended_at) {
        (Some(ending), Some(at)) => println!("status      {}: {ending} at {at}", run.status),
        _ => println!("status      {}", run.status),
    }
    println!("node        {}, since {}", run.node, run.moved_at);
    if let Some(awaits) = &run.awaits {
        println!("awaits      {awaits}");
    }
    if let Some(wake) = &run.wake {
        println!("wakes at    {wake}");
    }
    println!("state       {}", detail.state);
    println!();
    for hop in &detail.path {
        println!("{}  {} -{}> {}", hop.at, hop.node, hop.by, hop.to);
        hop.because
            .iter()
            .for_each(|reason| println!("    {reason}"));
    }
    if detail.omitted > 0 {
        println!("{} hops in between are left out", detail.omitted);
    }
    for message in &detail.messages {
        println!("{}  message {} of {}", message.at, message.id, message.node);
    }
}
