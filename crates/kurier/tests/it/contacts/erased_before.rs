//! Who was erased and comes back is noticed.

use serde_json::{Value, json};

use crate::harness::{Database, Server, on_both};

on_both![an_erased_address_that_comes_back_is_flagged];

async fn an_erased_address_that_comes_back_is_flagged(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    api.send(
        "identify",
        json!({"userId": "u", "traits": {"email": "old@example.com"}}),
    )
    .await;
    api.send(
        "identify",
        json!({"userId": "u", "traits": {"email": "new@example.com"}}),
    )
    .await;
    let contact = api.contact("u").await;
    assert_eq!(contact["erased_before"], Value::Null);
    let path = format!(
        "/api/v1/contacts/{}",
        contact["id"].as_str().expect("an id")
    );
    api.delete(&path).await.expect(200);
    // The same person under another id, by a former address, in other letters.
    api.send(
        "identify",
        json!({"userId": "v", "traits": {"email": " OLD@Example.com"}}),
    )
    .await;
    assert!(api.contact("v").await["erased_before"].is_string());
    // By the API.
    let upserted = api
        .upsert(&json!({"email": "new@example.com"}))
        .await
        .expect(201)
        .json();
    assert!(upserted["erased_before"].is_string());
    // The same id, without an address: a new contact that starts from nothing.
    api.send("track", json!({"userId": "u", "event": "e"}))
        .await;
    let back = api.contact("u").await;
    assert!(back["erased_before"].is_string());
    assert_eq!(
        (&back["event_count"], &back["attributes"]),
        (&json!(1), &json!({}))
    );
    // Nobody else is.
    let other = api
        .upsert(&json!({"email": "other@example.com"}))
        .await
        .expect(201)
        .json();
    assert_eq!(other["erased_before"], Value::Null);
}
