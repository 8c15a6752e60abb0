//! Journeys from outside: drafted, checked, published, paused; and who goes through them.

mod drafts;
mod erase;
mod faults;
mod live;
mod publish;
mod segments;
mod simulate;
mod versions;

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Answer, Api, eventually};

const LIMIT: Duration = Duration::from_secs(60);

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

/// Publishes a template for every name in a definition that stands for one.
pub async fn publish_templates(api: &Api, definition: &Value) {
    let nodes = definition["nodes"].as_array();
    for node in nodes.into_iter().flatten() {
        if let Some(template) = node["template"].as_str() {
            let document = json!({"text": "{{ contact.name }} {{ journey.state.cart }}"});
            let answer = put(api, &format!("/api/v1/templates/{template}"), &document).await;
            assert!(matches!(answer.status, 200 | 201), "{}", answer.text);
        }
    }
}

/// Makes a journey, with the templates it names, and answers its address.
pub async fn make(api: &Api, definition: &Value) -> String {
    publish_templates(api, definition).await;
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

/// The runs of a journey that a query finds, newest first.
pub async fn runs(api: &Api, path: &str, query: &str) -> Vec<Value> {
    let page = api.get(&format!("{path}/instances?{query}")).await;
    let page = page.expect(200).json();
    page["data"].as_array().expect("a list").clone()
}

/// Waits until a journey's stats are as they should be.
pub async fn stats(api: &Api, path: &str, are_so: impl Fn(&Value) -> bool) -> Value {
    eventually("the stats are so", LIMIT, async || {
        let stats = api.get(&format!("{path}/stats")).await.expect(200).json();
        are_so(&stats).then_some(stats)
    })
    .await
}

/// Says that a user's cart changed.
pub async fn fill(api: &Api, user: &str, cart: &str) {
    let item = json!({"userId": user, "event": "cart", "properties": {"cart_id": cart}});
    api.send("track", item).await;
}

/// Says that a user bought a cart.
pub async fn buy(api: &Api, user: &str, cart: &str) {
    let item = json!({"userId": user, "event": "bought", "properties": {"cart_id": cart}});
    api.send("track", item).await;
}
