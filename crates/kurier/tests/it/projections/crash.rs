//! Death between every two steps of folding, of erasing and of rebuilding.

use kurier::clock;
use kurier_core::event::{Event, Kind};
use kurier_core::projection::{ALL, Projection};
use kurier_store::Scope;
use serde_json::json;

use super::{
    HEADERS, all_rows, assert_nothing_is_empty, forget, happen, prove, restart, settled, stage,
    start,
};
use crate::cli::{on, with_variables};
use crate::harness::{Database, on_both};

on_both![
    death_while_things_happen_changes_nothing,
    death_between_any_two_steps_of_folding_changes_nothing,
    death_between_any_two_steps_of_an_erasure_leaves_nothing_behind,
    death_between_any_two_steps_of_a_rebuild_leaves_old_or_new,
];

/// Of every projection; `written`, `processed` and `noted` are inside of the transaction.
const STEPS: [&str; 7] = [
    "read",
    "loaded",
    "folded",
    "written",
    "processed",
    "noted",
    "applied",
];

/// Of an erasure, in the order in which they are passed.
const ERASING: [&str; 5] = [
    "told_again",
    "tombstoned",
    "forgotten",
    "swept",
    "carried_out",
];

async fn death_while_things_happen_changes_nothing(database: Database) {
    let mut stopped = start(database).await.terminate().await;
    let places = ALL.iter().zip(STEPS.iter().cycle());
    for (round, (projection, step)) in places.enumerate() {
        let place = format!("{}.{step}", projection.name());
        let server = stopped
            .restart_with(&[HEADERS, ("TEST_DIE_AT", &place)])
            .await;
        happen(&server.api, round).await;
        let (status, left) = server.wait().await;
        assert!(!status.success(), "{place}: the process was to die there");
        // The next is to die of what happens then, not of what was left before it listens.
        let server = restart(left).await;
        settled(&server.api).await;
        stopped = server.terminate().await;
    }
    let server = restart(stopped).await;
    happen(&server.api, 1_000).await;
    settled(&server.api).await;
    forget(&server.api, "u1000-4").await;
    settled(&server.api).await;
    prove(&server.database);
    let sent = "SELECT CAST(sum(sent) AS INTEGER) FROM channel_health";
    let told = "SELECT count(*) FROM log WHERE kind = 'message.sent'";
    let counted = server.database.count(sent).await;
    assert_eq!(counted, server.database.count(told).await);
    assert!(counted >= 2, "messages were sent: {counted}");
}

/// Each projection folds the whole log again, and dies at every step of it: a batch that was
/// not committed is there for the next.
async fn death_between_any_two_steps_of_folding_changes_nothing(database: Database) {
    let mut stopped = stage(database).await.terminate().await;
    let once = all_rows(&stopped.database).await;
    for projection in ALL {
        undo(&stopped.database, *projection).await;
        for step in STEPS {
            let place = format!("{}.{step}", projection.name());
            stopped = stopped.dies_at(&place, &[HEADERS]).await;
        }
    }
    let server = restart(stopped).await;
    settled(&server.api).await;
    assert_nothing_is_empty(&server.database).await;
    assert_eq!(all_rows(&server.database).await, once);
    prove(&server.database);
}

/// As if a projection had never folded anything.
async fn undo(database: &Database, projection: &dyn Projection) {
    let name = projection.name();
    for table in projection.tables() {
        let sql = format!("DELETE FROM {}", table.name);
        database.execute(&sql).await;
    }
    for (table, column) in [("processed_events", "projection"), ("checkpoint", "name")] {
        let sql = format!("DELETE FROM {table} WHERE {column} = '{name}'");
        database.execute(&sql).await;
    }
}

/// Something was decided about the contact before its erasure was known, and stands behind it:
/// that is found, the erasure told again, and carried out, with a death after each step.
async fn death_between_any_two_steps_of_an_erasure_leaves_nothing_behind(database: Database) {
    let server = start(database).await;
    happen(&server.api, 1).await;
    settled(&server.api).await;
    let contact = server.api.contact("u1-4").await;
    forget(&server.api, "u1-4").await;
    settled(&server.api).await;
    let mut stopped = server.terminate().await;
    tell_belatedly(&stopped.database, &contact["id"]).await;
    for step in ERASING {
        stopped = stopped.dies_at(&format!("erase.{step}"), &[HEADERS]).await;
    }
    let server = restart(stopped).await;
    settled(&server.api).await;
    prove(&server.database);
    let erased = "SELECT count(*) FROM log WHERE kind = 'contact.erased'";
    assert_eq!(server.database.count(erased).await, 2, "told again once");
    let said = server.database.rows("SELECT * FROM log").await;
    let holds = |row: &&String| row.contains("canary-crash");
    assert_eq!(said.iter().find(holds), None);
}

/// What the reactor may write that had not read of the erasure yet.
async fn tell_belatedly(database: &Database, contact: &serde_json::Value) {
    let store = database.store().await;
    let workspaces = store.access.workspaces().await.expect("listed");
    let id = contact.as_str().expect("an id").parse().expect("an id");
    let now = clock::now();
    let event = Event {
        id: clock::fresh_event_id(),
        kind: Kind::MessageSkipped,
        contact: Some(id),
        occurred_at: now,
        recorded_at: now,
        payload: json!({"message": uuid::Uuid::nil(), "channel": "outbox", "note": "canary-crash"})
            .to_string(),
    };
    let appended = store.log.append(Scope(workspaces[0].id), vec![event]).await;
    appended.expect("appended");
}

async fn death_between_any_two_steps_of_a_rebuild_leaves_old_or_new(database: Database) {
    let server = stage(database).await;
    for step in ["opened", "folded", "written", "swapped"] {
        let place = format!("rebuild.{step}");
        let options = server.database.options();
        let mut arguments = vec!["projection", "rebuild", "contacts"];
        arguments.extend(options.iter().map(String::as_str));
        let died = with_variables(&arguments, &[("TEST_DIE_AT", &place)]);
        assert_eq!(died.code, None, "{place}: {}{}", died.stdout, died.stderr);
        // Whatever it left behind is in nobody's way.
        prove(&server.database);
    }
    happen(&server.api, 2).await;
    settled(&server.api).await;
    on(&server.database, &["projection", "rebuild", "--all"]).expect(0);
    prove(&server.database);
    // What a dead rebuild left would hold what is erased: it goes with the next erasure.
    let contact = server.api.contact("u2-1").await;
    let id = contact["id"].as_str().expect("an id").to_owned();
    let options = server.database.options();
    let mut arguments = vec!["projection", "rebuild", "contacts"];
    arguments.extend(options.iter().map(String::as_str));
    with_variables(&arguments, &[("TEST_DIE_AT", "rebuild.written")]);
    let store = server.database.store().await;
    assert!(store.projections.has_shadows().await.expect("looked"));
    server
        .api
        .delete(&format!("/api/v1/contacts/{id}"))
        .await
        .expect(200);
    assert!(!store.projections.has_shadows().await.expect("looked"));
}
