//! Journeys from outside: drafted, checked, published, paused; and who goes through them.

mod drafts;
mod faults;
mod publish;
mod segments;

use serde_json::{Value, json};

use crate::harness::{Answer, Api};

pub async fn send(
    api: &Api,
    method: reqwest::Method,
    path: &str,
    (kind, body): (&str, String),
) -> Answer {
    let request = api.bare(method, path).bearer_auth(&api.admin_key);
    let request = request.header("content-type", kind).body(body);
    Answer::of(request.send().await.expect("an answer")).await
}

pub async fn post(api: &Api, path: &str, body: &Value) -> Answer {
    let json = ("application/json", body.to_string());
    send(api, reqwest::Method::POST, path, json).await
}

pub async fn put(api: &Api, path: &str, body: &Value) -> Answer {
    let json = ("application/json", body.to_string());
    send(api, reqwest::Method::PUT, path, json).await
}

/// Without a body.
pub async fn tell(api: &Api, path: &str) -> Answer {
    let request = api.bare(reqwest::Method::POST, path);
    let request = request.bearer_auth(&api.admin_key);
    Answer::of(request.send().await.expect("an answer")).await
}

/// A journey that waits for a purchase: an hour, and then it sends.
pub fn cart(name: &str, template: &str) -> Value {
    json!({"name": name, "reentry_key": "event.properties.cart_id", "nodes": [
        {"id": "start", "node_type": "trigger", "event_type": "cart", "next_node_id": "wait",
         "state": {"cart": "event.properties.cart_id"}},
        {"id": "wait", "node_type": "wait", "wait_type": "event", "event_type": "bought", "next_node_id": "done",
         "event_conditions": "event.properties.cart_id = journey.state.cart",
         "timeout": "1h", "timeout_node_id": "mail"},
        {"id": "mail", "node_type": "send_message", "channel": "outbox", "template": template, "next_node_id": "done"},
        {"id": "done", "node_type": "exit"}]})
}

/// Makes a journey and answers its address.
pub async fn make(api: &Api, definition: &Value) -> String {
    let made = post(api, "/api/v1/journeys", definition).await.expect(201);
    let id = made.json()["id"].as_str().expect("an id").to_owned();
    format!("/api/v1/journeys/{id}")
}

/// Makes a journey, publishes it, and answers its address.
pub async fn publish(api: &Api, definition: &Value) -> String {
    let path = make(api, definition).await;
    let published = tell(api, &format!("{path}/publish")).await.expect(200);
    assert_eq!(published.json()["published"], true);
    path
}
