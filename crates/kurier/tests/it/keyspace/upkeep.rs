//! `kurier keys health | cleanup | migrate | stats`, by the real binary on a real Redis.

use serde_json::json;

use super::keys;
use crate::cli::kurier;
use crate::edge::{Place, on_places};

on_places![
    section_5_key_migration,
    section_6_cleanup_operations,
    section_7_ttl_management_for_ever_is_no_loss,
    section_8_troubleshooting,
];

const DEDUP: &str = "notification.slack:pd:dup:";
const HINT: &str = "notification.slack:pp:ver:";

#[test]
fn section_6_health_checks() {
    let mut redis = Place::redis();
    let health = keys(&redis, &["health", "--pings", "20", "--json"]);
    let health = health.expect(0).json();
    assert_eq!(health["connected"], json!(true));
    assert_eq!(health["topology"], json!("single"));
    assert_eq!(health["nodes"][0]["role"], json!("master"));
    let latency = &health["latency_ms"];
    let (p50, p99) = (latency["p50"].as_f64(), latency["p99"].as_f64());
    assert!(p50 > Some(0.0) && p99 >= p50, "{latency}");
    let said = keys(&redis, &["health"]).expect(0).stdout;
    assert!(said.contains("Redis connected: yes, latency: "), "{said}");

    redis.stop();
    let down = keys(&redis, &["health", "--json"]).expect(1).json();
    assert_eq!(down["connected"], json!(false));
    let said = keys(&redis, &["health"]).expect(1).stdout;
    assert!(said.contains("Redis connected: no"), "{said}");
}

#[test]
fn section_6_health_checks_of_a_cluster() {
    let url = std::env::var("TEST_REDIS_CLUSTER_URL").expect("run ./dev test");
    let health = kurier(&["keys", "health", "--json", "--redis-url", &url]);
    let health = health.expect(0).json();
    assert_eq!(health["topology"], json!("cluster"));
    assert_eq!(health["nodes"].as_array().expect("nodes").len(), 3);
}

/// Only dedup keys, only those without a time to live, only the tenant's.
async fn section_6_cleanup_operations(redis: Place) {
    for at in 0..250 {
        redis.cli(&["SET", &format!("{DEDUP}{{acme}}:workspace-W{at}:{at}"), "1"]);
    }
    redis.cli(&[
        "SET",
        &format!("{DEDUP}{{acme}}:alive:1"),
        "1",
        "EX",
        "1000",
    ]);
    redis.cli(&["SET", &format!("{DEDUP}{{beta}}:lost:1"), "1"]);
    redis.cli(&["SET", "contact.profile:pd:dup:{acme}:lost:1", "1"]);
    let others = [
        &format!("{HINT}{{acme}}:workspace:W1"),
        "pd:dup:foreign",
        "contact:x",
    ];
    for other in others {
        redis.cli(&["SET", other, "1"]);
    }
    let some = ["cleanup", "--tenant", "acme", "--keys-max", "100", "--json"];
    let some = keys(&redis, &some).expect(0).json();
    assert_eq!(
        (&some["looked_at"], &some["is_cut"]),
        (&json!(100), &json!(true))
    );
    let acme = ["cleanup", "--tenant", "acme", "--batch-size", "7", "--json"];
    let rest = keys(&redis, &acme).expect(0).json();
    let removed = [&some, &rest].map(|answer| answer["removed"].as_u64().expect("a count"));
    assert_eq!(removed.iter().sum::<u64>(), 251, "{some} {rest}");
    assert_eq!(redis.count(), 5);
    let all = keys(&redis, &["cleanup"]).expect(0).stdout;
    assert_eq!(
        all,
        "2 dedup keys looked at, 1 without a time to live removed\n"
    );
    assert_eq!(
        redis.cli(&["EXISTS", &format!("{DEDUP}{{acme}}:alive:1")]),
        "1"
    );
    for other in others {
        assert_eq!(redis.cli(&["EXISTS", other]), "1", "{other}");
    }
}

async fn section_7_ttl_management_for_ever_is_no_loss(redis: Place) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("kurier.toml");
    std::fs::write(&file, "[keys.ttl]\ndedup_ttl_hours = \"none\"").expect("written");
    redis.cli(&["SET", &format!("{DEDUP}{{acme}}:kept:1"), "1"]);
    let file = file.to_str().expect("a path");
    let refused = keys(&redis, &["cleanup", "--config", file]).expect(1);
    assert!(
        refused.stderr.contains("live for ever"),
        "{}",
        refused.stderr
    );
    assert_eq!(redis.count(), 1);
    let stats = keys(&redis, &["stats", "--json", "--config", file]);
    assert_eq!(
        stats.expect(0).json()["families"]["dedup"]["without_ttl"],
        json!(0)
    );
}

async fn section_5_key_migration(redis: Place) {
    let old = "notification:workspace-projector:{acme}";
    redis.cli(&[
        "SET",
        &format!("{old}:workspace:W1"),
        r#"{"name":"One","version":3}"#,
    ]);
    redis.cli(&["SADD", &format!("{old}:workspace-index"), "W1"]);
    redis.cli(&["LPUSH", &format!("{old}:workspace:list"), "odd"]);
    for hint in [
        format!("{HINT}{{acme}}:workspace:W1"),
        "pp:ver:acme:workspace:W1".to_owned(),
    ] {
        redis.cli(&["SET", &hint, "3"]);
    }
    assert_eq!(
        keys(&redis, &["migrate"]).code,
        Some(2),
        "it must be said which"
    );
    let dry = keys(&redis, &["migrate", "--dry-run"]).expect(0);
    assert_eq!(
        dry.stdout,
        "would move: 1 workspaces, 1 indexes, 0 superseded, 1 unknown\n"
    );
    let arrow = format!("{old}:workspace:W1 -> notification.slack:v1:{{acme}}:workspace:W1");
    assert!(dry.stderr.contains(&arrow), "{}", dry.stderr);
    assert_eq!(redis.count(), 5);

    let applied = keys(&redis, &["migrate", "--apply", "--json"])
        .expect(0)
        .json();
    let expected =
        json!({"workspace": 1, "index": 1, "superseded": 0, "unknown": 1, "applied": true});
    assert_eq!(applied, expected);
    let value = redis.cli(&["GET", "notification.slack:v1:{acme}:workspace:W1"]);
    assert_eq!(
        value,
        r#"{"revision":3,"value":{"name":"One","version":3}}"#
    );
    let list = redis.cli(&[
        "SMEMBERS",
        "notification.slack:v1:{acme}:idx:workspace:list",
    ]);
    assert_eq!(list, "W1");
    assert_eq!(redis.cli(&["GET", "pp:ver:acme:workspace:W1"]), "3");
    assert_eq!(redis.count(), 5);
    let again = keys(&redis, &["migrate", "--apply"]).expect(0).stdout;
    assert_eq!(
        again,
        "moved: 0 workspaces, 0 indexes, 0 superseded, 1 unknown\n"
    );
}

/// "Old format keys still appearing", "high memory usage": what is there, and what never ends.
async fn section_8_troubleshooting(redis: Place) {
    let value = "x".repeat(10_000);
    redis.cli(&["SET", "notification.slack:v1:{acme}:workspace:W1", &value]);
    redis.cli(&[
        "SADD",
        "notification.slack:v1:{acme}:idx:workspace:list",
        "W1",
    ]);
    redis.cli(&[
        "SET",
        &format!("{HINT}{{acme}}:workspace:W1"),
        "3",
        "EX",
        "900",
    ]);
    redis.cli(&["SET", &format!("{HINT}{{acme}}:workspace:W2"), "3"]);
    redis.cli(&["SET", &format!("{DEDUP}{{acme}}:W1:3"), "1"]);
    redis.cli(&[
        "HSET",
        "notification.slack:checkpoint:dev:workspace-projection",
        "position",
        "3",
    ]);
    redis.cli(&["SET", "contact:w:c", "1", "EX", "300"]);
    redis.cli(&["SET", "notification:workspace-index:acme", "[]"]);
    redis.cli(&["SET", "pp:ver:acme:workspace:W1", "3"]);
    let stats = keys(&redis, &["stats", "--json", "--batch-size", "2"])
        .expect(0)
        .json();
    let families = &stats["families"];
    let counts = |name: &str| {
        (
            families[name]["keys"].clone(),
            families[name]["without_ttl"].clone(),
        )
    };
    for (name, count, without_ttl) in [
        ("business", 1, 0),
        ("index", 1, 0),
        ("hint", 2, 1),
        ("dedup", 1, 1),
        ("checkpoint", 1, 0),
        ("cache", 1, 0),
        ("legacy", 1, 0),
        ("other", 1, 0),
    ] {
        assert_eq!(counts(name), (json!(count), json!(without_ttl)), "{name}");
    }
    let bytes = families["business"]["bytes"].as_u64().expect("a count");
    assert!((10_000..12_000).contains(&bytes), "{bytes}");
    let said = keys(&redis, &["stats"]).expect(0).stdout;
    assert!(
        said.starts_with("FAMILY") && said.ends_with("9 keys\n"),
        "{said}"
    );
}

#[test]
fn without_redis_it_is_said_where_the_keyspace_is() {
    for command in [
        &["health"][..],
        &["stats"],
        &["cleanup"],
        &["migrate", "--dry-run"],
    ] {
        let output = kurier(&[&["keys"], command].concat()).expect(1);
        let said = "inside the server's process";
        assert!(output.stderr.contains(said), "{}", output.stderr);
    }
}

#[test]
fn a_url_that_is_none_is_refused_at_the_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().to_str().expect("a path");
    for (url, reason) in [
        ("http://secret@h", "http:// is unknown"),
        ("redis://:secret@h1,h2", "several addresses"),
        ("redis+sentinel://h1:1", "the master's name is missing"),
        ("redis+cluster://h1/3", "the database 0 only"),
    ] {
        let output = kurier(&["serve", "--data", data, "--redis-url", url]).expect(1);
        assert!(output.stderr.contains(reason), "{}", output.stderr);
        assert!(!output.stderr.contains("secret"), "{}", output.stderr);
    }
}

#[test]
fn help_names_the_options_and_shows_examples() {
    let cases: [(&[&str], &[&str]); 5] = [
        (&[], &["health", "cleanup", "migrate", "stats", "rediss"]),
        (&["health"], &["--pings", "--json"]),
        (&["cleanup"], &["--batch-size", "--tenant", "--json"]),
        (&["migrate"], &["--dry-run", "--apply", "--json"]),
        (&["stats"], &["--keys-max", "--json"]),
    ];
    for (command, options) in cases {
        let help = kurier(&[&["keys"], command, &["--help"]].concat());
        let help = help.expect(0).stdout;
        for option in options.iter().chain(&["--redis-url", "Example"]) {
            assert!(help.contains(option), "{command:?} has no {option}: {help}");
        }
    }
}
