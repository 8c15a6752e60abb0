//! Channels as processes know them.

use std::sync::Arc;
use std::time::Duration;

use kurier::channel::{Outside, Registry};
use kurier::flow::channel::configure;
use kurier::secret::{SecretKey, Vault};
use kurier_core::message::channel::ChannelKind;
use kurier_core::net::Guard;
use kurier_store::{Scope, Store};
use serde_json::json;

use crate::cli::founded;
use crate::harness::{Database, eventually, on_both};

on_both![
    a_change_is_seen_by_others_within_a_second,
    who_is_set_up_by_nobody_is_taken_by_the_outbox,
];

async fn opened(database: &Database) -> (Store, Scope, Registry) {
    let store = database.store().await;
    let workspaces = store.access.workspaces().await.expect("listed");
    let key = SecretKey::read(&"ab".repeat(32)).expect("a key");
    let vault = Arc::new(Vault::new(Some(key), None));
    let outside = Outside::new(Guard::default());
    let registry = Registry::new(store.channels.clone(), vault, outside);
    (store, Scope(workspaces[0].id), registry)
}

async fn a_change_is_seen_by_others_within_a_second(database: Database) {
    let database = founded(database).await;
    let (store, scope, ours) = opened(&database).await;
    let (_, _, theirs) = opened(&database).await;
    let rate = async |registry: &Registry| {
        let found = registry.find(scope, "later").await.expect("looked");
        found.map(|found| (found.settings.rate_limit_per_minute, found.name))
    };
    assert_eq!(rate(&theirs).await, None);
    for number in 1..=3 {
        let written = json!({"kind": "outbox", "rate_limit_per_minute": number});
        configure(&store, &ours, scope, "later", written)
            .await
            .expect("set up");
        assert_eq!(
            rate(&ours).await,
            Some((Some(number), "later".into())),
            "at once"
        );
        eventually("the other sees it", Duration::from_secs(2), async || {
            (rate(&theirs).await? == (Some(number), "later".into())).then_some(())
        })
        .await;
    }
    // What was not changed is the same channel, with its connections.
    let written = json!({"kind": "outbox"});
    let first = ours
        .find(scope, "later")
        .await
        .expect("looked")
        .expect("there");
    configure(&store, &ours, scope, "other", written)
        .await
        .expect("set up");
    let again = ours
        .find(scope, "later")
        .await
        .expect("looked")
        .expect("there");
    assert!(Arc::ptr_eq(&first.channel, &again.channel));
    kurier::flow::channel::remove(&store, &ours, scope, "later")
        .await
        .expect("removed");
    eventually("the other sees it", Duration::from_secs(2), async || {
        rate(&theirs).await.is_none().then_some(())
    })
    .await;
}

async fn who_is_set_up_by_nobody_is_taken_by_the_outbox(database: Database) {
    let database = founded(database).await;
    let (store, scope, registry) = opened(&database).await;
    for kind in ChannelKind::ALL {
        let found = registry.find(scope, kind.as_str()).await.expect("looked");
        let found = found.expect("the outbox");
        assert_eq!(
            (found.name.as_str(), found.settings.kind()),
            ("outbox", ChannelKind::Outbox)
        );
        assert_eq!(found.revision, None);
    }
    assert!(
        registry
            .find(scope, "pigeon")
            .await
            .expect("looked")
            .is_none()
    );
    // A channel of one workspace is not another's.
    let written = json!({"kind": "outbox"});
    configure(&store, &registry, scope, "pigeon", written)
        .await
        .expect("set up");
    let (write, _) = database.found("other").await;
    assert!(!write.is_empty());
    let workspaces = store.access.workspaces().await.expect("listed");
    let other = workspaces
        .iter()
        .find(|it| it.name == "other")
        .expect("there");
    assert!(
        registry
            .find(Scope(other.id), "pigeon")
            .await
            .expect("looked")
            .is_none()
    );
    assert!(
        registry
            .find(scope, "pigeon")
            .await
            .expect("looked")
            .is_some()
    );
}
