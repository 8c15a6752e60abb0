//! `kurier projection`: how far read models are, building them anew, and proving them.

mod task;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use kurier_core::projection::{self, Projection};
use kurier_store::Store;

use super::table;
use crate::app::open_store;
use crate::config::Config;
use crate::flow::rate::per_second;
use crate::http::{ProjectionView, SetAsideView};

/// So many events that were set aside are shown.
const SET_ASIDE_MAX: usize = 20;
/// So long positions are looked at to tell how fast they move.
const LOOK: Duration = Duration::from_millis(500);

#[derive(Debug, Args)]
pub struct ProjectionArgs {
    #[command(subcommand)]
    command: ProjectionCommand,
    /// Answer in JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum ProjectionCommand {
    /// List the projections, how far they are and what stops them
    List,
    /// Show one projection, with the events it could not fold
    Status {
        /// Its name, such as `contacts`
        name: String,
    },
    /// Fold a projection anew from the first event while the old tables serve, then swap it in
    Rebuild {
        /// Its name, such as `contacts`
        #[arg(required_unless_present = "all")]
        name: Option<String>,
        /// Every projection, one after another
        #[arg(long, conflicts_with = "name")]
        all: bool,
    },
    /// Fold a projection anew, or all, and compare every row; the exit code is 1 if one differs
    Verify {
        /// Its name; every projection if not given
        name: Option<String>,
    },
    /// Let a projection rest: what is read of it grows old until it is resumed
    Pause {
        /// Its name, such as `daily`
        name: String,
    },
    /// Let a projection go on where it was paused
    Resume {
        /// Its name, such as `daily`
        name: String,
    },
}

pub async fn run(config: &Config, args: ProjectionArgs) -> anyhow::Result<ExitCode> {
    let store = open_store(&config.database).await?;
    match args.command {
        ProjectionCommand::List => list(&store, args.json).await?,
        ProjectionCommand::Status { name } => status(&store, named(&name)?, args.json).await?,
        ProjectionCommand::Rebuild { name, .. } => {
            for projection in chosen(name.as_deref())? {
                task::rebuild(&store, projection, args.json).await?;
            }
        }
        ProjectionCommand::Verify { name } => {
            return task::verify_all(&store, &chosen(name.as_deref())?, args.json).await;
        }
        ProjectionCommand::Pause { name } => pause(&store, named(&name)?, true).await?,
        ProjectionCommand::Resume { name } => pause(&store, named(&name)?, false).await?,
    }
    Ok(ExitCode::SUCCESS)
}

fn named(name: &str) -> anyhow::Result<&'static dyn Projection> {
    let names = projection::ALL.iter().map(|projection| projection.name());
    let names: Vec<_> = names.collect();
    projection::named(name).with_context(|| {
        let names = names.join(", ");
        format!("there is no projection `{name}`; there are {names}")
    })
}

fn chosen(name: Option<&str>) -> anyhow::Result<Vec<&'static dyn Projection>> {
    match name {
        Some(name) => Ok(vec![named(name)?]),
        None => Ok(projection::ALL.to_vec()),
    }
}

/// How these stand, and how far they come while one looks.
async fn views(
    store: &Store,
    all: &[&'static dyn Projection],
) -> anyhow::Result<Vec<ProjectionView>> {
    let mut before = Vec::new();
    for of in all {
        before.push(store.projections.progress(of.name()).await?.position);
    }
    let began = Instant::now();
    tokio::time::sleep(LOOK).await;
    let head = store.log.head().await?.0;
    let mut views = Vec::new();
    for (of, before) in all.iter().zip(before) {
        let progress = store.projections.progress(of.name()).await?;
        let rate = per_second(progress.position.0 - before.0, began.elapsed());
        let set_aside = store.views.poisoned(of.name()).await?;
        let view = ProjectionView::new(*of, head, progress, set_aside);
        views.push(view.at_rate(Some(rate)));
    }
    Ok(views)
}

async fn list(store: &Store, as_json: bool) -> anyhow::Result<()> {
    let views = views(store, projection::ALL).await?;
    if as_json {
        println!("{}", serde_json::json!({ "data": views }));
        return Ok(());
    }
    let header = [
        "projection",
        "position",
        "lag",
        "events/s",
        "set aside",
        "state",
        "repeats",
    ];
    table::print(&header, views.iter().map(ProjectionView::cells));
    Ok(())
}

async fn status(
    store: &Store,
    projection: &'static dyn Projection,
    as_json: bool,
) -> anyhow::Result<()> {
    let view = views(store, &[projection]).await?.remove(0);
    let aside = store
        .projections
        .set_aside(projection.name(), SET_ASIDE_MAX);
    let aside: Vec<SetAsideView> = aside.await?.into_iter().map(Into::into).collect();
    if as_json {
        let mut json = serde_json::to_value(&view)?;
        json["set_aside_events"] = serde_json::to_value(&aside)?;
        println!("{json}");
        return Ok(());
    }
    print!("{view}");
    if !aside.is_empty() {
        println!("set aside:");
    }
    for event in &aside {
        println!("  {event}");
    }
    Ok(())
}

async fn pause(
    store: &Store,
    projection: &'static dyn Projection,
    is_paused: bool,
) -> anyhow::Result<()> {
    store
        .projections
        .pause(projection.name(), is_paused)
        .await?;
    let done = if is_paused { "paused" } else { "resumed" };
    println!("{done} {}", projection.name());
    Ok(())
}
