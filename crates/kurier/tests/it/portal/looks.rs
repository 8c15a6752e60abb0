//! What the interface looks at besides: names, kinds of nodes, previews, simulations.

use reqwest::Method;
use serde_json::{Value, json};

use super::set_up;
use crate::harness::{Api, Database, Server, eventually, on_both};

on_both![
    names_are_those_that_were_seen,
    kinds_of_nodes_come_with_their_documentation,
    a_preview_can_do_nothing,
    a_simulation_counts_what_would_have_happened,
];

const LIMIT: std::time::Duration = std::time::Duration::from_secs(30);

async fn names_are_those_that_were_seen(database: Database) {
    let server = Server::start(database).await;
    let (api, ann) = (&server.api, set_up(&server.api).await);
    api.send(
        "identify",
        json!({"userId": "u", "traits": {"plan": "pro", "seats": 3}}),
    )
    .await;
    api.send(
        "track",
        json!({"userId": "u", "event": "Order", "properties": {"total": 5}}),
    )
    .await;
    let names = eventually("the names are seen", LIMIT, async || {
        let names = ann.get("/api/v1/names").await.expect(200).json();
        let events = names["events"].as_array().expect("a list").clone();
        events
            .iter()
            .any(|it| it["name"] == "Order")
            .then_some(names)
    });
    let names = names.await;
    let attributes = names["attributes"].as_array().expect("a list");
    assert!(attributes.contains(&json!({"name": "plan", "types": ["text"]})));
    assert!(attributes.contains(&json!({"name": "seats", "types": ["number"]})));
    let order = names["events"].as_array().expect("a list").iter();
    let order = order
        .clone()
        .find(|it| it["name"] == "Order")
        .expect("seen");
    assert_eq!(
        order["properties"],
        json!([{"name": "total", "types": ["number"]}])
    );
    assert_eq!(order["count"], 1);
}

async fn kinds_of_nodes_come_with_their_documentation(database: Database) {
    let server = Server::start(database).await;
    let list = server
        .api
        .get("/api/v1/journey-nodes")
        .await
        .expect(200)
        .json();
    let kinds: Vec<_> = list["data"].as_array().expect("a list").to_vec();
    assert_eq!(kinds.len(), 7);
    let wait = kinds.iter().find(|it| it["kind"] == "wait").expect("waits");
    assert!(
        wait["doc"]
            .as_str()
            .is_some_and(|it| it.contains("rests until"))
    );
    let fields = wait["fields"].as_array().expect("fields");
    assert!(fields.iter().any(|it| it["name"] == "timeout_node_id"));
}

async fn ask(api: &Api, body: Value) -> String {
    let request = api.bare(Method::POST, "/api/v1/messages");
    let request = request.bearer_auth(&api.admin_key).json(&json!({
        "channel": "email", "to": "ann@example.com", "body": body}));
    let answer = super::sent(request).await.expect(202).json();
    let id = answer["id"].as_str().expect("an id").to_owned();
    eventually("the message can be read", LIMIT, async || {
        let answer = api.get(&format!("/api/v1/messages/{id}")).await;
        (answer.status == 200).then_some(())
    })
    .await;
    id
}

async fn a_preview_can_do_nothing(database: Database) {
    let server = Server::start(database).await;
    let (api, ann) = (&server.api, set_up(&server.api).await);
    let script = "<p>hi</p><script>alert(1)</script>";
    let id = ask(api, json!({"subject": "s", "html": script})).await;
    let shown = ann
        .get(&format!("/api/v1/messages/{id}/preview"))
        .await
        .expect(200);
    assert!(shown.text.contains("<p>hi</p>"), "{}", shown.text);
    let policy = shown.header("content-security-policy").expect("a policy");
    assert!(
        policy.starts_with("sandbox; default-src 'none'; img-src data:"),
        "{policy}"
    );
    assert!(
        !policy.contains("script-src") && !policy.contains("allow-"),
        "{policy}"
    );
    assert_eq!(shown.header("x-content-type-options"), Some("nosniff"));
    let id = ask(api, json!({"text": "a < b & <script>alert(1)</script>"})).await;
    let shown = ann
        .get(&format!("/api/v1/messages/{id}/preview"))
        .await
        .expect(200);
    assert!(
        shown.text.contains("a &lt; b &amp; &lt;script>"),
        "{}",
        shown.text
    );
}

async fn a_simulation_counts_what_would_have_happened(database: Database) {
    let server = Server::start(database).await;
    let (api, ann) = (&server.api, set_up(&server.api).await);
    for user in ["a", "b", "c"] {
        api.send("track", json!({"userId": user, "event": "signed_up"}))
            .await;
    }
    let definition = json!({"name": "Hello", "nodes": [
        {"id": "start", "node_type": "trigger", "event_type": "signed_up", "next_node_id": "wait"},
        {"id": "wait", "node_type": "wait", "wait_type": "duration", "duration": "1d", "next_node_id": "done"},
        {"id": "done", "node_type": "exit"}]});
    let head = json!({"definition": definition});
    let simulated = ann
        .send(Method::POST, "/api/v1/journeys/simulate", head)
        .await;
    let simulated = simulated.expect(200).json();
    assert_eq!(
        (&simulated["runs"], &simulated["contacts"]),
        (&json!(3), &json!(3))
    );
    assert_eq!(simulated["waiting"], json!({"wait": 3}));
    let nodes = simulated["stats"]["nodes"].as_array().expect("nodes");
    assert_eq!(
        (&nodes[1]["node"], &nodes[1]["at"]),
        (&json!("wait"), &json!(3))
    );
    let later = json!({"definition": definition, "to": "2999-01-01T00:00:00Z"});
    let later = ann
        .send(Method::POST, "/api/v1/journeys/simulate", later)
        .await;
    let later = later.expect(200).json();
    assert_eq!(later["finished"], json!({"exit": 3}));
    let made = ann
        .send(Method::POST, "/api/v1/journeys", definition.clone())
        .await;
    let id = made.expect(201).json()["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let of_draft = format!("/api/v1/journeys/{id}/simulate");
    let of_draft = ann.send(Method::POST, &of_draft, json!({})).await;
    assert_eq!(of_draft.expect(200).json()["runs"], 3);
    let stats = ann
        .get(&format!("/api/v1/journeys/{id}/stats"))
        .await
        .expect(200)
        .json();
    assert_eq!(stats["entered"], 0, "nothing was changed");
    let faulty = json!({"definition": {"name": "x", "nodes": []}});
    let faulty = ann
        .send(Method::POST, "/api/v1/journeys/simulate", faulty)
        .await;
    assert!(faulty.expect(422).json()["faults"].is_array());
}
