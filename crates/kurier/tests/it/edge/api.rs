//! Slack workspaces by API and command, with the edge between, on a Redis that is emptied.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::redis;
use crate::harness::server::command;
use crate::harness::{ADMIN_KEY, Answer, Api, Database, Server, WRITE_KEY, eventually, on_both};

on_both![
    slack_workspaces_are_made_changed_archived_and_listed,
    secrets_are_neither_answered_nor_logged_nor_kept_in_the_clear,
    what_is_wrong_is_told_at_once,
    an_emptied_redis_changes_no_answer,
    an_erased_contact_is_in_no_redis,
];

const PATH: &str = "/api/v1/slack-workspaces";
const TOKEN: &str = "xoxb-canary-1234567890";
const HOOK: &str = "https://hooks.slack.example/services/canary-0987654321";

async fn send(api: &Api, method: Method, path: &str, body: &Value) -> Answer {
    let request = api.bare(method, path).bearer_auth(&api.admin_key);
    let sent = request.body(body.to_string()).send().await;
    Answer::of(sent.expect("an answer")).await
}

async fn make(api: &Api, body: &Value) -> String {
    let made = send(api, Method::POST, PATH, body).await.expect(201).json();
    format!("{PATH}/{}", made["id"].as_str().expect("an id"))
}

async fn names(api: &Api, query: &str) -> Vec<String> {
    let list = api.get(&format!("{PATH}{query}")).await.expect(200).json();
    let data = list["data"].as_array().expect("a list").iter();
    data.map(|it| it["name"].as_str().expect("a name").to_owned())
        .collect()
}

async fn slack_workspaces_are_made_changed_archived_and_listed(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let acme = make(
        api,
        &json!({"name": "Acme", "category": "sales", "default_channel": "#a"}),
    )
    .await;
    let beta = make(api, &json!({"name": "Beta", "category": "a:b {c}"})).await;
    assert_eq!(names(api, "").await, ["Acme", "Beta"]);
    assert_eq!(names(api, "?category=sales").await, ["Acme"]);
    assert_eq!(names(api, "?category=a%3Ab%20%7Bc%7D").await, ["Beta"]);
    let changed = json!({"name": "Acme", "category": "support"});
    let changed = send(api, Method::PUT, &acme, &changed)
        .await
        .expect(200)
        .json();
    assert_eq!(changed["default_channel"], Value::Null);
    assert_eq!(names(api, "?category=sales").await, Vec::<String>::new());
    assert_eq!(names(api, "?category=support").await, ["Acme"]);
    api.delete(&beta).await.expect(204);
    api.delete(&beta).await.expect_problem(404, "not_found");
    assert_eq!(names(api, "").await, ["Acme"]);
    assert_eq!(names(api, "?archived=true").await, ["Beta"]);
    assert_eq!(api.get(&beta).await.expect(200).json()["archived"], true);
    send(api, Method::PUT, &beta, &json!({"name": "Beta 2"}))
        .await
        .expect(200);
    assert_eq!(names(api, "").await, ["Acme", "Beta 2"]);
    assert!(
        api.metric("kurier_edge_reads_total{module=\"notification.slack\",result=\"hit\"}")
            .await
            > 0
    );
}

async fn secrets_are_neither_answered_nor_logged_nor_kept_in_the_clear(database: Database) {
    let redis = redis::Server::start().await;
    let url = redis.url();
    let variables = [
        ("KURIER_BOOTSTRAP_WRITE_KEY", WRITE_KEY),
        ("KURIER_BOOTSTRAP_ADMIN_KEY", ADMIN_KEY),
        ("KURIER_REDIS_URL", &url),
        ("KURIER_LOG", "debug"),
    ];
    let server = Server::start_with(database, &variables).await;
    let api = &server.api;
    let secrets = json!({"name": "Acme", "secrets": {"bot_token": TOKEN, "webhook_url": HOOK}});
    let acme = make(api, &secrets).await;
    let kept = send(api, Method::PUT, &acme, &json!({"name": "Acme 2"}))
        .await
        .expect(200);
    assert_eq!(kept.json()["secrets"], json!(["bot_token", "webhook_url"]));
    let without = json!({"name": "Acme 2", "secrets": {"webhook_url": null}});
    let without = send(api, Method::PUT, &acme, &without).await.expect(200);
    assert_eq!(without.json()["secrets"], json!(["bot_token"]));
    let bad = json!({"name": "x", "secrets": {"webhook_url": "http://canary-0987654321", "bot_token": 7}});
    let refused = send(api, Method::POST, PATH, &bad).await;
    let refused = refused.expect_problem(422, "bad_slack_workspace").text;
    redis.say(&["SAVE"]);
    let mut places = server.database.bytes();
    places.push(("the log output".into(), server.log().into_bytes()));
    places.push((
        "answers".into(),
        format!("{kept:?} {without:?} {refused}").into_bytes(),
    ));
    places.push(("Redis".into(), redis.dump()));
    for (place, bytes) in places {
        for secret in ["canary-1234567890", "canary-0987654321"] {
            let found = bytes
                .windows(secret.len())
                .any(|it| it == secret.as_bytes());
            assert!(!found, "{secret} is in {place}");
        }
    }
}

async fn what_is_wrong_is_told_at_once(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let bad = json!({"name": "", "category": "x\ny", "secrets": {"password": "p"}});
    let refused = send(api, Method::POST, PATH, &bad).await;
    let refused = refused.expect_problem(422, "bad_slack_workspace").json();
    let pointers: Vec<_> = refused["errors"]
        .as_array()
        .expect("all")
        .iter()
        .map(|it| &it["pointer"])
        .collect();
    assert_eq!(pointers, ["/name", "/category", "/secrets/password"]);
    for odd in [
        json!([]),
        json!({"nam": "x"}),
        json!({"name": "x", "secrets": 1}),
    ] {
        let refused = send(api, Method::POST, PATH, &odd).await;
        refused.expect_problem(422, "bad_slack_workspace");
    }
    send(api, Method::POST, PATH, &json!("x"))
        .await
        .expect_problem(422, "bad_slack_workspace");
    let unknown = format!("{PATH}/01234567-0123-0123-0123-0123456789ab");
    api.get(&unknown).await.expect_problem(404, "not_found");
    api.get(&format!("{PATH}/x"))
        .await
        .expect_problem(404, "not_found");
}

async fn an_emptied_redis_changes_no_answer(database: Database) {
    let redis = redis::Server::start().await;
    let server = with_redis(database, &redis).await;
    let api = &server.api;
    for n in 0..5 {
        make(api, &json!({"name": format!("S{n}"), "category": "c"})).await;
        redis.say(&["FLUSHALL"]);
        let wanted: Vec<String> = (0..=n).map(|it| format!("S{it}")).collect();
        assert_eq!(names(api, "").await, wanted);
        assert_eq!(names(api, "?category=c").await, wanted);
    }
    let listed = eventually("the edge heals", Duration::from_secs(30), async || {
        let keys = redis.say(&["KEYS", "notification.slack:v1:*"]);
        (keys.lines().count() == 7).then_some(keys)
    });
    listed.await;
    // The command line changes what the server's edge tells.
    let mut command = command();
    command.args(["slack-workspace", "archive", "S0"]);
    let done = command
        .args(server.database.options())
        .output()
        .expect("it runs");
    assert!(done.status.success(), "{done:?}");
    let names = eventually("the server follows", Duration::from_secs(30), async || {
        let names = names(api, "").await;
        (names.len() == 4).then_some(names)
    });
    assert_eq!(names.await, ["S1", "S2", "S3", "S4"]);
}

async fn with_redis(database: Database, redis: &redis::Server) -> Server {
    let url = redis.url();
    let variables = [
        ("KURIER_BOOTSTRAP_WRITE_KEY", WRITE_KEY),
        ("KURIER_BOOTSTRAP_ADMIN_KEY", ADMIN_KEY),
        ("KURIER_REDIS_URL", url.as_str()),
    ];
    Server::start_with(database, &variables).await
}

async fn an_erased_contact_is_in_no_redis(database: Database) {
    let redis = redis::Server::start().await;
    let server = with_redis(database, &redis).await;
    let api = &server.api;
    let ann = json!({"user_id": "ann", "attributes": {"town": "canary-town"}});
    let made = api.upsert(&ann).await.expect(201).json();
    let path = format!("/api/v1/contacts/{}", made["id"].as_str().expect("an id"));
    // Reads are answered by the process's own memory; what is written to the edge is counted.
    let series = "kurier_edge_dedup_misses_total{module=\"contact.profile\"}";
    eventually("the edge knows it", Duration::from_secs(30), async || {
        assert_eq!(
            api.get(&path).await.expect(200).json()["attributes"]["town"],
            "canary-town"
        );
        (api.metric(series).await > 0).then_some(())
    })
    .await;
    redis.say(&["SAVE"]);
    let holds = |bytes: Vec<u8>| bytes.windows(11).any(|it| it == b"canary-town");
    assert!(holds(redis.dump()), "else the test sees nothing");
    api.delete(&path).await.expect(200);
    api.get(&path).await.expect_problem(404, "not_found");
    redis.say(&["SAVE"]);
    assert!(!holds(redis.dump()));
}
