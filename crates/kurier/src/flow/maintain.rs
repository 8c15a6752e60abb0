//! What is to be done now and then: partitions for the months to come, and the gauges.

use std::sync::Arc;
use std::time::Duration;

use kurier_store::Result;

use crate::app::App;
use crate::{clock, metrics as names};

const EVERY: Duration = Duration::from_secs(5);

/// Runs until the task is dropped.
pub async fn maintain(app: Arc<App>) {
    let mut ticks = tokio::time::interval(EVERY);
    loop {
        ticks.tick().await;
        if let Err(error) = once(&app).await {
            tracing::warn!(%error, "maintenance failed, will try again");
        }
    }
}

async fn once(app: &App) -> Result<()> {
    app.store.log.maintain(clock::now()).await?;
    let head = app.store.log.head().await?.0;
    let name = app.projector.name();
    let position = app.projector.position().0;
    metrics::gauge!(names::LOG_POSITION).set(head as f64);
    metrics::gauge!(names::PROJECTION_POSITION, "projection" => name).set(position as f64);
    metrics::gauge!(names::PROJECTION_LAG, "projection" => name)
        .set((head - position).max(0) as f64);
    let poison = app.store.views.poisoned(name).await?;
    metrics::gauge!(names::PROJECTION_POISON, "projection" => name).set(poison as f64);
    crate::metrics::recorder().run_upkeep();
    Ok(())
}
