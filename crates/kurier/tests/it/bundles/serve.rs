//! Publish, show, confirm, reorganise: over HTTP, on both databases.

use reqwest::Method;
use serde_json::json;

use super::{Chain, LIMIT, anchor, bundle, commitment, confirmed, post, publish, show};
use crate::cli::with_variables;
use crate::harness::{Database, Server, eventually, on_both};

on_both![
    a_version_is_anchored_confirmed_replaced_and_confirmed_again,
    what_does_not_hold_is_refused,
    a_journeys_bundle_holds_what_it_came_from,
    a_rebuild_of_versions_equals_what_is_there,
    a_server_without_headers_serves_no_bundles,
];

async fn a_version_is_anchored_confirmed_replaced_and_confirmed_again(database: Database) {
    let chain = Chain::of(3);
    let server = chain.serve(database, None, &[]).await;
    let api = &server.api;
    let id = publish(api, "hello").await;
    let unmined = bundle(api, &id).await;
    assert_eq!(
        (&unmined["state"], &unmined["confs"]),
        (&json!("unmined"), &json!(null))
    );
    let mined = anchor(api, &chain, &id).await;
    let one = confirmed(api, &id, 1).await;
    assert_eq!(
        (&one["ready"], &one["policyMinConfs"]),
        (&json!(false), &json!(2))
    );
    chain.mine(&[]);
    assert_eq!(confirmed(api, &id, 2).await["ready"], true);
    let ready = api.get(&format!("/ready/{id}")).await.expect(200).json();
    assert_eq!(
        (&ready["ready"], &ready["confs"]),
        (&json!(true), &json!(2))
    );
    chain.mine(&["--fork", "2", "--blocks", "5"]);
    let off = confirmed(api, &id, -1).await;
    assert_eq!(
        (&off["state"], &off["ready"]),
        (&json!("off_chain"), &json!(false))
    );
    let again = chain.mine(&["--tx", mined["tx"].as_str().expect("text"), "--blocks", "2"]);
    show(api, &id, &again).await.expect(201);
    assert_eq!(confirmed(api, &id, 2).await["ready"], true);
    let detail = api
        .get(&format!("/api/v1/versions/{id}"))
        .await
        .expect(200)
        .json();
    let audit = detail["audit"].as_array().expect("a list").iter();
    let mut told: Vec<_> = audit
        .map(|it| (it["verdict"].clone(), it["reorg"].clone()))
        .collect();
    // The server may have been asked before it looked at the file.
    told.retain(|(verdict, _)| verdict != "unknown_header");
    let said = |verdict: &str, reorg: bool| (json!(verdict), json!(reorg));
    let good = said("confirmed", false);
    assert_eq!(
        told,
        [
            said("unmined", false),
            good.clone(),
            said("off_chain", true),
            good
        ]
    );
    assert!(!detail["audit"].to_string().contains("confs"), "{detail}");
    logged(&server);
}

/// Every answer is a line in the log, and says what it was.
fn logged(server: &Server) {
    let log = server.log();
    let line = log
        .lines()
        .find(|line| line.contains("reorg=true"))
        .expect("a line");
    for field in [
        "versionId=",
        "depth=0",
        "cache=\"miss\"",
        "confs=-1",
        "tipHeight=",
        "latencyMs=",
    ] {
        assert!(line.contains(field), "{field}: {line}");
    }
}

async fn what_does_not_hold_is_refused(database: Database) {
    let chain = Chain::of(1);
    let server = chain.serve(database, None, &[]).await;
    let api = &server.api;
    let (id, other) = (publish(api, "a").await, publish(api, "b").await);
    let mined = chain.mine(&["--commit", &commitment(api, &id).await]);
    show(api, &other, &mined)
        .await
        .expect_problem(422, "bad_proof");
    let mut forged = mined.clone();
    let bump = mined["bump"]
        .as_str()
        .expect("text")
        .replacen("00", "01", 1);
    forged["bump"] = json!(bump);
    show(api, &id, &forged)
        .await
        .expect_problem(422, "bad_proof");
    let path = format!("/api/v1/versions/{id}/proof");
    for (body, status, code) in [
        (json!({"bump": mined["bump"]}), 422, "bad_proof"),
        (
            json!({"tx": mined["tx"], "bump": mined["bump"], "beef": "00"}),
            422,
            "bad_proof",
        ),
        (json!({"tx": "xyz"}), 400, "bad_hex"),
        (json!({"transaction": "00"}), 400, "bad_body"),
    ] {
        let answer = post(api, Method::POST, &path, &body).await;
        answer.expect_problem(status, code);
    }
    let nothing = format!("/api/v1/versions/{}/proof", "ab".repeat(32));
    let answer = post(api, Method::POST, &nothing, &json!({"tx": mined["tx"]})).await;
    answer.expect_problem(404, "not_found");
    show(api, &id, &mined).await.expect(201);
    confirmed(api, &id, 1).await;
    assert_eq!(bundle(api, &other).await["state"], "unmined");
}

async fn a_journeys_bundle_holds_what_it_came_from(database: Database) {
    let chain = Chain::of(1);
    let server = chain.serve(database, None, &[]).await;
    let api = &server.api;
    let hello = publish(api, "hello").await;
    let journey = json!({"name": "welcome", "nodes": [
        {"id": "a", "node_type": "trigger", "trigger_type": "event", "event_type": "Signed Up", "next_node_id": "b"},
        {"id": "b", "node_type": "send_message", "channel": "outbox", "template": "hello", "next_node_id": "c"},
        {"id": "c", "node_type": "exit"}]});
    let made = post(api, Method::POST, "/api/v1/journeys", &journey)
        .await
        .expect(201)
        .json();
    let path = format!(
        "/api/v1/journeys/{}/publish",
        made["id"].as_str().expect("an id")
    );
    post(api, Method::POST, &path, &journey).await.expect(200);
    let id = eventually("the journey's version", LIMIT, async || {
        let all = api
            .get("/api/v1/versions?kind=journey")
            .await
            .expect(200)
            .json();
        Some(all["data"][0]["versionId"].as_str()?.to_owned())
    })
    .await;
    let whole = api
        .get(&format!("/bundle/{id}?depth=1"))
        .await
        .expect(200)
        .json();
    assert_eq!(whole["envelope"]["parents"], json!([hello]));
    assert_eq!(whole["envelope"]["lineage"][0]["name"], "hello@1");
    assert_eq!(bundle(api, &id).await["envelope"]["lineage"], json!([]));
    let answer = api.get(&format!("/bundle/{id}?depth=x")).await;
    answer.expect_problem(400, "bad_parameter");
}

async fn a_rebuild_of_versions_equals_what_is_there(database: Database) {
    let chain = Chain::of(1);
    let server = chain.serve(database, None, &[]).await;
    let id = publish(&server.api, "hello").await;
    anchor(&server.api, &chain, &id).await;
    confirmed(&server.api, &id, 1).await;
    let options = server.database.options();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let words = [&["projection", "verify", "versions"], &options[..]].concat();
    with_variables(&words, &[]).expect(0);
}

async fn a_server_without_headers_serves_no_bundles(database: Database) {
    let server = Server::start(database).await;
    let path = format!("/bundle/{}", "ab".repeat(32));
    server
        .api
        .get(&path)
        .await
        .expect_problem(404, "bundles_off");
    server
        .api
        .get("/api/v1/versions")
        .await
        .expect_problem(404, "bundles_off");
}
