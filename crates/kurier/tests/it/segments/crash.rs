//! kill -9 under load: members are exact after it, and every crossing is told once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use super::books::{agree, audit};
use super::{EAGER, LIMIT, USERS, define_all};
use crate::harness::{Api, Database, Server, eventually, on_both};

on_both![
    kill_9_under_load_keeps_segments_exact,
    the_audit_would_notice_a_crossing_told_twice
];

const ROUNDS: usize = 5;
const BATCH: usize = 20;

/// Posts until the server is gone; counts what was accepted.
async fn load(api: Api, accepted: Arc<AtomicUsize>) {
    for round in 0.. {
        let items: Vec<_> = (0..BATCH)
            .map(|n| {
                let [die, user] = kurier::clock::random::<2>();
                let user = format!("u{}", usize::from(user) % USERS);
                let plan = ["pro", "free"][(n + round) % 2];
                match die % 4 {
                    0 => json!({"type": "identify", "userId": user, "traits": {"plan": plan}}),
                    1 => json!({"type": "track", "userId": user, "event": "login"}),
                    _ => json!({"type": "track", "userId": user, "event": "buy"}),
                }
            })
            .collect();
        let body = json!({ "batch": items }).to_string();
        match api.ingest("/v1/batch", body).send().await {
            Ok(response) if response.status() == 200 => accepted.fetch_add(BATCH, Ordering::SeqCst),
            _ => return,
        };
    }
}

/// Waits until this start leads: the lease of the one before has to end first.
async fn leads(server: &Server, starts: usize) {
    eventually("it leads", LIMIT, async || {
        let led = server.log().matches("reacting to the log").count();
        (led == starts).then_some(())
    })
    .await;
}

async fn round(server: Server) -> Server {
    let accepted = Arc::new(AtomicUsize::new(0));
    let clients: Vec<_> = (0..2)
        .map(|_| tokio::spawn(load(server.api.clone(), accepted.clone())))
        .collect();
    let [random] = kurier::clock::random::<1>();
    let enough = BATCH * (5 + usize::from(random) % 30);
    eventually("load", LIMIT, async || {
        (accepted.load(Ordering::SeqCst) >= enough).then_some(())
    })
    .await;
    let stopped = server.kill9().await;
    for client in clients {
        client.await.expect("ended with the server");
    }
    stopped.restart_with(&EAGER).await
}

async fn kill_9_under_load_keeps_segments_exact(database: Database) {
    let mut server = Server::start_with(database, &EAGER).await;
    let segments = define_all(&server.api).await;
    for starts in 1..=ROUNDS {
        server = round(server).await;
        leads(&server, starts + 1).await;
        agree(&server.api, &server.database, &segments).await;
    }
    let crossings = "SELECT count(*) FROM log WHERE kind LIKE 'segment.%'";
    let count = server.database.count(crossings).await;
    assert!(count > 50, "{count} crossings are few");
    let log = server.log();
    let restored = log.matches("going on from a snapshot").count();
    assert!(
        restored > ROUNDS / 2,
        "{restored} of {ROUNDS} starts used a snapshot: {log}"
    );
    assert!(!log.contains("is discarded"), "{log}");
}

/// The negative control: a crossing that stands in the log twice is found.
async fn the_audit_would_notice_a_crossing_told_twice(database: Database) {
    let server = Server::start_with(database, &EAGER).await;
    let segments = define_all(&server.api).await;
    let pro = json!({"userId": "u", "traits": {"plan": "pro"}});
    server.api.send("identify", pro).await;
    let free = json!({"userId": "u", "traits": {"plan": "free"}});
    server.api.send("identify", free).await;
    let left = "SELECT count(*) FROM log WHERE kind = 'segment.left'";
    eventually("leaving is told", LIMIT, async || {
        (server.database.count(left).await > 0).then_some(())
    })
    .await;
    agree(&server.api, &server.database, &segments).await;
    let again = "UPDATE log SET kind = 'segment.entered' WHERE kind = 'segment.left'";
    server.database.execute(again).await;
    audit(&server.database).await.expect_err("told twice");
}
