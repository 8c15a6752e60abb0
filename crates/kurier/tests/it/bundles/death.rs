//! A process that is killed while it builds leaves no lock beyond its time and nothing broken.

use serde_json::Value;

use super::{Chain, LIMIT, anchor, confirmed, publish};
use crate::harness::{Database, Redis, eventually};

async fn dies_at(place: &str) {
    let (redis, chain) = (Redis::start(), Chain::of(2));
    let server = chain.serve(Database::sqlite(), Some(&redis), &[]).await;
    let id = publish(&server.api, "hello").await;
    anchor(&server.api, &chain, &id).await;
    let whole = confirmed(&server.api, &id, 1).await;
    redis.cli(&["FLUSHALL"]);
    let stopped = server.terminate().await;
    let (source, url) = (chain.source(), redis.url());
    let mut variables = vec![
        ("HEADERS_SOURCE", source.as_str()),
        ("KURIER_REDIS_URL", &url),
        ("CACHE_TTLS_JSON", "{\"headers\":1}"),
    ];
    variables.push(("TEST_DIE_AT", place));
    let server = stopped.restart_with(&variables).await;
    let request = server
        .api
        .bare(reqwest::Method::GET, &format!("/bundle/{id}"));
    let answer = request.bearer_auth(&server.api.admin_key).send().await;
    assert!(answer.is_err(), "it dies at {place}");
    let (_, stopped) = server.wait().await;
    let lock = format!("cache:bundle:lock:{id}|0");
    let left: i64 = redis.cli(&["PTTL", &lock]).parse().expect("a number");
    assert!(
        (1..=10_000).contains(&left),
        "{place}: the lock ends in {left} ms"
    );
    let kept = redis.cli(&["GET", &format!("cache:bundle:{id}|0")]);
    if !kept.is_empty() {
        let kept: Value = serde_json::from_str(&kept).expect("whole");
        assert_eq!(kept["envelope"]["tx"], whole["envelope"]["tx"]);
    }
    // Its time passes.
    redis.cli(&["PEXPIRE", &lock, "1"]);
    variables.pop();
    let server = stopped.restart_with(&variables).await;
    let answer = eventually("an answer", LIMIT, async || {
        let answer = super::bundle(&server.api, &id).await;
        (answer["confs"] == 1).then_some(answer)
    })
    .await;
    for part in ["tx", "bump", "blockHash", "commitment", "versionId"] {
        assert_eq!(answer["envelope"][part], whole["envelope"][part], "{place}");
    }
    assert_eq!(redis.cli(&["EXISTS", &lock]), "0");
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_when_it_has_the_lock() {
    dies_at("bundle.locked").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_when_it_has_built() {
    dies_at("bundle.built").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_when_it_has_written() {
    dies_at("bundle.written").await;
}
