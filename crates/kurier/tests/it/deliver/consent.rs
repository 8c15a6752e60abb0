//! Who is suppressed gets nothing, whatever the way; who has opted out gets what is left.

use serde_json::{Value, json};

use super::{Scene, ask, post, put};
use crate::cli::on;
use crate::harness::{Answer, Api, Database, on_both};

on_both![
    a_suppressed_address_gets_nothing_whatever_the_way,
    an_opt_out_holds_for_its_topic_alone,
    a_dead_address_is_suppressed,
];

async fn suppress(api: &Api, body: Value) {
    post(api, "/api/v1/suppressions", &body).await.expect(200);
}

fn mail(to: &str) -> Value {
    json!({"channel": "email", "to": to, "body": {"subject": "Hello", "text": "Hello."}})
}

async fn a_suppressed_address_gets_nothing_whatever_the_way(database: Database) {
    let mut scene = Scene::smtp(database).await;
    // It is refused for now, and suppressed while it waits.
    let retried = ask(scene.api(), mail("reply-451-4.3.0@example.com")).await;
    scene.state(&retried, "retrying").await;
    suppress(
        scene.api(),
        json!({"address": "reply-451-4.3.0@example.com"}),
    )
    .await;
    suppress(scene.api(), json!({"address": "Ann@Example.com"})).await;
    // By API.
    let asked = ask(scene.api(), mail("ann@example.com")).await;
    let skipped = scene.state(&asked, "skipped").await;
    assert_eq!(
        (&skipped["reason"], &skipped["attempts"]),
        (&json!("suppressed"), &json!(0))
    );
    by_journey_after_import(&scene).await;
    // By redriving, and by trying again.
    let all = json!({"filter": {"state": "skipped"}});
    let redriven = post(scene.api(), "/api/v1/messages/redrive", &all).await;
    assert_eq!(redriven.expect(200).json()["messages"], 2);
    scene.later().await;
    let skipped = scene.state(&retried, "skipped").await;
    assert_eq!(skipped["reason"], "suppressed");
    scene.state(&asked, "skipped").await;
    // Another gets its mail, and it is the only one.
    let other = ask(scene.api(), mail("ben@example.com")).await;
    scene.state(&other, "sent").await;
    assert_eq!(
        scene.sink.next("mail").await["to"],
        json!(["ben@example.com"])
    );
    assert_eq!(scene.sink.rest("mail").await, 0);
}

/// By a journey, to a contact that an import brings back.
async fn by_journey_after_import(scene: &Scene) {
    let template = json!({"name": "hello", "subject": "Hi", "text": "Hi."});
    put(scene.api(), "/api/v1/templates/hello", &template)
        .await
        .expect(201);
    let journey = json!({"name": "Hello", "nodes": [
        {"id": "start", "node_type": "trigger", "event_type": "hi", "next_node_id": "send"},
        {"id": "send", "node_type": "send_message", "channel": "email", "template": "hello", "next_node_id": "done"},
        {"id": "done", "node_type": "exit"},
    ]});
    let made = post(scene.api(), "/api/v1/journeys", &journey)
        .await
        .expect(201)
        .json();
    let id = made["id"].as_str().expect("an id");
    let publish = format!("/api/v1/journeys/{id}/publish");
    let publish = scene.api().bare(reqwest::Method::POST, &publish);
    let published = publish.bearer_auth(&scene.api().admin_key).send().await;
    Answer::of(published.expect("an answer")).await.expect(200);
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), "user_id,email\nann,ANN@example.com\n").expect("written");
    let path = file.path().to_str().expect("a path");
    on(
        &scene.server.database,
        &["import", "contacts", path, "--format", "csv"],
    )
    .expect(0);
    scene
        .api()
        .send("track", json!({"userId": "ann", "event": "hi"}))
        .await;
    let path = format!("/api/v1/messages?journey={id}&node=send&reason=suppressed");
    super::eventually("the journey's is skipped", super::LIMIT, async || {
        let list = scene.api().get(&path).await.expect(200).json();
        (list["data"][0]["state"] == "skipped").then_some(())
    })
    .await;
}

async fn an_opt_out_holds_for_its_topic_alone(database: Database) {
    let mut scene = Scene::smtp(database).await;
    suppress(
        scene.api(),
        json!({"address": "ann@example.com", "topic": "news"}),
    )
    .await;
    let about = |topic: Value| {
        let mut message = mail("ann@example.com");
        super::merge(&mut message, json!({"topic": topic}));
        message
    };
    let news = ask(scene.api(), about(json!("News"))).await;
    let skipped = scene.state(&news, "skipped").await;
    assert_eq!(skipped["reason"], "opted_out");
    for topic in [json!("orders"), Value::Null] {
        let id = ask(scene.api(), about(topic)).await;
        scene.state(&id, "sent").await;
        scene.sink.next("mail").await;
    }
    assert_eq!(scene.sink.rest("mail").await, 0);
}

async fn a_dead_address_is_suppressed(database: Database) {
    let scene = Scene::smtp(database).await;
    let first = ask(scene.api(), mail("reply-550-5.1.1@example.com")).await;
    let failed = scene.state(&first, "failed").await;
    assert_eq!(failed["code"], "smtp 550 5.1.1");
    let list = scene
        .api()
        .get("/api/v1/suppressions?reason=bounced")
        .await
        .expect(200)
        .json();
    assert_eq!(list["data"][0]["address"], "reply-550-5.1.1@example.com");
    let second = ask(scene.api(), mail("reply-550-5.1.1@example.com")).await;
    scene.state(&second, "skipped").await;
    let full = ask(scene.api(), mail("reply-452-4.2.2@example.com")).await;
    scene.state(&full, "retrying").await;
    let wrong = "/api/v1/suppressions?address=reply-452-4.2.2@example.com";
    let list = scene.api().get(wrong).await.expect(200).json();
    assert_eq!(list["data"], json!([]));
}
