//! One builds; a lock is let go of by who has it, and ends by itself.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::join_all;
use kurier_store::kv::{Command, Error, Kv, KvExt as _, Reply, Script, Ttl};

use super::super::{Asked, Bundles};
use super::kit::{Kit, now, pass, settings};
use crate::metrics as names;

#[tokio::test(flavor = "multi_thread")]
async fn five_hundred_misses_at_once_build_once() {
    let mut kit = Kit::new().await;
    let id = kit.proven("a", 1).await;
    let before = Kit::metric(names::BUNDLE_BUILDS);
    // Two processes share the keyspace.
    let file = kit.file().display().to_string();
    let other = settings(&format!("file://{file}?chain=regtest"), true);
    let (store, kv) = (kit.store.clone(), kit.kv.clone());
    let other = Bundles::new(store, kv, kit.versions.clone(), &other, now).expect("usable");
    let other = Arc::new(other);
    other.refresh().await;
    let asking = (0..500).map(|number| {
        let bundles = if number % 2 == 0 {
            kit.bundles.clone()
        } else {
            other.clone()
        };
        let scope = kit.scope;
        tokio::spawn(async move { bundles.answer(scope, id, 0).await })
    });
    for answer in join_all(asking).await {
        let answer = answer.expect("ended").expect("answered").expect("known");
        assert_eq!(answer.confs, Some(2));
    }
    assert_eq!(Kit::metric(names::BUNDLE_BUILDS) - before, 1.0);
    assert!(!kit.keys().await.iter().any(|key| key.contains(":lock:")));
}

fn asked(kit: &Kit, version: kurier_core::bundle::Digest) -> Asked {
    Asked {
        workspace: kit.scope.0,
        version,
        depth: 0,
    }
}

#[tokio::test]
async fn nobody_lets_go_of_anothers_lock_and_it_ends_by_itself() {
    let mut kit = Kit::new().await;
    let id = kit.proven("a", 1).await;
    let asked = asked(&kit, id);
    let shelf = &kit.bundles.shelf;
    assert_eq!(shelf.lock(&asked, "slow").await, Ok(true));
    assert_eq!(shelf.lock(&asked, "other").await, Ok(false));
    let key = format!("cache:bundle:lock:{id}|0");
    let ttl = kit.kv.ttl_ms(&key).await.expect("asked");
    assert_eq!(ttl, Ttl::Ms(10_000));
    pass(10_001);
    assert_eq!(shelf.lock(&asked, "other").await, Ok(true));
    shelf.unlock(&asked, "slow").await;
    assert!(kit.kv.exists(&key).await.expect("asked"), "it is another's");
    shelf.unlock(&asked, "other").await;
    assert!(!kit.kv.exists(&key).await.expect("asked"));
}

#[tokio::test]
async fn two_depths_do_not_wait_for_each_other() {
    let mut kit = Kit::new().await;
    let id = kit.proven("a", 1).await;
    assert_eq!(
        kit.bundles.shelf.lock(&asked(&kit, id), "someone").await,
        Ok(true)
    );
    let answer = kit.bundles.answer(kit.scope, id, 1).await;
    assert_eq!(answer.expect("answered").expect("known").confs, Some(2));
}

/// A keyspace that fails.
struct Away;

#[async_trait]
impl Kv for Away {
    async fn run(&self, _: Vec<Command>) -> Result<Vec<Reply>, Error> {
        Err(Error::Unavailable("away".into()))
    }

    async fn script(&self, _: &Script, _: &[String], _: &[Vec<u8>]) -> Result<Reply, Error> {
        Err(Error::Unavailable("away".into()))
    }

    async fn ping(&self) -> Result<(), Error> {
        Err(Error::Unavailable("away".into()))
    }
}

#[tokio::test]
async fn without_a_keyspace_the_answers_are_the_same() {
    let mut kit = Kit::new().await;
    let id = kit.proven("a", 1).await;
    let file = kit.file().display().to_string();
    let settings = settings(&format!("file://{file}?chain=regtest"), true);
    let store = kit.store.clone();
    let made = Bundles::new(store, Arc::new(Away), kit.versions.clone(), &settings, now);
    let made = Arc::new(made.expect("usable"));
    made.refresh().await;
    for _ in 0..2 {
        let answer = made
            .answer(kit.scope, id, 0)
            .await
            .expect("answered")
            .expect("known");
        assert_eq!((answer.confs, answer.cache.hit), (Some(2), false));
    }
    let unknown = kurier_core::bundle::Digest::of(b"nothing");
    assert!(
        made.answer(kit.scope, unknown, 0)
            .await
            .expect("answered")
            .is_none()
    );
}

/// Nobody can lock there, so who asks in one process waits for the very build.
#[tokio::test]
async fn five_hundred_misses_without_a_keyspace_build_once() {
    let mut kit = Kit::new().await;
    let id = kit.proven("a", 1).await;
    let file = kit.file().display().to_string();
    let settings = settings(&format!("file://{file}?chain=regtest"), true);
    let store = kit.store.clone();
    let made = Bundles::new(store, Arc::new(Away), kit.versions.clone(), &settings, now);
    let made = Arc::new(made.expect("usable"));
    made.refresh().await;
    let before = Kit::metric(names::BUNDLE_BUILDS);
    for answer in join_all((0..500).map(|_| made.answer(kit.scope, id, 0))).await {
        let answer = answer.expect("answered").expect("known");
        assert_eq!(answer.confs, Some(2));
    }
    assert_eq!(Kit::metric(names::BUNDLE_BUILDS) - before, 1.0);
}

#[tokio::test]
async fn what_cannot_be_read_is_as_if_it_were_not_there() {
    let mut kit = Kit::new().await;
    let id = kit.proven("a", 1).await;
    let whole = kit.ask(&id).await;
    let key = format!("cache:bundle:{id}|0");
    let value = kit.value(&key).await;
    for cut in [0, 1, value.len() / 2, value.len() - 1] {
        kit.kv
            .set(&key, value[..cut].to_owned(), None)
            .await
            .expect("set");
        let answer = kit.ask(&id).await;
        assert!(!answer.cache.hit, "{cut}");
        assert_eq!(answer.confs, whole.confs);
    }
}

/// All who find that a block was replaced wait for one builder, who counts it; the bundle that
/// it builds stays.
#[tokio::test(flavor = "multi_thread")]
async fn a_reorg_that_many_find_at_once_is_counted_and_built_once() {
    let mut kit = Kit::new().await;
    let id = kit.proven("a", 1).await;
    kit.ask(&id).await;
    let counted = || {
        (
            Kit::metric(names::REORGS),
            Kit::metric(names::BUNDLE_BUILDS),
        )
    };
    let before = counted();
    kit.chain.truncate(1);
    kit.mine_many(3);
    kit.look().await;
    let (bundles, scope) = (kit.bundles.clone(), kit.scope);
    let asking = (0..200).map(|_| {
        let bundles = bundles.clone();
        tokio::spawn(async move { bundles.answer(scope, id, 0).await })
    });
    for answer in join_all(asking).await {
        let answer = answer.expect("ended").expect("answered").expect("known");
        assert_eq!(answer.confs, Some(-1));
    }
    let after = counted();
    assert_eq!((after.0 - before.0, after.1 - before.1), (1.0, 1.0));
    assert!(kit.ask(&id).await.cache.hit, "what was built stays");
}
