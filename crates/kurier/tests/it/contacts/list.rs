//! Lists: pages, cursors, search, and what is refused.

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Answer, Api, Database, Server, on_both};

on_both![
    pages_cover_everything_once,
    contacts_are_found_by_what_is_known,
    many_are_read_by_their_ids,
    wrong_parameters_are_refused,
    what_cannot_be_looked_for_is_no_failure,
    events_are_paged_and_filtered,
];

async fn ask(api: &Api, path: &str, query: &[(&str, &str)]) -> Answer {
    let request = api
        .bare(Method::GET, path)
        .query(query)
        .bearer_auth(&api.admin_key);
    Answer::of(request.send().await.expect("an answer")).await
}

/// Follows cursors to the end; answers one field of every row, and how many pages there were.
async fn walk(api: &Api, path: &str, limit: &str, field: &str) -> (Vec<Value>, usize) {
    let (mut seen, mut pages) = (Vec::new(), 0);
    let mut cursor: Option<String> = None;
    loop {
        let mut query = vec![("limit", limit)];
        query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let page = ask(api, path, &query).await.expect(200).json();
        pages += 1;
        seen.extend(
            page["data"]
                .as_array()
                .expect("a list")
                .iter()
                .map(|row| row[field].clone()),
        );
        cursor = page["next_cursor"].as_str().map(str::to_owned);
        assert_eq!(page["has_more"], cursor.is_some());
        if cursor.is_none() {
            return (seen, pages);
        }
    }
}

async fn pages_cover_everything_once(database: Database) {
    let server = Server::start(database).await;
    // All in one batch: they have the same time, and only the id tells them apart.
    let items: Vec<Value> = (0..57)
        .map(|n| json!({"type": "identify", "userId": format!("u{n:02}")}))
        .collect();
    server.api.batch(&items).await.expect(200);
    server.api.settle().await;
    let (seen, pages) = walk(&server.api, "/api/v1/contacts", "10", "user_id").await;
    assert_eq!((seen.len(), pages), (57, 6));
    let mut sorted: Vec<String> = seen.iter().map(Value::to_string).collect();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), 57);
    // A page that is exactly full is the last one too.
    assert_eq!(
        walk(&server.api, "/api/v1/contacts", "57", "user_id")
            .await
            .1,
        1
    );
    // Newest first.
    server
        .api
        .send("identify", json!({"userId": "newest"}))
        .await;
    server.api.settle().await;
    let first = ask(&server.api, "/api/v1/contacts", &[("limit", "1")])
        .await
        .expect(200)
        .json();
    assert_eq!(first["data"][0]["user_id"], "newest");
}

async fn contacts_are_found_by_what_is_known(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let people = [
        json!({"user_id": "u_1", "email": "Ann@Example.com", "attributes": {"plan": "pro", "age": 30, "vip": true}}),
        json!({"user_id": "u%2", "email": "bob@example.com", "attributes": {"plan": "free", "age": 30.5, "vip": false}}),
        json!({"user_id": "ux3", "anonymous_id": "a3", "attributes": {"address": {"city": "Bonn"}, "age": "30"}}),
    ];
    for person in &people {
        api.upsert(person).await.expect(201);
    }
    let cases: [(&str, &str, &[&str]); 19] = [
        ("email", "ANN@example.COM", &["u_1"]),
        ("email", "nobody@example.com", &[]),
        ("user_id", "u%2", &["u%2"]),
        ("user_id", "u", &[]),
        ("anonymous_id", "a3", &["ux3"]),
        ("anonymous_id", "u_1", &[]),
        ("q", "u", &["ux3", "u%2", "u_1"]),
        ("q", "u_", &["u_1"]),
        ("q", "u%", &["u%2"]),
        ("q", "ann@", &["u_1"]),
        ("q", "Ann@", &["u_1"]),
        ("attribute", "plan:pro", &["u_1"]),
        ("attribute", "age:30", &["u_1"]),
        ("attribute", "age:30.5", &["u%2"]),
        ("attribute", "age:\"30\"", &["ux3"]),
        ("attribute", "vip:true", &["u_1"]),
        ("attribute", "vip:1", &[]),
        ("attribute", "address.city:Bonn", &["ux3"]),
        ("attribute", "plan:null", &["ux3"]),
    ];
    for (name, value, expected) in cases {
        let list = ask(api, "/api/v1/contacts", &[(name, value)])
            .await
            .expect(200)
            .json();
        let rows = list["data"].as_array().expect("a list");
        let found: Vec<_> = rows
            .iter()
            .filter_map(|contact| contact["user_id"].as_str())
            .collect();
        assert_eq!(found, expected, "{name}={value}");
    }
    let both = [("q", "u"), ("attribute", "plan:free")];
    let list = ask(api, "/api/v1/contacts", &both).await.expect(200).json();
    assert_eq!(list["data"][0]["user_id"], "u%2");
}

async fn many_are_read_by_their_ids(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let mut ids = Vec::new();
    for user in ["ann", "bob", "cleo"] {
        let made = api.upsert(&json!({"user_id": user})).await.expect(201);
        ids.push(made.json()["id"].as_str().expect("an id").to_owned());
    }
    let erase = format!("/api/v1/contacts/{}", ids[2]);
    assert!(api.delete(&erase).await.status < 300);
    let list = "/api/v1/contacts";
    let nobody = "00000000-0000-8000-8000-000000000000";
    let named = [&ids[1], nobody, &ids[0], &ids[2]].join(",");
    let found = ask(api, list, &[("ids", &named)]).await.expect(200).json();
    let found_users = found["data"].as_array().expect("a list").iter();
    let users: Vec<_> = found_users.map(|it| it["user_id"].clone()).collect();
    assert_eq!(users, ["bob", "ann"]);
    assert_eq!(found["has_more"], false);
    let many = vec![nobody; 101].join(",");
    let wrong: [&[(&str, &str)]; 4] = [
        &[("ids", "x")],
        &[("ids", &many)],
        &[("ids", &ids[0]), ("q", "a")],
        &[("ids", &ids[0]), ("limit", "1")],
    ];
    for wrong in wrong {
        let answer = ask(api, list, wrong).await;
        answer.expect_problem(400, "bad_parameter");
    }
}

async fn wrong_parameters_are_refused(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    api.upsert(&json!({"user_id": "u"})).await.expect(201);
    let contact = api.contact("u").await;
    let events = format!(
        "/api/v1/contacts/{}/events",
        contact["id"].as_str().expect("an id")
    );
    let list = "/api/v1/contacts";
    let refused = [
        (list, "unknown", "x"),
        (list, "limit", "0"),
        (list, "limit", "501"),
        (list, "limit", "-1"),
        (list, "limit", "many"),
        (list, "email", "not an address"),
        (list, "attribute", "plan"),
        (list, "attribute", ":x"),
        (list, "attribute", "a\"b:x"),
        (list, "attribute", "a:[1]"),
        (&events, "unknown", "x"),
        (&events, "type", "nonsense"),
        (&events, "limit", "0"),
    ];
    for (path, name, value) in refused {
        let answer = ask(api, path, &[(name, value)]).await;
        let answer = answer.expect_problem(400, "bad_parameter");
        assert!(!answer.text.contains("SQL"), "{}", answer.text);
    }
    for cursor in ["nonsense", "", "AAAA", "*"] {
        for path in [list, &events] {
            ask(api, path, &[("cursor", cursor)])
                .await
                .expect_problem(400, "bad_cursor");
        }
    }
}

/// What no database can look for is not there; that is no reason to fail.
async fn what_cannot_be_looked_for_is_no_failure(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    api.upsert(&json!({"user_id": "u"})).await.expect(201);
    let contact = api.contact("u").await;
    let id = contact["id"].as_str().expect("an id");
    let (list, events) = ("/api/v1/contacts", format!("/api/v1/contacts/{id}/events"));
    for name in ["user_id", "anonymous_id", "q", "attribute"] {
        for value in [
            "\u{0}",
            "a\u{0}b",
            "x:\u{0}",
            "x:\"\\u0000\"",
            "x:\"\\ud800\"",
        ] {
            let answer = ask(api, list, &[(name, value)]).await;
            assert!(
                matches!(answer.status, 200 | 400),
                "{name}={value:?}: {}",
                answer.text
            );
        }
    }
    let answer = ask(api, &events, &[("name", "a\u{0}b")]).await;
    assert!(matches!(answer.status, 200 | 400), "{}", answer.text);
    for path in [
        "/api/v1/contacts/%ff",
        "/api/v1/contacts/x",
        "/api/v1/contacts/%00",
        "/v1/projects/%ff/settings",
    ] {
        let answer = api.get(path).await;
        assert!(
            matches!(answer.status, 400 | 404),
            "{path}: {}",
            answer.status
        );
        assert_eq!(
            answer.header("content-type"),
            Some("application/problem+json"),
            "{path}"
        );
    }
}

async fn events_are_paged_and_filtered(database: Database) {
    let server = Server::start(database).await;
    let items: Vec<Value> = (0..35)
        .map(|n| match n % 3 {
            0 => json!({"type": "page", "userId": "u", "name": "Home"}),
            1 => json!({"type": "track", "userId": "u", "event": "Clicked"}),
            _ => json!({"type": "track", "userId": "u", "event": "Home"}),
        })
        .collect();
    server.api.batch(&items).await.expect(200);
    let contact = server.api.contact("u").await;
    let path = format!(
        "/api/v1/contacts/{}/events",
        contact["id"].as_str().expect("an id")
    );
    let (positions, pages) = walk(&server.api, &path, "10", "position").await;
    assert_eq!((positions.len(), pages), (35, 4));
    let numbers: Vec<i64> = positions.iter().filter_map(Value::as_i64).collect();
    assert!(
        numbers.is_sorted_by(|a, b| a > b),
        "latest first: {numbers:?}"
    );
    let count = async |query: &[(&str, &str)]| {
        let page = ask(&server.api, &path, query).await.expect(200).json();
        page["data"].as_array().map(Vec::len)
    };
    assert_eq!(count(&[("type", "page")]).await, Some(12));
    assert_eq!(count(&[("name", "Home")]).await, Some(23));
    assert_eq!(
        count(&[("name", "Home"), ("type", "track")]).await,
        Some(11)
    );
    assert_eq!(count(&[("name", "nothing")]).await, Some(0));
}
