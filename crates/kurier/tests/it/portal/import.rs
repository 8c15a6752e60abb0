//! Contacts by the hundred, each row on its own.

use reqwest::Method;
use serde_json::{Value, json};

use super::set_up;
use crate::harness::{Database, Server, on_both};

on_both![
    rows_stand_alone,
    a_dry_run_changes_nothing,
    there_is_a_limit
];

const PATH: &str = "/api/v1/contacts/import";

fn rows() -> Value {
    json!([
        {"user_id": "a", "attributes": {"plan": "pro"}},
        {"email": "nonsense"},
        {"email": "b@example.com"},
        {"attributes": {"plan": "pro"}},
        {"user_id": "c", "unknown": 1},
        "nothing",
    ])
}

async fn rows_stand_alone(database: Database) {
    let server = Server::start(database).await;
    let ann = set_up(&server.api).await;
    let done = ann
        .send(Method::POST, PATH, rows())
        .await
        .expect(200)
        .json();
    assert_eq!(
        (&done["accepted"], &done["refused"]),
        (&json!(2), &json!(4))
    );
    let errors = done["errors"].as_array().expect("all of them");
    let wrong: Vec<_> = errors.iter().map(|it| it["row"].clone()).collect();
    assert_eq!(wrong, [1, 3, 4, 5]);
    assert_eq!(errors[0]["errors"][0]["pointer"], "/email");
    assert_eq!(done["done"], true);
    let list = ann.get("/api/v1/contacts").await.expect(200).json();
    assert_eq!(list["data"].as_array().map(Vec::len), Some(2));
}

async fn a_dry_run_changes_nothing(database: Database) {
    let server = Server::start(database).await;
    let ann = set_up(&server.api).await;
    let dry = format!("{PATH}?dry_run=true");
    let done = ann
        .send(Method::POST, &dry, rows())
        .await
        .expect(200)
        .json();
    assert_eq!(
        (&done["accepted"], &done["dry_run"]),
        (&json!(2), &json!(true))
    );
    server.api.settle().await;
    let list = ann.get("/api/v1/contacts").await.expect(200).json();
    assert_eq!(list["data"], json!([]));
}

async fn there_is_a_limit(database: Database) {
    let server = Server::start(database).await;
    let ann = set_up(&server.api).await;
    let row = |number: u32| json!({"user_id": number.to_string()});
    let most: Vec<Value> = (0..1_000).map(row).collect();
    let done = ann.send(Method::POST, PATH, json!(most)).await.expect(200);
    assert_eq!(done.json()["accepted"], 1_000);
    let more: Vec<Value> = (0..1_001).map(row).collect();
    let refused = ann.send(Method::POST, PATH, json!(more)).await;
    refused.expect_problem(400, "too_many_rows");
}
