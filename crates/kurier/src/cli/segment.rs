//! `kurier segment`: segments and their members, beside a server or without one.

mod define;
mod edit;
mod look;
mod members;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use kurier_core::id::ContactId;
use kurier_core::path::Path;
use kurier_core::time::Timestamp;

use super::desk::Desk;
use super::workspace::WorkspaceArgs;
use crate::config::Config;

#[derive(Debug, Args)]
pub struct SegmentArgs {
    #[command(subcommand)]
    command: SegmentCommand,
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// Answer in JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum SegmentCommand {
    /// List all segments
    List,
    /// Show a segment
    Show(Which),
    /// Make a segment; without an expression it is static
    #[command(after_help = CREATE_EXAMPLES)]
    Create(CreateArgs),
    /// Change a segment's name or expression; its members are found anew
    #[command(
        after_help = "Example:\n  kurier segment change Pros --expression \"contact.plan IN ('pro', 'team')\""
    )]
    Change(ChangeArgs),
    /// Delete a segment with its history; its contacts stay
    Delete(Which),
    /// List the members of a segment, or write them all as CSV
    #[command(after_help = MEMBERS_EXAMPLES)]
    Members(MembersArgs),
    /// Count who would be in a segment, without making it
    #[command(
        after_help = "Example:\n  kurier segment preview \"EXISTS (event WHERE event_type = 'login' AND event_time > now() - 7d)\""
    )]
    Preview(PreviewArgs),
    /// Say why a contact is in a segment, or is not; the exit code is 1 if it is not
    #[command(after_help = "Example:\n  kurier segment explain Pros --user-id ann")]
    Explain(ExplainArgs),
    /// Give members to a static segment
    #[command(after_help = EDIT_EXAMPLES)]
    Add(EditArgs),
    /// Take members from a static segment
    #[command(after_help = EDIT_EXAMPLES)]
    Remove(EditArgs),
}

const CREATE_EXAMPLES: &str = "Examples:
  kurier segment create Pros --expression \"contact.plan = 'pro'\"
  kurier segment create \"Invited by hand\"";
const MEMBERS_EXAMPLES: &str = "Examples:
  kurier segment members Pros --limit 10
  kurier segment members Pros --csv --attributes plan,address.city > pros.csv";
const EDIT_EXAMPLES: &str = "Examples:
  kurier segment add VIPs ann bob
  kurier segment add VIPs --file vips.txt
  kurier segment remove VIPs --by id 7c9e6679-7425-80de-944b-e07fc1f90ae7";

#[derive(Debug, Args)]
struct Which {
    /// The segment, by name or id
    segment: String,
}

#[derive(Debug, Args)]
struct CreateArgs {
    /// Its name
    name: String,
    /// Who is in it
    #[arg(long, value_name = "TEXT")]
    expression: Option<String>,
}

#[derive(Debug, Args)]
struct ChangeArgs {
    #[command(flatten)]
    which: Which,
    /// A new name
    #[arg(long)]
    name: Option<String>,
    /// Who is in it from now on
    #[arg(long, value_name = "TEXT")]
    expression: Option<String>,
    /// Make it static: who is in it now stays
    #[arg(long = "static", conflicts_with = "expression")]
    is_static: bool,
}

#[derive(Debug, Args)]
struct MembersArgs {
    #[command(flatten)]
    which: Which,
    /// Show so many
    #[arg(long, default_value_t = 50, conflicts_with = "csv")]
    limit: usize,
    /// Write all members as CSV to standard output
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Attributes that become columns of the CSV
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "csv")]
    attributes: Vec<Path>,
}

#[derive(Debug, Args)]
struct PreviewArgs {
    /// The expression, such as "contact.plan = 'pro'"
    expression: String,
    /// The time at which to look [default: now]
    #[arg(long, value_name = "TIME")]
    now: Option<Timestamp>,
}

#[derive(Debug, Args)]
struct ExplainArgs {
    #[command(flatten)]
    which: Which,
    /// The contact's id
    #[arg(long, required_unless_present = "user_id", conflicts_with = "user_id")]
    id: Option<ContactId>,
    /// The contact's user id, instead of its id
    #[arg(long, value_name = "ID")]
    user_id: Option<String>,
}

#[derive(Debug, Args)]
struct EditArgs {
    #[command(flatten)]
    which: Which,
    /// The contacts
    #[arg(required_unless_present = "file")]
    contacts: Vec<String>,
    /// A file with a contact a line; - is standard input
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// What the contacts are named by
    #[arg(long, value_enum, default_value_t = By::UserId)]
    by: By,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    UserId,
    Id,
}

pub async fn run(config: &Config, args: SegmentArgs) -> anyhow::Result<ExitCode> {
    let mut desk = Desk::open(config, &args.workspace, args.json).await?;
    let done = match args.command {
        SegmentCommand::List => look::list(&mut desk).await,
        SegmentCommand::Show(which) => look::show(&mut desk, &which).await,
        SegmentCommand::Create(args) => define::create(&mut desk, &args).await,
        SegmentCommand::Change(args) => define::change(&mut desk, &args).await,
        SegmentCommand::Delete(which) => define::delete(&mut desk, &which).await,
        SegmentCommand::Members(args) => members::run(&mut desk, args).await,
        SegmentCommand::Preview(args) => look::preview(&desk, &args).await,
        SegmentCommand::Explain(args) => look::explain(&desk, &args).await,
        SegmentCommand::Add(args) => edit::run(&mut desk, args, edit::Act::Add).await,
        SegmentCommand::Remove(args) => edit::run(&mut desk, args, edit::Act::Remove).await,
    };
    desk.close().await;
    done
}
