//! SIGTERM: what is under way is finished, then the process ends.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{BATCH, Ledger, load};
use crate::deliver::{Scene, VARIABLES, ask, set, webhook};
use crate::harness::{Database, Server, eventually, on_both};

on_both![
    sigterm_under_load_keeps_its_promises,
    requests_under_way_are_answered,
    who_stalls_keeps_nobody_beyond_the_limit,
];

/// A client that will not go on sends half of this.
const STALLED: &str = r#"{"userId": "u", "event": "e"}"#;
/// Who asks a process to stop kills it then; what stalls is left to itself a while before.
const LIMIT: Duration = Duration::from_secs(30);

async fn sigterm_under_load_keeps_its_promises(database: Database) {
    let ledger = Arc::new(Ledger::default());
    let server = Server::start(database).await;
    let mut clients = tokio::task::JoinSet::new();
    for _ in 0..8 {
        clients.spawn(load(server.api.clone(), ledger.clone(), 50));
    }
    ledger.reaches(50 * BATCH).await;
    let began = Instant::now();
    server.ask_to_stop();
    let (status, stopped) = server.wait().await;
    assert!(status.success(), "{status}: {}", stopped.log());
    assert!(began.elapsed() < LIMIT);
    assert!(stopped.log().contains("stopped"), "{}", stopped.log());
    for ended in clients.join_all().await {
        assert!(ended.is_none(), "no request is refused while stopping");
    }
    let server = stopped.restart().await;
    server.api.settle().await;
    ledger
        .check(&server.database)
        .await
        .expect("nothing is lost, nothing doubled");
}

/// A request whose body is half sent; the rest follows later.
async fn half_sent(server: &Server, body: &str) -> TcpStream {
    let address = server
        .api
        .url
        .strip_prefix("http://")
        .expect("an http address");
    let mut stream = TcpStream::connect(address).await.expect("connected");
    let (key, length) = (&server.api.write_key, body.len());
    let head = format!(
        "POST /v1/track HTTP/1.1\r\nHost: kurier\r\nAuthorization: Bearer {key}\r\n\
         Content-Length: {length}\r\nExpect: 100-continue\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.expect("written");
    // Once it says this, the request is in its hands.
    let mut answer = [0; 25];
    stream.read_exact(&mut answer).await.expect("an answer");
    assert_eq!(&answer, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream
        .write_all(&body.as_bytes()[..5])
        .await
        .expect("written");
    stream
}

async fn requests_under_way_are_answered(database: Database) {
    let server = Server::start(database).await;
    let bodies: Vec<String> = (0..10)
        .map(|n| json!({"userId": "u", "event": "e", "messageId": format!("m{n}")}).to_string())
        .collect();
    let mut streams = Vec::new();
    for body in &bodies {
        streams.push(half_sent(&server, body).await);
    }
    server.ask_to_stop();
    eventually(
        "it says that it stops",
        Duration::from_secs(10),
        async || server.log().contains("stopping").then_some(()),
    )
    .await;
    for (stream, body) in streams.iter_mut().zip(&bodies) {
        stream
            .write_all(&body.as_bytes()[5..])
            .await
            .expect("still open");
    }
    for stream in &mut streams {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("no reset");
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
        assert!(answer.ends_with(r#"{"success":true}"#), "{answer}");
    }
    let (status, stopped) = server.wait().await;
    assert!(status.success(), "{status}: {}", stopped.log());
    let server = stopped.restart().await;
    assert_eq!(server.api.contact("u").await["event_count"], 10);
}

/// A client that stalls and a channel that stalls, at once: each alone would have its time, and
/// one after the other they would take more than there is.
async fn who_stalls_keeps_nobody_beyond_the_limit(database: Database) {
    let mut scene = Scene::http(database).await;
    let hangs = webhook(json!({"url": scene.sink.url("/hang"), "timeout_seconds": 120}));
    set(&scene.server.api, "hook", hangs).await;
    let message = json!({"channel": "hook", "body": {"json": {"n": 1}}});
    let id = ask(&scene.server.api, message).await;
    scene.sink.next("request").await;
    let _stalled = half_sent(&scene.server, STALLED).await;
    let began = Instant::now();
    scene.server.ask_to_stop();
    let (status, stopped) = scene.server.wait().await;
    assert!(status.success(), "{status}: {}", stopped.log());
    assert!(began.elapsed() < LIMIT, "{:?}", began.elapsed());
    let log = stopped.log();
    assert!(log.contains("messages were still under way"), "{log}");
    // Whether it was handed over nobody knows: that is said, and not that it was sent.
    let server = stopped.restart_with(&VARIABLES).await;
    let path = format!("/api/v1/messages/{id}");
    eventually("it is not said to be sent", LIMIT, async || {
        let state = server.api.get(&path).await.expect(200).json()["state"].clone();
        (state == "sending" || state == "unknown").then_some(())
    })
    .await;
}
