//! More bodies than there is room for: who is too many is told when to come again.

use std::time::Duration;

use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::task::JoinSet;

use super::{assert_status, connect, head, read_to_end};
use crate::harness::{Api, Database, Server, eventually, on_both};

on_both![bodies_that_fill_the_room_are_too_many_and_room_comes_back];

/// The largest body there may be.
const BODY: usize = 512 * 1024;
/// So many of them fit at once.
const FIT: usize = 64;
const TOO_MANY: usize = 16;
const LIMIT: Duration = Duration::from_secs(20);

/// A request that lacks its last byte; what it is answered.
async fn all_but_a_byte(api: Api) -> String {
    let mut stream = connect(&api).await;
    let head = head(&api, &format!("Content-Length: {BODY}\r\n"));
    stream.write_all(head.as_bytes()).await.expect("written");
    // Who is refused need not be read to the end.
    let _ = stream.write_all(&vec![b' '; BODY - 1]).await;
    read_to_end(&mut stream, LIMIT).await
}

fn retry_after(answer: &str) -> Option<u32> {
    let mut lines = answer.lines();
    let seconds = lines.find_map(|line| line.strip_prefix("retry-after: "))?;
    seconds.parse().ok()
}

async fn bodies_that_fill_the_room_are_too_many_and_room_comes_back(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let mut bodies = JoinSet::new();
    for _ in 0..FIT + TOO_MANY {
        bodies.spawn(all_but_a_byte(api.clone()));
    }
    // Those for whom there was no room are answered first; the others are waited for.
    for _ in 0..TOO_MANY {
        let answer = bodies.join_next().await.expect("a body").expect("answered");
        assert_status(&answer, 503);
        assert!(answer.contains(r#""code":"unavailable""#), "{answer}");
        assert!(retry_after(&answer) > Some(0), "{answer}");
    }
    // Who only looks needs no room.
    api.get("/api/v1/contacts?limit=1").await.expect(200);
    bodies.shutdown().await;
    eventually("there is room again", LIMIT, async || {
        let event = json!({"userId": "u", "event": "e", "properties": {"x": "x".repeat(9_000)}});
        let answer = api.post("/v1/track", event.to_string()).await;
        (answer.status == 200).then_some(())
    })
    .await;
    let event = json!({"userId": "u", "event": "e"});
    assert_eq!(api.post("/v1/track", event.to_string()).await.status, 200);
}
