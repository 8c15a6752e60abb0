//! Where a command works: it waits for the process that reacts to the log, or is that process
//! while there is none.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use indicatif::{ProgressBar, ProgressStyle};
use kurier_core::event::Position;
use kurier_core::projection::SegmentSummary;
use kurier_store::Scope;
use tokio::task::JoinHandle;

use super::contact::operator;
use super::workspace::WorkspaceArgs;
use crate::app::App;
use crate::config::Config;
use crate::keyring::Grant;

/// The other process may be busy; what was said is durable whatever comes of it.
const PATIENCE: Duration = Duration::from_secs(30);
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(100);

pub struct Desk {
    pub app: Arc<App>,
    pub grant: Arc<Grant>,
    pub json: bool,
    reacting: Option<JoinHandle<()>>,
}

impl Desk {
    pub async fn open(
        config: &Config,
        workspace: &WorkspaceArgs,
        json: bool,
    ) -> anyhow::Result<Self> {
        let app = App::open(config).await?;
        let workspace = workspace.find(&app.store).await?;
        Ok(Self {
            app,
            grant: Arc::new(operator(workspace)),
            json,
            reacting: None,
        })
    }

    pub fn scope(&self) -> Scope {
        self.grant.scope()
    }

    /// Brings what can be read up to date: a server does so by itself.
    pub async fn catch_up(&mut self) -> anyhow::Result<()> {
        if self.is_led_elsewhere().await? {
            return self.drain().await;
        }
        let head = self.app.store.log.head().await?;
        self.settle(head).await
    }

    /// Waits until `position` was reacted to, and what came of it can be read.
    pub async fn settle(&mut self, position: Position) -> anyhow::Result<()> {
        let began = Instant::now();
        while self.is_led_elsewhere().await? {
            if self.app.reactor.committed().await? >= position {
                return self.drain().await;
            }
            if began.elapsed() > PATIENCE {
                bail!("it is recorded; the server that is running will carry it out");
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        let bar = self.watch(position);
        let reached = self.react_to(position).await;
        bar.finish_and_clear();
        reached?;
        self.drain().await
    }

    /// Folds what was said of segments, templates and journeys.
    pub async fn drain(&self) -> anyhow::Result<()> {
        self.app.segments.drain().await?;
        self.app.templates.drain().await?;
        self.app.slack_workspaces.drain().await?;
        self.app.content.drain().await?;
        Ok(self.app.journeys.drain().await?)
    }

    /// However long the log is, as long as it goes on.
    async fn react_to(&self, position: Position) -> anyhow::Result<()> {
        let reached = self.app.reactor.subscribe();
        loop {
            let before = *reached.borrow();
            if self.app.reactor.reach(position, PATIENCE).await {
                return Ok(());
            }
            if *reached.borrow() == before {
                bail!("the log cannot be reacted to; what was recorded will be carried out later");
            }
        }
    }

    /// If nobody reacts to the log, this process does so from now on.
    async fn is_led_elsewhere(&mut self) -> anyhow::Result<bool> {
        if self.reacting.is_some() {
            return Ok(false);
        }
        if self.app.reactor.is_led_elsewhere().await? {
            return Ok(true);
        }
        self.reacting = Some(tokio::spawn(self.app.reactor.clone().run()));
        Ok(false)
    }

    /// Folds the log without reacting to it, to look at the world.
    pub async fn fold(&self) -> anyhow::Result<()> {
        let bar = self.watch(self.app.store.log.head().await?);
        let folded = self.app.reactor.look().await;
        bar.finish_and_clear();
        Ok(folded?)
    }

    /// A bar on a terminal that shows how far the log is folded.
    /// A bar up to a position; none for machines.
    pub fn bar(&self, to: Position, done: &str) -> ProgressBar {
        if self.json {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::new(u64::try_from(to.0).unwrap_or(0));
        let style = format!("{{wide_bar}} {{pos}}/{{len}} events {done}, {{eta}} left");
        bar.set_style(ProgressStyle::with_template(&style).expect("the template is valid"));
        bar
    }

    fn watch(&self, to: Position) -> ProgressBar {
        let bar = self.bar(to, "folded");
        let mut reached = self.app.reactor.subscribe();
        let shown = bar.clone();
        tokio::spawn(async move {
            while !shown.is_finished() && reached.changed().await.is_ok() {
                shown.set_position(u64::try_from(reached.borrow().0).unwrap_or(0));
            }
        });
        bar
    }

    /// The segment of this id or of this name.
    pub async fn segment(&self, named: &str) -> anyhow::Result<SegmentSummary> {
        let all = self.app.store.segments.segments(self.scope()).await?;
        let is_meant = |segment: &SegmentSummary| {
            segment.definition.segment.to_string() == named || segment.definition.name == named
        };
        let mut found: Vec<_> = all.into_iter().filter(is_meant).collect();
        if found.len() > 1 {
            let ids = found.iter().map(|it| it.definition.segment.to_string());
            let ids: Vec<String> = ids.collect();
            bail!(
                "{} segments are called `{}`; name one by its id: {}",
                ids.len(),
                named,
                ids.join(", ")
            );
        }
        found
            .pop()
            .with_context(|| format!("there is no segment `{}`", named))
    }

    /// Lets the next process react without waiting for this one.
    pub async fn close(self) {
        if let Some(reacting) = self.reacting {
            reacting.abort();
            let _aborted = reacting.await;
            self.app.reactor.stop().await;
        }
    }
}
