//! The real clients deliver to a running server, unchanged.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::kit::{Installed, Kit, run};
use crate::harness::{Answer, Api, Database, Server, on_both};

/// The clients.
const KIT: Kit = Kit {
    name: "sdk",
    python: &[
        "segment-analytics-python==2.4.0",
        "rudder-sdk-python==2.1.9",
    ],
    node: &[
        "@segment/analytics-node@3.1.0",
        "@rudderstack/rudder-sdk-node@3.0.13",
    ],
};

on_both![
    stock_clients_deliver_unchanged,
    recorded_requests_are_accepted
];

const SCRIPTS: [&str; 4] = ["segment.py", "rudder.py", "segment.mjs", "rudder.mjs"];

/// Runs a script that sends one of each kind under names that begin with `prefix`.
fn deliver(installed: &Installed, script: &str, api: &Api, prefix: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/sdk");
    let source = folder.join(format!("deliver_{script}"));
    let mut command = if script.ends_with(".py") {
        let mut python = Command::new(&installed.python);
        python.arg(source);
        python
    } else {
        // Another test may copy the same file at the same time: the name is this one's own.
        let copy = installed
            .node
            .join(format!("{}-{script}", std::process::id()));
        std::fs::copy(source, &copy).expect("copied");
        let mut node = Command::new("node");
        node.arg(copy);
        node
    };
    for proxy in [
        "http_proxy",
        "https_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "all_proxy",
    ] {
        command.env_remove(proxy);
    }
    run(command.args([&api.url, &api.write_key, prefix]));
}

async fn stock_clients_deliver_unchanged(database: Database) {
    let installed = KIT.install();
    let server = Server::start(database).await;
    for script in SCRIPTS {
        let prefix = script.replace('.', "-");
        deliver(&installed, script, &server.api, &prefix);
        check_contact(&server.api, &prefix).await;
    }
    let rejected = server
        .api
        .metric(r#"kurier_ingest_events_total{result="rejected"}"#)
        .await;
    assert_eq!(rejected, 0);
}

async fn check_contact(api: &Api, prefix: &str) {
    let user = format!("{prefix}-user");
    let contact = api.contact(&user).await;
    assert_eq!(contact["email"], format!("{user}@example.com"));
    assert_eq!(contact["attributes"]["plan"], "pro");
    assert_eq!(contact["attributes"]["age"], 30);
    assert_eq!(contact["groups"], json!([format!("{prefix}-group")]));
    // The guest has become part of the user, history and all.
    assert_eq!(
        contact["former_user_ids"],
        json!([format!("{prefix}-guest")])
    );
    assert_eq!(contact["event_count"], 6);
    let list = api
        .get(&format!("/api/v1/contacts?q={prefix}-"))
        .await
        .expect(200)
        .json();
    assert_eq!(list["data"].as_array().map(Vec::len), Some(1), "{list}");
    let mut events = api.events(&contact).await;
    events.sort_by_key(|event| event["position"].as_i64());
    let seen: Vec<_> = events
        .iter()
        .map(|event| (&event["type"], &event["name"]))
        .collect();
    let (visited, order, page) = (json!("Visited"), json!("Order Completed"), json!("Pricing"));
    let expected = [
        (&json!("track"), &visited),
        (&json!("identify"), &Value::Null),
        (&json!("track"), &order),
        (&json!("page"), &page),
        (&json!("group"), &Value::Null),
        (&json!("alias"), &Value::Null),
    ];
    assert_eq!(seen, expected, "{prefix}");
    assert_eq!(events[2]["properties"]["total"], 42.5);
    assert_eq!(events[2]["properties"]["items"], json!(["a", "b"]));
    assert_eq!(events[3]["properties"]["url"], "/pricing");
    assert_eq!(events[4]["group_id"], format!("{prefix}-group"));
    assert_eq!(events[5]["previous_id"], format!("{prefix}-guest"));
    for event in &events {
        assert!(event["message_id"].is_string(), "{event}");
        assert!(event["context"]["library"]["name"].is_string(), "{event}");
    }
}

/// Requests that clients sent to a listener once, where the recording is at hand.
async fn recorded_requests_are_accepted(database: Database) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let recording = root.join("../shared/vectors/sdk-requests.ndjson");
    let Ok(recording) = std::fs::read_to_string(&recording) else {
        eprintln!(
            "there is no recording at {}: nothing to replay",
            recording.display()
        );
        return;
    };
    let server = Server::start(database).await;
    let mut replayed = 0;
    for line in recording.lines() {
        let request: Value = serde_json::from_str(line).expect("a recorded request");
        let path = request["p"].as_str().expect("a path");
        if request["m"] != "POST" || !path.starts_with("/v1/") || path.starts_with("/v1/send") {
            continue;
        }
        let answer = server.api.post(path, request["body"].to_string()).await;
        assert_eq!(
            (answer.status, answer.text.as_str()),
            (200, r#"{"success":true}"#),
            "{line}"
        );
        replayed += 1;
    }
    assert!(replayed > 0, "the recording holds no ingest request");
    server.api.settle().await;
    let unused: Answer = server.api.get("/api/v1/contacts").await.expect(200);
    assert!(!unused.json()["data"].as_array().expect("a list").is_empty());
}
