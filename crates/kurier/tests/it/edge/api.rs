//! Slack workspaces by API and command, with the edge between, on a Redis that is emptied.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::Place;
use crate::harness::server::command;
use crate::harness::{Answer, Api, Database, eventually};

/// Runs each named test, an `async fn(Database, Place)`.
macro_rules! on_all {
    ($($module:ident: $database:expr, $place:expr => $($name:ident),*;)*) => {
        $(mod $module {
            use crate::edge::Place;
            use crate::harness::Database;
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                super::$name($database, $place).await;
            })*
        })*
    };
}

on_all! {
    sqlite: Database::sqlite(), Place::Memory => slack_workspaces_are_made_changed_archived_and_listed,
        what_is_wrong_is_told_at_once;
    postgres: Database::postgres().await, Place::Memory => slack_workspaces_are_made_changed_archived_and_listed,
        what_is_wrong_is_told_at_once;
    sqlite_and_redis: Database::sqlite(), Place::redis() => slack_workspaces_are_made_changed_archived_and_listed,
        secrets_are_neither_answered_nor_logged_nor_kept_in_the_clear, an_emptied_redis_changes_no_answer,
        an_erased_contact_is_in_no_redis;
    postgres_and_redis: Database::postgres().await, Place::redis() => secrets_are_neither_answered_nor_logged_nor_kept_in_the_clear,
        an_emptied_redis_changes_no_answer, an_erased_contact_is_in_no_redis;
    sqlite_and_cluster: Database::sqlite(), Place::cluster().await => slack_workspaces_are_made_changed_archived_and_listed,
        secrets_are_neither_answered_nor_logged_nor_kept_in_the_clear, an_emptied_redis_changes_no_answer,
        an_erased_contact_is_in_no_redis;
}

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

async fn slack_workspaces_are_made_changed_archived_and_listed(database: Database, place: Place) {
    let server = place.serve(database, &[]).await;
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

async fn secrets_are_neither_answered_nor_logged_nor_kept_in_the_clear(
    database: Database,
    place: Place,
) {
    let server = place.serve(database, &[("KURIER_LOG", "debug")]).await;
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
    let mut places = server.database.bytes();
    places.push(("the log output".into(), server.log().into_bytes()));
    places.push((
        "answers".into(),
        format!("{kept:?} {without:?} {refused}").into_bytes(),
    ));
    places.push(("Redis".into(), place.dumps()));
    for (kept_in, bytes) in places {
        for secret in ["canary-1234567890", "canary-0987654321"] {
            let found = bytes
                .windows(secret.len())
                .any(|it| it == secret.as_bytes());
            assert!(!found, "{secret} is in {kept_in}");
        }
    }
}

async fn what_is_wrong_is_told_at_once(database: Database, place: Place) {
    let server = place.serve(database, &[]).await;
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

async fn an_emptied_redis_changes_no_answer(database: Database, place: Place) {
    let server = place.serve(database, &[]).await;
    let api = &server.api;
    for n in 0..5 {
        make(api, &json!({"name": format!("S{n}"), "category": "c"})).await;
        place.empty();
        let wanted: Vec<String> = (0..=n).map(|it| format!("S{it}")).collect();
        assert_eq!(names(api, "").await, wanted);
        assert_eq!(names(api, "?category=c").await, wanted);
    }
    let listed = eventually("the edge heals", Duration::from_secs(30), async || {
        let keys = place.keys("notification.slack:v1:*");
        (keys.len() == 7).then_some(keys)
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

async fn an_erased_contact_is_in_no_redis(database: Database, place: Place) {
    let server = place.serve(database, &[]).await;
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
    let holds = |bytes: Vec<u8>| bytes.windows(11).any(|it| it == b"canary-town");
    assert!(holds(place.dumps()), "else the test sees nothing");
    api.delete(&path).await.expect(200);
    api.get(&path).await.expect_problem(404, "not_found");
    assert!(!holds(place.dumps()));
}
