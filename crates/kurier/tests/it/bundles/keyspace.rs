//! What stands in Redis, as Redis itself tells it.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use futures_util::future::join_all;

use super::{Chain, anchor, bundle, confirmed, metric, publish};
use crate::harness::{Database, Redis};

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
    let builds = metric(api, "kurier_bundle_builds_total").await;
    chain.mine(&[]);
    confirmed(api, &ids[0], 5).await;
    for (id, confs) in ids.iter().zip([5, 4, 3, 2]) {
        let answer = bundle(api, id).await;
        assert_eq!(
            (&answer["confs"], &answer["cache"]["hit"]),
            (&confs.into(), &true.into())
        );
    }
    assert_eq!(metric(api, "kurier_bundle_builds_total").await, builds);
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
    redis.cli(&["FLUSHALL"]);
    let builds = async || {
        let mut sum = 0.0;
        for server in [&first, &second] {
            sum += metric(&server.api, "kurier_bundle_builds_total").await;
        }
        sum
    };
    let before = builds().await;
    let servers = [&first, &second].into_iter().cycle().take(500);
    let asking = servers.map(|server| bundle(&server.api, &id));
    for answer in join_all(asking).await {
        assert_eq!(answer["confs"], 1);
    }
    assert_eq!(builds().await - before, 1.0);
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
