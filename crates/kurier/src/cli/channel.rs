//! `kurier channel`: what messages are sent with.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use kurier_store::Scope;
use serde_json::{Value, json};

use super::table;
use super::workspace::WorkspaceArgs;
use crate::app::App;
use crate::config::Config;
use crate::flow::channel;
use crate::http::{ChannelView, TestView};

#[derive(Debug, Args)]
pub struct ChannelArgs {
    #[command(subcommand)]
    command: ChannelCommand,
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// Answer in JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum ChannelCommand {
    /// List the channels that are set up
    List,
    /// Show how a channel is set up; never its secrets
    Show(Which),
    /// Set a channel up, or up otherwise, from a file
    #[command(after_help = SET_EXAMPLES)]
    Set(SetArgs),
    /// Remove a channel with its secrets
    Remove(Which),
    /// Send a test and say what became of it; the exit code is 1 if it was not taken
    #[command(after_help = "Example:\n  kurier channel test email --to you@example.com")]
    Test(TestArgs),
}

const SET_EXAMPLES: &str = "Examples:
  kurier channel set email email.json --secret-file password=/run/secrets/smtp
  echo '{\"kind\": \"outbox\"}' | kurier channel set later -";

#[derive(Debug, Args)]
struct Which {
    /// The channel's name
    name: String,
}

#[derive(Debug, Args)]
struct SetArgs {
    #[command(flatten)]
    which: Which,
    /// A file with its settings in JSON; - is standard input
    file: PathBuf,
    /// A secret from a file, such as password=/run/secrets/smtp; those not named stay
    #[arg(long, value_name = "NAME=FILE")]
    secret_file: Vec<String>,
}

#[derive(Debug, Args)]
struct TestArgs {
    #[command(flatten)]
    which: Which,
    /// Whom the test goes to: an e-mail address, a phone number, a Slack channel
    #[arg(long, value_name = "ADDRESS")]
    to: Option<String>,
    /// What it says
    #[arg(long)]
    text: Option<String>,
}

struct Room {
    app: std::sync::Arc<App>,
    scope: Scope,
    json: bool,
}

pub async fn run(config: &Config, args: ChannelArgs) -> anyhow::Result<ExitCode> {
    let app = App::open(config).await?;
    let workspace = args.workspace.find(&app.store).await?;
    let room = Room {
        scope: Scope(workspace.id),
        app,
        json: args.json,
    };
    match args.command {
        ChannelCommand::List => room.list().await,
        ChannelCommand::Show(which) => room.show(&which.name).await,
        ChannelCommand::Set(args) => room.set(&args).await,
        ChannelCommand::Remove(which) => room.remove(&which.name).await,
        ChannelCommand::Test(args) => room.test(args).await,
    }
}

impl Room {
    async fn list(&self) -> anyhow::Result<ExitCode> {
        let mut views = Vec::new();
        for kept in self.app.store.channels.channels(self.scope).await? {
            views.push(self.view(kept).await);
        }
        if self.json {
            println!("{}", json!(views));
        } else {
            table::print(
                &["name", "kind", "state", "changed"],
                views.iter().map(as_row),
            );
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn show(&self, name: &str) -> anyhow::Result<ExitCode> {
        let kept = self.app.store.channels.channel(self.scope, name).await?;
        let kept = kept.with_context(|| nobody_did(name))?;
        let view = self.view(kept).await;
        let shown = if self.json {
            json!(view).to_string()
        } else {
            serde_json::to_string_pretty(&view)?
        };
        println!("{shown}");
        Ok(ExitCode::SUCCESS)
    }

    async fn set(&self, args: &SetArgs) -> anyhow::Result<ExitCode> {
        let mut written: Value = serde_json::from_str(&read(&args.file)?)
            .with_context(|| format!("{} is not JSON", args.file.display()))?;
        for secret in &args.secret_file {
            let (name, path) = secret
                .split_once('=')
                .context("--secret-file is NAME=FILE")?;
            let text = read(Path::new(path))?;
            written["secrets"][name] = json!(text.trim_end_matches(['\r', '\n']));
        }
        let (store, registry) = (&self.app.store, &self.app.channels);
        let name = &args.which.name;
        let kept = channel::configure(store, registry, self.scope, name, written).await?;
        if self.json {
            println!("{}", json!(self.view(kept).await));
        } else {
            println!("set up {name}; servers use it within a second");
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn remove(&self, name: &str) -> anyhow::Result<ExitCode> {
        let (store, registry) = (&self.app.store, &self.app.channels);
        if !channel::remove(store, registry, self.scope, name).await? {
            bail!(nobody_did(name));
        }
        if self.json {
            println!("{}", json!({ "removed": name }));
        } else {
            println!("removed {name}");
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn test(&self, args: TestArgs) -> anyhow::Result<ExitCode> {
        let name = &args.which.name;
        let found = self.app.channels.find(self.scope, name).await?;
        let found = found.with_context(|| nobody_did(name))?;
        let letter = channel::test_letter(args.to, args.text);
        let began = Instant::now();
        let outcome = found.channel.send(&letter).await;
        let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let view = TestView::of(letter.message.to_string(), outcome, took_ms);
        if self.json {
            println!("{}", json!(view));
        } else {
            println!("{}", sentence(&found.name, &view));
        }
        Ok(ExitCode::from(u8::from(view.outcome != "sent")))
    }

    async fn view(&self, kept: kurier_store::KeptChannel) -> ChannelView {
        // A gate that cannot be read is shown as one that nothing is known of.
        let gates = self
            .app
            .store
            .gates
            .gates(self.scope)
            .await
            .unwrap_or_default();
        ChannelView::of(&self.app.channels, self.scope, kept, &gates).await
    }
}

fn as_row(view: &ChannelView) -> Vec<String> {
    let state = match (&view.fault, view.enabled) {
        (Some(_), _) => "faulty",
        (None, true) => "enabled",
        (None, false) => "disabled",
    };
    vec![
        view.name.clone(),
        view.kind.to_owned(),
        state.to_owned(),
        view.changed_at.clone(),
    ]
}

fn sentence(name: &str, view: &TestView) -> String {
    let detail = view.detail.as_deref().unwrap_or_default();
    match (view.outcome, &view.code) {
        ("sent", _) => format!(
            "{name} took it: {}",
            view.receipt.as_deref().unwrap_or("ok")
        ),
        ("refused", Some(code)) => format!("{name} refused it ({code}): {detail}"),
        _ => format!("nobody knows whether {name} took it: {detail}"),
    }
}

fn nobody_did(name: &str) -> String {
    format!("nobody has set up a channel `{name}`")
}

pub(super) fn read(path: &Path) -> anyhow::Result<String> {
    if path == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    let text = std::fs::read_to_string(path);
    text.with_context(|| format!("{} cannot be read", path.display()))
}
