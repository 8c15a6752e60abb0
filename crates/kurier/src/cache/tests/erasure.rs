//! Of an erased contact nothing is remembered, whoever was slow.

use std::sync::Arc;

use kurier_store::TimelineQuery;
use kurier_store::kv::KvExt as _;

use super::compare;
use super::stage::Stage;
use crate::cache::{Freshness, RECENT_MAX};

/// In this process, in Redis, and in the other process as soon as it hears of it; and whoever read
/// it before and is slow cannot put it back.
#[tokio::test]
async fn an_erased_contact_is_remembered_nowhere() {
    let stage = Stage::new().await;
    let (first, second) = (stage.process(1 << 20), stage.process(1 << 20));
    // Who folds the erasure has never heard of the contact.
    let third = stage.process(1 << 20);
    stage.identify(0, 42).await;
    first.fold().await;
    for process in [&first, &second] {
        compare(&stage, process, Freshness::Now).await.unwrap();
    }
    let key = stage.key(stage.user(0));
    let shelf_key = first.contacts.key(stage.scope(), stage.user(0));
    let events = stage.events_key(stage.user(0));
    for key in [&key, &events] {
        let before = stage.redis.get(key).await.unwrap().unwrap();
        let before = String::from_utf8_lossy(&before).replace('\\', "");
        assert!(before.contains("value\":42"), "{before}");
    }
    assert!(first.shelf.has(&events) && second.shelf.has(&events));
    assert!(first.shelf.has(&shelf_key) && second.shelf.has(&shelf_key));
    let slow = stage.truth().await.remove(&stage.user(0)).unwrap();
    let folded = stage.store.views.checkpoint("contacts").await.unwrap();

    stage.erase(stage.user(0)).await;
    // The edge's own flow has done nothing yet.
    third.projector.drain().await.unwrap();
    assert_eq!(stage.redis.get(&key).await.unwrap(), None);
    assert_eq!(stage.redis.get(&events).await.unwrap(), None);
    let offer = vec![(stage.user(0).as_uuid(), slow.revision, slow)];
    second.edge.offer(stage.scope(), folded, offer).await;
    assert_eq!(stage.redis.get(&key).await.unwrap(), None);
    // What a server does every 200 ms.
    for process in [first, second] {
        process.step().await;
        assert!(!process.shelf.has(&shelf_key) && !process.shelf.has(&events));
    }
    assert_eq!(stage.redis.get(&key).await.unwrap(), None);
    assert_eq!(stage.redis.get(&events).await.unwrap(), None);
    assert!(stage.truth().await.is_empty());
}

/// The same in the process: an erasure that is learnt between reading and remembering.
#[tokio::test]
async fn who_read_before_an_erasure_does_not_remember_it_afterwards() {
    let stage = Stage::new().await;
    let process = stage.process(1 << 20);
    stage.identify(0, 42).await;
    process.fold().await;
    let slow = stage.truth().await.remove(&stage.user(0)).unwrap();
    let folded = stage.store.views.checkpoint("contacts").await.unwrap();
    stage.erase(stage.user(0)).await;
    let other = stage.process(1 << 20);
    other.fold().await;
    process.step().await;
    let who = (stage.workspace.id, stage.user(0));
    let slow = kurier_core::contact::Standing::Live(Box::new(slow));
    process.changes.keep(who, folded, Arc::new(slow));
    let key = process.contacts.key(stage.scope(), stage.user(0));
    assert!(!process.shelf.has(&key));
}

/// The same for events: who read them before an erasure and comes late to tell Redis of them takes
/// them away again, and does not remember them either.
#[tokio::test]
async fn who_read_events_before_an_erasure_does_not_tell_them_afterwards() {
    let stage = Stage::new().await;
    let (slow, other) = (stage.process(1 << 20), stage.process(1 << 20));
    stage.identify(0, 42).await;
    slow.fold().await;
    let contact = stage.truth().await.remove(&stage.user(0)).unwrap();
    let query = TimelineQuery {
        limit: RECENT_MAX,
        ..TimelineQuery::default()
    };
    let views = &stage.store.views;
    let page = views.timeline(stage.scope(), &contact.ids(), &query).await;
    let folded = views.checkpoint("contacts").await.unwrap();
    stage.erase(stage.user(0)).await;
    other.fold().await;
    let who = (stage.workspace.id, stage.user(0));
    slow.recent
        .remember(who, folded, page.unwrap())
        .await
        .unwrap();
    let key = stage.events_key(stage.user(0));
    assert_eq!(stage.redis.get(&key).await.unwrap(), None);
    assert!(!slow.shelf.has(&key));
}
