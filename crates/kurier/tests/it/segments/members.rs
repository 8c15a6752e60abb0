//! Members: as CSV, and given to static segments.

use kurier_core::event::Kind;
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Answer, Api, Database, Server, on_both};

on_both![
    all_members_are_written_as_csv,
    csv_is_asked_for_by_header_or_query,
    every_page_is_in_the_csv,
    a_static_segment_is_given_members_and_loses_them,
    a_faulty_edit_changes_nothing_and_names_every_fault,
    crossings_are_told_once_whoever_asks,
    members_survive_a_crash,
];

/// `POST` with the admin key.
pub async fn post(api: &Api, path: &str, body: &Value) -> Answer {
    let request = api.bare(Method::POST, path).bearer_auth(&api.admin_key);
    Answer::of(request.json(body).send().await.expect("an answer")).await
}

async fn make(api: &Api, name: &str, expression: Option<&str>) -> String {
    let body = json!({"name": name, "expression": expression});
    let made = post(api, "/api/v1/segments", &body)
        .await
        .expect(201)
        .json();
    made["id"].as_str().expect("an id").to_owned()
}

async fn csv(api: &Api, path: &str) -> Answer {
    let request = api.bare(Method::GET, path).bearer_auth(&api.admin_key);
    let request = request.header("accept", "text/csv;q=0.9, */*;q=0.1");
    Answer::of(request.send().await.expect("an answer")).await
}

/// What the log tells of who came and went, oldest first.
pub async fn crossings(server: &Server) -> Vec<Kind> {
    let store = server.database.store().await;
    let log = store
        .log
        .read(kurier_core::event::Position(0), 10_000)
        .await;
    let kinds = log.expect("read").into_iter().map(|r| r.event.kind);
    kinds
        .filter(|kind| matches!(kind, Kind::SegmentEntered | Kind::SegmentLeft))
        .collect()
}

async fn all_members_are_written_as_csv(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let traits = json!({"email": "Ann@Example.com", "phone": "+49 30 1", "plan": "=1+1", "n": -5,
                        "address": {"city": "Bönn, am \"Rhein\""}, "tags": ["a", 1]});
    api.send("identify", json!({"userId": "@ann", "traits": traits}))
        .await;
    api.send("track", json!({"anonymousId": "nobody", "event": "e"}))
        .await;
    let id = make(api, "All", Some("TRUE")).await;
    let path = format!("/api/v1/segments/{id}/members");
    let answer = csv(
        api,
        &format!("{path}?attributes=plan,%20address.city,n,tags,gone"),
    )
    .await;
    let answer = answer.expect(200);
    assert_eq!(
        answer.header("content-type"),
        Some("text/csv; charset=utf-8")
    );
    let mut lines: Vec<&str> = answer.text.lines().collect();
    assert_eq!(
        lines.remove(0),
        "id,user_id,email,phone,entered_at,plan,address.city,n,tags,gone"
    );
    let ann = api.contact("@ann").await;
    let begins = format!(
        "{},'@ann,ann@example.com,'+49 30 1,20",
        ann["id"].as_str().expect("an id")
    );
    let line = lines.iter().find(|line| line.starts_with(&begins));
    let line = line.unwrap_or_else(|| panic!("{begins} is not in {lines:?}"));
    let ends = r#"Z,'=1+1,"Bönn, am ""Rhein""",-5,"[""a"",1]","#;
    assert!(line.ends_with(ends), "{line}");
    assert!(
        lines.iter().any(|line| line.ends_with("Z,,,,,")),
        "{lines:?}"
    );
}

async fn csv_is_asked_for_by_header_or_query(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    api.send("identify", json!({"userId": "ann"})).await;
    api.send("identify", json!({"userId": "bob"})).await;
    let id = make(api, "All", Some("TRUE")).await;
    let path = format!("/api/v1/segments/{id}/members");
    // The query says the same as the header, and wins over it.
    assert_eq!(
        api.get(&format!("{path}?format=csv"))
            .await
            .expect(200)
            .text
            .lines()
            .count(),
        3
    );
    assert!(
        csv(api, &format!("{path}?format=json"))
            .await
            .expect(200)
            .json()["data"]
            .is_array()
    );
    for query in [
        "format=csv&limit=1",
        "format=csv&cursor=x",
        "format=xml",
        "attributes=plan",
        "format=csv&attributes=a..b",
    ] {
        api.get(&format!("{path}?{query}"))
            .await
            .expect_problem(400, "bad_parameter");
    }
}

async fn every_page_is_in_the_csv(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let many: Vec<Value> = (0..1_200)
        .map(|n| json!({"type": "track", "userId": format!("u{n}"), "event": "e"}))
        .collect();
    for part in many.chunks(400) {
        api.batch(part).await.expect(200);
    }
    let every = make(api, "Every", Some("TRUE")).await;
    let text = csv(api, &format!("/api/v1/segments/{every}/members"))
        .await
        .expect(200)
        .text;
    let ids: std::collections::BTreeSet<&str> = text
        .lines()
        .skip(1)
        .filter_map(|line| line.split(',').next())
        .collect();
    assert_eq!((ids.len(), text.lines().count()), (1_200, 1_201));
}

async fn a_static_segment_is_given_members_and_loses_them(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    for user in ["ann", "bob"] {
        api.send("identify", json!({"userId": user})).await;
    }
    let id = make(api, "VIPs", None).await;
    let path = format!("/api/v1/segments/{id}/members");
    // Accepted a moment ago, and known already.
    api.send("identify", json!({"userId": "cleo"})).await;
    let add = json!({"add": [{"user_id": "ann"}, {"user_id": "cleo"}, {"user_id": "ann"}]});
    assert_eq!(post(api, &path, &add).await.expect(200).json()["size"], 2);
    let bob = api.contact("bob").await["id"].clone();
    let edit = json!({"add": [bob], "remove": [{"user_id": "cleo"}]});
    assert_eq!(post(api, &path, &edit).await.expect(200).json()["size"], 2);
    let members = api.get(&path).await.expect(200).json();
    let mut ids = vec![
        &members["data"][0]["contact"],
        &members["data"][1]["contact"],
    ];
    let ann = api.contact("ann").await["id"].clone();
    let mut wanted = vec![&ann, &bob];
    ids.sort_by_key(|id| id.to_string());
    wanted.sort_by_key(|id| id.to_string());
    assert_eq!(ids, wanted);
    let ann = ann.as_str().expect("an id");
    let explained = api
        .get(&format!("/api/v1/segments/{id}/explain/{ann}"))
        .await;
    assert_eq!(explained.expect(200).json()["member"], true);
    let told = crossings(&server).await;
    let entered = Kind::SegmentEntered;
    assert_eq!(told, [entered, entered, entered, Kind::SegmentLeft]);
    // A dynamic one has the members it has.
    let dynamic = make(api, "All", Some("TRUE")).await;
    let refused = post(api, &format!("/api/v1/segments/{dynamic}/members"), &add).await;
    refused.expect_problem(409, "dynamic_segment");
    post(api, "/api/v1/segments/nonsense/members", &add)
        .await
        .expect_problem(404, "not_found");
}

async fn a_faulty_edit_changes_nothing_and_names_every_fault(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    api.send("identify", json!({"userId": "ann"})).await;
    let id = make(api, "VIPs", None).await;
    let path = format!("/api/v1/segments/{id}/members");
    let faults = async |body: Value| {
        let answer = post(api, &path, &body)
            .await
            .expect_problem(422, "bad_members");
        let errors = answer.json()["errors"].as_array().expect("a list").clone();
        let shown = errors.iter().map(|e| {
            format!(
                "{} {}",
                e["pointer"].as_str().unwrap_or("?"),
                e["detail"].as_str().unwrap_or("?")
            )
        });
        shown.collect::<Vec<_>>()
    };
    assert_eq!(
        faults(json!({"add": [{"user_id": "ann"}, {"user_id": "bob"}], "remove": ["7c9e6679-7425-80de-944b-e07fc1f90ae7"]})).await,
        [
            "/add/1 there is no contact with the user id `bob`",
            "/remove/0 there is no contact with the id `7c9e6679-7425-80de-944b-e07fc1f90ae7`",
        ]
    );
    assert_eq!(
        faults(json!({"add": ["ann", 7, {"user_id": "ann"}], "remove": [{"user_id": "ann"}], "a/d": []})).await,
        [
            "/a~1d is not known here; `add` and `remove` are",
            "/add/0 id `ann` is no contact's id; by user id write {\"user_id\": …}",
            "/add/1 must be a contact's id, or an object with its `user_id`",
            "/remove/0 user id `ann` is to be added as well",
        ]
    );
    assert_eq!(
        faults(json!({"add": {}})).await,
        ["/add must be a list of contacts"]
    );
    assert_eq!(
        faults(json!({})).await,
        [" names nobody to add or to remove"]
    );
    assert_eq!(
        faults(json!([])).await,
        [" must be an object with `add`, `remove` or both"]
    );
    let many = vec![json!({"user_id": "ann"}); 1_001];
    assert_eq!(
        faults(json!({"add": many})).await,
        [" names 1001 contacts; at most 1000 at a time"]
    );
    assert_eq!(
        api.get(&format!("/api/v1/segments/{id}"))
            .await
            .expect(200)
            .json()["size"],
        0
    );
    assert_eq!(crossings(&server).await, []);
}

async fn crossings_are_told_once_whoever_asks(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    api.send("identify", json!({"userId": "ann"})).await;
    let id = make(api, "VIPs", None).await;
    let path = format!("/api/v1/segments/{id}/members");
    for (list, told) in [
        ("add", vec![Kind::SegmentEntered]),
        ("remove", vec![Kind::SegmentEntered, Kind::SegmentLeft]),
    ] {
        let body = json!({list: [{"user_id": "ann"}]});
        let asking: Vec<_> = (0..8)
            .map(|_| {
                let (api, path, body) = (api.clone(), path.clone(), body.clone());
                tokio::spawn(async move { post(&api, &path, &body).await.status })
            })
            .collect();
        for asked in asking {
            assert_eq!(asked.await.expect("asked"), 200);
        }
        assert_eq!(crossings(&server).await, told);
    }
}

async fn members_survive_a_crash(database: Database) {
    let server = Server::start(database).await;
    server.api.send("identify", json!({"userId": "ann"})).await;
    let id = make(&server.api, "VIPs", None).await;
    let path = format!("/api/v1/segments/{id}/members");
    let add = json!({"add": [{"user_id": "ann"}]});
    post(&server.api, &path, &add).await.expect(200);
    let server = server.kill9().await.restart().await;
    post(&server.api, &path, &add).await.expect(200);
    assert_eq!(crossings(&server).await, [Kind::SegmentEntered]);
    let remove = json!({"remove": [{"user_id": "ann"}]});
    assert_eq!(
        post(&server.api, &path, &remove).await.expect(200).json()["size"],
        0
    );
}
