//! `kurier bundle`: versions and the proofs of them; and verifying a bundle offline, for which
//! neither data nor a server is needed.

mod anchor;
mod evidence;
mod look;
mod verify;

use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::desk::Desk;
use super::workspace::WorkspaceArgs;
use crate::config::Config;

/// A command does without what a source of headers has not told by then.
const HEADERS_LIMIT: Duration = Duration::from_secs(60);

#[derive(Debug, Args)]
pub struct BundleArgs {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// Answer in JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List what was published, newest first
    List(look::ListArgs),
    /// Show a version's bundle: its proof, and its confirmations now
    Show(look::ShowArgs),
    /// Commit to all versions that are not anchored yet, by one transaction
    #[command(after_help = ANCHOR_EXAMPLE)]
    Anchor(anchor::AnchorArgs),
    /// Show a transaction and its proof for a version, or for all that it commits to
    #[command(after_help = PROVE_EXAMPLE)]
    Prove(anchor::ProveArgs),
    /// Gather what became of messages and who wants none into one version
    #[command(
        after_help = "Example:\n  kurier bundle evidence november.json --from 2026-11-01T00:00:00Z --to 2026-12-01T00:00:00Z"
    )]
    Evidence(evidence::EvidenceArgs),
    /// Verify a bundle from a file, step by step
    #[command(
        after_help = "Example:\n  kurier bundle verify welcome.bundle --headers chain.headers"
    )]
    Verify(verify::VerifyArgs),
}

const PROVE_EXAMPLE: &str = "Examples:
  kurier bundle prove welcome@3 proof.json
  kurier bundle prove --batch proof.json";

const ANCHOR_EXAMPLE: &str =
    "The command finds the commitment in $ANCHOR_ROOT, and as \"root\" in \
the JSON at its input. It prints JSON: \"tx\", and \"bump\", \"tsc\" or \"beef\" once it is mined.

Example:
  kurier bundle anchor --command 'kurier headers mine chain.headers --commit $ANCHOR_ROOT --json'";

impl BundleArgs {
    /// Whether it is about a workspace, and not only about files.
    pub const fn needs_data(&self) -> bool {
        !matches!(&self.command, Command::Verify(_))
    }
}

/// What is about files alone.
pub fn run(args: &BundleArgs) -> anyhow::Result<ExitCode> {
    match &args.command {
        Command::Verify(verify_args) => verify::run(verify_args, args.json),
        _ => anyhow::bail!("this command needs a workspace"),
    }
}

pub async fn run_with(config: &Config, args: BundleArgs) -> anyhow::Result<ExitCode> {
    let desk = Desk::open(config, &args.workspace, args.json).await?;
    desk.app.versions.drain().await?;
    if let Some(bundles) = &desk.app.bundles {
        bundles.refresh_within(HEADERS_LIMIT).await;
    }
    match &args.command {
        Command::List(args) => look::list(&desk, args).await,
        Command::Show(args) => look::show(&desk, args).await,
        Command::Anchor(args) => anchor::run(&desk, config, args).await,
        Command::Prove(args) => anchor::prove(&desk, args).await,
        Command::Evidence(args) => evidence::run(&desk, args).await,
        Command::Verify(_) => run(&args),
    }
}
