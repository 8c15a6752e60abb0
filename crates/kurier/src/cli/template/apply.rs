//! `kurier template apply`: templates as files say they are.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use kurier_core::template::{Compiled, Fault};
use kurier_core::value::Value;
use serde_json::json;

use super::{load, tell};
use crate::cli::desk::Desk;
use crate::flow::content;
use crate::flow::template::{self, Publishing};

#[derive(Debug, Args)]
pub struct ApplyArgs {
    /// Templates, YAML or JSON
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// If any template is faulty, nothing is changed.
pub async fn run(desk: &Desk, args: &ApplyArgs) -> anyhow::Result<ExitCode> {
    let mut all = Vec::new();
    for path in &args.files {
        let (document, compiled) = load(path)?;
        let compiled = match compiled {
            Ok(compiled) => there(desk, compiled).await?,
            faulty => faulty,
        };
        match compiled {
            Ok(compiled) => all.push((path, compiled, document)),
            Err(faults) => tell(path, &document, &faults),
        }
    }
    if all.len() < args.files.len() {
        eprintln!("nothing was changed");
        return Ok(ExitCode::FAILURE);
    }
    let mut answers = Vec::new();
    for (path, compiled, document) in all {
        answers.push(publish(desk, path, &compiled, document).await?);
    }
    if desk.json {
        println!("{}", json!(answers));
    }
    Ok(ExitCode::SUCCESS)
}

/// What it quotes must be there.
async fn there(desk: &Desk, compiled: Compiled) -> anyhow::Result<Result<Compiled, Vec<Fault>>> {
    let absent = content::faults(&desk.app.store, desk.scope(), &compiled).await?;
    Ok(match absent.is_empty() {
        true => Ok(compiled),
        false => Err(absent),
    })
}

async fn publish(
    desk: &Desk,
    path: &Path,
    compiled: &Compiled,
    document: Value,
) -> anyhow::Result<serde_json::Value> {
    let (file, name) = (path.display().to_string(), &compiled.name);
    let done = template::publish(&desk.app.store, desk.scope(), compiled, document).await;
    let (published, version) = match done.with_context(|| file.clone())? {
        Publishing::Done { version, .. } => (true, version),
        Publishing::Unchanged { version } => (false, version),
        Publishing::Overtaken => bail!("{file}: somebody published {name} in the same moment"),
    };
    desk.drain().await?;
    if !desk.json {
        match published {
            true => println!("{file}: published {name}, version {version}"),
            false => println!("{file}: {name} is unchanged, version {version}"),
        }
    }
    Ok(json!({"file": file, "name": name, "published": published, "version": version}))
}
