//! The least server that could take events in: axum, and one statement for all that wait, into the
//! tables that Kurier makes. Nothing is deduplicated, folded or decided: what this does not reach
//! on a machine is not to be had there.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use anyhow::anyhow;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use kurier_core::event::Event;
use kurier_core::id::{IdentityKey, WorkspaceId};
use sqlx::{Connection as _, PgConnection};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};

use super::postgres::{insert, prepare};
use super::{BATCH, accepted};
use crate::clock::now;
use crate::server::Server;

/// In a process of its own, as Kurier is.
pub fn start(url: &str, errors: &Path) -> anyhow::Result<Server> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["bare-handler", "--postgres", url]);
    Server::start(&mut command, errors)
}

/// On as many threads as Kurier; apart, since the load has a runtime of one thread.
pub fn serve(url: String) -> anyhow::Result<()> {
    let serving = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?;
        runtime.block_on(answer(&url))
    });
    serving
        .join()
        .map_err(|_| anyhow!("the bare handler panicked"))?
}

struct Waiting {
    event: Event,
    done: oneshot::Sender<()>,
}

struct Handler {
    key: IdentityKey,
    waiting: mpsc::Sender<Waiting>,
}

async fn answer(url: &str) -> anyhow::Result<()> {
    prepare(url).await?;
    let connection = PgConnection::connect(url).await?;
    let (waiting, all) = mpsc::channel(BATCH);
    let handler = Handler {
        key: IdentityKey::new([7; 32]),
        waiting,
    };
    tokio::spawn(commit(connection, all));
    let router = Router::new()
        .route("/v1/track", post(track))
        .with_state(Arc::new(handler));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("listening on http://{}", listener.local_addr()?);
    let listener = axum::serve::ListenerExt::tap_io(listener, |socket| {
        let _ = socket.set_nodelay(true);
    });
    Ok(axum::serve(listener, router).await?)
}

async fn track(
    State(handler): State<Arc<Handler>>,
    body: String,
) -> Result<&'static str, StatusCode> {
    let event = accepted(&handler.key, &body).ok_or(StatusCode::BAD_REQUEST)?;
    let (done, is_done) = oneshot::channel();
    let sent = handler.waiting.send(Waiting { event, done }).await;
    sent.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
    is_done.await.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
    Ok("{\"success\":true}")
}

/// All that wait, by one statement, for as long as the database takes them.
async fn commit(mut connection: PgConnection, mut all: mpsc::Receiver<Waiting>) {
    let workspace = WorkspaceId::new(now(), [7; 10]);
    let (mut position, mut waiting) = (0, Vec::with_capacity(BATCH));
    while all.recv_many(&mut waiting, BATCH).await > 0 {
        let (events, done): (Vec<_>, Vec<_>) =
            waiting.drain(..).map(|it| (it.event, it.done)).unzip();
        if let Err(error) = insert(&mut connection, workspace, position, &events).await {
            eprintln!("{error}");
            return;
        }
        position += events.len() as i64;
        for done in done {
            // Who has gone needs no answer.
            let _ = done.send(());
        }
    }
}
