//! Snapshots from outside: one is written at an orderly end, and used at the start; one that
//! cannot be used is discarded, and the log is folded.

use serde_json::json;

use super::{EAGER, LIMIT, define, members, preview};
use crate::harness::server::{Stopped, command};
use crate::harness::{Database, Server, eventually, on_both};

on_both![
    a_start_goes_on_from_the_snapshot_of_the_end,
    a_damaged_snapshot_is_discarded_and_the_log_is_folded,
    a_snapshot_of_another_log_is_discarded
];

const PROS: &str = "contact.plan = 'pro'";

/// A server that ended in order, with a member in its one segment.
async fn ended(database: Database) -> (Stopped, String) {
    let keys = [EAGER[2], EAGER[3]];
    let server = Server::start_with(database, &keys).await;
    let segment = define(&server.api, PROS).await;
    let traits = json!({"userId": "u", "traits": {"plan": "pro"}});
    server.api.send("identify", traits).await;
    has_members(&server, &segment, 1).await;
    let stopped = server.terminate().await;
    assert_eq!(stopped.database.snapshots().len(), 1, "{}", stopped.log());
    (stopped, segment)
}

async fn has_members(server: &Server, segment: &str, count: usize) {
    eventually("members follow", LIMIT, async || {
        (members(&server.api, segment).await.len() == count).then_some(())
    })
    .await;
}

/// It starts, and reacts as if nothing had been.
async fn goes_on(stopped: Stopped, segment: &str) -> Server {
    let server = stopped.restart().await;
    let traits = json!({"userId": "v", "traits": {"plan": "pro"}});
    server.api.send("identify", traits).await;
    has_members(&server, segment, 2).await;
    assert_eq!(
        preview(&server.api, PROS).await,
        members(&server.api, segment).await
    );
    super::books::audit(&server.database)
        .await
        .expect("told once");
    server
}

async fn a_start_goes_on_from_the_snapshot_of_the_end(database: Database) {
    let (stopped, segment) = ended(database).await;
    let options = stopped.database.options();
    let doctor = command().arg("doctor").args(options).output().expect("run");
    let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(said.contains("ok   snapshot     of position "), "{said}");
    let server = goes_on(stopped, &segment).await;
    let log = server.log();
    assert!(log.contains("going on from a snapshot position="), "{log}");
    eventually("metrics tell of it", LIMIT, async || {
        (server.api.metric("kurier_snapshot_position").await > 0).then_some(())
    })
    .await;
    assert!(server.api.metric("kurier_world_bytes").await > 0);
}

async fn a_damaged_snapshot_is_discarded_and_the_log_is_folded(database: Database) {
    let (stopped, segment) = ended(database).await;
    let path = stopped.database.snapshots().remove(0);
    let mut bytes = std::fs::read(&path).expect("read");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, &bytes).expect("written");
    let server = goes_on(stopped, &segment).await;
    let log = server.log();
    let said = log
        .matches("a snapshot cannot be used and is discarded")
        .count();
    assert_eq!(said, 1, "{log}");
    assert!(log.contains("it is damaged"), "{log}");
    assert!(!path.exists());
}

async fn a_snapshot_of_another_log_is_discarded(database: Database) {
    let (other, _) = ended(Database::sqlite()).await;
    let (stopped, segment) = ended(database).await;
    let (foreign, path) = (
        other.database.snapshots().remove(0),
        stopped.database.snapshots().remove(0),
    );
    std::fs::copy(
        &foreign,
        path.with_file_name(foreign.file_name().expect("a name")),
    )
    .expect("copied");
    let is_same_name = foreign.file_name() == path.file_name();
    if !is_same_name {
        std::fs::remove_file(&path).expect("removed");
    }
    let server = goes_on(stopped, &segment).await;
    assert!(
        server.log().contains("it is of another log"),
        "{}",
        server.log()
    );
}
