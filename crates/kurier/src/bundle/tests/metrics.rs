//! What is counted of bundles: each figure by its name.

use kurier_store::kv::KvExt as _;

use super::kit::{Kit, pass};

#[tokio::test]
async fn metric_bundle_cache_hit_ratio() {
    let mut kit = Kit::new().await;
    let id = kit.proven("a", 1).await;
    for _ in 0..4 {
        kit.ask(&id).await;
    }
    assert_eq!(Kit::metric("kurier_bundle_cache_hit_ratio"), 0.75);
    assert_eq!(Kit::metric("kurier_bundle_cache_hits_total"), 3.0);
    assert_eq!(Kit::metric("kurier_bundle_cache_misses_total"), 1.0);
}

#[tokio::test]
async fn metric_bundle_build_latency_ms_p95() {
    let mut kit = Kit::new().await;
    let id = kit.proven("a", 1).await;
    assert_eq!(Kit::metric("kurier_bundle_build_latency_ms_p95"), 0.0);
    kit.ask(&id).await;
    let built = Kit::metric("kurier_bundle_build_latency_ms_p95");
    assert!(built > 0.0);
    kit.ask(&id).await;
    assert_eq!(Kit::metric("kurier_bundle_build_latency_ms_p95"), built);
}

#[tokio::test]
async fn metric_headers_fetch_latency() {
    let kit = Kit::new().await;
    let count = || Kit::metric("kurier_headers_fetch_latency_seconds_count");
    let before = count();
    assert!(before > 0.0, "the first look");
    kit.look().await;
    assert_eq!(count(), before + 1.0);
}

#[tokio::test]
async fn metric_headers_cache_hit_ratio() {
    let mut kit = Kit::new().await;
    let id = kit.proven("a", 1).await;
    kit.ask(&id).await;
    assert_eq!(Kit::metric("kurier_headers_cache_hit_ratio"), 1.0);
    let tip = vec!["cache:headers:tip".into()];
    kit.kv.delete(tip).await.expect("deleted");
    kit.ask(&id).await;
    assert_eq!(Kit::metric("kurier_headers_cache_hit_ratio"), 0.5);
}

#[tokio::test]
async fn metric_reorg_detected_total() {
    let mut kit = Kit::new().await;
    let id = kit.proven("a", 1).await;
    kit.ask(&id).await;
    assert_eq!(Kit::metric("kurier_reorg_detected_total"), 0.0);
    kit.chain.truncate(1);
    kit.mine_many(3);
    kit.look().await;
    kit.ask(&id).await;
    kit.ask(&id).await;
    assert_eq!(Kit::metric("kurier_reorg_detected_total"), 1.0);
}

#[tokio::test]
async fn metric_stale_served_total() {
    let mut kit = Kit::new().await;
    let id = kit.proven("a", 1).await;
    kit.ask(&id).await;
    kit.ask(&id).await;
    assert_eq!(Kit::metric("kurier_stale_served_total"), 0.0);
    pass(300_001);
    kit.ask(&id).await;
    assert_eq!(Kit::metric("kurier_stale_served_total"), 1.0);
}

#[tokio::test]
async fn metric_ready_decision_changes_total() {
    let mut kit = Kit::new().await;
    let id = kit.proven("a", 0).await;
    assert!(!kit.ask(&id).await.ready);
    kit.mine(None);
    kit.look().await;
    assert!(kit.ask(&id).await.ready);
    kit.ask(&id).await;
    assert_eq!(Kit::metric("kurier_ready_decision_changes_total"), 1.0);
}

#[tokio::test]
async fn metric_confs_histogram() {
    let mut kit = Kit::new().await;
    let id = kit.proven("a", 1).await;
    kit.ask(&id).await;
    assert_eq!(Kit::metric("kurier_bundle_confs_count"), 1.0);
    assert_eq!(Kit::metric("kurier_bundle_confs_sum"), 2.0);
}
