//! For those who operate: is it alive, is it ready, what does it count.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use super::problem::{Problem, ProblemBody};
use crate::app::App;

/// The process is alive.
#[utoipa::path(get, path = "/healthz", tag = "operations", security(()),
    responses((status = 200, description = "The process is alive", body = String)))]
pub async fn healthz() -> &'static str {
    "ok\n"
}

#[derive(Serialize, ToSchema)]
pub struct Readiness {
    /// The last position in the log.
    log_position: i64,
    /// How far the read models have come.
    projection_position: i64,
    projection_lag: i64,
    /// Whether the keyspace (Redis, or this process's memory) answers; nothing is lost when it does not.
    keyspace: bool,
}

/// Requests can be served: the store answers.
#[utoipa::path(get, path = "/readyz", tag = "operations", security(()),
    responses((status = 200, body = Readiness), (status = 503, body = ProblemBody)))]
pub async fn readyz(State(app): State<Arc<App>>) -> Result<Json<Readiness>, Problem> {
    let head = app.store.log.head().await?.0;
    let position = app.projector.position().0;
    let projection_lag = (head - position).max(0);
    let keyspace = app.keyspace.ping().await.is_ok();
    Ok(Json(Readiness {
        log_position: head,
        projection_position: position,
        projection_lag,
        keyspace,
    }))
}

/// Counters and gauges in the Prometheus text format.
#[utoipa::path(get, path = "/metrics", tag = "operations", security(()),
    responses((status = 200, description = "Prometheus text format", body = String)))]
pub async fn metrics() -> (StatusCode, [(&'static str, &'static str); 1], String) {
    let text = crate::metrics::recorder().render();
    (
        StatusCode::OK,
        [("content-type", "text/plain; version=0.0.4")],
        text,
    )
}
