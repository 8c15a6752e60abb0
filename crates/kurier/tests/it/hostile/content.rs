//! Events that are JSON and yet not meant well.

use serde_json::{Value, json};

use crate::harness::{Database, Server, on_both};

on_both![
    depth_is_bounded,
    ids_and_names_are_bounded,
    what_no_database_can_hold_is_mended,
    an_accepted_event_is_never_set_aside,
    keys_only_do_what_they_may,
];

async fn depth_is_bounded(database: Database) {
    let server = Server::start(database).await;
    let nested = |open: &str, close: &str, depth: usize| {
        format!("{}1{}", open.repeat(depth), close.repeat(depth))
    };
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = nested(open, close, 5_000 / open.len());
        let item = format!(r#"{{"userId":"u","event":"e","properties":{{"x":{deep}}}}}"#);
        let problem = server
            .api
            .post("/v1/track", item)
            .await
            .expect_problem(400, "bad_event");
        assert_eq!(problem.json()["errors"][0]["pointer"], "/properties");
        // A field that nobody reads may be as deep as it likes.
        let item = format!(r#"{{"userId":"u","event":"e","unknown":{deep}}}"#);
        server.api.post("/v1/track", item).await.expect(200);
        let honest = nested(open, close, 60);
        let item = format!(r#"{{"userId":"u","traits":{{"x":{honest}}}}}"#);
        server.api.post("/v1/identify", item).await.expect(200);
    }
    let bottomless = nested("[", "]", 250_000);
    server
        .api
        .post("/v1/batch", bottomless.clone())
        .await
        .expect_problem(400, "bad_json");
    let batch = format!(r#"{{"batch":[{bottomless}]}}"#);
    server
        .api
        .post("/v1/batch", batch)
        .await
        .expect_problem(400, "bad_event");
    server.api.assert_alive().await;
    assert_eq!(server.api.contact("u").await["event_count"], 4);
}

async fn ids_and_names_are_bounded(database: Database) {
    let server = Server::start(database).await;
    let long = "x".repeat(513);
    for field in [
        "userId",
        "anonymousId",
        "messageId",
        "event",
        "name",
        "category",
        "groupId",
    ] {
        let mut item = json!({"type": "track", "userId": "u", "event": "e"});
        item[field] = json!(long);
        let problem = server.api.post("/v1/track", item.to_string()).await;
        let problem = problem.expect_problem(400, "bad_event").json();
        assert_eq!(problem["errors"][0]["pointer"], format!("/{field}"));
    }
    let longest = "ä".repeat(256);
    let item =
        json!({"userId": longest, "anonymousId": longest, "messageId": longest, "event": longest});
    server.api.send("track", item).await;
    let contact = server.api.contact(&longest).await;
    assert_eq!(contact["anonymous_ids"][0], longest);
    assert_eq!(server.api.events(&contact).await[0]["name"], longest);
    // Attributes are bounded by the event alone.
    let phone = "1".repeat(15_000);
    server
        .api
        .send(
            "identify",
            json!({"userId": "u", "traits": {"phone": phone, "email": phone}}),
        )
        .await;
    let contact = server.api.contact("u").await;
    assert_eq!(
        (&contact["phone"], &contact["email"]),
        (&json!(phone), &Value::Null)
    );
}

async fn what_no_database_can_hold_is_mended(database: Database) {
    let server = Server::start(database).await;
    let item = r#"{"userId":"u\u0000\ud800","event":"cut \ud83d","anonymousId":"\udc00",
        "properties":{"nul\u0000key":"a\u0000b","half":"\ude00","whole":"\ud83d\ude00"},
        "context":{"x":"\u0000"}}"#;
    server.api.post("/v1/track", item).await.expect(200);
    let traits = r#"{"userId":"u\u0000\ud800","traits":{"name":"A\u0000","\ud800":"k","email":"a\u0000@x.de"}}"#;
    server.api.post("/v1/identify", traits).await.expect(200);
    let contact = server.api.contact("u\u{fffd}\u{fffd}").await;
    let expected = json!({"name": "A\u{fffd}", "\u{fffd}": "k", "email": "a\u{fffd}@x.de"});
    assert_eq!(contact["attributes"], expected);
    assert_eq!(contact["anonymous_ids"], json!(["\u{fffd}"]));
    let events = server.api.events(&contact).await;
    assert_eq!(events[1]["name"], "cut \u{fffd}");
    let expected = json!({"nul\u{fffd}key": "a\u{fffd}b", "half": "\u{fffd}", "whole": "😀"});
    assert_eq!(events[1]["properties"], expected);
    server.api.assert_alive().await;
}

/// What was answered 200 must also fold: nothing may be accepted that a reader chokes on.
async fn an_accepted_event_is_never_set_aside(database: Database) {
    let server = Server::start(database).await;
    let items = [
        r#"{"userId":"u","context":{"traits":{"a":1},"traits":{"b":2}},"traits":{"c":3}}"#,
        r#"{"userId":"u","traits":{"email":"a@x.de","email":"b@x.de"}}"#,
        r#"{"userId":"u","traits":{"email":{"x":1},"phone":[1]}}"#,
        r#"{"userId":"u","context":{"traits":"text"}}"#,
        r#"{"userId":"u","context":{"traits":null}}"#,
        r#"{"userId":"u","traits":{"n":18446744073709551615,"m":-9223372036854775808}}"#,
        r#"{"userId":"u","traits":{"n":123456789012345678901234567890,"f":1e308,"z":-0.0}}"#,
        r#"{"userId":"u","traits":{"":"empty name","a.b":"dotted","$":1,"\"":2}}"#,
        r#"{"userId":"u","traits":{"t":"2024-01-01"},"timestamp":"9999-12-31T23:59:59Z","sentAt":"0001-01-01T00:00:00Z"}"#,
        r#"{"userId":"u","timestamp":"-009999-01-01T00:00:00Z"}"#,
    ];
    for item in items {
        let answer = server.api.post("/v1/identify", item).await;
        assert!(
            matches!(answer.status, 200 | 400),
            "{item}: {}",
            answer.text
        );
    }
    let contact = server.api.contact("u").await;
    let accepted = server
        .api
        .metric(r#"kurier_ingest_events_total{result="accepted"}"#)
        .await;
    assert_eq!(
        server.database.count("SELECT count(*) FROM poison").await,
        0,
        "{}",
        server.log()
    );
    assert_eq!(contact["event_count"], accepted);
    assert_eq!(server.api.events(&contact).await.len() as u64, accepted);
    let id = contact["id"].as_str().expect("an id");
    server
        .api
        .get(&format!("/api/v1/contacts/{id}/export"))
        .await
        .expect(200)
        .json();
}

async fn keys_only_do_what_they_may(database: Database) {
    let server = Server::start(database).await;
    let reader = server.database.make_key("read").await;
    let api = server.api.with_keys(&server.api.write_key, &reader);
    let event = json!({"userId": "u", "event": "e"}).to_string();
    api.post("/v1/track", event)
        .await
        .expect_problem(403, "forbidden");
    api.get("/api/v1/contacts")
        .await
        .expect_problem(403, "forbidden");
    api.upsert(&json!({"user_id": "u"}))
        .await
        .expect_problem(403, "forbidden");
    // One that may only read cannot change anything either.
    let api = server.api.with_keys(&reader, &reader);
    api.get("/api/v1/contacts").await.expect(200);
    api.upsert(&json!({"user_id": "u"}))
        .await
        .expect_problem(403, "forbidden");
    assert_eq!(
        server
            .database
            .count("SELECT count(*) FROM log WHERE contact IS NOT NULL")
            .await,
        0
    );
}
