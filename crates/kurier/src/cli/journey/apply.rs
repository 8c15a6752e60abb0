//! `kurier journey apply`: journeys as files say they are.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, anyhow, bail};
use clap::Args;
use kurier_core::id::JourneyId;
use kurier_core::journey::{Draft, Fault, read_document};
use kurier_core::value::Value;
use serde_json::json;

use super::{read, tell};
use crate::cli::desk::Desk;
use crate::flow::journey::{self, Publishing};

#[derive(Debug, Args)]
pub struct ApplyArgs {
    /// Definitions, YAML or JSON
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Publish them; this is what is done if nothing is said
    #[arg(long, conflicts_with = "draft")]
    publish: bool,
    /// Only save them as drafts
    #[arg(long)]
    draft: bool,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// A file's definition and the journey it is of.
struct Applied<'a> {
    path: &'a Path,
    name: String,
    id: JourneyId,
    definition: Value,
}

/// If any definition is faulty, nothing is changed.
pub async fn run(desk: &Desk, args: &ApplyArgs) -> anyhow::Result<ExitCode> {
    desk.drain().await?;
    let mut all = Vec::new();
    for path in &args.files {
        match load(path)? {
            Ok(applied) => all.push(applied),
            Err(fault) => tell(path, &[*fault]),
        }
    }
    let mut is_good = all.len() == args.files.len();
    if !args.draft {
        for applied in &all {
            is_good &= is_publishable(desk, applied).await?;
        }
    }
    if !is_good {
        eprintln!("nothing was changed");
        return Ok(ExitCode::FAILURE);
    }
    let mut answers = Vec::new();
    for applied in all {
        answers.push(match args.draft {
            true => save(desk, applied).await?,
            false => publish(desk, applied).await?,
        });
    }
    if desk.json {
        println!("{}", json!(answers));
    }
    Ok(ExitCode::SUCCESS)
}

fn load(path: &Path) -> anyhow::Result<Result<Applied<'_>, Box<Fault>>> {
    let text = read(path)?;
    let document = read_document(&text);
    let definition = document.map_err(|error| anyhow!("{}: {error}", path.display()))?;
    let name = match journey::name_of(&definition) {
        Ok(name) => name.to_owned(),
        Err(fault) => return Ok(Err(fault)),
    };
    Ok(Ok(Applied {
        path,
        id: JourneyId::of_name(&name),
        name,
        definition,
    }))
}

async fn is_publishable(desk: &Desk, applied: &Applied<'_>) -> anyhow::Result<bool> {
    let known = journey::known(&desk.app.store, desk.scope()).await?;
    let checked = journey::check(applied.definition.clone(), 1, known).await?;
    tell(applied.path, &checked.faults);
    Ok(checked.definition.is_some())
}

async fn save(desk: &Desk, applied: Applied<'_>) -> anyhow::Result<serde_json::Value> {
    let (store, scope) = (&desk.app.store, desk.scope());
    let draft = Draft {
        journey: applied.id,
        definition: applied.definition,
    };
    let is_new = store.journeys.journey(scope, applied.id).await?.is_none();
    let created = match is_new {
        true => journey::create(store, scope, draft.clone()).await?,
        false => None,
    };
    if created.is_none() {
        journey::draft(store, scope, draft).await?;
    }
    desk.drain().await?;
    let (path, name) = (applied.path.display(), &applied.name);
    if !desk.json {
        println!("{path}: the draft of {name} is saved");
    }
    Ok(json!({"file": path.to_string(), "id": applied.id, "name": name, "published": false}))
}

async fn publish(desk: &Desk, applied: Applied<'_>) -> anyhow::Result<serde_json::Value> {
    let (store, scope) = (&desk.app.store, desk.scope());
    let before = store.journeys.journey(scope, applied.id).await?;
    let subject = (applied.id, before.as_ref());
    let (path, name) = (applied.path.display(), &applied.name);
    let (published, version) = match journey::publish(store, scope, subject, applied.definition)
        .await
        .with_context(|| path.to_string())?
    {
        Publishing::Done { version, .. } => (true, version),
        Publishing::Unchanged { version, .. } => (false, version),
        Publishing::Faulty(_) => bail!("{path}: what it names has changed meanwhile; try again"),
        Publishing::Overtaken => bail!("{path}: somebody published {name} in the same moment"),
    };
    desk.drain().await?;
    if !desk.json {
        match published {
            true => println!("{path}: published {name}, version {version}"),
            false => println!("{path}: {name} is unchanged, version {version}"),
        }
    }
    let (file, id) = (path.to_string(), applied.id);
    Ok(json!({"file": file, "id": id, "name": name, "published": published, "version": version}))
}
