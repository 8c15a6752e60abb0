//! Clients that take their time. They wait side by side, so that the tests need not.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::AsyncWriteExt as _;

use super::{assert_status, connect, head, read_to_end};
use crate::harness::{Api, Database, Server, on_both};

on_both![slow_clients_are_sent_away_and_others_are_served];

/// More than would fit if each took all the room a body may have.
const CROWD: usize = 200;
const LIMIT: Duration = Duration::from_secs(20);

/// Sends a byte a second and never ends; answers what came back, and after how long.
async fn dribble(api: Api, beginning: String, drop: &'static [u8]) -> (String, Duration) {
    let began = Instant::now();
    let mut stream = connect(&api).await;
    stream
        .write_all(beginning.as_bytes())
        .await
        .expect("written");
    let (mut read, mut write) = stream.into_split();
    let dribbling = tokio::spawn(async move {
        let mut ticks = tokio::time::interval(Duration::from_secs(1));
        loop {
            ticks.tick().await;
            if write.write_all(drop).await.is_err() {
                return;
            }
        }
    });
    let mut answer = Vec::new();
    let reading = tokio::io::AsyncReadExt::read_to_end(&mut read, &mut answer);
    let read = tokio::time::timeout(LIMIT, reading).await;
    assert!(read.is_ok(), "still open after {LIMIT:?}");
    dribbling.abort();
    (
        String::from_utf8_lossy(&answer).into_owned(),
        began.elapsed(),
    )
}

async fn slow_clients_are_sent_away_and_others_are_served(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let headers = "POST /v1/track HTTP/1.1\r\nHost: kurier\r\nX-Slow: ".to_owned();
    let body = head(api, "Content-Length: 100000\r\n");
    let slow_headers = tokio::spawn(dribble(api.clone(), headers, b"x"));
    let slow_body = tokio::spawn(dribble(api.clone(), body, b" "));
    let mut crowd = tokio::task::JoinSet::new();
    for _ in 0..CROWD {
        let beginning = head(api, "Transfer-Encoding: chunked\r\n");
        crowd.spawn(dribble(api.clone(), beginning, b"1\r\n \r\n"));
    }
    let silent = connect(api).await;
    // Meanwhile honest clients are served, all the time.
    let began = Instant::now();
    let mut served = 0;
    while began.elapsed() < Duration::from_secs(5) {
        api.send("track", json!({"userId": "honest", "event": "e"}))
            .await;
        served += 1;
    }
    let (answer, after) = slow_headers.await.expect("an answer");
    assert!(after < LIMIT, "{after:?}");
    assert!(!answer.contains("200 OK"), "{answer}");
    let (answer, after) = slow_body.await.expect("an answer");
    assert!(after < LIMIT, "{after:?}");
    assert_status(&answer, 408);
    assert!(answer.contains(r#""code":"timeout""#), "{answer}");
    for (answer, _) in crowd.join_all().await {
        assert_status(&answer, 408);
    }
    // Who connects and says nothing is not kept either.
    let mut silent = silent;
    read_to_end(&mut silent, LIMIT).await;
    api.assert_alive().await;
    assert_eq!(api.contact("honest").await["event_count"], served);
}
