//! What stands in Redis, as Redis itself tells it.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use futures_util::future::join_all;

use super::{Chain, anchor, bundle, confirmed, metric, publish};
use crate::harness::{Api, Database, Redis};

/// All that Redis is told meanwhile.
fn monitored(redis: &Redis) -> (std::process::Child, std::sync::mpsc::Receiver<String>) {
    let mut child = Command::new("redis-cli")
        .args(["-p", &redis.port().to_string(), "MONITOR"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("redis-cli is installed");
    let output = BufReader::new(child.stdout.take().expect("piped"));
    let (lines, line) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for text in output.lines().map_while(Result::ok) {
            if lines.send(text).is_err() {
                return;
            }
        }
    });
    assert_eq!(line.recv().expect("it begins"), "OK");
    (child, line)
}

async fn sum(apis: &[&Api], name: &str) -> f64 {
    let mut sum = 0.0;
    for api in apis {
        sum += metric(api, name).await;
    }
    sum
}

async fn builds(apis: &[&Api]) -> f64 {
    sum(apis, "kurier_bundle_builds_total").await
}

/// What holds while the keyspace answers in time. On a machine so busy that it did not, servers
/// went on without it, as they should; then once more.
async fn unhurried(apis: &[&Api], mut holds: impl AsyncFnMut() -> bool) {
    for _ in 0..10 {
        let slow = "kurier_keyspace_errors_total{kind=\"slow\"}";
        let before = sum(apis, slow).await;
        if holds().await {
            return;
        }
        assert_ne!(sum(apis, slow).await, before, "the keyspace was there");
    }
    panic!("the keyspace is never in time");
}

#[tokio::test(flavor = "multi_thread")]
async fn monitor_over_100_calls_no_value_holds_confs() {
    let (redis, chain) = (Redis::start(), Chain::of(2));
    let server = chain.serve(Database::sqlite(), Some(&redis), &[]).await;
    let api = &server.api;
    let id = publish(api, "hello").await;
    anchor(api, &chain, &id).await;
    confirmed(api, &id, 1).await;
    redis.cli(&["DEL", &format!("cache:bundle:{id}|0")]);
    let (mut monitor, lines) = monitored(&redis);
    for _ in 0..100 {
        assert_eq!(bundle(api, &id).await["confs"], 1);
    }
    redis.cli(&["PUBLISH", "the", "end"]);
    let told: Vec<String> = lines
        .iter()
        .take_while(|line| !line.contains("\"the\" \"end\""))
        .collect();
    monitor.kill().expect("killed");
    monitor.wait().expect("ended");
    let of_bundles = told.iter().filter(|line| line.contains("cache:bundle:"));
    assert!(of_bundles.count() >= 100, "{told:?}");
    assert!(
        told.iter()
            .any(|line| line.contains("\"SET\"") && line.contains("blockHash"))
    );
    let with_confs: Vec<&String> = told.iter().filter(|line| line.contains("conf")).collect();
    assert_eq!(with_confs, Vec::<&String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn tip_plus_one_changes_every_answer_with_0_rebuilds_in_redis() {
    let (redis, chain) = (Redis::start(), Chain::of(2));
    let server = chain.serve(Database::sqlite(), Some(&redis), &[]).await;
    let api = &server.api;
    let mut ids = Vec::new();
    for name in ["a", "b", "c", "d"] {
        let id = publish(api, name).await;
        anchor(api, &chain, &id).await;
        ids.push(id);
    }
    for (id, confs) in ids.iter().zip([4, 3, 2, 1]) {
        confirmed(api, id, confs).await;
    }
    let mut confs = [4, 3, 2, 1];
    unhurried(&[api], async || {
        confs = confs.map(|confs| confs + 1);
        let builds = builds(&[api]).await;
        chain.mine(&[]);
        confirmed(api, &ids[0], confs[0]).await;
        let mut answers = Vec::new();
        for id in &ids {
            let answer = bundle(api, id).await;
            answers.push((answer["confs"].clone(), answer["cache"]["hit"].clone()));
        }
        let hits = confs.map(|confs| (confs.into(), true.into()));
        (answers, builds) == (hits.to_vec(), self::builds(&[api]).await)
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn five_hundred_misses_at_two_servers_build_once() {
    let (redis, chain) = (Redis::start(), Chain::of(2));
    let database = Database::postgres().await;
    let beside = database.beside();
    let first = chain.serve(database, Some(&redis), &[]).await;
    let second = chain.serve(beside, Some(&redis), &[]).await;
    let id = publish(&first.api, "hello").await;
    anchor(&first.api, &chain, &id).await;
    for server in [&first, &second] {
        confirmed(&server.api, &id, 1).await;
    }
    let apis = [&first.api, &second.api];
    unhurried(&apis, async || {
        redis.cli(&["FLUSHALL"]);
        let before = builds(&apis).await;
        let asked = apis.into_iter().cycle().take(500);
        let answers = join_all(asked.map(|api| bundle(api, &id))).await;
        let is_right = answers.iter().all(|answer| answer["confs"] == 1);
        is_right && builds(&apis).await - before == 1.0
    })
    .await;
    let lock = format!("cache:bundle:lock:{id}|0");
    assert_eq!(redis.cli(&["EXISTS", &lock]), "0");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redis_that_goes_away_and_comes_back_changes_no_answer() {
    let (mut redis, chain) = (Redis::start(), Chain::of(2));
    let server = chain.serve(Database::sqlite(), Some(&redis), &[]).await;
    let api = &server.api;
    let id = publish(api, "hello").await;
    anchor(api, &chain, &id).await;
    let whole = confirmed(api, &id, 1).await;
    redis.stop();
    let without = bundle(api, &id).await;
    assert_eq!(
        (&without["confs"], &without["cache"]["hit"]),
        (&whole["confs"], &false.into())
    );
    redis.start_again();
    assert_eq!(bundle(api, &id).await["confs"], 1);
}
