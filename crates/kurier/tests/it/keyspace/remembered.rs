//! What the server remembers: with Redis, without, while it is away, and in two processes.

use std::time::Duration;

use serde_json::{Value, json};

use crate::edge::{Place, on_places};
use crate::harness::{Database, Server, eventually};

on_places![
    a_redis_that_is_stopped_and_started_changes_no_answer,
    two_processes_tell_the_same,
];

const LIMIT: Duration = Duration::from_secs(20);

const L1: &str = r#"kurier_cache_hits_total{cache="contact",level="l1"}"#;
const L2: &str = r#"kurier_cache_hits_total{cache="contact",level="l2"}"#;
const ERRORS: &str = r#"kurier_keyspace_errors_total{kind="unavailable"}"#;

async fn upsert(server: &Server, user: &str, plan: &str) -> String {
    let contact = json!({"user_id": user, "attributes": {"plan": plan}});
    let answer = server.api.upsert(&contact).await.json();
    format!("/api/v1/contacts/{}", answer["id"].as_str().expect("an id"))
}

async fn plan(server: &Server, path: &str) -> Value {
    let contact = server.api.get(path).await.expect(200).json();
    contact["attributes"]["plan"].clone()
}

/// Slower and counted, never wrong.
async fn a_redis_that_is_stopped_and_started_changes_no_answer(mut redis: Place) {
    let server = redis.serve(Database::sqlite(), &[]).await;
    let path = upsert(&server, "ann", "free").await;
    assert_eq!(plan(&server, &path).await, "free");
    assert_eq!(plan(&server, &path).await, "free");
    assert!(server.api.metric(L1).await > 0);
    assert_eq!(server.api.metric(ERRORS).await, 0);

    redis.stop();
    upsert(&server, "ann", "pro").await;
    assert_eq!(plan(&server, &path).await, "pro");
    let other = upsert(&server, "bob", "free").await;
    assert_eq!(plan(&server, &other).await, "free");
    assert!(server.api.metric(ERRORS).await > 0);

    redis.start_again().await;
    upsert(&server, "ann", "team").await;
    assert_eq!(plan(&server, &path).await, "team");
    assert_eq!(plan(&server, &other).await, "free");
}

/// Two processes on one database and one Redis: what one writes, the other tells at once; what
/// one erases, nobody remembers.
async fn two_processes_tell_the_same(redis: Place) {
    let database = Database::postgres().await;
    let beside = database.beside();
    let first = redis.serve(database, &[]).await;
    let second = redis.serve(beside, &[]).await;
    let path = upsert(&first, "ann", "secret-0").await;
    for turn in 1..20 {
        let text = format!("secret-{turn}");
        let (writer, reader) = if turn % 2 == 0 {
            (&first, &second)
        } else {
            (&second, &first)
        };
        upsert(writer, "ann", &text).await;
        for server in [reader, writer, reader] {
            assert_eq!(plan(server, &path).await, text);
        }
    }
    let hits = first.api.metric(L1).await + second.api.metric(L1).await;
    let shared = first.api.metric(L2).await + second.api.metric(L2).await;
    assert!(hits + shared > 0, "nothing was remembered");
    first.api.delete(&path).await.expect(200);
    for server in [&first, &second] {
        server.api.get(&path).await.expect(404);
    }
    let id = path.rsplit('/').next().expect("an id");
    assert!(!tells(&redis, &format!("contact:*{id}")));
    // What is projected to the edge follows the log.
    eventually("nothing is left in Redis", LIMIT, async || {
        (!tells(&redis, &format!("*{id}*"))).then_some(())
    })
    .await;
}

/// Whether any of these keys still tells something.
fn tells(redis: &Place, pattern: &str) -> bool {
    let keys = redis.keys(pattern);
    let mut values = keys.iter().map(|key| redis.cli(&["GET", key]));
    values.any(|value| value.contains("secret"))
}
