//! kill -9 while journeys run, again and again: every message is asked for and taken once, every
//! timer fires once, and every run goes the way it would have gone.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use kurier_core::event::{Kind, Position, Recorded};
use kurier_core::id::InstanceId;
use kurier_core::journey::{Course, HopRecord, Record};
use serde_json::{Value, json};

use crate::harness::{ADMIN_KEY, Database, Server, WRITE_KEY, eventually, on_both};
use crate::journeys::publish;

on_both![
    kill_9_while_journeys_run_changes_nothing,
    the_audit_would_notice_a_loss_and_a_repeat
];

const ROUNDS: usize = 50;
/// A few who enter in every round, half of them pro.
const CONTACTS: usize = 6;
const LIMIT: Duration = Duration::from_secs(60);
/// Snapshots are taken all the time, so that most starts go on from one.
const EAGER: [(&str, &str); 4] = [
    ("KURIER_SNAPSHOT_EVENTS", "20"),
    ("KURIER_SNAPSHOT_SECONDS", "0"),
    ("KURIER_BOOTSTRAP_WRITE_KEY", WRITE_KEY),
    ("KURIER_BOOTSTRAP_ADMIN_KEY", ADMIN_KEY),
];

/// Two timers, an update and two messages.
fn definition() -> Value {
    json!({"name": "survivor", "reentry_policy": "parallel", "nodes": [
        {"id": "start", "node_type": "trigger", "event_type": "go", "next_node_id": "hello"},
        {"id": "hello", "node_type": "send_message", "channel": "outbox", "template": "hello", "next_node_id": "pause"},
        {"id": "pause", "node_type": "wait", "wait_type": "duration", "duration": "1s", "next_node_id": "plan"},
        {"id": "plan", "node_type": "condition", "condition": "contact.plan = 'pro'",
         "true_node_id": "mark", "false_node_id": "never"},
        {"id": "never", "node_type": "wait", "wait_type": "event", "event_type": "never", "next_node_id": "done",
         "timeout": "1s", "timeout_node_id": "done"},
        {"id": "mark", "node_type": "update_contact", "updates": {"marked": true}, "next_node_id": "bye"},
        {"id": "bye", "node_type": "send_message", "channel": "outbox", "template": "bye", "next_node_id": "done"},
        {"id": "done", "node_type": "exit"}]})
}

const PRO: &str = "start -next> hello -next> pause -met> plan -true> mark -next> bye -next> done";
const FREE: &str = "start -next> hello -next> pause -met> plan -false> never -timeout> done";

/// Sends contacts in; what was not answered is sent again after the restart, and dropped if it
/// was there.
async fn enter(server: &Server, round: usize) -> bool {
    let items: Vec<_> = (0..CONTACTS)
        .flat_map(|n| {
            let user = format!("u{round}-{n}");
            let plan = ["pro", "free"][n % 2];
            [
                json!({"type": "identify", "messageId": format!("i-{user}"), "userId": user, "traits": {"plan": plan}}),
                json!({"type": "track", "messageId": format!("t-{user}"), "userId": user, "event": "go"}),
            ]
        })
        .collect();
    let body = json!({ "batch": items }).to_string();
    let sent = server.api.ingest("/v1/batch", body).send().await;
    sent.is_ok_and(|response| response.status() == 200)
}

/// Lets it live until something new was written, and a random moment longer.
async fn die(server: Server, round: usize) -> Server {
    let store = server.database.store().await;
    let before = store.log.head().await.expect("read");
    assert!(enter(&server, round).await, "it lives");
    let [random] = kurier::clock::random::<1>();
    let enough = Position(before.0 + 12 + i64::from(random) % 30);
    eventually("something is written", LIMIT, async || {
        (store.log.head().await.expect("read") >= enough).then_some(())
    })
    .await;
    server.kill9().await.restart_with(&EAGER).await
}

async fn log(database: &Database) -> Vec<Recorded> {
    let store = database.store().await;
    let (mut log, mut after) = (Vec::new(), Position(0));
    loop {
        let batch = store.log.read(after, 1_000).await.expect("read");
        let Some(last) = batch.last() else {
            return log;
        };
        after = last.position;
        log.extend(batch);
    }
}

fn count(log: &[Recorded], kind: Kind) -> usize {
    log.iter().filter(|r| r.event.kind == kind).count()
}

/// What is wrong with the runs in a log, if anything.
fn audit(log: &[Recorded]) -> Result<(), String> {
    let mut runs: BTreeMap<InstanceId, (u32, Vec<HopRecord>, bool)> = BTreeMap::new();
    let kinds = [
        Kind::JourneyEntered,
        Kind::JourneyMoved,
        Kind::JourneyFinished,
    ];
    for recorded in log.iter().filter(|r| kinds.contains(&r.event.kind)) {
        let record: Record = serde_json::from_str(&recorded.event.payload).expect("a record");
        let (seq, hops, is_over) = runs.entry(record.run.instance).or_default();
        if *is_over || record.run.seq != *seq + 1 {
            return Err(format!("{record:?} does not follow {seq}"));
        }
        *seq = record.run.seq;
        hops.extend(record.run.hops);
        *is_over = record.run.ending.is_some();
    }
    let mut paths: BTreeMap<String, usize> = BTreeMap::new();
    for (_, hops, is_over) in runs.into_values() {
        if !is_over {
            return Err(format!("{} has not ended", Course::path(&hops)));
        }
        *paths.entry(Course::path(&hops)).or_default() += 1;
    }
    let half = ROUNDS * CONTACTS / 2;
    let expected = BTreeMap::from([(PRO.to_owned(), half), (FREE.to_owned(), half)]);
    if paths != expected {
        return Err(format!("paths are {paths:?}"));
    }
    for kind in [Kind::MessageRequested, Kind::MessageSent] {
        let of_kind = log.iter().filter(|r| r.event.kind == kind);
        let ids: Vec<_> = of_kind.map(|r| r.event.id).collect();
        let distinct: BTreeSet<_> = ids.iter().collect();
        if (ids.len(), distinct.len()) != (3 * half, 3 * half) {
            return Err(format!(
                "{} of {kind:?}, {} distinct",
                ids.len(),
                distinct.len()
            ));
        }
    }
    Ok(())
}

async fn lived(database: Database, rounds: usize) -> Server {
    let mut server = Server::start_with(database, &EAGER).await;
    publish(&server.api, &definition()).await;
    for round in 0..ROUNDS {
        if round < rounds {
            server = die(server, round).await;
        } else {
            assert!(enter(&server, round).await, "it lives");
        }
    }
    let all = ROUNDS * CONTACTS;
    let store = server.database.store().await;
    eventually(
        "every run ends and every message is taken",
        LIMIT,
        async || {
            let log = log(&server.database).await;
            let ended = count(&log, Kind::JourneyFinished) >= all;
            let taken = count(&log, Kind::MessageSent) >= all / 2 * 3;
            (ended && taken).then_some(())
        },
    )
    .await;
    let workspace = store.access.workspaces().await.expect("listed").remove(0);
    let scope = kurier_store::Scope(workspace.id);
    assert_eq!(store.queue.depth(scope).await.expect("counted"), 0);
    server
}

async fn kill_9_while_journeys_run_changes_nothing(database: Database) {
    let server = lived(database, ROUNDS).await;
    let log = log(&server.database).await;
    audit(&log).expect("as if nothing had happened");
}

/// The negative control, on an uninterrupted life.
async fn the_audit_would_notice_a_loss_and_a_repeat(database: Database) {
    let server = lived(database, 0).await;
    let log = log(&server.database).await;
    audit(&log).expect("nothing has happened");
    for kind in [
        Kind::JourneyEntered,
        Kind::JourneyFinished,
        Kind::MessageRequested,
        Kind::MessageSent,
    ] {
        let at = log.iter().position(|r| r.event.kind == kind).expect("one");
        let mut lost = log.clone();
        let event = lost.remove(at);
        audit(&lost).expect_err("a loss");
        let mut repeated = log.clone();
        repeated.push(event);
        audit(&repeated).expect_err("a repeat");
    }
}
