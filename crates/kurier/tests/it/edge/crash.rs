//! Whatever happens on the way, and however often an event comes, the keyspace is the one that
//! a single pass leaves: every key, every value, and whether it expires.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use kurier_core::edge::{ContactProfile, Module as _, NotificationSlack};
use kurier_core::event::{Kind, Position};
use kurier_store::kv::Kv;
use serde_json::{Value, json};

use super::ground::{Dying, Ground, keys_of, memory};
use super::on_keyspaces;

on_keyspaces![
    a_death_between_any_two_steps_leaves_the_same_keys,
    events_that_come_twice_and_in_batches_of_any_size_leave_the_same_keys,
    a_death_between_any_two_steps_leaves_the_same_contacts,
    two_processes_at_once_leave_the_same_keys,
];

/// More calls than a step makes.
const CALLS_MAX: i64 = 60;

/// What happens, one saying a step.
async fn history(ground: &Ground, number: usize) -> bool {
    match number {
        0 => ground.create(0, 1, "Acme", Some("sales")).await,
        1 => ground.create(1, 1, "Theirs", Some("sales")).await,
        2 => ground.create(0, 2, "Beta", Some("sales")).await,
        3 => ground.update(0, 1, "Acme 2", Some("support")).await,
        4 => ground.say(0, Kind::JourneyPaused, json!({})).await,
        5 => ground.archive(0, 2).await,
        6 => ground.archive(0, 2).await,
        7 => ground.update(0, 2, "Beta again", None).await,
        8 => ground.archive(1, 1).await,
        _ => return false,
    }
    true
}

async fn whole_history(ground: &Ground) {
    let mut number = 0;
    while history(ground, number).await {
        number += 1;
    }
    ground.fold().await;
}

/// What a single pass over the whole log leaves in an empty keyspace.
async fn single_pass(ground: &Ground) -> BTreeMap<String, (Value, bool)> {
    let (fresh, _) = memory();
    ground.rewind::<NotificationSlack>().await;
    let edge = ground.slack_with(fresh.clone(), Ground::settings());
    edge.drain().await.expect("projected");
    keys_of(fresh.as_ref()).await
}

fn dying(keyspace: &Arc<dyn Kv>, calls: i64, carried_out: bool) -> Arc<Dying> {
    Arc::new(Dying {
        keyspace: keyspace.clone(),
        calls_left: AtomicI64::new(calls),
        carried_out,
    })
}

/// Dies once at every call of a step, before it and after it, with something new to project each
/// time; answers how often.
async fn die_everywhere<Said, Ran>(
    ground: &Ground,
    mut say: impl FnMut(usize) -> Said,
    mut run: impl FnMut(Arc<Dying>) -> Ran,
) -> usize
where
    Said: Future<Output = bool>,
    Ran: Future<Output = bool>,
{
    let (mut number, mut deaths) = (0, 0);
    for carried_out in [false, true, false, true] {
        for calls in 0..CALLS_MAX {
            if !say(number).await {
                number = 0;
                say(number).await;
            }
            number += 1;
            ground.fold().await;
            if run(dying(&ground.keyspace, calls, carried_out)).await {
                break;
            }
            deaths += 1;
        }
    }
    deaths
}

async fn a_death_between_any_two_steps_leaves_the_same_keys(ground: Ground) {
    let deaths = die_everywhere(
        &ground,
        |number| history(&ground, number),
        |dying| {
            let edge = ground.slack_with(dying, Ground::settings());
            async move { edge.drain().await.is_ok() }
        },
    );
    let deaths = deaths.await;
    // At least: look for lost tenants, hints, entities, script, checkpoint.
    assert!(deaths >= 4 * 5, "{deaths} deaths");
    ground.slack().drain().await.expect("projected");
    assert_eq!(ground.keys().await, single_pass(&ground).await);
    assert_nothing_is_skipped(&ground).await;
}

/// Every event was projected, not only as far as a rebuild would mend it: it is remembered by its
/// deduplication key, and every entity by its hint.
async fn assert_nothing_is_skipped(ground: &Ground) {
    let events = ground.store.log.read(Position(0), 1_000).await;
    let mut events = events.expect("read");
    events.retain(|recorded| !NotificationSlack::touched(recorded).is_empty());
    let keys = ground.keys().await;
    let count = |part: &str| keys.keys().filter(|key| key.contains(part)).count();
    assert_eq!(count(":pd:dup:"), events.len());
    assert_eq!(
        count(":pp:ver:"),
        3,
        "two of one tenant and one of the other"
    );
}

async fn events_that_come_twice_and_in_batches_of_any_size_leave_the_same_keys(ground: Ground) {
    for size in [1, 2, 3, 5] {
        ground.empty().await;
        let mut number = 0;
        while history(&ground, number).await {
            number += 1;
            if number % size == 0 {
                ground.fold().await;
                for _ in 0..2 {
                    ground.rewind::<NotificationSlack>().await;
                    ground.slack().drain().await.expect("projected");
                }
            }
        }
        ground.fold().await;
        ground.slack().drain().await.expect("projected");
        let once = ground.keys().await;
        assert_eq!(once, single_pass(&ground).await, "steps of {size}");
        ground.slack().drain().await.expect("projected");
        assert_eq!(ground.keys().await, once);
    }
}

async fn contact_history(ground: &Ground, number: usize) -> bool {
    static SAID: AtomicI64 = AtomicI64::new(0);
    let said = SAID.fetch_add(1, Ordering::SeqCst);
    let traits = json!({"n": said, "x": 0.1});
    let (workspace, mut raw) = match number {
        0 => (
            0,
            json!({"type": "identify", "userId": "ann", "traits": traits}),
        ),
        1 => (0, json!({"type": "page", "anonymousId": "b"})),
        2 => (
            0,
            json!({"type": "identify", "userId": "ann", "anonymousId": "b"}),
        ),
        3 => (
            1,
            json!({"type": "identify", "userId": "ann", "traits": traits}),
        ),
        // The id of one that was merged.
        4 => (
            0,
            json!({"type": "track", "event": "e", "anonymousId": "b"}),
        ),
        5 => (
            0,
            json!({"type": "identify", "userId": "cleo", "traits": traits}),
        ),
        _ => return false,
    };
    raw["messageId"] = json!(said.to_string());
    ground.client(workspace, raw).await;
    true
}

async fn a_death_between_any_two_steps_leaves_the_same_contacts(ground: Ground) {
    let deaths = die_everywhere(
        &ground,
        |number| contact_history(&ground, number),
        |dying| {
            let edge = ground.profiles_with(dying);
            async move { edge.drain().await.is_ok() }
        },
    );
    let deaths = deaths.await;
    // At least: hints, script, checkpoint.
    assert!(deaths >= 4 * 3, "{deaths} deaths");
    ground.profiles().drain().await.expect("projected");
    let (fresh, _) = memory();
    ground.rewind::<ContactProfile>().await;
    let edge = ground.profiles_with(fresh.clone());
    edge.drain().await.expect("projected");
    let once = keys_of(fresh.as_ref()).await;
    let entries = once.keys().filter(|key| key.contains(":v1:")).count();
    assert_eq!(entries, 3, "ann, their ann, and cleo");
    let held = ground.keys().await;
    assert_eq!(without_merge_targets(held), without_merge_targets(once));
}

/// Which events of a merged contact are remembered for the one it became part of depends on
/// when they were seen: what is known of contacts does not.
fn without_merge_targets(
    mut keys: BTreeMap<String, (Value, bool)>,
) -> BTreeMap<String, (Value, bool)> {
    keys.retain(|key, _| !key.contains(":pd:dup:"));
    keys
}

async fn two_processes_at_once_leave_the_same_keys(ground: Ground) {
    whole_history(&ground).await;
    let (a, b) = (ground.slack(), ground.slack());
    let (a, b) = tokio::join!(a.drain(), b.drain());
    a.and(b).expect("projected");
    assert_eq!(ground.keys().await, single_pass(&ground).await);
}
