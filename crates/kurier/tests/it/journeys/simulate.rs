//! A simulation over a log gives what the live run gave.

use std::collections::BTreeMap;
use std::time::Duration;

use kurier_core::event::{Kind, Position};
use kurier_core::id::InstanceId;
use kurier_core::journey::{Course, Ending, HopRecord, Record};
use kurier_core::message::Request;
use serde_json::{Value, json};

use super::publish;
use crate::cli::on;
use crate::harness::{Database, Server, eventually, on_both};

on_both![a_simulation_over_a_log_gives_what_the_live_run_gave];

const LIMIT: Duration = Duration::from_secs(60);
const USERS: usize = 24;

/// Keyed by cart, with a timeout, an update and an exit.
fn carts() -> Value {
    json!({"name": "Carts", "reentry_key": "event.properties.cart", "exit_when": "contact.gone = TRUE", "nodes": [
        {"id": "start", "node_type": "trigger", "event_type": "cart", "next_node_id": "wait",
         "state": {"cart": "event.properties.cart"}},
        {"id": "wait", "node_type": "wait", "wait_type": "event", "event_type": "bought", "next_node_id": "done",
         "event_conditions": "event.properties.cart = journey.state.cart", "timeout": "1s", "timeout_node_id": "plan"},
        {"id": "plan", "node_type": "condition", "condition": "contact.plan = 'pro'",
         "true_node_id": "mark", "false_node_id": "mail"},
        {"id": "mark", "node_type": "update_contact", "updates": {"reminded": true}, "next_node_id": "mail"},
        {"id": "mail", "node_type": "send_message", "channel": "outbox", "template": "cart", "next_node_id": "done"},
        {"id": "done", "node_type": "exit"}]})
}

/// Two carts each; some are bought, some contacts are gone before their time.
async fn live(server: &Server) {
    for n in 0..USERS {
        let user = format!("u{n}");
        let plan = ["pro", "free"][n % 2];
        let cart = |name: &str, cart: usize| json!({"type": "track", "userId": user, "event": name, "properties": {"cart": cart}});
        let mut items = vec![
            json!({"type": "identify", "userId": user, "traits": {"plan": plan}}),
            cart("cart", 1),
            cart("cart", 2),
            cart("cart", 1),
        ];
        if n % 3 == 0 {
            items.push(cart("bought", 2));
        }
        if n % 5 == 0 {
            items.push(json!({"type": "identify", "userId": user, "traits": {"gone": true}}));
        }
        server.api.batch(&items).await.expect(200);
    }
}

/// How often each path was gone, and how many messages were asked for, by the log.
async fn lived(database: &Database) -> Option<(BTreeMap<String, u64>, u64)> {
    let store = database.store().await;
    let log = store.log.read(Position(0), 10_000).await.expect("read");
    let mut runs: BTreeMap<InstanceId, (Vec<HopRecord>, Option<Ending>)> = BTreeMap::new();
    let mut messages = 0;
    for recorded in &log {
        let payload = &recorded.event.payload;
        messages += u64::from(serde_json::from_str::<Request>(payload).is_ok());
        let Ok(record) = serde_json::from_str::<Record>(payload) else {
            continue;
        };
        let run = runs.entry(record.run.instance).or_default();
        run.0.extend(record.run.hops);
        run.1 = record.run.ending;
    }
    let is_over = runs.len() == 2 * USERS && runs.values().all(|(_, ending)| ending.is_some());
    let mut paths = BTreeMap::new();
    for (hops, ending) in runs.into_values() {
        let path = format!("{} ({})", Course::path(&hops), ending?);
        *paths.entry(path).or_default() += 1;
    }
    assert_eq!(
        messages,
        log.iter()
            .filter(|r| r.event.kind == Kind::MessageRequested)
            .count() as u64
    );
    is_over.then_some((paths, messages))
}

async fn a_simulation_over_a_log_gives_what_the_live_run_gave(database: Database) {
    let server = Server::start(database).await;
    publish(&server.api, &carts()).await;
    live(&server).await;
    let lived = eventually("every run ends", LIMIT, async || {
        lived(&server.database).await
    })
    .await;
    assert!(lived.0.len() >= 4, "{lived:?}");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("carts.json");
    std::fs::write(&file, carts().to_string()).expect("written");
    let file = file.to_str().expect("UTF-8");
    let told = on(&server.database, &["journey", "simulate", file, "--json"]);
    let told = told.expect(0).json();
    let paths = told["paths"].as_array().expect("a list").iter();
    let paths = paths.map(|path| {
        let name = path["path"].as_str().expect("a path").to_owned();
        (name, path["runs"].as_u64().expect("a number"))
    });
    let messages = told["messages"].as_array().expect("a list").iter();
    let messages = messages.map(|day| day["count"].as_u64().expect("a number"));
    assert_eq!((paths.collect::<BTreeMap<_, _>>(), messages.sum()), lived);
}
