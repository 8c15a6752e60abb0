//! The reference of idempotent projections, where it is about the whole: no side effects, and
//! rebuilding.

use super::{all_rows, happen, prove, restart, settled, stage, tables};
use crate::cli::on;
use crate::harness::{Database, on_both};

on_both![
    section_5_no_side_effects_in_a_projection,
    section_6_rebuild_from_the_log,
];

/// However often everything is folded, nothing is appended, queued or sent by it.
async fn section_5_no_side_effects_in_a_projection(database: Database) {
    let stopped = stage(database).await.terminate().await;
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
    let server = stage(database).await;
    happen(&server.api, 2).await;
    settled(&server.api).await;
    let stopped = server.terminate().await;
    let before = all_rows(&stopped.database).await;
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
    let server = restart(stopped).await;
    settled(&server.api).await;
    prove(&server.database);
    assert_eq!(all_rows(&server.database).await, before);
}
