//! A messageId is one event, however often and from wherever it comes.

use serde_json::{Value, json};

use crate::harness::{Api, Database, Server, on_both, unique};

on_both![
    duplicates_are_dropped_and_counted,
    the_same_batch_in_parallel_is_stored_once,
    a_missing_message_id_is_made_up,
];

const DUPLICATES: &str = r#"kurier_ingest_events_total{result="duplicate"}"#;
const ACCEPTED: &str = r#"kurier_ingest_events_total{result="accepted"}"#;

fn event(message_id: &str, name: &str) -> Value {
    json!({"type": "track", "userId": "u", "event": name, "messageId": message_id})
}

async fn duplicates_are_dropped_and_counted(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    api.batch(&[
        event("m1", "first"),
        event("m1", "second"),
        event("m2", "third"),
    ])
    .await
    .expect(200);
    api.batch(&[event("m2", "fourth"), event("m3", "fifth")])
        .await
        .expect(200);
    let contact = api.contact("u").await;
    let events = api.events(&contact).await;
    let names: Vec<_> = events
        .iter()
        .filter_map(|event| event["name"].as_str())
        .collect();
    assert_eq!(names, ["fifth", "third", "first"]);
    assert_eq!(
        (api.metric(ACCEPTED).await, api.metric(DUPLICATES).await),
        (3, 2)
    );
    // They are known after a restart too.
    let server = server.terminate().await.restart().await;
    server.api.batch(&[event("m1", "sixth")]).await.expect(200);
    assert_eq!(server.api.metric(DUPLICATES).await, 1);
    assert_eq!(server.api.contact("u").await["event_count"], 3);
}

/// Posts over a connection of its own.
async fn deliver(api: Api, items: Vec<Value>) {
    let own = Api::new(&api.url, &api.admin_key, &api.write_key);
    for _ in 0..3 {
        own.batch(&items).await.expect(200);
    }
}

async fn the_same_batch_in_parallel_is_stored_once(database: Database) {
    let server = Server::start(database).await;
    let ids: Vec<String> = (0..100).map(|_| unique("m")).collect();
    let items: Vec<Value> = ids.iter().map(|id| event(id, "e")).collect();
    let mut posts = tokio::task::JoinSet::new();
    for connection in 0..5 {
        // Also in another order, which must not let two appenders wait for each other.
        let mut items = items.clone();
        items.rotate_left(connection * 17);
        posts.spawn(deliver(server.api.clone(), items));
    }
    posts.join_all().await;
    let stored = server
        .database
        .count("SELECT count(*) FROM log WHERE kind = 'track'")
        .await;
    assert_eq!(stored, 100);
    let distinct = "SELECT count(DISTINCT id) FROM log WHERE kind = 'track'";
    assert_eq!(server.database.count(distinct).await, 100);
    assert_eq!(server.api.metric(ACCEPTED).await, 100);
    assert_eq!(server.api.metric(DUPLICATES).await, 1_400);
    assert_eq!(server.api.contact("u").await["event_count"], 100);
}

async fn a_missing_message_id_is_made_up(database: Database) {
    let server = Server::start(database).await;
    let anonymous = json!({"type": "track", "userId": "u", "event": "e", "messageId": null});
    let items = vec![anonymous; 10];
    server.api.batch(&items).await.expect(200);
    let contact = server.api.contact("u").await;
    let events = server.api.events(&contact).await;
    let mut ids: Vec<String> = events.iter().map(|event| event["id"].to_string()).collect();
    assert_eq!(ids.len(), 10);
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 10);
}
