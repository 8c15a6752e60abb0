//! For those who operate: is it alive, is it ready, what does it count.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use super::problem::Problem;
use crate::app::App;

/// The process is alive.
#[utoipa::path(get, path = "/healthz", tag = "operations", security(()), responses(
    (status = 200, description = "The process is alive", body = String)))]
pub async fn healthz() -> &'static str {
    "ok\n"
}

#[derive(Serialize, ToSchema)]
pub struct Readiness {
    /// The version of the program.
    #[schema(example = "0.1.0")]
    version: &'static str,
    /// The commit it was built from; `unknown` if it was built without a checkout.
    #[schema(example = "a1b2c3d4")]
    commit: &'static str,
    /// The last position in the log.
    log_position: i64,
    /// How far the read models have come.
    projection_position: i64,
    projection_lag: i64,
    /// How far the log was reacted to: segments are as of here.
    reactor_position: i64,
    reactor_lag: i64,
    /// The memory that contacts and events take.
    world_bytes: u64,
    /// What someone should look at; requests are served all the same.
    #[schema(example = json!([]))]
    warnings: Vec<String>,
    /// Whether the keyspace (Redis, or this process's memory) answers; nothing is lost when it does not.
    keyspace: bool,
}

/// Requests can be served: the store answers.
#[utoipa::path(get, path = "/readyz", tag = "operations", security(()), responses(
    (status = 200, body = Readiness),
    (status = 503, description = "`unavailable`: the database cannot be reached")))]
pub async fn readyz(State(app): State<Arc<App>>) -> Result<Json<Readiness>, Problem> {
    let head = app.store.log.head().await?.0;
    let position = app.projector.position().0;
    let projection_lag = (head - position).max(0);
    let reactor_position = app.reactor.position().0;
    let world_bytes = app.reactor.measured().bytes as u64;
    let keyspace = app.keyspace.ping().await.is_ok();
    Ok(Json(Readiness {
        version: app.build.version,
        commit: app.build.commit(),
        log_position: head,
        projection_position: position,
        projection_lag,
        reactor_position,
        reactor_lag: (head - reactor_position).max(0),
        world_bytes,
        warnings: warnings(&app),
        keyspace,
    }))
}

fn warnings(app: &App) -> Vec<String> {
    let measured = app.reactor.measured();
    let (bytes, max) = (measured.bytes as u64, app.world_bytes_max);
    let over = (bytes > max).then(|| {
        format!(
            "contacts and events take {bytes} bytes of memory, more than world_bytes_max ({max})"
        )
    });
    let count = measured.unkept.len();
    let unkept = (count > 0).then(|| {
        format!("{count} workspace(s) have more different names than columns; values beyond are missing to expressions")
    });
    over.into_iter().chain(unkept).collect()
}

/// Counters and gauges in the Prometheus text format.
#[utoipa::path(get, path = "/metrics", tag = "operations", security(()), responses(
    (status = 200, description = "Prometheus text format", body = String)))]
pub async fn metrics() -> (StatusCode, [(&'static str, &'static str); 1], String) {
    let text = crate::metrics::recorder().render();
    (
        StatusCode::OK,
        [("content-type", "text/plain; version=0.0.4")],
        text,
    )
}
