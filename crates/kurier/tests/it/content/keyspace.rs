//! The documented keyspace: exactly that, in Redis and in process; lost, and there again.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::{HANDBOOK, export, import};
use crate::cli::on;
use crate::harness::{ADMIN_KEY, Database, Redis, Server, WRITE_KEY, eventually, on_both, unique};

on_both![
    redis_has_exactly_the_documented_keys_and_types,
    what_is_lost_is_put_back_and_a_rebuild_dumps_the_same,
    keys_are_bare_where_that_is_set,
];

const LIMIT: Duration = Duration::from_secs(30);

async fn start(database: Database, redis: &Redis, settings: Option<&str>) -> Server {
    let url = redis.url();
    let mut variables = vec![
        ("KURIER_BOOTSTRAP_WRITE_KEY", WRITE_KEY),
        ("KURIER_BOOTSTRAP_ADMIN_KEY", ADMIN_KEY),
        ("KURIER_REDIS_URL", url.as_str()),
    ];
    variables.extend(settings.map(|file| ("KURIER_CONFIG", file)));
    Server::start_with(database, &variables).await
}

/// What stands at a key, as the export says it.
fn held(redis: &Redis, key: &str) -> Value {
    let lines =
        |words: &[&str]| -> Vec<String> { redis.cli(words).lines().map(str::to_owned).collect() };
    let kind = redis.cli(&["TYPE", key]).trim().to_owned();
    let json = |words: &[&str]| -> Value {
        let said = redis.cli(&[&["--json"], words].concat());
        serde_json::from_str(&said).unwrap_or_else(|e| panic!("{e}: {said}"))
    };
    match kind.as_str() {
        "hash" => {
            let fields = json(&["HGETALL", key]);
            let fields = fields.as_object().expect("fields").clone();
            json!({"kind": "hash", "value": fields})
        }
        "zset" => {
            let members = lines(&["ZRANGE", key, "0", "-1", "WITHSCORES"]);
            let pairs = members.chunks(2).map(|pair| {
                let score: u64 = pair[1].parse().expect("a score");
                json!([score, pair[0]])
            });
            json!({"kind": "sorted_set", "value": pairs.collect::<Vec<_>>()})
        }
        "set" => {
            let mut members = lines(&["SMEMBERS", key]);
            members.sort_unstable();
            json!({"kind": "set", "value": members})
        }
        "string" => json!({"kind": "text", "value": redis.cli(&["GET", key]).trim()}),
        other => panic!("{key} is {other}"),
    }
}

/// Everything behind a prefix.
fn dump(redis: &Redis, prefix: &str, is_ours: impl Fn(&str) -> bool) -> BTreeMap<String, Value> {
    let keys = redis.cli(&["--scan", "--pattern", &format!("{}*", escaped(prefix))]);
    let keys = keys.lines().filter_map(|key| key.strip_prefix(prefix));
    let ours = keys.filter(|key| is_ours(key));
    ours.map(|key| (key.to_owned(), held(redis, &format!("{prefix}{key}"))))
        .collect()
}

fn escaped(prefix: &str) -> String {
    prefix.replace('[', "\\[")
}

/// The export in the same form: fields by name, members in order.
fn expected(database: &Database) -> BTreeMap<String, Value> {
    let entries = export(database).into_iter().map(|(key, entry)| {
        let value = match entry["kind"].as_str() {
            Some("hash") => {
                let fields = entry["value"].as_array().expect("fields").iter();
                let fields =
                    fields.map(|it| (it[0].as_str().expect("a name").to_owned(), it[1].clone()));
                json!(fields.collect::<BTreeMap<_, _>>())
            }
            Some("set") => {
                let mut members: Vec<String> =
                    serde_json::from_value(entry["value"].clone()).expect("members");
                members.sort_unstable();
                json!(members)
            }
            _ => entry["value"].clone(),
        };
        (key, json!({"kind": entry["kind"], "value": value}))
    });
    entries.collect()
}

fn is_documented(key: &str) -> bool {
    !key.starts_with("document:") && !key.starts_with("idx:")
}

async fn tenant(database: &Database) -> String {
    let store = database.store().await;
    let workspaces = store.access.workspaces().await.expect("listed");
    format!("content:v1:{{{}}}:", workspaces[0].id)
}

/// Waits until Redis says what is true, and no more.
async fn settled(redis: &Redis, prefix: &str, wanted: &BTreeMap<String, Value>) {
    eventually("the keyspace follows", LIMIT, async || {
        let keys = redis.cli(&["--scan", "--pattern", &format!("{prefix}*")]);
        let keys = keys.lines().filter_map(|key| key.strip_prefix(prefix));
        let count = keys.filter(|key| is_documented(key)).count();
        (count == wanted.len() && dump(redis, prefix, is_documented) == *wanted).then_some(())
    })
    .await;
}

async fn redis_has_exactly_the_documented_keys_and_types(database: Database) {
    let redis = Redis::start();
    let server = start(database, &redis, None).await;
    let prefix = tenant(&server.database).await;
    import(
        &server.api,
        &[("a.md", HANDBOOK), ("b.md", "# Orders\n\nMore here.\n")],
    )
    .await;
    let wanted = expected(&server.database);
    settled(&redis, &prefix, &wanted).await;
    let kinds = |key: &str| wanted[key]["kind"].clone();
    assert_eq!(kinds("para:refund_policy:001"), "hash");
    assert_eq!(kinds("para:refund_policy:001:children"), "sorted_set");
    assert_eq!(kinds("doc:handbook:001:sequence"), "sorted_set");
    assert_eq!(kinds("para:refund_policy:001:next"), "text");
    assert_eq!(kinds("category:support:docs"), "set");
    assert_eq!(kinds("tag:money:chunks"), "set");
    assert!(!wanted.contains_key("para:refund_policy:001:siblings"));
    // What is no more goes, and what others have stays.
    import(&server.api, &[("a.md", "# Orders\n")]).await;
    let wanted = expected(&server.database);
    settled(&redis, &prefix, &wanted).await;
    assert!(wanted.contains_key("level:ch:chunks"));
    let document = wanted
        .keys()
        .find(|key| key.starts_with("doc:") && key.ends_with(":001"));
    let document = document.expect("a document").clone();
    server
        .api
        .delete(&format!("/api/v1/content/{document}"))
        .await
        .expect(204);
    settled(&redis, &prefix, &expected(&server.database)).await;
}

async fn what_is_lost_is_put_back_and_a_rebuild_dumps_the_same(database: Database) {
    let redis = Redis::start();
    let server = start(database, &redis, None).await;
    let prefix = tenant(&server.database).await;
    import(&server.api, &[("a.md", HANDBOOK), ("b.md", HANDBOOK)]).await;
    import(
        &server.api,
        &[("a.md", &HANDBOOK.replace("two days", "a day"))],
    )
    .await;
    let wanted = expected(&server.database);
    settled(&redis, &prefix, &wanted).await;
    let before = dump(&redis, &prefix, |_| true);
    redis.cli(&["FLUSHALL"]);
    settled(&redis, &prefix, &wanted).await;
    on(&server.database, &["projection", "rebuild", "content"]).expect(0);
    redis.cli(&["FLUSHALL"]);
    settled(&redis, &prefix, &wanted).await;
    assert_eq!(
        dump(&redis, &prefix, |_| true),
        before,
        "from the log, the same"
    );
}

async fn keys_are_bare_where_that_is_set(database: Database) {
    let redis = Redis::start();
    let file = std::env::temp_dir().join(unique("kurier-content-"));
    std::fs::write(&file, "[content]\nkeys = \"bare\"\nsiblings = true\n").expect("written");
    let server = start(database, &redis, file.to_str()).await;
    import(&server.api, &[("a.md", HANDBOOK)]).await;
    eventually("the keys are there", LIMIT, async || {
        let next = redis.cli(&["GET", "para:refund_policy:001:next"]);
        (next.trim() == "para:shipping:001").then_some(())
    })
    .await;
    assert_eq!(redis.cli(&["TYPE", "doc:handbook:001"]).trim(), "hash");
    let siblings = redis.cli(&["SMEMBERS", "para:shipping:001:siblings"]);
    assert_eq!(siblings.trim(), "para:refund_policy:001");
    std::fs::remove_file(file).expect("removed");
}
