//! Real servers that die between any two steps of the edge, on a real Redis: what the next one
//! leaves there is what a single pass leaves in an empty keyspace.

use std::collections::BTreeMap;
use std::time::Duration;

use kurier::flow::edge::Edge;
use kurier_core::edge::{ContactProfile, Module, NotificationSlack};
use kurier_core::event::Position;
use kurier_store::kv::Kv;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::ground::{Ground, keys_under, memory};
use crate::harness::server::{assert_dies, spawn};
use crate::harness::{Database, eventually, on_both};

on_both![
    a_kill_between_any_two_steps_leaves_the_same_keys,
    a_kill_while_the_next_batch_is_gathered_leaves_the_same_keys,
];

const LIMIT: Duration = Duration::from_secs(60);
/// In the order in which they are passed.
const STEPS: [&str; 6] = ["arrived", "hinted", "loaded", "written", "told", "kept"];
/// More than two steps of a thousand.
const CROWD: usize = 2_500;

async fn a_kill_between_any_two_steps_leaves_the_same_keys(database: Database) {
    let ground = Ground::over(database).await;
    ground.create(0, 1, "Acme", Some("sales")).await;
    ground.create(1, 1, "Theirs", Some("sales")).await;
    // An empty Redis is healed, one tenant and then the other.
    for _ in 0..2 {
        die(&ground, "notification.slack.healed").await;
    }
    for (number, step) in STEPS.iter().cycle().take(2 * STEPS.len()).enumerate() {
        something(&ground, number).await;
        die(&ground, &format!("notification.slack.{step}")).await;
        something(&ground, number).await;
        die(&ground, &format!("contact.profile.{step}")).await;
    }
    something(&ground, 1).await;
    assert_single_pass(&ground).await;
}

/// While much waits, a batch is written while the next one is gathered.
async fn a_kill_while_the_next_batch_is_gathered_leaves_the_same_keys(database: Database) {
    let ground = Ground::over(database).await;
    ground.create(0, 1, "Acme", Some("sales")).await;
    for steps in [
        &["arrived:2", "loaded:2", "written"][..],
        &["written:2", "told"],
    ] {
        let first = steps[0];
        let said = (0..CROWD).map(
            |n| json!({"type": "identify", "userId": format!("u{n}"), "traits": {"until": first}}),
        );
        ground.clients(0, said).await;
        for step in steps {
            die(&ground, &format!("contact.profile.{step}")).await;
        }
    }
    something(&ground, 1).await;
    assert_single_pass(&ground).await;
}

/// Both modules have something to project.
async fn something(ground: &Ground, number: usize) {
    match number % 3 {
        0 => ground.archive(0, 1).await,
        1 => ground.update(0, 1, &format!("Acme {number}"), None).await,
        _ => ground.update(0, 1, "Acme", Some("support")).await,
    }
    let user = format!("user {}", number % 4);
    let head = ground.store.log.head().await.expect("read").0;
    let said = json!({"type": "identify", "userId": user, "traits": {"n": head}});
    ground.client(0, said).await;
}

async fn die(ground: &Ground, place: &str) {
    let logs = TempDir::new().expect("a folder");
    let url = ground.redis.as_ref().expect("Redis").url();
    let variables = [("KURIER_REDIS_URL", url.as_str()), ("TEST_DIE_AT", place)];
    let child = spawn(&ground.database, &logs, &variables);
    assert_dies(child, place).await;
}

/// Lets a server live until it has projected everything, and compares.
async fn assert_single_pass(ground: &Ground) {
    let logs = TempDir::new().expect("a folder");
    let url = ground.redis.as_ref().expect("Redis").url();
    let variables = [("KURIER_REDIS_URL", url.as_str())];
    let mut server = spawn(&ground.database, &logs, &variables);
    let head = ground.store.log.head().await.expect("read");
    // The last event is a contact's, the one before a workspace's.
    reached::<NotificationSlack>(ground, Position(head.0 - 1)).await;
    reached::<ContactProfile>(ground, head).await;
    server.kill().await.expect("killed");
    let expected = single_pass(ground).await;
    let entries = |part: &str| expected.keys().filter(|key| key.contains(part)).count();
    assert!(entries("notification.slack:v1:") > 1 && entries("contact.profile:v1:") > 1);
    let found = modules(ground.keyspace.as_ref()).await;
    assert!(found.keys().eq(expected.keys()));
    for (key, value) in &expected {
        assert_eq!(&found[key], value, "{key}");
    }
}

/// What both modules keep. Checkpoints name an environment, which is not the test's.
async fn modules(keyspace: &dyn Kv) -> BTreeMap<String, (Value, bool)> {
    let mut all = keys_under(keyspace, "notification.slack:").await;
    all.extend(keys_under(keyspace, "contact.profile:").await);
    all.retain(|key, _| !key.contains(":checkpoint:"));
    all
}

async fn reached<M: Module>(ground: &Ground, position: Position) {
    let name = Edge::<M>::name();
    eventually("the edge is there", LIMIT, async || {
        let kept = ground.store.views.checkpoint(&name).await.expect("read");
        (kept >= position).then_some(())
    })
    .await;
}

/// What a single pass over the whole log leaves in an empty keyspace.
async fn single_pass(ground: &Ground) -> BTreeMap<String, (Value, bool)> {
    let (fresh, _) = memory();
    ground.rewind::<NotificationSlack>().await;
    ground.rewind::<ContactProfile>().await;
    let slack = ground.slack_with(fresh.clone(), Ground::settings());
    slack.drain().await.expect("projected");
    let profiles = ground.profiles_with(fresh.clone());
    profiles.drain().await.expect("projected");
    modules(fresh.as_ref()).await
}
