//! Death between every two steps of folding and of rebuilding.

use super::{happen, prove, settled};
use crate::cli::{on, with_variables};
use crate::harness::{Database, Server, on_both};

on_both![
    death_between_any_two_steps_of_folding_changes_nothing,
    death_between_any_two_steps_of_a_rebuild_leaves_old_or_new,
];

const PROJECTIONS: [&str; 4] = ["contacts", "segments", "daily", "channel_health"];
const STEPS: [&str; 4] = ["read", "loaded", "folded", "applied"];

async fn death_between_any_two_steps_of_folding_changes_nothing(database: Database) {
    let mut stopped = Server::start(database).await.terminate().await;
    let places = PROJECTIONS
        .iter()
        .flat_map(|of| STEPS.map(|step| format!("{of}.{step}")));
    for (round, place) in places.enumerate() {
        let server = stopped.restart_with(&[("TEST_DIE_AT", &place)]).await;
        happen(&server.api, round).await;
        let (status, left) = server.wait().await;
        assert!(!status.success(), "{place}: the process was to die there");
        // The next is to die of what happens then, not of what was left before it listens.
        let server = left.restart().await;
        settled(&server.api).await;
        stopped = server.terminate().await;
    }
    let server = stopped.restart().await;
    happen(&server.api, 1_000).await;
    settled(&server.api).await;
    prove(&server.database);
    let sent = "SELECT CAST(sum(sent) AS INTEGER) FROM channel_health";
    let told = "SELECT count(*) FROM log WHERE kind = 'message.sent'";
    let counted = server.database.count(sent).await;
    assert_eq!(counted, server.database.count(told).await);
    assert!(counted >= 2, "messages were sent: {counted}");
}

async fn death_between_any_two_steps_of_a_rebuild_leaves_old_or_new(database: Database) {
    let server = Server::start(database).await;
    happen(&server.api, 1).await;
    settled(&server.api).await;
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
