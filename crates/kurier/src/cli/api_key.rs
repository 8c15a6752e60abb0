//! `kurier api-key`: a key is shown when it is made, and never again.

use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, Subcommand};
use kurier_core::id::ApiKeyId;
use kurier_core::time::Timestamp;
use kurier_store::{ApiKey, Scope, Scopes, Store, Workspace};
use serde_json::json;

use super::table;
use super::workspace::WorkspaceArgs;
use crate::app::open_store;
use crate::config::Config;
use crate::keyring;

#[derive(Debug, Args)]
pub struct ApiKeyArgs {
    #[command(subcommand)]
    command: ApiKeyCommand,
}

#[derive(Debug, Subcommand)]
enum ApiKeyCommand {
    /// Make a key and show it, this once
    Create {
        /// What the key is for
        #[arg(long)]
        name: String,
        /// What it may do: ingest, read, admin (several with commas)
        #[arg(long, default_value = "ingest")]
        scopes: Scopes,
        /// When it ends, such as 2027-01-31T00:00:00Z
        #[arg(long, value_name = "TIME")]
        expires_at: Option<Timestamp>,
        #[command(flatten)]
        common: Common,
    },
    /// List the keys of a workspace
    List {
        #[command(flatten)]
        common: Common,
    },
    /// Revoke a key, by the id that `list` shows
    Revoke {
        /// The key's id, not the key itself
        id: ApiKeyId,
        #[command(flatten)]
        common: Common,
    },
}

#[derive(Debug, Args)]
struct Common {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

pub async fn run(config: &Config, args: ApiKeyArgs) -> anyhow::Result<ExitCode> {
    let store = open_store(&config.database).await?;
    match args.command {
        ApiKeyCommand::Create {
            name,
            scopes,
            expires_at,
            common,
        } => {
            let workspace = common.workspace.find(&store).await?;
            create(&store, &workspace, (&name, scopes, expires_at), common.json).await
        }
        ApiKeyCommand::List { common } => {
            let workspace = common.workspace.find(&store).await?;
            list(&store, &workspace, common.json).await
        }
        ApiKeyCommand::Revoke { id, common } => {
            let workspace = common.workspace.find(&store).await?;
            revoke(&store, &workspace, id, common.json).await
        }
    }
}

async fn create(
    store: &Store,
    workspace: &Workspace,
    (name, scopes, expires_at): (&str, Scopes, Option<Timestamp>),
    json: bool,
) -> anyhow::Result<ExitCode> {
    if scopes == Scopes::default() {
        bail!("a key needs at least one scope: ingest, read, admin");
    }
    let minted = keyring::mint(name, scopes, None, expires_at);
    let id = minted.new.key.id;
    store
        .access
        .create_key(Scope(workspace.id), minted.new, minted.event)
        .await?;
    if json {
        println!(
            "{}",
            json!({"id": id, "name": name, "scopes": scopes.to_string(), "key": minted.secret})
        );
    } else {
        println!("{}", minted.secret);
        eprintln!("this is key {id} ({scopes}); it is not shown again");
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(store: &Store, workspace: &Workspace, json: bool) -> anyhow::Result<ExitCode> {
    let keys = store.access.keys(Scope(workspace.id)).await?;
    if json {
        let keys: Vec<_> = keys.iter().map(as_json).collect();
        println!("{}", json!(keys));
    } else {
        table::print(
            &["id", "name", "scopes", "made", "state"],
            keys.iter().map(as_row),
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn as_json(key: &ApiKey) -> serde_json::Value {
    json!({
        "id": key.id, "name": key.name, "scopes": key.scopes.to_string(),
        "created_at": key.created_at, "expires_at": key.expires_at, "revoked_at": key.revoked_at,
    })
}

fn as_row(key: &ApiKey) -> Vec<String> {
    let state = match (key.revoked_at, key.expires_at) {
        (Some(at), _) => format!("revoked {at}"),
        (None, Some(at)) => format!("ends {at}"),
        (None, None) => "active".to_owned(),
    };
    vec![
        key.id.to_string(),
        key.name.clone(),
        key.scopes.to_string(),
        key.created_at.to_string(),
        state,
    ]
}

async fn revoke(
    store: &Store,
    workspace: &Workspace,
    id: ApiKeyId,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let revoked = store
        .access
        .revoke_key(Scope(workspace.id), id, keyring::revocation(id))
        .await?;
    if !revoked {
        bail!(
            "there is no key {id} that could be revoked in workspace `{}`",
            workspace.name
        );
    }
    if json {
        println!("{}", json!({"id": id, "revoked": true}));
    } else {
        println!("revoked {id}; a running server may accept it for 5 more seconds");
    }
    Ok(ExitCode::SUCCESS)
}
