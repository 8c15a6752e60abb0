//! One contact: upsert, read, export; and the wall around a workspace.

use serde_json::{Value, json};

use crate::harness::{Database, Server, on_both};

on_both![
    an_upsert_makes_changes_and_refuses,
    an_export_is_complete_and_of_nobody_else,
    another_workspace_sees_nothing,
];

async fn an_upsert_makes_changes_and_refuses(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let new = json!({"email": " Ann@Example.com", "attributes": {"plan": "free", "x": 1}});
    let made = api.upsert(&new).await.expect(201).json();
    assert_eq!(
        (&made["user_id"], &made["email"]),
        (&json!("ann@example.com"), &json!("ann@example.com"))
    );
    let change = json!({"user_id": "ann@example.com", "attributes": {"plan": "pro", "x": null}});
    let changed = api.upsert(&change).await.expect(200).json();
    assert_eq!(changed["id"], made["id"]);
    assert_eq!(
        changed["attributes"],
        json!({"plan": "pro", "email": "Ann@Example.com"})
    );
    assert_eq!(changed["created_at"], made["created_at"]);
    let path = format!("/api/v1/contacts/{}", made["id"].as_str().expect("an id"));
    assert_eq!(api.get(&path).await.expect(200).json(), changed);
    let wrong = [
        (json!({}), "/user_id"),
        (json!({"attributes": {"plan": "pro"}}), "/user_id"),
        (json!({"email": "ann"}), "/email"),
        (json!({"user_id": "x".repeat(600)}), "/user_id"),
        (json!({"anonymous_id": "x".repeat(600)}), "/anonymous_id"),
    ];
    for (contact, pointer) in wrong {
        let problem = api
            .upsert(&contact)
            .await
            .expect_problem(422, "bad_contact")
            .json();
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{problem}");
    }
    for malformed in [
        json!({"user_id": 1}),
        json!({"userId": "u"}),
        json!([]),
        json!({"attributes": 1}),
    ] {
        api.upsert(&malformed).await.expect_problem(400, "bad_json");
    }
    let large = json!({"user_id": "u", "attributes": {"x": "x".repeat(40_000)}});
    api.upsert(&large).await.expect_problem(422, "bad_contact");
}

async fn an_export_is_complete_and_of_nobody_else(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    // More than a page of 500, from before and after a merge, among the events of others.
    for round in 0..6 {
        let items: Vec<Value> = (0..300)
            .map(|n| {
                let user = ["ann", "guest-of-ann", "bob"][n % 3];
                json!({"type": "track", "userId": user, "event": format!("{user}-{round}-{n}"),
                       "properties": {"of": user}})
            })
            .collect();
        api.batch(&items).await.expect(200);
    }
    api.send(
        "alias",
        json!({"userId": "ann", "previousId": "guest-of-ann"}),
    )
    .await;
    let contact = api.contact("ann").await;
    let path = format!(
        "/api/v1/contacts/{}/export",
        contact["id"].as_str().expect("an id")
    );
    let answer = api.get(&path).await.expect(200);
    let disposition = answer.header("content-disposition").expect("a file name");
    assert!(
        disposition.starts_with("attachment; filename=\"contact-"),
        "{disposition}"
    );
    let export = answer.json();
    assert_eq!(export["contact"], contact);
    let mut exported: Vec<String> = export["events"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|event| event["position"].to_string())
        .collect();
    exported.sort_unstable();
    // A raw scan of the log says the same.
    let sql = "SELECT position FROM log WHERE payload LIKE '%\"userId\":\"ann\"%' \
               OR payload LIKE '%\"userId\":\"guest-of-ann\"%'";
    let mut scanned = server.database.rows(sql).await;
    scanned.sort_unstable();
    assert_eq!(exported.len(), 1_201);
    assert_eq!(exported, scanned);
    assert!(!answer.text.contains("bob"));
}

async fn another_workspace_sees_nothing(database: Database) {
    let server = Server::start(database).await;
    let (write, admin) = server.database.found("other").await;
    let other = server.api.with_keys(&admin, &write);
    server
        .api
        .send(
            "identify",
            json!({"userId": "u", "traits": {"email": "u@x.de"}}),
        )
        .await;
    let contact = server.api.contact("u").await;
    let id = contact["id"].as_str().expect("an id");
    for path in ["", "/events", "/export"] {
        let path = format!("/api/v1/contacts/{id}{path}");
        server.api.get(&path).await.expect(200);
        other.get(&path).await.expect_problem(404, "not_found");
    }
    other
        .delete(&format!("/api/v1/contacts/{id}"))
        .await
        .expect_problem(404, "not_found");
    for query in ["", "?email=u@x.de", "?user_id=u", "?q=u"] {
        let list = other
            .get(&format!("/api/v1/contacts{query}"))
            .await
            .expect(200)
            .json();
        assert_eq!(list["data"], json!([]), "{query}");
    }
    // The same user id is someone else there, also when messages have the same id.
    let item = json!({"userId": "u", "event": "e", "messageId": "m"});
    server.api.send("track", item.clone()).await;
    other.send("track", item).await;
    let theirs = other.contact("u").await;
    assert_ne!(theirs["id"], contact["id"]);
    assert_eq!(
        (&theirs["event_count"], &theirs["email"]),
        (&json!(1), &Value::Null)
    );
    assert_eq!(server.api.contact("u").await["event_count"], 2);
    // A cursor of one is none of the other's.
    server.api.send("identify", json!({"userId": "v"})).await;
    server.api.settle().await;
    let page = server
        .api
        .get("/api/v1/contacts?limit=1")
        .await
        .expect(200)
        .json();
    let cursor = page["next_cursor"].as_str().expect("more");
    let path = format!("/api/v1/contacts?cursor={cursor}");
    server.api.get(&path).await.expect(200);
    other.get(&path).await.expect_problem(400, "bad_cursor");
}
