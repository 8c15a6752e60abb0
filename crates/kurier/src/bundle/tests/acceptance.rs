//! The acceptance criteria and the definition of done.

use kurier_core::bundle::{Digest, State};
use kurier_store::kv::KvExt as _;

use super::kit::{Kit, pass, settings};
use crate::metrics as names;

#[tokio::test]
async fn acceptance_cache_hit_miss_the_next_one_is_from_the_cache_with_confs_of_the_tip() {
    let mut kit = Kit::new().await;
    let id = kit.proven("a", 2).await;
    let miss = kit.ask(&id).await;
    assert_eq!(
        (miss.cache.hit, miss.confs, miss.state),
        (false, Some(3), State::Confirmed)
    );
    pass(42_000);
    let hit = kit.ask(&id).await;
    assert_eq!(
        (hit.cache.hit, hit.cache.age_sec, hit.confs),
        (true, 42, Some(3))
    );
    assert_eq!(hit.envelope.get(), miss.envelope.get());
    let tip = hit.tip.expect("a tip");
    assert_eq!((tip.height, tip.hash), (3, kit.chain[3].hash()));
}

#[tokio::test]
async fn acceptance_conf_transition_ready_follows_the_tip_without_a_change_of_data() {
    let mut kit = Kit::new().await;
    let id = kit.proven("a", 0).await;
    let before = kit.ask(&id).await;
    assert_eq!(
        (before.confs, before.ready, before.policy_min_confs),
        (Some(1), false, 2)
    );
    let builds = Kit::metric(names::BUNDLE_BUILDS);
    kit.mine(None);
    kit.look().await;
    let after = kit.ask(&id).await;
    assert_eq!(
        (after.confs, after.ready, after.cache.hit),
        (Some(2), true, true)
    );
    assert_eq!(after.envelope.get(), before.envelope.get());
    assert_eq!(Kit::metric(names::BUNDLE_BUILDS), builds);
}

#[tokio::test]
async fn acceptance_reorg_sim_the_envelope_is_invalidated_and_made_anew() {
    let mut kit = Kit::new().await;
    let id = kit.proven("a", 1).await;
    let tx = kit.transaction(&id).await;
    let before = kit.ask(&id).await;
    assert_eq!((before.confs, before.ready), (Some(2), true));
    // Another branch, which has the transaction one block later.
    kit.chain.truncate(1);
    kit.mine(None);
    let block = kit.mine(Some(&tx));
    kit.mine_many(2);
    kit.look().await;
    let replaced = kit.ask(&id).await;
    assert_eq!(
        (replaced.state, replaced.confs, replaced.ready),
        (State::OffChain, Some(-1), false)
    );
    assert!(replaced.reorg && !replaced.cache.hit);
    kit.show(&id, &tx, &block, 2).await;
    let anew = kit.ask(&id).await;
    assert_eq!(
        (anew.state, anew.confs, anew.ready),
        (State::Confirmed, Some(3), true)
    );
    let noted = kit
        .store
        .bundle_audit
        .verdicts(kit.scope, &id)
        .await
        .expect("read");
    let told: Vec<_> = noted
        .iter()
        .map(|it| (it.verdict.state, it.verdict.reorg))
        .collect();
    let (good, off) = ((State::Confirmed, false), (State::OffChain, true));
    assert_eq!(told, [good, off, good]);
}

#[tokio::test]
async fn acceptance_negative_cache_an_unknown_version_is_known_after_publish() {
    let kit = Kit::new().await;
    let elsewhere = Kit::new().await;
    let id = elsewhere.publish("later").await;
    let ask = async || {
        kit.bundles
            .answer(kit.scope, id, 0)
            .await
            .expect("answered")
    };
    assert!(ask().await.is_none());
    let key = format!("cache:bundle:neg:{id}");
    assert!(kit.kv.exists(&key).await.expect("asked"));
    assert!(ask().await.is_none());
    // Another workspace is not told what this one does not know.
    assert_eq!(kit.publish("later").await, id);
    assert!(ask().await.is_none(), "the entry holds until it is deleted");
    kit.forget().await;
    assert!(!kit.kv.exists(&key).await.expect("asked"));
    let known = ask().await.expect("known");
    assert_eq!((known.state, known.confs), (State::Unmined, None));
}

#[tokio::test]
async fn acceptance_negative_cache_is_short() {
    let kit = Kit::new().await;
    let id = Digest::of(b"nothing");
    assert!(
        kit.bundles
            .answer(kit.scope, id, 0)
            .await
            .expect("answered")
            .is_none()
    );
    let key = format!("cache:bundle:neg:{id}");
    assert!(kit.kv.exists(&key).await.expect("asked"));
    pass(30_001);
    assert!(!kit.kv.exists(&key).await.expect("asked"));
}

#[tokio::test]
async fn acceptance_headless_a_source_that_is_down_makes_answers_unstable_and_not_ready() {
    let mut kit = Kit::new().await;
    let id = kit.proven("a", 4).await;
    let before = kit.ask(&id).await;
    assert_eq!((before.ready, before.unstable), (true, false));
    std::fs::remove_file(kit.file()).expect("removed");
    // Within its limit the tip is relied on; beyond it is not.
    pass(60_000);
    kit.bundles.refresh().await;
    assert!(!kit.ask(&id).await.unstable);
    pass(31_000);
    kit.bundles.refresh().await;
    let after = kit.ask(&id).await;
    assert_eq!(
        (after.confs, after.unstable, after.ready),
        (Some(5), true, false)
    );
    assert_eq!(after.tip.expect("the last one").height, 5);
    kit.write();
    pass(10_000);
    kit.bundles.refresh().await;
    let back = kit.ask(&id).await;
    assert_eq!((back.unstable, back.ready), (false, true));
}

/// How fast hits and misses are is measured by `./dev bench bundle`; here it is counted what they
/// do. A miss is built once, a hit is not built, and all have the confirmations of the moment.
#[tokio::test]
async fn done_bundle_hits_build_nothing_misses_build_once_and_all_have_the_confs_of_the_tip() {
    const VERSIONS: usize = 20;
    let mut kit = Kit::new().await;
    let mut proven = Vec::new();
    for number in 0..VERSIONS {
        let id = kit.proven(&format!("v{number}"), number % 3).await;
        proven.push((id, kit.chain.len() - 1 - number % 3));
    }
    let builds = Kit::metric(names::BUNDLE_BUILDS);
    let confs = |kit: &Kit, height: usize| (kit.chain.len() - height) as i64;
    for (id, height) in &proven {
        let miss = kit.ask(id).await;
        assert_eq!(
            (miss.cache.hit, miss.confs),
            (false, Some(confs(&kit, *height)))
        );
    }
    let built = builds + VERSIONS as f64;
    assert_eq!(Kit::metric(names::BUNDLE_BUILDS), built);
    for _ in 0..10 {
        kit.mine(None);
        kit.look().await;
        for (id, height) in &proven {
            let hit = kit.ask(id).await;
            let expected = Some(confs(&kit, *height));
            assert_eq!((hit.cache.hit, hit.confs), (true, expected));
            assert!(hit.ready && !hit.unstable);
        }
    }
    assert_eq!(Kit::metric(names::BUNDLE_BUILDS), built);
}

#[tokio::test]
async fn done_ready_is_never_frozen_by_a_time_to_live() {
    let mut kit = Kit::with(|file| {
        let mut settings = settings(&format!("file://{file}?chain=regtest"), true);
        settings.ttls.bundles = 100_000;
        settings
    })
    .await;
    let id = kit.proven("a", 0).await;
    let mut decisions = Vec::new();
    for _ in 0..3 {
        decisions.push(kit.ask(&id).await.ready);
        kit.mine(None);
        kit.look().await;
    }
    // A branch without it that is longer by one.
    kit.chain.truncate(1);
    kit.mine_many(5);
    kit.look().await;
    decisions.push(kit.ask(&id).await.ready);
    assert_eq!(decisions, [false, true, true, false]);
}

#[tokio::test]
async fn done_reorg_path_detection_then_invalidation_then_rebuild_and_each_once() {
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
    for _ in 0..5 {
        assert_eq!(kit.ask(&id).await.state, State::OffChain);
        kit.mine(None);
        kit.look().await;
    }
    let after = counted();
    assert_eq!((after.0 - before.0, after.1 - before.1), (1.0, 1.0));
}

#[tokio::test]
async fn done_a_reorg_back_needs_no_rebuild() {
    let mut kit = Kit::new().await;
    let id = kit.proven("a", 1).await;
    let first = kit.chain.clone();
    kit.ask(&id).await;
    kit.chain.truncate(1);
    kit.mine_many(3);
    kit.look().await;
    assert_eq!(kit.ask(&id).await.confs, Some(-1));
    kit.chain = first;
    kit.mine_many(2);
    kit.look().await;
    let back = kit.ask(&id).await;
    assert_eq!(
        (back.state, back.confs, back.cache.hit),
        (State::Confirmed, Some(4), true)
    );
}

#[tokio::test]
async fn done_no_confs_are_kept_anywhere() {
    let mut kit = Kit::new().await;
    let id = kit.proven("a", 3).await;
    for depth in 0..3 {
        let answer = kit.bundles.answer(kit.scope, id, depth).await;
        answer.expect("answered").expect("known");
    }
    let keys = kit.keys().await;
    assert!(keys.len() >= 4, "{keys:?}");
    for key in keys {
        assert!(!kit.value(&key).await.contains("conf"), "{key}");
    }
}

/// A proof may be shown before our headers reach its block: then it is verified when they do,
/// and the audit says so.
#[tokio::test]
async fn a_block_that_is_reached_later_is_verified_then() {
    let mut kit = Kit::new().await;
    let id = kit.publish("a").await;
    let tx = kit.transaction(&id).await;
    let block = kit.mine(Some(&tx));
    kit.show(&id, &tx, &block, 1).await;
    let before = kit.ask(&id).await;
    assert_eq!((before.state, before.confs), (State::UnknownHeader, None));
    assert!(before.unstable && !before.ready);
    kit.look().await;
    let after = kit.ask(&id).await;
    assert_eq!(
        (after.state, after.confs, after.cache.hit),
        (State::Confirmed, Some(1), false)
    );
    assert!(kit.ask(&id).await.cache.hit);
    let noted = kit.store.bundle_audit.verdicts(kit.scope, &id).await;
    let noted = noted.expect("read");
    let told: Vec<State> = noted.iter().map(|it| it.verdict.state).collect();
    assert_eq!(told, [State::UnknownHeader, State::Confirmed]);
}
