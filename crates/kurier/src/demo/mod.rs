//! The demo: a workspace that is full and moves, so that there is something to look at.

mod dice;
mod past;
mod person;
mod set_up;
mod story;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use kurier_core::event::Position;
use kurier_store::{Scope, Workspace};

use crate::app::App;
use crate::clock;
use crate::flow::user::{Error, Wanted, create_first};

/// Who signs in to the demo.
pub const OWNER: &str = "demo@example.com";
const BATCH_MAX: usize = 5_000;
/// Something happens this often.
const EVERY: Duration = Duration::from_millis(500);

/// Whether this is a demo, and to whom it is open.
#[derive(Debug, Clone, Copy, Default)]
pub struct Demo {
    is_on: bool,
    is_open: bool,
}

impl Demo {
    /// Without a password one signs in from this very machine only.
    pub fn new(is_on: bool, listen: SocketAddr) -> Self {
        Self {
            is_on,
            is_open: is_on && listen.ip().is_loopback(),
        }
    }

    pub const fn is_on(self) -> bool {
        self.is_on
    }

    /// Whom one signs in as without a password, if that is possible.
    pub fn owner(self) -> Option<&'static str> {
        self.is_open.then_some(OWNER)
    }
}

/// Makes the demo in the workspace `default`, unless it is there; refuses where contacts are
/// that are none of its own.
pub async fn fill(app: &App) -> anyhow::Result<()> {
    let workspace = workspace(app).await?;
    let scope = Scope(workspace.id);
    let users = app.store.users.users(scope).await?;
    if users.iter().any(|user| user.email == OWNER) {
        return Ok(());
    }
    if !users.is_empty() || has_contacts(app).await? {
        bail!("--demo needs a database of its own: here are users or contacts already");
    }
    let now = clock::now();
    let start = now.shifted(-story::SPAN);
    // The months of the past may have no place in the log yet.
    app.store.log.maintain(start).await?;
    let history = story::history(now);
    let history = story::accepted(&workspace.key, "history", &history)?;
    let past = past::Past::new(app, scope, start);
    past.live(set_up::events(start)?, start).await?;
    past.live_through(history, now).await?;
    past.end().await;
    // Last of all: who finds the owner finds everything.
    own(app, scope).await
}

async fn workspace(app: &App) -> anyhow::Result<Workspace> {
    let all = app.store.access.workspaces().await?;
    let found = all.into_iter().find(|it| it.name == "default");
    found.context("--demo needs the workspace `default`")
}

/// Whether any client has ever said anything that is not the demo's: it was cut short then.
async fn has_contacts(app: &App) -> anyhow::Result<bool> {
    let mut after = Position(0);
    loop {
        let batch = app.store.log.read(after, BATCH_MAX).await?;
        let Some(last) = batch.last() else {
            return Ok(false);
        };
        after = last.position;
        let mut clients = batch.iter().filter(|it| it.event.kind.is_from_client());
        if clients.any(|it| !it.event.payload.contains("\"demo-")) {
            return Ok(true);
        }
    }
}

async fn own(app: &App, scope: Scope) -> anyhow::Result<()> {
    let owner = Wanted {
        email: OWNER.to_owned(),
        name: "Demo".to_owned(),
        password: hex::encode(clock::random::<32>()),
    };
    match create_first(app, scope, owner).await {
        // Another process was faster, and has made the same.
        Ok(_) | Err(Error::NotFirst) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Lets a little happen each moment, until the task is dropped.
pub async fn go_on(app: Arc<App>) {
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    loop {
        ticks.tick().await;
        if let Err(error) = happen(&app).await {
            tracing::warn!(%error, "the demo stood still for a moment");
        }
    }
}

async fn happen(app: &App) -> anyhow::Result<()> {
    let workspace = workspace(app).await?;
    let now = clock::now();
    // The moment's number: another start goes on elsewhere.
    let step = now.as_micros().unsigned_abs() / 500_000;
    let said = story::moment(step, now);
    let events = story::accepted(&workspace.key, &format!("moment {step}"), &said)?;
    app.store.log.append(Scope(workspace.id), events).await?;
    app.projector.wake();
    app.reactor.wake();
    Ok(())
}
