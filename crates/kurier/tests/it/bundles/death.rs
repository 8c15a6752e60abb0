//! A process that is killed while it builds leaves no lock beyond its time and nothing broken.

use serde_json::Value;

use super::{Chain, LIMIT, anchor, commitment, confirmed, publish, show};
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
        // A bundle, or that it was being built.
        match kept.get("building") {
            None => assert_eq!(kept["envelope"]["tx"], whole["envelope"]["tx"]),
            Some(_) => assert_ne!(place, "bundle.written"),
        }
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

/// A proof is shown, and everybody has forgotten, while a process has built a bundle and not yet
/// written it; it goes on, and is killed right after its write. What it had built was overtaken,
/// and nobody is told it.
#[tokio::test(flavor = "multi_thread")]
async fn killed_when_it_has_written_what_was_overtaken() {
    let (redis, chain) = (Redis::start(), Chain::of(2));
    let database = Database::postgres().await;
    let beside = database.beside();
    let first = chain.serve(database, Some(&redis), &[]).await;
    let id = publish(&first.api, "hello").await;
    let carried = commitment(&first.api, &id).await;
    redis.cli(&["FLUSHALL"]);
    let waits = chain.folder.path().join("waits");
    let wait_at = format!("bundle.built:{}", waits.display());
    let more = [
        ("TEST_WAIT_AT", wait_at.as_str()),
        ("TEST_DIE_AT", "bundle.written"),
    ];
    let second = chain.serve(beside, Some(&redis), &more).await;
    let request = second
        .api
        .bare(reqwest::Method::GET, &format!("/bundle/{id}"));
    let request = request.bearer_auth(&second.api.admin_key);
    let dying = tokio::spawn(async move { request.send().await.is_err() });
    eventually("it has built", LIMIT, async || waits.exists().then_some(())).await;
    let mined = chain.mine(&["--commit", &carried]);
    show(&first.api, &id, &mined).await.expect(201);
    let place = format!("cache:bundle:{id}|0");
    eventually("it is forgotten", LIMIT, async || {
        (redis.cli(&["EXISTS", &place]) == "0").then_some(())
    })
    .await;
    std::fs::remove_file(&waits).expect("it waits");
    assert!(dying.await.expect("ended"), "it dies");
    second.wait().await;
    redis.cli(&["PEXPIRE", &format!("cache:bundle:lock:{id}|0"), "1"]);
    assert_ne!(super::bundle(&first.api, &id).await["state"], "unmined");
    confirmed(&first.api, &id, 1).await;
}
