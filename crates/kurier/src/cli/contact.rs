//! `kurier contact`: one contact, without a server.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use kurier_core::contact::Contact;
use kurier_core::id::ContactId;
use kurier_store::{ApiKey, Scopes, Workspace};

use super::output;
use super::workspace::WorkspaceArgs;
use crate::app::App;
use crate::config::Config;
use crate::keyring::{self, Grant};
use crate::{flow, http};

#[derive(Debug, Args)]
pub struct ContactArgs {
    #[command(subcommand)]
    command: ContactCommand,
}

#[derive(Debug, Subcommand)]
enum ContactCommand {
    /// Show a contact as JSON
    Show(Which),
    /// Write everything kept of a contact to standard output, as JSON
    Export(Which),
    /// Erase a contact: what its events said is gone from log, read models and queue
    Erase(Which),
}

#[derive(Debug, Args)]
struct Which {
    /// The contact's id
    #[arg(long, required_unless_present = "user_id", conflicts_with = "user_id")]
    id: Option<ContactId>,
    /// The contact's user id, instead of its id
    #[arg(long, value_name = "ID")]
    user_id: Option<String>,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

pub async fn run(config: &Config, args: ContactArgs) -> anyhow::Result<ExitCode> {
    let app = App::open(config).await?;
    let (ContactCommand::Show(which)
    | ContactCommand::Export(which)
    | ContactCommand::Erase(which)) = &args.command;
    let workspace = which.workspace.find(&app.store).await?;
    let id = match (&which.user_id, which.id) {
        (Some(user_id), _) => workspace.key.contact_of_user(user_id),
        (None, id) => id.context("give --id or --user-id")?,
    };
    let grant = Arc::new(operator(workspace));
    app.projector.drain().await?;
    let contact = flow::live_contact(&app.store, grant.scope(), id).await?;
    let contact = contact.context("there is no such contact")?;
    match args.command {
        ContactCommand::Show(_) => println!("{}", http::contact_json(contact)?),
        ContactCommand::Export(_) => export(app, grant, contact).await?,
        ContactCommand::Erase(_) => erase(&app, &grant, contact.id).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Whoever can open the database may do everything.
pub fn operator(workspace: Workspace) -> Grant {
    let scopes = Scopes {
        ingest: true,
        read: true,
        admin: true,
    };
    let key: ApiKey = keyring::mint("operator", scopes, None, None).new.key;
    Grant::of_key(workspace, key)
}

async fn export(app: Arc<App>, grant: Arc<Grant>, contact: Contact) -> anyhow::Result<()> {
    use futures_util::TryStreamExt as _;
    let mut document = std::pin::pin!(http::export_document(app, grant, contact));
    while let Some(piece) = document.try_next().await? {
        print!("{piece}");
        if output::is_closed() {
            break;
        }
    }
    Ok(())
}

/// Without a server nobody folds: this does, until the erasure is carried out.
async fn erase(app: &App, grant: &Grant, id: ContactId) -> anyhow::Result<()> {
    let erasing = flow::erase(app, grant, id);
    let report = tokio::select! {
        report = erasing => report,
        () = app.projector.run() => unreachable!("folding runs until it is dropped"),
        () = app.segments.run() => unreachable!("folding runs until it is dropped"),
        () = app.messages.run() => unreachable!("folding runs until it is dropped"),
        () = app.journeys.run() => unreachable!("folding runs until it is dropped"),
        () = app.reactor.clone().run() => unreachable!("reacting runs until it is dropped"),
    };
    app.reactor.release().await;
    let report = report?;
    let report = report.context("there is no such contact")?;
    if !report.done {
        bail!("the erasure is recorded and will be carried out by the next server that starts");
    }
    println!(
        "erased {} contact(s) and the content of {} event(s)",
        report.contacts, report.events
    );
    Ok(())
}
