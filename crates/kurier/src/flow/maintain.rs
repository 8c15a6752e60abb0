//! What is to be done now and then: partitions for the months to come, and the gauges.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use kurier_core::id::WorkspaceId;
use kurier_store::{Error, Result};

use super::project::Projector;
use super::react::Measure;
use crate::app::App;
use crate::http::REMEMBERED_MICROS;
use crate::{clock, metrics as names};

const EVERY: Duration = Duration::from_secs(5);

/// Runs until the task is dropped.
pub async fn maintain(app: Arc<App>) {
    let mut ticks = tokio::time::interval(EVERY);
    let mut warned = Warned::default();
    loop {
        ticks.tick().await;
        if let Err(error) = once(&app, &mut warned).await {
            tracing::warn!(%error, "maintenance failed, will try again");
        }
    }
}

async fn once(app: &Arc<App>, warned: &mut Warned) -> Result<()> {
    app.store.log.maintain(clock::now()).await?;
    let head = app.store.log.head().await?.0;
    metrics::gauge!(names::LOG_POSITION).set(head as f64);
    for projector in app.projectors() {
        measure_projection(app, projector, head).await?;
    }
    measure(app, warned).await?;
    let forgotten = clock::now().shifted(-REMEMBERED_MICROS);
    app.store.queue.prune(forgotten).await?;
    app.store.users.prune_sessions(clock::now()).await?;
    Ok(())
}

async fn measure_projection(app: &App, projector: &Projector, head: i64) -> Result<()> {
    let (name, position) = (projector.name(), projector.position().0);
    let poison = app.store.views.poisoned(name).await?;
    let progress = app.store.projections.progress(name).await?;
    let gauges = [
        (names::PROJECTION_POSITION, position as f64),
        (names::PROJECTION_LAG, (head - position).max(0) as f64),
        (names::PROJECTION_POISON, poison as f64),
        (
            names::PROJECTION_PAUSED,
            f64::from(u8::from(progress.is_paused)),
        ),
        (
            names::PROJECTION_FAILING,
            f64::from(u8::from(progress.failure.is_some())),
        ),
    ];
    for (gauge, value) in gauges {
        metrics::gauge!(gauge, "projection" => name).set(value);
    }
    Ok(())
}

async fn measure(app: &Arc<App>, warned: &mut Warned) -> Result<()> {
    let reactor = app.reactor.clone();
    let measuring = tokio::task::spawn_blocking(move || reactor.measure());
    let measure = measuring
        .await
        .map_err(|e| Error::Unavailable(e.to_string()))?;
    metrics::gauge!(names::REACTOR_POSITION).set(app.reactor.position().0 as f64);
    metrics::gauge!(names::WORLD_BYTES).set(measure.bytes as f64);
    app.shelf.measure();
    metrics::gauge!(names::WORLD_BYTES_MAX).set(app.world_bytes_max as f64);
    let all = measure.unkept.values();
    for (kind, count) in [
        (
            "attribute",
            all.clone().map(|unkept| unkept.attributes).sum::<u64>(),
        ),
        (
            "property",
            all.clone().map(|unkept| unkept.properties).sum(),
        ),
        ("event_type", all.map(|unkept| unkept.event_types).sum()),
    ] {
        metrics::gauge!(names::WORLD_UNKEPT, "kind" => kind).set(count as f64);
    }
    if let Some(kept) = &measure.kept {
        let age = clock::now().micros_since(kept.written_at) as f64 / 1e6;
        metrics::gauge!(names::SNAPSHOT_POSITION).set(kept.position.0 as f64);
        metrics::gauge!(names::SNAPSHOT_BYTES).set(kept.bytes as f64);
        metrics::gauge!(names::SNAPSHOT_AGE).set(age.max(0.0));
    }
    warned.warn(&measure, app.world_bytes_max);
    Ok(())
}

/// What was said already: a warning that never ends is not read.
#[derive(Default)]
struct Warned {
    workspaces: BTreeSet<WorkspaceId>,
    is_over: bool,
}

impl Warned {
    fn warn(&mut self, measure: &Measure, bytes_max: u64) {
        for (workspace, unkept) in &measure.unkept {
            if self.workspaces.insert(*workspace) {
                tracing::warn!(
                    %workspace,
                    attributes = unkept.attributes,
                    properties = unkept.properties,
                    event_types = unkept.event_types,
                    "too many different names: expressions see values beyond the limits as missing"
                );
            }
        }
        let (bytes, was_over) = (measure.bytes as u64, self.is_over);
        self.is_over = bytes > bytes_max;
        if self.is_over && !was_over {
            tracing::error!(
                bytes,
                bytes_max,
                "contacts and events take more memory than world_bytes_max; nothing is dropped"
            );
        }
        if was_over && !self.is_over {
            tracing::info!(
                bytes,
                bytes_max,
                "contacts and events fit into memory again"
            );
        }
    }
}
