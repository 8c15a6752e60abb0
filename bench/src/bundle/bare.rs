//! The least that could answer: axum, one GET of Redis, its bytes.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::get;
use redis::AsyncCommands as _;
use redis::aio::MultiplexedConnection;
use tokio::net::TcpListener;

/// On as many threads as Kurier.
pub fn serve(redis: &str) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(answer(redis))
}

async fn answer(redis: &str) -> anyhow::Result<()> {
    let connection = redis::Client::open(redis)?
        .get_multiplexed_async_connection()
        .await?;
    let router = Router::new()
        .route("/bundle/{id}", get(bundle))
        .with_state(Arc::new(connection));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("listening on http://{}", listener.local_addr()?);
    Ok(axum::serve(listener, router).await?)
}

async fn bundle(
    State(connection): State<Arc<MultiplexedConnection>>,
    Path(id): Path<String>,
) -> Result<Vec<u8>, StatusCode> {
    let mut connection = MultiplexedConnection::clone(&connection);
    let found: Option<Vec<u8>> = connection
        .get(format!("cache:bundle:{id}|0"))
        .await
        .map_err(|_| StatusCode::BAD_GATEWAY)?;
    found.ok_or(StatusCode::NOT_FOUND)
}
