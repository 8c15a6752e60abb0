//! How the table is asked: with what addresses and bodies, and by whom.

use reqwest::Method;
use serde_json::{Value, json};

use super::{Row, body};
use crate::harness::{ADMIN_KEY, Answer, Api, Request};

/// What only owners do, of those who sign in.
const OF_OWNERS: &[(&str, &str)] = &[
    ("put", "/api/v1/channels/{name}"),
    ("delete", "/api/v1/channels/{name}"),
    ("delete", "/api/v1/contacts/{id}"),
    ("post", "/api/v1/users"),
    ("put", "/api/v1/users/{id}"),
    ("delete", "/api/v1/users/{id}"),
    ("get", "/api/v1/api-keys"),
    ("post", "/api/v1/api-keys"),
    ("delete", "/api/v1/api-keys/{id}"),
];

/// What a viewer, an editor and an owner are answered, after all keys have asked: a viewer as
/// a key that reads, the others as one that may everything. Ingest is for keys.
pub fn of_sessions((method, path, keys): &Row) -> [u16; 3] {
    let [none, _, _, read, _, all] = *keys;
    let is_of_owners = OF_OWNERS.contains(&(*method, *path));
    match (none, path.starts_with("/v1/"), is_of_owners) {
        (401, true, _) => [401; 3],
        (401, false, true) => [403, 403, all],
        (401, false, false) => [read, all, all],
        _ => [none; 3],
    }
}

/// What the addresses of the table are filled with.
pub struct Ids {
    contact: String,
    segment: String,
    journey: String,
}

impl Ids {
    pub async fn make(api: &Api) -> Self {
        api.send("identify", json!({"userId": "someone"})).await;
        let contact = api.contact("someone").await;
        let segment = json!({"name": "All", "expression": "TRUE"}).to_string();
        let request = api
            .bare(Method::POST, "/api/v1/segments")
            .bearer_auth(ADMIN_KEY);
        let made = request.body(segment).send().await.expect("an answer");
        let segment = Answer::of(made).await.expect(201).json();
        let journey = crate::journeys::make(api, &crate::journeys::cart("Cart", "t")).await;
        let id = |value: &Value| value["id"].as_str().expect("an id").to_owned();
        Self {
            contact: id(&contact),
            segment: id(&segment),
            journey: journey.rsplit('/').next().expect("an id").to_owned(),
        }
    }

    pub fn address(&self, path: &str) -> String {
        let id = match path.split('/').nth(3) {
            Some("segments") => &self.segment,
            Some("journeys") => &self.journey,
            _ => &self.contact,
        };
        let name = match path.contains("templates") {
            true => "t",
            false => "later",
        };
        let address = path.replace("{id}", id).replace("{contact}", &self.contact);
        let address = address.replace("{name}", name);
        let address = address.replace("{type}", "track").replace("{version}", "1");
        let address = address.replace("{address}", "someone@example.com");
        let address = address.replace("{versionId}", &"ab".repeat(32));
        match path {
            "/api/v1/live" => format!("{address}?journey=none"),
            _ => address,
        }
    }
}

/// Sends a request with the body that its path takes.
pub async fn ask(mut request: Request, method: &Method, path: &str) -> Answer {
    if [Method::POST, Method::PUT].contains(method) {
        request = request.body(body(path).to_string());
    }
    Answer::of(request.send().await.expect("an answer")).await
}

#[track_caller]
pub fn assert_answered(answer: &Answer, expected: u16, who: &str) {
    assert_eq!(answer.status, expected, "{who}: {}", answer.text);
}
