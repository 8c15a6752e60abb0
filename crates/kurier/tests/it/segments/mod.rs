//! Segments from outside: exact through crashes, restarts and changes of the leader.

mod books;
mod bounds;
mod crash;
mod edits;
mod erase;
mod faults;
mod leaders;
pub mod members;
mod remembered;
mod snapshots;

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{ADMIN_KEY, Answer, Api, WRITE_KEY};

/// Snapshots after a few events, so that a short test sees many.
const EAGER: [(&str, &str); 4] = [
    ("KURIER_SNAPSHOT_EVENTS", "100"),
    ("KURIER_SNAPSHOT_SECONDS", "0"),
    ("KURIER_BOOTSTRAP_WRITE_KEY", WRITE_KEY),
    ("KURIER_BOOTSTRAP_ADMIN_KEY", ADMIN_KEY),
];

const LIMIT: Duration = Duration::from_secs(60);

/// Few enough that a preview shows them all.
const USERS: usize = 9;

/// By attribute, by a window that time closes, and by silence.
const EXPRESSIONS: [&str; 3] = [
    "contact.plan = 'pro'",
    "EXISTS (event WHERE event_type = 'buy' AND event_time > now() - 2s)",
    "COUNT(event WHERE event_type = 'login' AND event_time > now() - 3s) = 0",
];

async fn post(api: &Api, path: &str, body: Value) -> Answer {
    let request = api.bare(reqwest::Method::POST, path);
    let request = request.bearer_auth(&api.admin_key).json(&body);
    Answer::of(request.send().await.expect("an answer")).await
}

/// Makes a segment and answers its id.
async fn define(api: &Api, expression: &str) -> String {
    let body = json!({"name": expression, "expression": expression});
    let made = post(api, "/api/v1/segments", body).await;
    assert!(matches!(made.status, 201 | 202), "{}", made.text);
    made.json()["id"].as_str().expect("an id").to_owned()
}

async fn define_all(api: &Api) -> Vec<String> {
    let mut ids = Vec::new();
    for expression in EXPRESSIONS {
        ids.push(define(api, expression).await);
    }
    ids
}

/// The members as the read model has them.
async fn members(api: &Api, segment: &str) -> Vec<String> {
    let path = format!("/api/v1/segments/{segment}/members?limit=500");
    let page = api.get(&path).await.expect(200).json();
    texts(&page["data"], |member| &member["contact"])
}

/// Who would be a member, by a fresh scan.
async fn preview(api: &Api, expression: &str) -> Vec<String> {
    let body = json!({"expression": expression});
    let found = post(api, "/api/v1/segments/preview", body)
        .await
        .expect(200);
    texts(&found.json()["sample"], |id| id)
}

fn texts(list: &Value, text: impl Fn(&Value) -> &Value) -> Vec<String> {
    let list = list.as_array().expect("a list").iter();
    let mut texts: Vec<String> = list
        .map(|item| text(item).as_str().expect("a text").to_owned())
        .collect();
    texts.sort_unstable();
    texts
}
