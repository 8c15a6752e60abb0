//! Read models that can be proven: rebuilt beside the old ones, compared with the log, and the
//! same after a death between any two steps.

mod crash;
mod failures;
mod happenings;
mod records;
mod seed_002;
mod verify;

use std::time::Duration;

use kurier_core::projection::{ALL, Table};
use serde_json::json;

use crate::cli::on;
use crate::harness::server::Stopped;
use crate::harness::{ADMIN_KEY, Api, Database, Server, WRITE_KEY, eventually};
use happenings::{forget, happen, prove_versions};

const LIMIT: Duration = Duration::from_secs(60);

/// Versions are folded where headers are asked for, whether there are any or not.
const HEADERS: (&str, &str) = ("HEADERS_SOURCE", "file:///nowhere.headers?chain=regtest");

/// A server that runs every projection.
async fn start(database: Database) -> Server {
    let keys = [
        ("KURIER_BOOTSTRAP_WRITE_KEY", WRITE_KEY),
        ("KURIER_BOOTSTRAP_ADMIN_KEY", ADMIN_KEY),
        HEADERS,
    ];
    Server::start_with(database, &keys).await
}

async fn restart(stopped: Stopped) -> Server {
    stopped.restart_with(&[HEADERS]).await
}

/// A server at which something happened for every table of every projection, and one contact
/// was erased.
async fn stage(database: Database) -> Server {
    let server = start(database).await;
    happen(&server.api, 1).await;
    settled(&server.api).await;
    prove_versions(&server.database).await;
    forget(&server.api, "u1-4").await;
    settled(&server.api).await;
    assert_nothing_is_empty(&server.database).await;
    server
}

fn tables() -> impl Iterator<Item = &'static Table> {
    ALL.iter().flat_map(|it| it.tables().iter().copied())
}

/// Comparing empty tables proves nothing.
async fn assert_nothing_is_empty(database: &Database) {
    for table in tables() {
        let sql = format!("SELECT count(*) FROM {}", table.name);
        assert!(database.count(&sql).await > 0, "{} is empty", table.name);
    }
}

/// All rows of all read models, each table's in some order of their own.
async fn all_rows(database: &Database) -> Vec<(&'static str, Vec<String>)> {
    let mut all = Vec::new();
    for table in tables() {
        let sql = format!("SELECT * FROM {}", table.name);
        let mut rows = database.rows(&sql).await;
        rows.sort();
        all.push((table.name, rows));
    }
    all
}

/// Waits until nothing is left to fold, to react to and to send.
async fn settled(api: &Api) {
    eventually("everything is folded", LIMIT, async || {
        let list = api.get("/api/v1/projections").await.expect(200).json();
        let all = list["data"].as_array().expect("a list").clone();
        let ready = api.get("/readyz").await.expect(200).json();
        let queued = api
            .get("/api/v1/messages?state=queued")
            .await
            .expect(200)
            .json();
        if queued["data"] != json!([]) {
            return None;
        }
        let is_done = all.iter().all(|it| it["lag"] == 0) && ready["reactor_lag"] == 0;
        is_done.then_some(())
    })
    .await;
}

/// Every projection is what the log says, as the command says.
fn prove(database: &Database) {
    let output = on(database, &["projection", "verify"]).expect(0);
    let proven = output.stdout.matches("is what the log says").count();
    assert_eq!(proven, ALL.len(), "{}", output.stdout);
}
