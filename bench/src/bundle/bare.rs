//! The least that could answer: axum, one GET of Redis, its bytes.

use std::path::Path as File;
use std::process::Command;
use std::sync::Arc;

use anyhow::anyhow;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::get;
use redis::AsyncCommands as _;
use redis::aio::MultiplexedConnection;
use tokio::net::TcpListener;

use crate::server::Server;

/// In a process of its own, as Kurier is.
pub fn start(redis: &str) -> anyhow::Result<Server> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["bundle-bare", "--redis", redis]);
    Server::start(&mut command, File::new("/dev/null"))
}

/// On as many threads as Kurier; apart, since the load has a runtime of one thread.
pub fn serve(redis: String) -> anyhow::Result<()> {
    let serving = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?;
        runtime.block_on(answer(&redis))
    });
    serving
        .join()
        .map_err(|_| anyhow!("the bare server panicked"))?
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
