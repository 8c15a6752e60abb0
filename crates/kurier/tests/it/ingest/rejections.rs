//! What was sent in vain can be looked at.

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Answer, Database, Server, on_both};

on_both![
    what_was_rejected_is_listed_with_its_reason,
    only_who_may_read_sees_it,
];

async fn what_was_rejected_is_listed_with_its_reason(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let secret = json!({"password": "hunter2"});
    let batch = [
        json!({"type": "track", "userId": "u", "event": "Good"}),
        json!({"type": "page", "name": "Pricing", "properties": secret}),
        json!({"type": "teleport", "userId": "u"}),
    ];
    api.batch(&batch).await.expect(200);
    let refused = api.post("/v1/track", r#"{"userId": "u"}"#).await;
    refused.expect_problem(400, "bad_event");
    let list = api.get("/api/v1/rejections").await.expect(200);
    assert!(!list.text.contains("hunter2"), "{}", list.text);
    let list = list.json();
    let list = list["data"].as_array().expect("a list");
    let shown: Vec<(&Value, &Value, &Value)> = list
        .iter()
        .map(|it| (&it["type"], &it["name"], &it["errors"][0]["pointer"]))
        .collect();
    let (track, page, teleport) = (json!("track"), json!("page"), json!("teleport"));
    let (pricing, none) = (json!("Pricing"), Value::Null);
    let (event, user, kind) = (json!("/event"), json!("/userId"), json!("/type"));
    assert_eq!(
        shown,
        [
            (&track, &none, &event),
            (&teleport, &none, &kind),
            (&page, &pricing, &user),
        ]
    );
    assert!(list.iter().all(|it| it["at"].is_string()));
    let one = api.get("/api/v1/rejections?limit=1").await.expect(200);
    assert_eq!(one.json()["data"].as_array().map(Vec::len), Some(1));
    let bad = api.get("/api/v1/rejections?limit=0").await;
    bad.expect_problem(400, "bad_parameter");
}

async fn only_who_may_read_sees_it(database: Database) {
    let server = Server::start(database).await;
    let asked = server.api.bare(Method::GET, "/api/v1/rejections");
    let by_writer = asked.bearer_auth(&server.api.write_key).send().await;
    let answer = Answer::of(by_writer.expect("an answer")).await;
    answer.expect_problem(403, "forbidden");
}
