//! A file of headers, served in the shapes that sources of headers have.

use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::json;
use tokio::net::TcpListener;

use super::problem::Problem;
use crate::headers::HeaderFile;

const COUNT_MAX: u32 = 10_000;

#[derive(Deserialize)]
struct Range {
    from: u32,
    count: u32,
}

/// Serves until the process ends.
pub async fn serve_headers(
    listener: TcpListener,
    path: PathBuf,
    start: u32,
) -> std::io::Result<()> {
    let file = Arc::new(HeaderFile::new(path, start));
    let router = Router::new()
        .route("/tip", get(tip))
        .route("/headers", get(headers))
        .with_state(file);
    axum::serve(listener, router).await
}

fn unreadable(fault: &dyn std::fmt::Display) -> Problem {
    Problem::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "unavailable",
        fault.to_string(),
    )
}

async fn tip(State(file): State<Arc<HeaderFile>>) -> Result<Response, Problem> {
    let tip = file.tip().await.map_err(|fault| unreadable(&fault))?;
    Ok(Json(json!({"height": tip.height, "hash": tip.hash})).into_response())
}

async fn headers(
    State(file): State<Arc<HeaderFile>>,
    Query(Range { from, count }): Query<Range>,
) -> Result<Response, Problem> {
    let bytes = file.range(from, count.min(COUNT_MAX)).await;
    let bytes = bytes.map_err(|fault| unreadable(&fault))?;
    let kind = [(header::CONTENT_TYPE, "application/octet-stream")];
    Ok((kind, bytes).into_response())
}
