//! The keyspace is emptied, loses some keys, or goes away: answers stay right, and what was lost
//! comes back by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use kurier::flow::edge::Edge;
use kurier_core::edge::{Module as _, NotificationSlack};
use kurier_core::keys::Entry;
use kurier_core::slack_workspace::SlackWorkspace;
use kurier_store::kv::{Command, KvExt as _};
use serde_json::Value;

use super::ground::{Ground, keys_of, memory, slack_id};
use super::on_keyspaces;
use crate::harness::eventually;

on_keyspaces![
    an_emptied_keyspace_heals_by_itself,
    an_emptied_keyspace_under_load_never_gives_a_wrong_answer,
    no_lost_key_makes_an_answer_wrong,
    nothing_is_answered_while_a_change_is_pending,
    one_tenant_does_not_read_what_is_anothers,
    writes_that_a_failover_lost_are_missed_and_made_again,
];

const LIMIT: Duration = Duration::from_secs(30);

/// What is told to readers: business data, indexes and their counts.
fn told(keys: BTreeMap<String, (Value, bool)>) -> BTreeMap<String, (Value, bool)> {
    let mut told = keys;
    told.retain(|key, _| key.contains(":v1:") || key.contains(":pp:gen:"));
    told
}

async fn a_few(ground: &Ground) {
    ground.create(0, 1, "Acme", Some("sales")).await;
    ground.create(0, 2, "Beta", Some("sales")).await;
    ground.create(0, 3, "Gamma", None).await;
    ground.create(1, 1, "Theirs", Some("sales")).await;
    ground.archive(0, 3).await;
    ground.fold().await;
}

/// What a rebuild into an empty keyspace tells.
async fn rebuilt(ground: &Ground) -> BTreeMap<String, (Value, bool)> {
    let (fresh, _) = memory();
    let edge = ground.slack_with(fresh.clone(), Ground::settings());
    for workspace in &ground.workspaces {
        edge.heal(workspace.id).await.expect("healed");
    }
    told(keys_of(fresh.as_ref()).await)
}

fn names(listed: Option<Vec<SlackWorkspace>>) -> Option<Vec<String>> {
    let mut names: Vec<String> = listed?.into_iter().map(|it| it.definition.name).collect();
    names.sort_unstable();
    Some(names)
}

async fn an_emptied_keyspace_heals_by_itself(ground: Ground) {
    a_few(&ground).await;
    let edge = Arc::new(ground.slack());
    edge.drain().await.expect("projected");
    let before = told(ground.keys().await);
    assert_eq!(before, rebuilt(&ground).await);
    let running = edge.clone();
    let running = tokio::spawn(async move { running.run().await });
    ground.empty().await;
    let healed = eventually("the edge heals", LIMIT, async || {
        let now = told(ground.keys().await);
        (now == before).then_some(())
    });
    healed.await;
    running.abort();
    let listed = edge
        .list(ground.scope(0), Some(("category", "sales")))
        .await;
    assert_eq!(names(listed), Some(vec!["Acme".into(), "Beta".into()]));
}

/// Whoever reads, from the edge or else from the store, reads what was written last.
async fn an_emptied_keyspace_under_load_never_gives_a_wrong_answer(ground: Ground) {
    a_few(&ground).await;
    let edge = Arc::new(ground.slack());
    let running = edge.clone();
    let running = tokio::spawn(async move { running.run().await });
    let ground = Arc::new(ground);
    let stop = Arc::new(AtomicBool::new(false));
    let from_edge = Arc::new(AtomicUsize::new(0));
    let emptying = tokio::spawn(empty_again(ground.clone(), stop.clone(), from_edge.clone()));
    for n in 0..200 {
        let (name, category) = (format!("Acme {n}"), format!("c{}", n % 3));
        ground.update(0, 1, &name, Some(&category)).await;
        ground.fold().await;
        edge.wake();
        let ask = async || {
            let count = check(&edge, &ground, &name, &category).await;
            from_edge.fetch_add(count, Ordering::SeqCst);
            (count > 0).then_some(())
        };
        match n % 20 {
            // Also what was lost in between is told again.
            19 => eventually("the edge answers", LIMIT, ask).await,
            _ => _ = (ask().await, ask().await, ask().await),
        }
    }
    stop.store(true, Ordering::SeqCst);
    let times = emptying.await.expect("emptied");
    let from_edge = from_edge.load(Ordering::SeqCst);
    assert!(
        from_edge >= 10 && times >= 10,
        "{from_edge} answers, emptied {times} times"
    );
    let healed = eventually("the edge heals", LIMIT, async || {
        edge.list(ground.scope(0), None).await
    });
    assert_eq!(healed.await.len(), 2);
    running.abort();
    edge.drain().await.expect("projected");
    assert_eq!(told(ground.keys().await), rebuilt(&ground).await);
}

/// Empties the keyspace until it is to stop, every other time once somebody was answered from it;
/// answers how often.
async fn empty_again(
    ground: Arc<Ground>,
    stop: Arc<AtomicBool>,
    answers: Arc<AtomicUsize>,
) -> usize {
    let mut times = 0;
    while !stop.load(Ordering::SeqCst) {
        ground.empty().await;
        times += 1;
        let seen = answers.load(Ordering::SeqCst);
        let waits = times % 2 == 0;
        while waits && answers.load(Ordering::SeqCst) == seen && !stop.load(Ordering::SeqCst) {
            tokio::task::yield_now().await;
        }
    }
    times
}

/// An answer of the edge is the right one; answers how many there were.
async fn check(
    edge: &Edge<NotificationSlack>,
    ground: &Ground,
    name: &str,
    category: &str,
) -> usize {
    let one = edge.get(ground.scope(0), slack_id(1).as_uuid()).await;
    if let Some(Entry { value, .. }) = &one {
        let told = value.as_ref().map(|it| it.definition.name.as_str());
        assert_eq!(told, Some(name));
    }
    let all = names(edge.list(ground.scope(0), None).await);
    if let Some(all) = &all {
        assert_eq!(*all, [name, "Beta"]);
    }
    let by = edge
        .list(ground.scope(0), Some(("category", category)))
        .await;
    if let Some(by) = names(by) {
        assert_eq!(by, [name]);
    }
    usize::from(one.is_some()) + usize::from(all.is_some())
}

/// Redis may evict any key: each is taken away, alone and with what comes after.
async fn no_lost_key_makes_an_answer_wrong(ground: Ground) {
    a_few(&ground).await;
    ground.slack().drain().await.expect("projected");
    let whole = told(ground.keys().await);
    // What was archived is told by the store; what nobody asks for is not missed.
    let (ours, archived) = (ground.tenant(0), slack_id(3).to_string());
    let is_missed = |key: &&String| key.contains(&ours) && !key.ends_with(&archived);
    for lost in whole.keys().filter(is_missed) {
        let edge = ground.slack();
        edge.drain().await.expect("projected");
        ground
            .keyspace
            .delete(vec![lost.clone()])
            .await
            .expect("deleted");
        let right = |listed: Option<Vec<SlackWorkspace>>, wanted: &[&str]| {
            let names = names(listed);
            let is_right = names.as_ref().is_none_or(|names| names == wanted);
            assert!(is_right, "without {lost}: {names:?}");
        };
        let sales = Some(("category", "sales"));
        right(edge.list(ground.scope(0), None).await, &["Acme", "Beta"]);
        right(edge.list(ground.scope(0), sales).await, &["Acme", "Beta"]);
        // Another change does not make what is left look whole.
        ground.update(0, 2, "Beta", Some("sales")).await;
        ground.fold().await;
        edge.step().await.expect("projected");
        right(edge.list(ground.scope(0), None).await, &["Acme", "Beta"]);
        right(edge.list(ground.scope(0), sales).await, &["Acme", "Beta"]);
        edge.drain().await.expect("projected");
        let listed = names(edge.list(ground.scope(0), sales).await);
        assert!(listed.is_some(), "without {lost} it did not heal");
        assert_eq!(
            told(ground.keys().await),
            rebuilt(&ground).await,
            "without {lost}"
        );
    }
}

async fn nothing_is_answered_while_a_change_is_pending(ground: Ground) {
    a_few(&ground).await;
    let edge = ground.slack();
    edge.drain().await.expect("projected");
    let id = slack_id(1).as_uuid();
    assert!(edge.get(ground.scope(0), id).await.is_some());
    ground.update(0, 1, "Acme 2", None).await;
    // The read model has not folded it: the edge says what the store says.
    assert!(edge.get(ground.scope(0), id).await.is_some());
    ground.fold().await;
    assert_eq!(edge.get(ground.scope(0), id).await, None);
    assert_eq!(edge.list(ground.scope(0), None).await, None);
    edge.drain().await.expect("projected");
    let known = edge.get(ground.scope(0), id).await.expect("known");
    assert_eq!(known.value.expect("in use").definition.name, "Acme 2");
}

/// A replica that took over may be a little behind: everything is as it was a moment ago.
async fn writes_that_a_failover_lost_are_missed_and_made_again(ground: Ground) {
    a_few(&ground).await;
    let edge = ground.slack();
    edge.drain().await.expect("projected");
    let old = ground
        .keyspace
        .scan_all("notification.slack:")
        .await
        .expect("listed");
    let before = before_again(&ground, &old).await;
    ground.update(0, 1, "Acme 2", Some("sales")).await;
    ground.fold().await;
    edge.drain().await.expect("projected");
    ground.keyspace.run(before).await.expect("as it was");
    let id = slack_id(1).as_uuid();
    assert_eq!(edge.get(ground.scope(0), id).await, None, "not what it was");
    assert_eq!(edge.list(ground.scope(0), None).await, None);
    edge.drain().await.expect("projected");
    let known = edge.get(ground.scope(0), id).await.expect("known");
    assert_eq!(known.value.expect("in use").definition.name, "Acme 2");
    // Also who was just started notices.
    let old = before_again(&ground, &old).await;
    ground.update(0, 1, "Acme 3", Some("sales")).await;
    ground.fold().await;
    edge.drain().await.expect("projected");
    ground.keyspace.run(old).await.expect("as it was");
    let fresh = ground.slack();
    fresh.drain().await.expect("projected");
    let known = fresh.get(ground.scope(0), id).await.expect("known");
    assert_eq!(known.value.expect("in use").definition.name, "Acme 3");
}

async fn before_again(ground: &Ground, keys: &BTreeSet<String>) -> Vec<Command> {
    let mut before = Vec::new();
    for key in keys.iter().filter(|key| !key.contains(":idx:")) {
        before.push(saved(ground, key).await);
    }
    before
}

/// A command that makes a key what it is now.
async fn saved(ground: &Ground, key: &str) -> Command {
    if key.contains(":pp:gen:") || key.contains(":checkpoint:") {
        let fields = ground.keyspace.hash_get_all(key).await.expect("a hash");
        let (key, fields) = (key.to_owned(), fields.into_iter().collect());
        return Command::HashSet { key, fields };
    }
    let value = ground.keyspace.get(key).await.expect("a text");
    Command::Set {
        key: key.to_owned(),
        value: value.expect("there"),
        ttl_ms: None,
        if_absent: false,
    }
}

async fn one_tenant_does_not_read_what_is_anothers(ground: Ground) {
    a_few(&ground).await;
    let edge = ground.slack();
    edge.drain().await.expect("projected");
    let theirs = names(edge.list(ground.scope(1), None).await);
    assert_eq!(theirs, Some(vec!["Theirs".into()]));
    let beta = slack_id(2).as_uuid();
    assert_eq!(edge.get(ground.scope(1), beta).await, None);
    let odd = Some(("category", "sales}{x"));
    assert_eq!(names(edge.list(ground.scope(1), odd).await), Some(vec![]));
    let module = NotificationSlack::NAMESPACE.module();
    let keys = ground.keys().await;
    let of = |workspace| format!("{{{}}}", ground.tenant(workspace));
    let tagged = |key: &&String| key.contains(&of(0)) || key.contains(&of(1));
    assert!(
        keys.keys()
            .filter(|key| !tagged(key))
            .eq([&format!("{module}:checkpoint:dev:workspace-projection")])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redis_that_goes_away_makes_reads_slower_and_none_wrong() {
    let mut ground = Ground::redis().await;
    a_few(&ground).await;
    let edge = Arc::new(ground.slack());
    edge.drain().await.expect("projected");
    let running = edge.clone();
    let running = tokio::spawn(async move { running.run().await });
    let id = slack_id(1).as_uuid();
    assert!(edge.get(ground.scope(0), id).await.is_some());
    ground.redis.as_mut().expect("Redis").kill();
    ground.update(0, 1, "Acme 2", None).await;
    ground.fold().await;
    assert_eq!(edge.get(ground.scope(0), id).await, None);
    assert_eq!(edge.list(ground.scope(0), None).await, None);
    ground.redis.as_mut().expect("Redis").start_again().await;
    let back = eventually("the edge is back", LIMIT, async || {
        edge.get(ground.scope(0), id).await
    });
    assert_eq!(back.await.value.expect("in use").definition.name, "Acme 2");
    running.abort();
    edge.drain().await.expect("projected");
    assert_eq!(told(ground.keys().await), rebuilt(&ground).await);
}
