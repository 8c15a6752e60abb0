//! The command line: one command a file, listed here.

// First, so that its macros are known in all others.
#[macro_use]
mod output;

mod api_key;
mod bundle;
mod channel;
mod contact;
mod content;
mod dead;
mod desk;
mod doctor;
mod eval;
mod headers;
mod import;
mod journey;
mod keys;
mod log;
mod message;
mod openapi;
mod projection;
mod segment;
mod serve;
mod slack_workspace;
mod suppression;
mod table;
mod template;
mod user;
mod workspace;

use std::process::ExitCode;

use anyhow::Context as _;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::config::{Config, ServeArgs, StoreArgs};
use crate::operator;
use crate::version::BuildVersion;

/// A self-hosted customer-journey engine: events come in, contacts and segments follow,
/// journeys run, messages go out.
#[derive(Debug, Parser)]
#[command(name = "kurier", arg_required_else_help = true, max_term_width = 100)]
pub struct Cli {
    #[command(flatten)]
    store: StoreArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the API and fold the log
    Serve(ServeArgs),
    /// Import contacts or events from a file
    Import(import::ImportArgs),
    /// Make, list and revoke API keys
    ApiKey(api_key::ApiKeyArgs),
    /// Make, list, change and delete those who sign in
    User(user::UserArgs),
    /// Show, export or erase a contact
    Contact(contact::ContactArgs),
    /// Make segments, look into them, explain and change who is in them
    Segment(segment::SegmentArgs),
    /// Keep addresses from messages, and let them have them again
    Suppression(suppression::SuppressionArgs),
    /// Look at the log and its months
    Log(log::LogArgs),
    /// Evaluate an expression over a contact and events from files
    Eval(eval::EvalArgs),
    /// Check, test, simulate and publish journeys, and look into them
    Journey(journey::JourneyArgs),
    /// Look at messages: what was asked for, and what became of it
    Message(message::MessageArgs),
    /// Look at dead letters, queue them again or put them away
    Dead(dead::DeadArgs),
    /// Set up, show, try and remove channels
    Channel(channel::ChannelArgs),
    /// Check, render and publish templates, and look at them
    Template(template::TemplateArgs),
    /// Import Markdown, and look at the nodes and keys that it became
    Content(content::ContentArgs),
    /// Prove what was published: anchor versions, look at their bundles, verify them
    Bundle(bundle::BundleArgs),
    /// Serve block headers, or mine some at home to try bundles
    Headers(headers::HeadersArgs),
    /// See how far read models are, build them anew, and prove that they are what the log says
    Projection(projection::ProjectionArgs),
    /// Keep the Slack workspaces that messages may be sent to
    SlackWorkspace(slack_workspace::SlackWorkspaceArgs),
    /// Look after what is kept in Redis
    Keys(keys::KeysArgs),
    /// Check that everything is in order
    Doctor(doctor::DoctorArgs),
    /// Print the API's OpenAPI description
    Openapi,
}

impl Cli {
    /// Reads the command line; ends the process where it is faulty, and after `--help` and `--version`.
    pub fn read(build: BuildVersion) -> Self {
        // clap takes only texts that last, and this one is needed for as long as the process lives.
        let version: &'static str = build.to_string().leak();
        let matches = Self::command().version(version).get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }

    pub fn run(self, build: BuildVersion) -> anyhow::Result<ExitCode> {
        let code = self.execute(build)?;
        output::finish().context("standard output")?;
        Ok(code)
    }

    fn execute(self, build: BuildVersion) -> anyhow::Result<ExitCode> {
        // These need neither settings nor data.
        if let Command::Headers(args) = self.command {
            return headers::run(args);
        }
        match &self.command {
            Command::Openapi => return openapi::run(),
            Command::Eval(args) => return eval::run(args),
            Command::Journey(args) if !args.needs_data() => return journey::run(args),
            Command::Template(args) if !args.needs_data() => return template::run(args),
            Command::Bundle(args) if !args.needs_data() => return bundle::run(args),
            _ => {}
        }
        let serve_args = match &self.command {
            Command::Serve(args) => args.clone(),
            _ => ServeArgs::default(),
        };
        let config = Config {
            build,
            ..Config::load(self.store, serve_args)?
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?;
        let result = runtime.block_on(operator::within(async {
            operator::is(operator::COMMAND_LINE);
            match self.command {
                Command::Serve(_) => serve::run(config).await,
                Command::Import(args) => import::run(&config, args).await,
                Command::ApiKey(args) => api_key::run(&config, args).await,
                Command::User(args) => user::run(&config, args).await,
                Command::Contact(args) => contact::run(&config, args).await,
                Command::Segment(args) => segment::run(&config, args).await,
                Command::Suppression(args) => suppression::run(&config, args).await,
                Command::Log(args) => log::run(&config, args).await,
                Command::Message(args) => message::run(&config, args).await,
                Command::Dead(args) => dead::run(&config, args).await,
                Command::Channel(args) => channel::run(&config, args).await,
                Command::SlackWorkspace(args) => slack_workspace::run(&config, args).await,
                Command::Keys(args) => keys::run(&config, args).await,
                Command::Doctor(args) => doctor::run(&config, args).await,
                Command::Openapi => openapi::run(),
                Command::Eval(args) => eval::run(&args),
                Command::Journey(args) => journey::run_with(&config, args).await,
                Command::Template(args) => template::run_with(&config, args).await,
                Command::Content(args) => content::run(&config, args).await,
                Command::Bundle(args) => bundle::run_with(&config, args).await,
                Command::Headers(args) => headers::run(args),
                Command::Projection(args) => projection::run(&config, args).await,
            }
        }));
        // Readers may be inside a query; there is nothing to wait for.
        runtime.shutdown_background();
        result
    }
}
