//! Drafts: kept whatever they say, as long as they have a name.

use reqwest::Method;
use serde_json::json;

use super::{cart, make, post, put, send, tell};
use crate::harness::{Database, Server, on_both};

on_both![
    a_draft_is_kept_as_it_is,
    a_name_is_a_journeys_once,
    what_is_no_draft_is_refused,
    a_draft_in_yaml_is_the_same,
    nobody_sees_the_journeys_of_another_workspace,
];

async fn a_draft_is_kept_as_it_is(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let faulty = json!({"name": "Cart", "nodes": "many", "odd": [1.5, null, "\u{1}ä"]});
    let path = make(api, &faulty).await;
    let shown = api.get(&path).await.expect(200).json();
    assert_eq!(shown["draft"], faulty);
    assert_eq!(
        (&shown["standing"], &shown["version"], &shown["definition"]),
        (&json!("draft"), &json!(null), &json!(null))
    );
    let refused = tell(api, &format!("{path}/publish")).await;
    refused.expect_problem(422, "bad_definition");
    let good = cart("Cart", "t");
    let saved = put(api, &path, &good).await.expect(200).json();
    assert_eq!(saved["draft"], good);
    let server = server.kill9().await.restart().await;
    let api = &server.api;
    assert_eq!(api.get(&path).await.expect(200).json(), saved);
    let list = api.get("/api/v1/journeys").await.expect(200).json();
    assert_eq!(list["data"][0]["name"], "Cart");
    assert_eq!(list["data"][0]["has_draft"], true);
    assert!(list["data"][0].get("draft").is_none(), "{list}");
}

async fn a_name_is_a_journeys_once(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let asking: Vec<_> = (0..6)
        .map(|n| {
            let api = api.clone();
            let definition = json!({"name": "Cart", "n": n});
            tokio::spawn(async move { post(&api, "/api/v1/journeys", &definition).await.status })
        })
        .collect();
    let mut statuses = Vec::new();
    for asked in asking {
        statuses.push(asked.await.expect("answered"));
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409, 409, 409, 409, 409]);
    let again = post(api, "/api/v1/journeys", &cart("Cart", "t")).await;
    again.expect_problem(409, "name_taken");
    let other = make(api, &cart("Other", "t")).await;
    let renamed = put(api, &other, &cart("Cart", "t")).await;
    let renamed = renamed.expect_problem(422, "bad_definition").json();
    assert_eq!(renamed["faults"][0]["field"], "name");
}

async fn what_is_no_draft_is_refused(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let create = async |body: &str| {
        let yaml = ("application/yaml", body.to_owned());
        send(api, Method::POST, "/api/v1/journeys", yaml).await
    };
    create("").await.expect_problem(400, "bad_definition");
    create("{\"name\":")
        .await
        .expect_problem(400, "bad_definition");
    create("a: [").await.expect_problem(400, "bad_definition");
    let long = format!("name: {}", "x".repeat(121));
    for body in ["[1]", "nodes: []", "name: ''", "name: 7", &long] {
        create(body).await.expect_problem(422, "bad_definition");
    }
    let huge = format!("name: {}", "x".repeat(4 * 1024 * 1024));
    create(&huge).await.expect_problem(413, "too_large");
    api.get("/api/v1/journeys/nonsense")
        .await
        .expect_problem(404, "not_found");
    let list = api.get("/api/v1/journeys").await.expect(200).json();
    assert_eq!(list["data"], json!([]));
}

async fn a_draft_in_yaml_is_the_same(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let text = "name: Cart\nnodes:\n  - {id: a, node_type: exit, label: \"no\\0l\"}\n";
    let yaml = ("application/yaml", text.to_owned());
    let made = send(api, Method::POST, "/api/v1/journeys", yaml).await;
    let draft = json!({"name": "Cart", "nodes": [{"id": "a", "node_type": "exit", "label": "no\u{fffd}l"}]});
    assert_eq!(made.expect(201).json()["draft"], draft);
}

async fn nobody_sees_the_journeys_of_another_workspace(database: Database) {
    let server = Server::start(database).await;
    let (write, admin) = server.database.found("other").await;
    let (ours, theirs) = (&server.api, server.api.with_keys(&admin, &write));
    let path = super::publish(&theirs, &cart("Theirs", "t")).await;
    for part in ["", "/versions", "/versions/1", "/stats", "/instances"] {
        let answer = ours.get(&format!("{path}{part}")).await;
        answer.expect_problem(404, "not_found");
    }
    for part in ["/publish", "/pause", "/resume", "/retire"] {
        let answer = tell(ours, &format!("{path}{part}")).await;
        answer.expect_problem(404, "not_found");
    }
    let put = put(ours, &path, &cart("Theirs", "t")).await;
    put.expect_problem(404, "not_found");
    let trigger = post(ours, &format!("{path}/trigger"), &json!({"user_id": "ann"})).await;
    trigger.expect_problem(404, "not_found");
    let list = ours.get("/api/v1/journeys").await.expect(200).json();
    assert_eq!(list["data"], json!([]));
    // The same name is another journey there.
    make(ours, &cart("Theirs", "t")).await;
}
