//! `kurier slack-workspace`: where messages to Slack may go.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use kurier_core::slack_workspace::SlackWorkspace;
use serde_json::{Map, Value, json};

use super::desk::Desk;
use super::table;
use super::workspace::WorkspaceArgs;
use crate::config::Config;
use crate::flow::slack_workspace::{self, Told, Wanted};
use crate::http::SlackWorkspaceView;

#[derive(Debug, Args)]
pub struct SlackWorkspaceArgs {
    #[command(subcommand)]
    command: SlackWorkspaceCommand,
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// Answer in JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum SlackWorkspaceCommand {
    /// Make a Slack workspace
    #[command(after_help = CREATE_EXAMPLE)]
    Create(CreateArgs),
    /// Change what is known of a Slack workspace; one that was archived is in use again
    Update(UpdateArgs),
    /// Archive a Slack workspace: its secrets are gone, nothing is sent there any more
    Archive(Which),
    /// List the Slack workspaces that are in use, by name
    List(ListArgs),
    /// Show what is known of a Slack workspace; never its secrets
    Show(Which),
}

const CREATE_EXAMPLE: &str = "Example:
  kurier slack-workspace create Acme --category sales --secret-file bot_token=/run/secrets/slack";

#[derive(Debug, Args)]
struct Which {
    /// Its id, or its name
    slack_workspace: String,
}

#[derive(Debug, Args)]
struct What {
    /// What it is for; an empty one removes it
    #[arg(long)]
    category: Option<String>,
    /// Where messages go that name no channel; an empty one removes it
    #[arg(long, value_name = "CHANNEL")]
    default_channel: Option<String>,
    /// A secret from a file: bot_token=FILE or webhook_url=FILE; those not named stay
    #[arg(long, value_name = "NAME=FILE")]
    secret_file: Vec<String>,
}

#[derive(Debug, Args)]
struct CreateArgs {
    name: String,
    #[command(flatten)]
    what: What,
}

#[derive(Debug, Args)]
struct UpdateArgs {
    #[command(flatten)]
    which: Which,
    /// Another name
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    what: What,
}

#[derive(Debug, Args)]
struct ListArgs {
    /// Only those of this category
    #[arg(long)]
    category: Option<String>,
    /// Those that were archived instead
    #[arg(long)]
    archived: bool,
}

pub async fn run(config: &Config, args: SlackWorkspaceArgs) -> anyhow::Result<ExitCode> {
    let desk = Desk::open(config, &args.workspace, args.json).await?;
    desk.app.slack_workspaces.drain().await?;
    match args.command {
        SlackWorkspaceCommand::Create(args) => create(&desk, &args).await,
        SlackWorkspaceCommand::Update(args) => update(&desk, &args).await,
        SlackWorkspaceCommand::Archive(which) => archive(&desk, &which).await,
        SlackWorkspaceCommand::List(args) => list(&desk, &args).await,
        SlackWorkspaceCommand::Show(which) => show(&desk, &which).await,
    }
}

async fn create(desk: &Desk, args: &CreateArgs) -> anyhow::Result<ExitCode> {
    let definition = json!({"name": args.name});
    let wanted = wanted(definition, &args.what)?;
    let (store, vault) = (&desk.app.store, desk.app.channels.vault());
    let told = slack_workspace::create(store, vault, desk.scope(), wanted).await?;
    answer(desk, told, "made").await
}

async fn update(desk: &Desk, args: &UpdateArgs) -> anyhow::Result<ExitCode> {
    let known = find(desk, &args.which).await?;
    let mut definition = json!(known.definition);
    if let Some(name) = &args.name {
        definition["name"] = json!(name);
    }
    let wanted = wanted(definition, &args.what)?;
    let (store, vault) = (&desk.app.store, desk.app.channels.vault());
    let told = slack_workspace::update(store, vault, desk.scope(), known.id, wanted).await?;
    answer(desk, told.context("it is gone")?, "changed").await
}

async fn archive(desk: &Desk, which: &Which) -> anyhow::Result<ExitCode> {
    let known = find(desk, which).await?;
    let told = slack_workspace::archive(&desk.app.store, desk.scope(), known.id).await?;
    let told = told.with_context(|| format!("`{}` is archived already", which.slack_workspace))?;
    answer(desk, told, "archived").await
}

async fn list(desk: &Desk, args: &ListArgs) -> anyhow::Result<ExitCode> {
    let (store, category) = (&desk.app.store, args.category.as_deref());
    let all = slack_workspace::all(store, desk.scope()).await?;
    let listed = slack_workspace::listed(all, category, args.archived);
    let views: Vec<_> = listed.iter().map(SlackWorkspaceView::from).collect();
    if desk.json {
        println!("{}", json!(views));
    } else {
        let header = ["id", "name", "category", "channel", "secrets"];
        table::print(&header, views.into_iter().map(as_row));
    }
    Ok(ExitCode::SUCCESS)
}

fn as_row(view: SlackWorkspaceView) -> Vec<String> {
    vec![
        view.id,
        view.name,
        view.category.unwrap_or_default(),
        view.default_channel.unwrap_or_default(),
        view.secrets.join(" "),
    ]
}

async fn show(desk: &Desk, which: &Which) -> anyhow::Result<ExitCode> {
    let view = SlackWorkspaceView::from(&find(desk, which).await?);
    let shown = match desk.json {
        true => json!(view).to_string(),
        false => serde_json::to_string_pretty(&view)?,
    };
    println!("{shown}");
    Ok(ExitCode::SUCCESS)
}

async fn answer(desk: &Desk, told: Told, done: &str) -> anyhow::Result<ExitCode> {
    desk.app.slack_workspaces.drain().await?;
    let known = slack_workspace::find(&desk.app.store, desk.scope(), told.id).await?;
    let view = SlackWorkspaceView::from(&known.context("it cannot be read back")?);
    if desk.json {
        println!("{}", json!(view));
    } else {
        println!("{done} {} ({})", view.name, view.id);
    }
    Ok(ExitCode::SUCCESS)
}

/// The one of this id, or of this name: those in use first.
async fn find(desk: &Desk, which: &Which) -> anyhow::Result<SlackWorkspace> {
    let named = &which.slack_workspace;
    let all = slack_workspace::all(&desk.app.store, desk.scope()).await?;
    let is_meant = |known: &&SlackWorkspace| known.definition.name == *named;
    let by_id = all.iter().find(|known| known.id.to_string() == *named);
    let mut by_name: Vec<_> = all.iter().filter(is_meant).collect();
    if by_name.iter().any(|known| known.archived_at.is_none()) {
        by_name.retain(|known| known.archived_at.is_none());
    }
    match (by_id, by_name.as_slice()) {
        (Some(known), _) => Ok(known.clone()),
        (None, [known]) => Ok((*known).clone()),
        (None, []) => bail!("there is no Slack workspace `{named}`"),
        (None, several) => {
            let ids: Vec<String> = several.iter().map(|known| known.id.to_string()).collect();
            bail!(
                "several are called `{named}`; name one by its id: {}",
                ids.join(", ")
            )
        }
    }
}

fn wanted(mut definition: Value, what: &What) -> anyhow::Result<Wanted> {
    let fields = [
        ("category", &what.category),
        ("default_channel", &what.default_channel),
    ];
    for (name, given) in fields {
        if let Some(text) = given {
            definition[name] = match text.as_str() {
                "" => Value::Null,
                text => json!(text),
            };
        }
    }
    let mut secrets = Map::new();
    for secret in &what.secret_file {
        let named = secret.split_once('=');
        let (name, path) = named.context("--secret-file is NAME=FILE")?;
        let text = super::channel::read(Path::new(path))?;
        secrets.insert(name.to_owned(), json!(text.trim_end_matches(['\r', '\n'])));
    }
    definition["secrets"] = Value::Object(secrets);
    Ok(Wanted::read(definition)?)
}
