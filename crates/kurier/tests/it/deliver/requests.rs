//! Asking for messages: once, later, by template, or not at all.

use serde_json::{Value, json};

use super::{Scene, ask, post, put};
use crate::harness::{Answer, Api, Database, on_both};

on_both![
    the_same_key_is_the_same_message,
    what_is_wrong_is_told_at_once_and_changes_nothing,
    a_message_waits_for_its_time,
    a_template_is_written_for_a_contact,
    a_contact_gets_no_more_than_its_share,
];

async fn keyed(api: &Api, key: &str, body: &Value) -> Answer {
    let request = api.bare(reqwest::Method::POST, "/api/v1/messages");
    let request = request
        .bearer_auth(&api.admin_key)
        .header("idempotency-key", key);
    Answer::of(request.json(body).send().await.expect("an answer")).await
}

async fn the_same_key_is_the_same_message(database: Database) {
    let mut scene = Scene::http(database).await;
    scene.hook("/ok", json!({})).await;
    let body = json!({"channel": "hook", "body": {"json": {"order": 7}}});
    let first = keyed(scene.api(), "order-7", &body).await.expect(202);
    assert_eq!(first.header("idempotent-replayed"), None);
    let second = keyed(scene.api(), "\"order-7\"", &body).await.expect(202);
    assert_eq!(second.header("idempotent-replayed"), Some("true"));
    assert_eq!(first.json()["id"], second.json()["id"]);
    let other = json!({"channel": "hook", "body": {"json": {"order": 8}}});
    let refused = keyed(scene.api(), "order-7", &other).await;
    refused.expect_problem(422, "idempotency_key_reused");
    let long = keyed(scene.api(), &"x".repeat(256), &body).await;
    long.expect_problem(400, "bad_idempotency_key");
    let id = first.json()["id"].as_str().expect("an id").to_owned();
    scene.state(&id, "sent").await;
    assert_eq!(scene.webhook_id().await, id);
    assert_eq!(scene.sink.rest("request").await, 0);
}

async fn what_is_wrong_is_told_at_once_and_changes_nothing(database: Database) {
    let scene = Scene::http(database).await;
    let wrong = json!({"channel": "email", "to": "nobody", "template": "none", "priority": 11});
    let answer = post(scene.api(), "/api/v1/messages", &wrong).await;
    let problem = answer.expect_problem(422, "bad_message").json();
    let errors = problem["errors"].as_array().expect("errors");
    let pointers: Vec<_> = errors
        .iter()
        .filter_map(|it| it["pointer"].as_str())
        .collect();
    assert_eq!(pointers, ["/to", "/template", "/priority"]);
    let both = json!({"channel": "outbox", "template": "x", "body": {"text": "x"}});
    post(scene.api(), "/api/v1/messages", &both)
        .await
        .expect_problem(422, "bad_message");
    let nobody = json!({"channel": "outbox", "user_id": "nobody", "body": {"text": "x"}});
    post(scene.api(), "/api/v1/messages", &nobody)
        .await
        .expect_problem(404, "not_found");
    let list = scene.api().get("/api/v1/messages").await.expect(200).json();
    assert_eq!(list["data"], json!([]));
}

async fn a_message_waits_for_its_time(database: Database) {
    let mut scene = Scene::http(database).await;
    scene.hook("/ok", json!({})).await;
    let at = kurier::clock::now().shifted(86_400_000_000).to_string();
    let later =
        json!({"channel": "hook", "body": {"json": {}}, "priority": 10, "scheduled_at": at});
    let later = ask(scene.api(), later).await;
    let now = scene.ask().await;
    scene.state(&now, "sent").await;
    let message = scene.state(&later, "queued").await;
    assert_eq!(message["next_at"], at);
    assert_eq!(scene.webhook_id().await, now);
    scene.later().await;
    assert_eq!(scene.webhook_id().await, later);
}

async fn a_template_is_written_for_a_contact(database: Database) {
    let mut scene = Scene::smtp(database).await;
    let template = json!({
        "name": "receipt", "topic": "orders",
        "subject": "Order {{ data.order }}", "markdown": "Thank you, **{{ contact.name }}**.",
    });
    put(scene.api(), "/api/v1/templates/receipt", &template)
        .await
        .expect(201);
    let ann =
        json!({"user_id": "ann", "email": "ann@example.com", "attributes": {"name": "<Ann>"}});
    scene.api().upsert(&ann).await;
    let message =
        json!({"channel": "email", "user_id": "ann", "template": "receipt", "data": {"order": 7}});
    let id = ask(scene.api(), message).await;
    let mail = scene.sink.next("mail").await;
    let message = scene.state(&id, "sent").await;
    assert_eq!(
        (&message["to"], &message["topic"]),
        (&json!("ann@example.com"), &json!("orders"))
    );
    assert_eq!(message["template_version"], 1);
    let content = scene
        .api()
        .get(&format!("/api/v1/messages/{id}/content"))
        .await;
    let content = content.expect(200).json();
    assert_eq!(content["subject"], "Order 7");
    assert!(
        content["html"]
            .as_str()
            .is_some_and(|html| html.contains("<strong>&lt;Ann&gt;</strong>")),
        "{content}"
    );
    use base64::Engine as _;
    let raw = base64::engine::general_purpose::STANDARD.decode(mail["raw"].as_str().expect("raw"));
    let raw = String::from_utf8(raw.expect("base64")).expect("text");
    assert!(raw.contains("Subject: Order 7"), "{raw}");
    assert!(
        raw.contains("List-Unsubscribe: <https://kurier.example.com/unsubscribe/"),
        "{raw}"
    );
    assert!(raw.contains(&id), "{raw}");
}

async fn a_contact_gets_no_more_than_its_share(database: Database) {
    let mut scene = Scene::http(database).await;
    let share =
        |then: &str| json!({"contact_limit": {"max": 2, "window_seconds": 3600, "then": then}});
    scene.hook("/ok", share("wait")).await;
    scene.api().upsert(&json!({"user_id": "ann"})).await;
    let message = json!({"channel": "hook", "user_id": "ann", "body": {"json": {}}});
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(ask(scene.api(), message.clone()).await);
        scene.state(&ids[0], "sent").await;
    }
    let waits = super::eventually("one waits", super::LIMIT, async || {
        let path = "/api/v1/messages?reason=contact_limit";
        let list = scene.api().get(path).await.expect(200).json();
        list["data"]
            .as_array()
            .filter(|data| data.len() == 1)
            .map(|data| data[0].clone())
    })
    .await;
    assert_eq!(waits["state"], "queued");
    assert_eq!(waits["attempts"], 0);
    scene.hook("/ok", share("skip")).await;
    let skipped = ask(scene.api(), message).await;
    let skipped = scene.state(&skipped, "skipped").await;
    assert_eq!(skipped["reason"], "contact_limit");
    assert!(ids.contains(&scene.webhook_id().await) && ids.contains(&scene.webhook_id().await));
    assert_eq!(scene.sink.rest("request").await, 0);
}
