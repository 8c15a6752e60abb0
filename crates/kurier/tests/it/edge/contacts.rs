//! Contacts at the edge: the second module, which is nothing but a declaration.

use kurier_core::contact::Contact;
use kurier_core::edge::ContactProfile;
use kurier_core::event::{Erasure, Kind};
use kurier_core::id::ContactId;
use kurier_store::kv::{KvExt as _, Ttl};
use serde_json::json;

use super::ground::Ground;
use super::on_keyspaces;

on_keyspaces![
    a_contact_is_kept_for_five_minutes_after_it_changed,
    a_contact_that_was_read_is_kept_until_it_changes,
    a_merged_contact_is_found_where_it_went,
    an_erased_contact_is_gone_at_once_and_nothing_older_brings_it_back,
];

async fn ann(ground: &Ground, plan: &str) -> ContactId {
    let raw = json!({"type": "identify", "userId": "ann", "messageId": plan,
        "traits": {"plan": plan, "email": "ann@canary.example", "odd": [0.1, 1e300, null, "ä"]}});
    let id = ground.client(0, raw).await;
    ground.fold().await;
    id
}

fn entry_key(ground: &Ground, id: ContactId) -> String {
    let tenant = ground.tenant(0);
    format!("contact.profile:v1:{{{tenant}}}:contact:{id}")
}

async fn stored(ground: &Ground, id: ContactId) -> Contact {
    let found = kurier::flow::live_contacts(&ground.store, ground.scope(0), &[id]).await;
    found.expect("read").remove(&id).expect("live")
}

async fn a_contact_is_kept_for_five_minutes_after_it_changed(ground: Ground) {
    let id = ann(&ground, "pro").await;
    let edge = ground.profiles();
    edge.drain().await.expect("projected");
    let known = edge
        .get(ground.scope(0), id.as_uuid())
        .await
        .expect("known");
    let stored = stored(&ground, id).await;
    assert_eq!(known.revision, stored.revision);
    assert_eq!(known.value, Some(stored));
    let ttl = ground.ttl_ms(&entry_key(&ground, id)).await;
    assert!(matches!(ttl, Ttl::Ms(200_000..=300_000)), "{ttl:?}");
    if ground.clock_ms.is_some() {
        ground.pass(300_001);
        assert_eq!(edge.get(ground.scope(0), id.as_uuid()).await, None);
    }
}

async fn a_contact_that_was_read_is_kept_until_it_changes(ground: Ground) {
    let id = ann(&ground, "pro").await;
    let edge = ground.profiles();
    edge.drain().await.expect("projected");
    let key = entry_key(&ground, id);
    ground
        .keyspace
        .delete(vec![key.clone()])
        .await
        .expect("deleted");
    // Whoever read it from the store offers it, although its hint says that it was projected.
    let (folded, old) = (ground.contacts.position(), stored(&ground, id).await);
    let offer = || vec![(id.as_uuid(), old.revision, old.clone())];
    edge.offer(ground.scope(0), folded, offer()).await;
    let known = edge
        .get(ground.scope(0), id.as_uuid())
        .await
        .expect("known");
    assert_eq!(known.value.as_ref(), Some(&old));
    // Who was slow does not overwrite what is newer.
    ann(&ground, "free").await;
    edge.drain().await.expect("projected");
    edge.offer(ground.scope(0), folded, offer()).await;
    let known = edge
        .get(ground.scope(0), id.as_uuid())
        .await
        .expect("known");
    assert_eq!(known.value, Some(stored(&ground, id).await));
    ground.keyspace.delete(vec![key]).await.expect("deleted");
    edge.offer(ground.scope(0), folded, offer()).await;
    assert_eq!(edge.get(ground.scope(0), id.as_uuid()).await, None);
}

async fn a_merged_contact_is_found_where_it_went(ground: Ground) {
    let guest = json!({"type": "page", "anonymousId": "b", "name": "P"});
    let guest = ground.client(0, guest).await;
    ground.fold().await;
    let edge = ground.profiles();
    edge.drain().await.expect("projected");
    assert!(edge.get(ground.scope(0), guest.as_uuid()).await.is_some());
    let join = json!({"type": "identify", "userId": "ann", "anonymousId": "b"});
    let ann = ground.client(0, join).await;
    ground.fold().await;
    edge.drain().await.expect("projected");
    assert_eq!(edge.get(ground.scope(0), guest.as_uuid()).await, None);
    let known = edge
        .get(ground.scope(0), ann.as_uuid())
        .await
        .expect("known");
    assert!(known.value.expect("live").absorbed.contains(&guest));
    // What the merged one does changes the one it became.
    let page = json!({"type": "page", "anonymousId": "b", "name": "Q"});
    ground.client(0, page).await;
    ground.fold().await;
    assert_eq!(
        edge.get(ground.scope(0), ann.as_uuid()).await,
        None,
        "pending"
    );
    edge.drain().await.expect("projected");
    let known = edge
        .get(ground.scope(0), ann.as_uuid())
        .await
        .expect("known");
    assert_eq!(known.value, Some(stored(&ground, ann).await));
}

async fn an_erased_contact_is_gone_at_once_and_nothing_older_brings_it_back(ground: Ground) {
    let id = ann(&ground, "pro").await;
    let edge = ground.profiles();
    edge.drain().await.expect("projected");
    let (folded, before) = (ground.contacts.position(), stored(&ground, id).await);
    let erasure = Erasure {
        contacts: vec![id],
        addresses: Vec::new(),
        positions: vec![before.revision],
        seen: folded,
    };
    ground.say(0, Kind::ContactErased, json!(erasure)).await;
    let position = ground.store.log.head().await.expect("read");
    let ids = [id.as_uuid()];
    let removed = edge.remove(ground.scope(0), &ids, position);
    removed.await.expect("removed");
    assert_eq!(ground.text(&entry_key(&ground, id)).await, None);
    let offer = || vec![(id.as_uuid(), before.revision, before.clone())];
    edge.offer(ground.scope(0), folded, offer()).await;
    ground.fold().await;
    for _ in 0..2 {
        ground.profiles().drain().await.expect("projected");
        edge.offer(ground.scope(0), folded, offer()).await;
        let keys = ground.keys().await;
        let told = format!("{keys:?}");
        assert!(!told.contains("canary"), "{told}");
        assert!(!keys.contains_key(&entry_key(&ground, id)));
        ground.rewind::<ContactProfile>().await;
    }
    // Who comes back is another matter.
    ann(&ground, "again").await;
    edge.drain().await.expect("projected");
    let known = edge
        .get(ground.scope(0), id.as_uuid())
        .await
        .expect("known");
    assert!(known.revision > position);
}
