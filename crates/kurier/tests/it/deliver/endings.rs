//! Every message has an ending, and the ledger says which and why.

use serde_json::json;

use super::{Scene, post, set};
use crate::harness::{Database, eventually, on_both};

on_both![
    a_message_is_sent_and_its_attempt_is_kept,
    a_refused_message_is_tried_again_under_its_id,
    what_is_refused_for_good_is_a_dead_letter_until_somebody_acts,
    a_lost_answer_is_unknown_and_sent_again_under_its_id,
    a_lost_answer_is_asked_about_where_that_is_wanted,
    a_channel_that_keeps_failing_is_left_alone,
    a_message_for_no_channel_fails_and_goes_when_there_is_one,
    a_channel_that_is_switched_off_keeps_its_messages,
];

async fn a_message_is_sent_and_its_attempt_is_kept(database: Database) {
    let mut scene = Scene::http(database).await;
    scene.hook("/ok", json!({})).await;
    let id = scene.ask().await;
    assert_eq!(scene.webhook_id().await, id);
    let message = scene.state(&id, "sent").await;
    assert_eq!(
        (&message["attempts"], &message["sent_by"]),
        (&json!(1), &json!("hook"))
    );
    assert_eq!(message["tries"][0]["outcome"], "sent");
    assert_eq!(message["tries"].as_array().map(Vec::len), Some(1));
    let content = scene
        .api()
        .get(&format!("/api/v1/messages/{id}/content"))
        .await;
    assert_eq!(content.expect(200).json()["json"], r#"{"n":1}"#);
}

async fn a_refused_message_is_tried_again_under_its_id(database: Database) {
    let mut scene = Scene::http(database).await;
    scene.hook("/status/503", json!({})).await;
    let id = scene.ask().await;
    assert_eq!(scene.webhook_id().await, id);
    let message = scene.state(&id, "retrying").await;
    assert_eq!(message["code"], "http 503");
    assert!(message["next_at"].as_str() > message["changed_at"].as_str());
    scene.hook("/ok", json!({})).await;
    scene.later().await;
    assert_eq!(scene.webhook_id().await, id);
    let message = scene.state(&id, "sent").await;
    let tries = message["tries"].as_array().expect("tries");
    let outcomes: Vec<_> = tries.iter().map(|it| &it["outcome"]).collect();
    assert_eq!(outcomes, ["retrying", "sent"]);
    let events = message["events"].as_array().expect("events");
    let types: Vec<_> = events.iter().map(|it| &it["type"]).collect();
    let told = [
        "message.requested",
        "message.sending",
        "message.retried",
        "message.sending",
        "message.sent",
    ];
    assert_eq!(types, told);
    assert!(events.is_sorted_by_key(|it| it["position"].as_i64()));
}

async fn what_is_refused_for_good_is_a_dead_letter_until_somebody_acts(database: Database) {
    let mut scene = Scene::http(database).await;
    scene.hook("/status/400", json!({})).await;
    let (first, second) = (scene.ask().await, scene.ask().await);
    for id in [&first, &second] {
        let message = scene.state(id, "failed").await;
        assert_eq!(
            (&message["reason"], &message["code"]),
            (&json!("refused"), &json!("http 400"))
        );
    }
    let dead = "/api/v1/messages/counts?state=failed&discarded=false";
    let counts = scene.api().get(dead).await.expect(200).json();
    assert_eq!(counts["data"][0]["count"], 2);
    scene.later().await;
    scene.hook("/ok", json!({})).await;
    let redriven = json!({"filter": {"code": "http 400", "channel": "hook"}});
    let one = post(
        scene.api(),
        "/api/v1/messages/redrive",
        &json!({"ids": [first]}),
    )
    .await;
    assert_eq!(one.expect(200).json()["messages"], 1);
    let message = scene.state(&first, "sent").await;
    assert_eq!(message["attempts"], 2);
    let put_away = post(scene.api(), "/api/v1/messages/discard", &redriven).await;
    assert_eq!(put_away.expect(200).json()["messages"], 1);
    let again = post(scene.api(), "/api/v1/messages/redrive", &redriven).await;
    assert_eq!(again.expect(200).json()["messages"], 0);
    eventually("it is put away", super::LIMIT, async || {
        let counts = scene.api().get(dead).await.expect(200).json();
        (counts["data"] == json!([])).then_some(())
    })
    .await;
    let ids = [
        scene.webhook_id().await,
        scene.webhook_id().await,
        scene.webhook_id().await,
    ];
    assert_eq!(ids.iter().filter(|id| **id == first).count(), 2);
    assert_eq!(scene.sink.rest("request").await, 0);
}

async fn a_lost_answer_is_unknown_and_sent_again_under_its_id(database: Database) {
    let mut scene = Scene::http(database).await;
    scene.hook("/close", json!({})).await;
    let id = scene.ask().await;
    assert_eq!(scene.webhook_id().await, id);
    let message = scene.state(&id, "unknown").await;
    assert_eq!(message["reason"], "answer_lost");
    scene.hook("/ok", json!({})).await;
    scene.later().await;
    assert_eq!(scene.webhook_id().await, id);
    scene.state(&id, "sent").await;
}

async fn a_lost_answer_is_asked_about_where_that_is_wanted(database: Database) {
    let mut scene = Scene::http(database).await;
    scene.hook("/close", json!({"on_unknown": "ask"})).await;
    let id = scene.ask().await;
    scene.state(&id, "unknown").await;
    scene.hook("/ok", json!({"on_unknown": "ask"})).await;
    scene.later().await;
    let probe = scene.ask().await;
    scene.state(&probe, "sent").await;
    assert_eq!(scene.webhook_id().await, id);
    assert_eq!(
        scene.webhook_id().await,
        probe,
        "nobody decided on the other"
    );
    let redriven = post(
        scene.api(),
        "/api/v1/messages/redrive",
        &json!({"ids": [id]}),
    )
    .await;
    assert_eq!(redriven.expect(200).json()["messages"], 1);
    assert_eq!(scene.webhook_id().await, id);
}

async fn a_channel_that_keeps_failing_is_left_alone(database: Database) {
    let mut scene = Scene::http(database).await;
    let breaker = json!({"breaker": {"failure_threshold": 2, "timeout_seconds": 3600}});
    scene.hook("/status/500", breaker).await;
    for _ in 0..2 {
        let id = scene.ask().await;
        scene.state(&id, "retrying").await;
    }
    let gate = scene
        .api()
        .get("/api/v1/channels/hook")
        .await
        .expect(200)
        .json()["gate"]
        .clone();
    assert_eq!(
        (&gate["breaker"], &gate["closed_by"]),
        (&json!("open"), &json!("circuit_open"))
    );
    let waiting = scene.ask().await;
    // Setting it up again is what opens the gate.
    scene.hook("/ok", json!({})).await;
    let message = scene.state(&waiting, "sent").await;
    assert_eq!(message["attempts"], 1, "waiting costs no attempt");
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(scene.webhook_id().await);
    }
    assert_eq!(ids[2], waiting);
}

async fn a_message_for_no_channel_fails_and_goes_when_there_is_one(database: Database) {
    let scene = Scene::http(database).await;
    let body = json!({"channel": "hook", "body": {"json": {}}});
    post(scene.api(), "/api/v1/messages", &body)
        .await
        .expect_problem(422, "bad_message");
    scene.hook("/ok", json!({"enabled": false})).await;
    let id = scene.ask().await;
    let removed = scene.api().delete("/api/v1/channels/hook").await;
    removed.expect(204);
    let message = scene.state(&id, "failed").await;
    assert_eq!(message["code"], "channel");
    scene.hook("/ok", json!({})).await;
    post(
        scene.api(),
        "/api/v1/messages/redrive",
        &json!({"ids": [id]}),
    )
    .await
    .expect(200);
    scene.state(&id, "sent").await;
}

async fn a_channel_that_is_switched_off_keeps_its_messages(database: Database) {
    let mut scene = Scene::http(database).await;
    scene.hook("/ok", json!({"enabled": false})).await;
    let id = scene.ask().await;
    set(scene.api(), "other", json!({"kind": "outbox"})).await;
    let other = super::ask(
        scene.api(),
        json!({"channel": "other", "body": {"text": "x"}}),
    )
    .await;
    scene.state(&other, "sent").await;
    scene.state(&id, "queued").await;
    scene.hook("/ok", json!({})).await;
    scene.state(&id, "sent").await;
    assert_eq!(scene.webhook_id().await, id);
}
