//! What `/metrics` says of caches and of the keyspace, read as Prometheus reads it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;

use crate::edge::{Place, on_places};
use crate::harness::server::Stopped;
use crate::harness::{Api, Database, Server, eventually};

on_places![section_6_metrics_collection];

const LIMIT: Duration = Duration::from_secs(20);

/// Every series with its value; fails on a line that is none.
fn parse(text: &str) -> BTreeMap<String, f64> {
    let mut series = BTreeMap::new();
    let mut types = BTreeMap::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        if let Some(comment) = line.strip_prefix("# ") {
            let words: Vec<&str> = comment.splitn(3, ' ').collect();
            assert!(
                matches!(words[0], "HELP" | "TYPE") && words.len() == 3,
                "{line}"
            );
            if words[0] == "TYPE" {
                types.insert(words[1].to_owned(), words[2].to_owned());
            }
            continue;
        }
        let (name, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{line}"));
        let value = value.parse().unwrap_or_else(|_| panic!("{line}"));
        let bare = name.split('{').next().expect("a name");
        let family = ["_bucket", "_sum", "_count"]
            .iter()
            .find_map(|end| bare.strip_suffix(end).filter(|it| types.contains_key(*it)));
        assert!(
            types.contains_key(family.unwrap_or(bare)),
            "no type: {line}"
        );
        assert!(
            series.insert(name.to_owned(), value).is_none(),
            "twice: {line}"
        );
    }
    series
}

async fn section_6_metrics_collection(redis: Place) {
    let server = redis.serve(Database::sqlite(), &[]).await;
    let api = &server.api;
    let id = api.upsert(&json!({"user_id": "zebra"})).await.json()["id"].clone();
    let path = format!("/api/v1/contacts/{}", id.as_str().expect("an id"));
    for _ in 0..10 {
        api.get(&path).await.expect(200);
    }
    // Whom nobody remembers, the store is asked for.
    let nobody = "/api/v1/contacts/00000000-0000-8000-8000-000000000000";
    api.get(nobody).await.expect_problem(404, "not_found");
    api.get("/readyz").await.expect(200);
    let edge = r#"kurier_edge_dedup_misses_total{module="contact.profile"}"#;
    eventually("the contact is at the edge", LIMIT, async || {
        (api.metric(edge).await > 0).then_some(())
    })
    .await;
    let series = parse(&api.get("/metrics").await.expect(200).text);
    let value = |name: &str| {
        *series
            .get(name)
            .unwrap_or_else(|| panic!("no {name}: {series:#?}"))
    };
    let hits = value(r#"kurier_cache_hits_total{cache="contact",level="l1"}"#);
    let misses = value(r#"kurier_cache_misses_total{cache="contact"}"#);
    assert!(hits >= 9.0 && misses >= 1.0, "{hits} {misses}");
    let ratio = value(r#"kurier_cache_hit_ratio{cache="contact"}"#);
    assert!((0.5..1.0).contains(&ratio), "{ratio}");
    assert!(value(r#"kurier_keyspace_operations_total{call="ping"}"#) >= 1.0);
    assert!(value(r#"kurier_keyspace_duration_seconds_count{call="script"}"#) >= 1.0);
    assert!(series.contains_key("kurier_cache_bytes"));
    // What the key architecture calls total operations, dedup and version hint hits and misses.
    let edge = |name: &str| {
        value(&format!(
            "kurier_edge_{name}_total{{module=\"contact.profile\"}}"
        ))
    };
    let projected = edge("operations");
    assert!(projected >= 1.0);
    assert_eq!(
        edge("version_hint_hits") + edge("version_hint_misses"),
        projected
    );
    assert!(edge("dedup_misses") >= 1.0);
    assert_eq!(edge("dedup_hits"), 0.0, "nothing came twice");
    let names = |it: &&String| it.contains("zebra") || it.contains(id.as_str().expect("an id"));
    assert_eq!(
        series.keys().filter(names).count(),
        0,
        "no label names a contact"
    );
    told_again(server, &redis).await;
}

/// Events that come again are hits of their hints; and without hints, of deduplication.
async fn told_again(server: Server, redis: &Place) {
    let stopped = server.terminate().await;
    let server = again(stopped, redis).await;
    assert!(hits(&server.api, "version_hint_hits").await > 0);
    let stopped = server.terminate().await;
    for hint in redis.keys("contact.profile:pp:ver:*") {
        redis.cli(&["DEL", &hint]);
    }
    let server = again(stopped, redis).await;
    assert!(hits(&server.api, "dedup_hits").await > 0);
}

/// A server to which every event is new.
async fn again(stopped: Stopped, redis: &Place) -> Server {
    let rewind = "DELETE FROM checkpoint WHERE name = 'edge:contact.profile'";
    stopped.database.execute(rewind).await;
    let url = redis.url().expect("Redis");
    stopped.restart_with(&[("KURIER_REDIS_URL", &url)]).await
}

async fn hits(api: &Api, name: &str) -> u64 {
    let series = format!("kurier_edge_{name}_total{{module=\"contact.profile\"}}");
    eventually(name, LIMIT, async || {
        let count = api.metric(&series).await;
        (count > 0).then_some(count)
    })
    .await
}
