//! `kurier template`: templates from files, for which neither data nor a server is needed; and
//! those of a workspace, beside a server or without one.

mod apply;
mod check;
mod look;
mod render;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use kurier_core::expr::Error;
use kurier_core::template::{Compiled, Fault};
use kurier_core::value::Value;

use super::desk::Desk;
use super::eval::underlined;
use super::workspace::WorkspaceArgs;
use crate::config::Config;

#[derive(Debug, Args)]
pub struct TemplateArgs {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Say everything that is wrong with templates
    Check(check::CheckArgs),
    /// Render a template from a file, for values from files
    #[command(
        after_help = "Example:\n  kurier template render cart.yaml --contact ann.json --part text"
    )]
    Render(render::RenderArgs),
    /// Publish templates from files
    #[command(after_help = "Example:\n  kurier template apply templates/*.yaml")]
    Apply(apply::ApplyArgs),
    /// List all templates
    List(look::ListArgs),
    /// Show a template
    Show(look::ShowArgs),
    /// Render a published template for a contact, without sending anything
    #[command(after_help = "Example:\n  kurier template preview cart-reminder --user ann")]
    Preview(render::PreviewArgs),
}

impl TemplateArgs {
    /// Whether it is about the templates of a workspace, and not only about files.
    pub const fn needs_data(&self) -> bool {
        !matches!(&self.command, Command::Check(_) | Command::Render(_))
    }

    const fn answers_json(&self) -> bool {
        match &self.command {
            Command::Check(args) => args.json,
            Command::Render(args) => args.show.json,
            Command::Apply(args) => args.json,
            Command::List(args) => args.json,
            Command::Show(args) => args.json,
            Command::Preview(args) => args.show.json,
        }
    }
}

pub fn run(args: &TemplateArgs) -> anyhow::Result<ExitCode> {
    match &args.command {
        Command::Check(args) => check::run(args),
        Command::Render(args) => render::run(args),
        _ => bail!("this command needs a workspace"),
    }
}

/// What is about the templates of a workspace.
pub async fn run_with(config: &Config, args: TemplateArgs) -> anyhow::Result<ExitCode> {
    let desk = Desk::open(config, &args.workspace, args.answers_json()).await?;
    desk.drain().await?;
    let done = match &args.command {
        Command::Apply(args) => apply::run(&desk, args).await,
        Command::List(_) => look::list(&desk).await,
        Command::Show(args) => look::show(&desk, args).await,
        Command::Preview(args) => render::preview(&desk, args).await,
        _ => run(&args),
    };
    desk.close().await;
    done
}

fn read(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// A file's document, and what it compiles to.
fn load(path: &Path) -> anyhow::Result<(Value, Result<Compiled, Vec<Fault>>)> {
    let document = kurier_core::journey::read_document(&read(path)?);
    let document = document.map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))?;
    let compiled = Compiled::new(&document);
    Ok((document, compiled))
}

/// Tells faults to a person, with their places underlined.
fn tell(path: &Path, document: &Value, faults: &[Fault]) {
    for fault in faults {
        let field = fault.field.as_ref();
        let text = field.and_then(|field| document.as_object()?.get(field)?.as_text());
        match (text, fault.span) {
            (Some(text), Some(span)) => {
                let line = text[..span.start].matches('\n').count() + 1;
                let error = Error {
                    suggestion: fault.suggestion.clone(),
                    ..Error::new(span, &fault.message)
                };
                let (path, place) = (path.display(), fault.place());
                eprintln!(
                    "{path}: {place}, line {line}:\n{}",
                    underlined(text, &error)
                );
            }
            _ => eprintln!("{}: {fault}", path.display()),
        }
    }
}
