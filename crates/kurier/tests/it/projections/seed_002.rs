//! The reference of idempotent projections, where it is about the whole: no side effects, and
//! rebuilding.

use super::{happen, prove, settled};
use crate::cli::on;
use crate::harness::{Database, Server, on_both};

on_both![
    section_5_no_side_effects_in_a_projection,
    section_6_rebuild_from_the_log,
];

/// However often everything is folded, nothing is appended, queued or sent by it.
async fn section_5_no_side_effects_in_a_projection(database: Database) {
    let server = Server::start(database).await;
    happen(&server.api, 1).await;
    settled(&server.api).await;
    let stopped = server.terminate().await;
    let state = async || {
        let log = stopped
            .database
            .rows("SELECT * FROM log ORDER BY position")
            .await;
        let queue = stopped
            .database
            .rows("SELECT * FROM queue ORDER BY id")
            .await;
        (log, queue)
    };
    let before = state().await;
    for _ in 0..2 {
        on(&stopped.database, &["projection", "rebuild", "--all"]).expect(0);
    }
    assert_eq!(state().await, before);
}

/// Emptied, forgotten and folded again in the order of positions: as after the first pass.
async fn section_6_rebuild_from_the_log(database: Database) {
    let server = Server::start(database).await;
    for round in 0..3 {
        happen(&server.api, round).await;
    }
    settled(&server.api).await;
    let stopped = server.terminate().await;
    let mut before = Vec::new();
    let tables = || {
        kurier_core::projection::ALL
            .iter()
            .flat_map(|it| it.tables().iter())
    };
    for table in tables() {
        let mut rows = stopped
            .database
            .rows(&format!("SELECT * FROM {}", table.name))
            .await;
        rows.sort();
        before.push(rows);
    }
    for table in tables() {
        stopped
            .database
            .execute(&format!("DELETE FROM {}", table.name))
            .await;
    }
    stopped
        .database
        .execute("DELETE FROM processed_events")
        .await;
    let readers = "DELETE FROM checkpoint WHERE name NOT LIKE 'react%' AND name NOT LIKE 'edge%'";
    stopped.database.execute(readers).await;
    let server = stopped.restart().await;
    settled(&server.api).await;
    prove(&server.database);
    for (table, before) in tables().zip(before) {
        let mut rows = server
            .database
            .rows(&format!("SELECT * FROM {}", table.name))
            .await;
        rows.sort();
        assert_eq!(rows, before, "{}", table.name);
    }
}
