//! What events mean: times, nulls, ids, traits.

use kurier_core::time::Timestamp;
use serde_json::{Value, json};

use crate::harness::{Database, Server, on_both};

on_both![
    times_are_corrected_for_the_clients_clock,
    times_come_in_every_precision,
    nulls_and_unknown_fields_are_tolerated,
    numbers_are_fine_as_ids,
    traits_come_from_both_places,
    an_anonymous_contact_becomes_the_user,
    an_alias_merges_with_history,
];

fn time(event: &Value, field: &str) -> Timestamp {
    let text = event[field].as_str().expect("a time");
    text.parse().expect("RFC 3339")
}

async fn times_are_corrected_for_the_clients_clock(database: Database) {
    let server = Server::start(database).await;
    // A clock that is three years behind; the event was ten seconds before it was sent.
    let body = json!({
        "sentAt": "2023-01-01T00:00:10.000Z",
        "batch": [{"type": "track", "userId": "u", "event": "e", "timestamp": "2023-01-01T00:00:00.000Z"}],
    });
    server
        .api
        .post("/v1/batch", body.to_string())
        .await
        .expect(200);
    // An item's own sentAt comes first, and originalTimestamp stands in for timestamp.
    let body = json!({
        "sentAt": "2099-01-01T00:00:00Z",
        "batch": [{"type": "page", "userId": "u", "timestamp": null,
                   "originalTimestamp": "2023-01-01T00:00:00Z", "sentAt": "2023-01-01T01:00:00Z"}],
    });
    server
        .api
        .post("/v1/batch", body.to_string())
        .await
        .expect(200);
    // Without sentAt there is nothing to correct by; without a time it is ours.
    server
        .api
        .send(
            "screen",
            json!({"userId": "u", "timestamp": "2024-02-29T12:00:00+02:00"}),
        )
        .await;
    server.api.send("identify", json!({"userId": "u"})).await;
    let contact = server.api.contact("u").await;
    let events = server.api.events(&contact).await;
    let of = |kind: &str| {
        events
            .iter()
            .find(|event| event["type"] == kind)
            .expect("there")
    };
    let behind =
        |kind: &str| time(of(kind), "recorded_at").micros_since(time(of(kind), "occurred_at"));
    assert_eq!(behind("track"), 10_000_000);
    assert_eq!(behind("page"), 3_600_000_000);
    assert_eq!(behind("identify"), 0);
    assert_eq!(of("screen")["occurred_at"], "2024-02-29T10:00:00Z");
    assert_eq!(
        of("track")["original_timestamp"],
        "2023-01-01T00:00:00.000Z"
    );
}

async fn times_come_in_every_precision(database: Database) {
    let server = Server::start(database).await;
    let times = [
        ("2024-01-01T00:00:00Z", "2024-01-01T00:00:00Z"),
        ("2024-01-01T01:00:00.5+01:00", "2024-01-01T00:00:00.5Z"),
        (
            "2024-01-01T00:00:00.123456+00:00",
            "2024-01-01T00:00:00.123456Z",
        ),
        (
            "2024-01-01T00:00:00.123456789Z",
            "2024-01-01T00:00:00.123456Z",
        ),
        ("2024-01-01 00:00:00", "2024-01-01T00:00:00Z"),
    ];
    for (at, (sent, _)) in times.iter().enumerate() {
        let user = format!("u{at}");
        let item = json!({"userId": user, "event": "e", "timestamp": sent});
        server.api.send("track", item).await;
    }
    for (at, (sent, expected)) in times.iter().enumerate() {
        let contact = server.api.contact(&format!("u{at}")).await;
        let events = server.api.events(&contact).await;
        assert_eq!(events[0]["occurred_at"], *expected, "{sent}");
        assert_eq!(events[0]["original_timestamp"], *sent);
    }
}

async fn nulls_and_unknown_fields_are_tolerated(database: Database) {
    let server = Server::start(database).await;
    let item = json!({
        "type": "track", "userId": "u", "event": "e", "anonymousId": null, "category": null,
        "name": null, "groupId": null, "previousId": null, "timestamp": null, "sentAt": null,
        "properties": null, "traits": null, "context": null, "messageId": null,
        "integrations": {"All": true}, "_metadata": {"nodeVersion": "20"}, "channel": "server",
        "whatever": [1, {"deep": []}],
    });
    let body = json!({"batch": [item], "sentAt": null, "writeKey": null, "context": {}, "more": 1});
    let answer = server.api.post("/v1/batch", body.to_string()).await;
    assert_eq!(
        (answer.status, answer.text.as_str()),
        (200, r#"{"success":true}"#)
    );
    let contact = server.api.contact("u").await;
    assert_eq!(contact["anonymous_ids"], json!([]));
    assert_eq!(server.api.events(&contact).await[0]["name"], "e");
}

async fn numbers_are_fine_as_ids(database: Database) {
    let server = Server::start(database).await;
    server
        .api
        .send("track", json!({"userId": 42, "event": "e"}))
        .await;
    server
        .api
        .send("track", json!({"userId": "42", "event": 7}))
        .await;
    server
        .api
        .send("group", json!({"userId": 42, "groupId": 9}))
        .await;
    let contact = server.api.contact("42").await;
    assert_eq!(
        (&contact["user_id"], &contact["event_count"]),
        (&json!("42"), &json!(3))
    );
    assert_eq!(contact["groups"], json!(["9"]));
    let refused = server
        .api
        .post("/v1/track", r#"{"userId":true,"event":"e"}"#)
        .await;
    let problem = refused.expect_problem(400, "bad_event").json();
    assert_eq!(problem["errors"][0]["pointer"], "/userId");
}

async fn traits_come_from_both_places(database: Database) {
    let server = Server::start(database).await;
    let item = json!({
        "userId": "u",
        "context": {"traits": {"email": "OLD@example.com", "plan": "free", "city": "Bonn"}},
        "traits": {"email": " New@Example.com ", "plan": "pro", "n": 1.5, "list": [1, null]},
    });
    server.api.send("identify", item).await;
    server
        .api
        .send(
            "identify",
            json!({"userId": "u", "traits": {"city": null, "age": 30}}),
        )
        .await;
    // Only an identify teaches traits.
    server
        .api
        .send(
            "track",
            json!({"userId": "u", "event": "e", "context": {"traits": {"plan": "no"}}}),
        )
        .await;
    let contact = server.api.contact("u").await;
    let expected = json!({"email": " New@Example.com ", "plan": "pro", "n": 1.5, "list": [1, null], "age": 30});
    assert_eq!(contact["attributes"], expected);
    assert_eq!(contact["email"], "new@example.com");
    let found = server
        .api
        .get("/api/v1/contacts?email=NEW@example.com")
        .await
        .expect(200)
        .json();
    assert_eq!(found["data"][0]["id"], contact["id"]);
}

async fn an_anonymous_contact_becomes_the_user(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    api.send("page", json!({"anonymousId": "a", "name": "Home"}))
        .await;
    api.settle().await;
    let before = api
        .get("/api/v1/contacts?anonymous_id=a")
        .await
        .expect(200)
        .json();
    assert_eq!(before["data"][0]["user_id"], Value::Null);
    api.send(
        "identify",
        json!({"anonymousId": "a", "userId": "u", "traits": {"x": 1}}),
    )
    .await;
    api.send("track", json!({"anonymousId": "a", "event": "later"}))
        .await;
    let contact = api.contact("u").await;
    assert_eq!(contact["anonymous_ids"], json!(["a"]));
    assert_eq!(contact["event_count"], 3);
    let names: Vec<Value> = api.events(&contact).await;
    let kinds: Vec<&str> = names
        .iter()
        .filter_map(|event| event["type"].as_str())
        .collect();
    assert_eq!(kinds, ["track", "identify", "page"]);
    let after = api
        .get("/api/v1/contacts?anonymous_id=a")
        .await
        .expect(200)
        .json();
    assert_eq!(after["data"], json!([contact]));
    let old = before["data"][0]["id"].as_str().expect("an id");
    assert_eq!(
        api.get(&format!("/api/v1/contacts/{old}"))
            .await
            .expect(200)
            .json(),
        contact
    );
}

async fn an_alias_merges_with_history(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    api.send(
        "identify",
        json!({"userId": "old", "traits": {"plan": "free", "city": "Bonn"}}),
    )
    .await;
    api.send("track", json!({"userId": "old", "event": "before"}))
        .await;
    api.send(
        "identify",
        json!({"userId": "new", "traits": {"plan": "pro"}}),
    )
    .await;
    api.send("alias", json!({"userId": "new", "previousId": "old"}))
        .await;
    api.send("track", json!({"userId": "old", "event": "after"}))
        .await;
    let contact = api.contact("new").await;
    assert_eq!(
        contact["attributes"],
        json!({"plan": "pro", "city": "Bonn"})
    );
    assert_eq!(contact["former_user_ids"], json!(["old"]));
    assert_eq!(contact["event_count"], 5);
    let events = api.events(&contact).await;
    let kinds: Vec<&str> = events
        .iter()
        .filter_map(|event| event["type"].as_str())
        .collect();
    assert_eq!(kinds, ["track", "alias", "identify", "track", "identify"]);
    let list = api.get("/api/v1/contacts").await.expect(200).json();
    assert_eq!(list["data"].as_array().map(Vec::len), Some(1));
}
