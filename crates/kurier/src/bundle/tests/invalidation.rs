//! The rules of invalidation.

use kurier_store::kv::KvExt as _;

use super::kit::{Kit, pass, settings};
use crate::metrics as names;

#[tokio::test]
async fn rule_ttl_without_swr_a_bundle_is_gone_after_its_time() {
    let mut kit = Kit::with(|file| settings(&format!("file://{file}?chain=regtest"), false)).await;
    let id = kit.proven("a", 1).await;
    kit.ask(&id).await;
    let key = format!("cache:bundle:{id}|0");
    pass(299_000);
    assert!(kit.ask(&id).await.cache.hit);
    pass(1_001);
    assert!(!kit.kv.exists(&key).await.expect("asked"));
    assert!(!kit.ask(&id).await.cache.hit);
}

#[tokio::test]
async fn rule_swr_what_is_old_is_served_and_made_anew_meanwhile() {
    let mut kit = Kit::new().await;
    let id = kit.proven("a", 1).await;
    kit.ask(&id).await;
    let (served, builds) = (
        Kit::metric(names::STALE_SERVED),
        Kit::metric(names::BUNDLE_BUILDS),
    );
    pass(300_001);
    kit.look().await;
    let old = kit.ask(&id).await;
    assert_eq!((old.cache.hit, old.cache.age_sec), (true, 300));
    assert_eq!(Kit::metric(names::STALE_SERVED), served + 1.0);
    // The one that builds is waited for by asking for the same build.
    let asked = super::super::Asked {
        workspace: kit.scope.0,
        version: id,
        depth: 0,
    };
    kit.bundles.fly(&asked).await.expect("built");
    let new = kit.ask(&id).await;
    assert_eq!((new.cache.hit, new.cache.age_sec), (true, 0));
    assert_eq!(Kit::metric(names::BUNDLE_BUILDS), builds + 1.0);
    // And after the time to serve old ones nothing is there.
    pass(361_000);
    assert!(!kit.ask(&id).await.cache.hit);
}

#[tokio::test]
async fn rule_tip_change_nothing_is_deleted_or_written_and_every_answer_changes() {
    let mut kit = Kit::new().await;
    let mut ids = Vec::new();
    for number in 0..20 {
        ids.push(kit.proven(&format!("t{number}"), 0).await);
    }
    for id in &ids {
        kit.ask(id).await;
    }
    let builds = Kit::metric(names::BUNDLE_BUILDS);
    let before = kit.keys().await;
    kit.mine(None);
    kit.look().await;
    for (number, id) in ids.iter().enumerate() {
        let answer = kit.ask(id).await;
        assert_eq!(
            (answer.confs, answer.cache.hit),
            (Some(21 - number as i64), true)
        );
    }
    assert_eq!(Kit::metric(names::BUNDLE_BUILDS), builds, "0 rebuilds");
    assert_eq!(kit.keys().await, before);
}

#[tokio::test]
async fn rule_threshold_is_asked_each_time_and_invalidates_nothing() {
    let mut kit = Kit::new().await;
    let id = kit.proven("a", 0).await;
    kit.ask(&id).await;
    let key = format!("cache:bundle:{id}|0");
    let value = kit.value(&key).await;
    let changes = Kit::metric(names::READY_CHANGES);
    kit.mine(None);
    kit.look().await;
    assert!(kit.ask(&id).await.ready);
    assert_eq!(kit.value(&key).await, value);
    assert_eq!(Kit::metric(names::READY_CHANGES), changes + 1.0);
}

#[tokio::test]
async fn a_proof_that_is_shown_forgets_the_bundle_at_every_depth() {
    let mut kit = Kit::new().await;
    let id = kit.publish("a").await;
    for depth in [0, 7, 32, 99] {
        let answer = kit.bundles.answer(kit.scope, id, depth).await;
        assert_eq!(answer.expect("answered").expect("known").confs, None);
    }
    let tx = kit.transaction(&id).await;
    let block = kit.mine(Some(&tx));
    kit.look().await;
    kit.show(&id, &tx, &block, 1).await;
    for depth in [0, 7, 32, 99] {
        let answer = kit.bundles.answer(kit.scope, id, depth).await;
        assert_eq!(
            answer.expect("answered").expect("known").confs,
            Some(1),
            "{depth}"
        );
    }
}

/// Somebody else's bundle of the same version is not served.
#[tokio::test]
async fn no_bundle_reaches_another_workspace() {
    let mut kit = Kit::new().await;
    let id = kit.proven("a", 1).await;
    kit.ask(&id).await;
    let ours = kit.scope;
    kit.scope = kurier_store::Scope(kurier_core::id::WorkspaceId::new(
        super::kit::now(),
        [2; 10],
    ));
    assert!(
        kit.bundles
            .answer(kit.scope, id, 0)
            .await
            .expect("answered")
            .is_none()
    );
    // And that another does not know it keeps nobody from it.
    let first = kit.bundles.answer(ours, id, 0).await.expect("answered");
    assert_eq!(first.expect("known").confs, Some(2));
    // The same in both, each with its own proof.
    assert_eq!(kit.publish("a").await, id);
    kit.forget().await;
    let theirs = kit
        .bundles
        .answer(kit.scope, id, 0)
        .await
        .expect("answered");
    assert_eq!(theirs.expect("known").confs, None);
    let ours = kit.bundles.answer(ours, id, 0).await.expect("answered");
    assert_eq!(ours.expect("known").confs, Some(2));
}
