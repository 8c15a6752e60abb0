//! Everything that is wrong with a definition is told at once.

use reqwest::Method;
use serde_json::{Value, json};

use super::{cart, make, post, put, send, tell};
use crate::harness::{Database, Server, on_both};

on_both![
    ten_faults_are_told_with_their_places,
    warnings_keep_nobody_from_publishing,
    whatever_the_definition_it_is_answered_soon,
];

const TEN: &str = r#"
name: Ten
reentry_policy: sometimes
nodes:
  - {id: start, node_type: trigger, event_type: go, event_conditions: "contact.plan == pro", next_node_id: wate}
  - {id: wait, node_type: wait, wait_type: event, event_type: e, next_node_id: mail, timeout: soon, timeout_node_id: mail}
  - {id: mail, node_type: send_message, channel: emial, template: t, next_node_id: loop1}
  - {id: loop1, node_type: condition, condition: "event.properties.n = 1", true_node_id: loop2, false_node_id: wait}
  - {id: loop2, node_type: update_contact, updates: {a: 1}, next_node_id: loop1, colour: red}
  - {id: seg, node_type: trigger, trigger_type: segment_entered, segment: Amateurs, next_node_id: wait}
"#;

/// Places that must be among the faults.
const PLACES: [(&str, &str); 10] = [
    ("start", "event_conditions"),
    ("start", "next_node_id"),
    ("wait", "timeout"),
    ("mail", "channel"),
    ("loop1", "condition"),
    ("loop2", "colour"),
    ("seg", "segment"),
    ("", "reentry_policy"),
    ("seg", "node_type"),
    ("", "nodes"),
];

fn check_places(faults: &Value) {
    let faults = faults.as_array().expect("a list");
    for (node, field) in PLACES {
        let is_it = |fault: &&Value| {
            fault["node"].as_str().unwrap_or_default() == node && fault["field"] == field
        };
        let found = faults.iter().find(is_it);
        let found = found.unwrap_or_else(|| panic!("{node}.{field} is not in {faults:#?}"));
        assert_eq!(found["severity"], "fault");
        assert!(
            found["message"]
                .as_str()
                .is_some_and(|text| !text.is_empty())
        );
    }
    let expression = faults.iter().find(|it| it["field"] == "event_conditions");
    let expression = expression.expect("checked before");
    assert_eq!(expression["expression"], "contact.plan == pro");
    assert_eq!(expression["span"], json!({"start": 16, "end": 19}));
    assert!(expression["suggestion"].is_string(), "{expression}");
}

async fn ten_faults_are_told_with_their_places(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let yaml = || ("application/yaml", TEN.to_owned());
    let checked = send(api, Method::POST, "/api/v1/journeys/check", yaml()).await;
    let checked = checked.expect(200).json();
    assert_eq!(checked["ok"], false);
    check_places(&checked["faults"]);
    let path = make(api, &cart("Ten", "t")).await;
    tell(api, &format!("{path}/publish")).await.expect(200);
    let before = api.get(&path).await.expect(200).json();
    let publish = format!("{path}/publish");
    let refused = send(api, Method::POST, &publish, yaml()).await;
    let refused = refused.expect_problem(422, "bad_definition").json();
    check_places(&refused["faults"]);
    assert_eq!(
        api.get(&path).await.expect(200).json(),
        before,
        "nothing changed"
    );
}

async fn warnings_keep_nobody_from_publishing(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let mut definition = cart("Cart", "t");
    let wait = definition["nodes"][1].as_object_mut().expect("a node");
    wait.remove("timeout");
    wait.remove("timeout_node_id");
    wait.remove("event_conditions");
    definition["nodes"].as_array_mut().expect("nodes").remove(2);
    let path = make(api, &definition).await;
    let published = tell(api, &format!("{path}/publish")).await.expect(200);
    let published = published.json();
    assert_eq!(published["published"], true);
    assert_eq!(published["warnings"][0]["severity"], "warning");
    assert_eq!(published["warnings"][0]["node"], "wait");
    let check = post(api, "/api/v1/journeys/check", &definition).await;
    let check = check.expect(200).json();
    assert_eq!(
        (&check["ok"], &check["faults"][0]["node"]),
        (&json!(true), &json!("wait"))
    );
}

fn exits(count: usize) -> String {
    let nodes: Vec<String> = (0..count)
        .map(|n| format!(r#"{{"id":"{n}","node_type":"exit"}}"#))
        .collect();
    format!(r#"{{"name":"Large","nodes":[{}]}}"#, nodes.join(","))
}

fn branches(count: usize) -> String {
    let branch = |n: usize| json!({"priority": n, "condition": format!("contact.n = {n}"), "next_node_id": "done"});
    let branches: Vec<Value> = (0..count).map(branch).collect();
    let nodes = json!([
        {"id": "start", "node_type": "trigger", "event_type": "go", "next_node_id": "many"},
        {"id": "many", "node_type": "branch", "branches": branches, "default_node_id": "done"},
        {"id": "done", "node_type": "exit"}]);
    json!({"name": "Large", "nodes": nodes}).to_string()
}

async fn whatever_the_definition_it_is_answered_soon(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let round = json!({"name": "Large", "nodes": [
        {"id": "start", "node_type": "trigger", "event_type": "go", "next_node_id": "again"},
        {"id": "again", "node_type": "condition", "condition": "contact.a = 1", "true_node_id": "again", "false_node_id": "done"},
        {"id": "done", "node_type": "exit"}]});
    let path = make(api, &json!({"name": "Large"})).await;
    let cases = [
        (exits(100_000), 422, "has 100000"),
        (round.to_string(), 422, "goes round without resting"),
        (branches(1_000), 200, "published"),
    ];
    for (body, status, told) in cases {
        let publish = format!("{path}/publish");
        let answer = send(api, Method::POST, &publish, ("application/json", body)).await;
        let answer = answer.expect(status);
        assert!(answer.text.contains(told), "{}", answer.text);
    }
    // A draft of any size is kept, too, and its version is shown.
    let exits: Value = serde_json::from_str(&exits(100_000)).expect("JSON");
    put(api, &path, &exits).await.expect(200);
    let stats = api.get(&format!("{path}/stats")).await.expect(200).json();
    assert_eq!(stats["entered"], 0);
}
