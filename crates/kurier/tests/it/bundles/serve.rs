//! Publish, show, confirm, reorganise: over HTTP, on both databases.

use kurier_core::bundle::chain::Chain::Regtest;
use kurier_core::bundle::chain::{Header, proven_work};
use reqwest::Method;
use serde_json::json;

use super::{Chain, LIMIT, anchor, bundle, commitment, confirmed, post, publish, show};
use crate::cli::with_variables;
use crate::harness::{ADMIN_KEY, Api, Database, Redis, Server, WRITE_KEY, eventually, on_both};

on_both![
    a_version_is_anchored_confirmed_replaced_and_confirmed_again,
    what_does_not_hold_is_refused,
    an_invented_header_is_refused,
    a_journeys_bundle_holds_what_it_came_from,
    a_journeys_bundle_leads_by_its_template_to_the_content_it_quotes,
    a_rebuild_of_versions_equals_what_is_there,
    an_unknown_version_is_known_as_soon_as_it_is_published,
    free_when_off_nothing_is_folded_cached_or_counted,
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
    assert_logged(&server, &["reorg=true", "cache=\"miss\"", "confs=-1"]);
}

/// There is a line about an answer like this, and it says all of it.
#[track_caller]
fn assert_logged(server: &Server, like: &[&str]) {
    let log = server.log();
    let is_like = |line: &&str| like.iter().all(|part| line.contains(part));
    let line = log.lines().find(is_like).expect("a line");
    for field in [
        "versionId=",
        "depth=0",
        "tipHeight=",
        "reorg=",
        "latencyMs=",
    ] {
        assert!(line.contains(field), "{field}: {line}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn log_of_every_answer_says_cache_confs_tip_reorg_and_latency() {
    let chain = Chain::of(1);
    let debug = [("KURIER_LOG", "info,kurier::bundle=debug")];
    let server = chain.serve(Database::sqlite(), None, &debug).await;
    let id = publish(&server.api, "hello").await;
    anchor(&server.api, &chain, &id).await;
    confirmed(&server.api, &id, 1).await;
    bundle(&server.api, &id).await;
    for cache in ["miss", "hit"] {
        let cache = format!("cache=\"{cache}\"");
        assert_logged(&server, &[&cache, "confs=1", "reorg=false"]);
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

/// Anybody can write 80 bytes with the right root in them; without work they are no block.
async fn an_invented_header_is_refused(database: Database) {
    let (chain, other) = (Chain::of(1), Chain::of(4));
    let server = chain.serve(database, None, &[]).await;
    let api = &server.api;
    let id = publish(api, "a").await;
    let mut mined = other.mine(&["--commit", &commitment(api, &id).await]);
    let bytes = hex::decode(mined["header"].as_str().expect("text")).expect("hexadecimal");
    let own = Header::parse(&bytes).expect("80 bytes");
    let invented = (0..).map(|nonce| Header { nonce, ..own });
    let mut without_work =
        invented.filter(|header| proven_work(Regtest, header.bits, &header.hash()).is_err());
    let header = without_work.next().expect("every second one has none");
    mined["header"] = json!(hex::encode(header.bytes()));
    let refused = show(api, &id, &mined).await;
    let refused = refused.expect_problem(422, "bad_proof");
    assert!(
        refused.text.contains("does not meet its target"),
        "{}",
        refused.text
    );
    let path = format!("/api/v1/versions/{id}");
    assert_eq!(api.get(&path).await.expect(200).json()["anchor"], "none");
    // Our headers do not reach the block; with its work in it, it is taken.
    mined["header"] = json!(hex::encode(bytes));
    show(api, &id, &mined).await.expect(201);
    assert_eq!(api.get(&path).await.expect(200).json()["anchor"], "mined");
}

/// The version of this name, once it is there.
async fn version_named(api: &Api, name: &str) -> String {
    eventually(name, LIMIT, async || {
        let all = api
            .get("/api/v1/versions?limit=500")
            .await
            .expect(200)
            .json();
        let mut all = all["data"].as_array()?.iter();
        let found = all.find(|it| it["name"] == name)?;
        Some(found["versionId"].as_str()?.to_owned())
    })
    .await
}

async fn a_journeys_bundle_leads_by_its_template_to_the_content_it_quotes(database: Database) {
    let chain = Chain::of(1);
    let server = chain.serve(database, None, &[]).await;
    let api = &server.api;
    let markdown = "# Refund policy\n\nWithin 30 days.\n";
    let documents = json!({"documents": [{"source": "refunds.md", "markdown": markdown}]});
    post(api, Method::POST, "/api/v1/content", &documents)
        .await
        .expect(200);
    let content = version_named(api, "refunds.md@1").await;
    let text = "Hi, {{ content(\"ch:refund_policy:001\") }}";
    let template = json!({"name": "refund", "text": text});
    post(api, Method::PUT, "/api/v1/templates/refund", &template)
        .await
        .expect(201);
    let template = version_named(api, "refund@1").await;
    let journey = json!({"name": "refunds", "nodes": [
        {"id": "a", "node_type": "trigger", "trigger_type": "event", "event_type": "Returned", "next_node_id": "b"},
        {"id": "b", "node_type": "send_message", "channel": "outbox", "template": "refund", "next_node_id": "c"},
        {"id": "c", "node_type": "exit"}]});
    let made = post(api, Method::POST, "/api/v1/journeys", &journey).await;
    let made = made.expect(201).json();
    let path = format!(
        "/api/v1/journeys/{}/publish",
        made["id"].as_str().expect("an id")
    );
    post(api, Method::POST, &path, &journey).await.expect(200);
    let id = version_named(api, "refunds@1").await;
    for (depth, names) in [
        (0, json!([])),
        (1, json!(["refund@1"])),
        (2, json!(["refund@1", "refunds.md@1"])),
        (32, json!(["refund@1", "refunds.md@1"])),
    ] {
        let answer = api.get(&format!("/bundle/{id}?depth={depth}")).await;
        let envelope = answer.expect(200).json()["envelope"].clone();
        assert_eq!(envelope["parents"], json!([template]));
        let lineage = envelope["lineage"].as_array().expect("a list").iter();
        let found: Vec<_> = lineage.clone().map(|it| it["name"].clone()).collect();
        assert_eq!(json!(found), names, "{depth}");
        if let Some(of_template) = lineage.clone().next() {
            assert_eq!(of_template["parents"], json!([content]));
        }
        assert_eq!(envelope.get("lineageCut"), None, "all of it is there");
    }
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

/// Though that it is unknown would be remembered for an hour.
async fn an_unknown_version_is_known_as_soon_as_it_is_published(database: Database) {
    let (redis, chain) = (Redis::start(), Chain::of(1));
    // Its id is its hash: the same at another server.
    let elsewhere = chain.serve(Database::sqlite(), None, &[]).await;
    let id = publish(&elsewhere.api, "later").await;
    let hour = [("CACHE_TTLS_JSON", r#"{"headers":1,"neg404":3600}"#)];
    let server = chain.serve(database, Some(&redis), &hour).await;
    let path = format!("/bundle/{id}");
    for _ in 0..2 {
        let answer = server.api.get(&path).await;
        answer.expect_problem(404, "not_found");
    }
    let left = redis.cli(&["TTL", &format!("cache:bundle:neg:{id}")]);
    assert!(left.parse::<i64>().expect("a number") > 3_000, "{left}");
    assert_eq!(publish(&server.api, "later").await, id);
    let known = eventually("its bundle", LIMIT, async || {
        let answer = server.api.get(&path).await;
        (answer.status == 200).then(|| answer.json())
    })
    .await;
    assert_eq!(known["state"], "unmined");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_looks_at_the_headers() {
    let chain = Chain::of(2);
    let server = chain.serve(Database::sqlite(), None, &[]).await;
    let options = server.database.options();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let words = [&["doctor"], &options[..]].concat();
    let source = chain.source();
    let well = with_variables(&words, &[("HEADERS_SOURCE", &source)]).expect(0);
    assert!(
        well.stdout.contains("headers      of regtest, up to 2 "),
        "{}",
        well.stdout
    );
    std::fs::write(chain.file(), [7; 160]).expect("written");
    let ill = with_variables(&words, &[("HEADERS_SOURCE", &source)]).expect(1);
    assert!(ill.stdout.contains("it is refused"), "{}", ill.stdout);
}

/// Without a source of headers nothing of all this runs.
async fn free_when_off_nothing_is_folded_cached_or_counted(database: Database) {
    let redis = Redis::start();
    let url = redis.url();
    let variables = [
        ("KURIER_BOOTSTRAP_WRITE_KEY", WRITE_KEY),
        ("KURIER_BOOTSTRAP_ADMIN_KEY", ADMIN_KEY),
        ("KURIER_REDIS_URL", url.as_str()),
        ("KURIER_LOG", "debug"),
    ];
    let server = Server::start_with(database, &variables).await;
    let api = &server.api;
    let template = json!({"name": "hello", "text": "Hello"});
    let put = post(api, Method::PUT, "/api/v1/templates/hello", &template).await;
    put.expect(201);
    let id = "ab".repeat(32);
    for path in [
        format!("/bundle/{id}"),
        format!("/ready/{id}"),
        "/api/v1/versions".into(),
        format!("/api/v1/versions/{id}"),
    ] {
        let answer = api.get(&path).await.expect_problem(404, "bundles_off");
        assert!(answer.text.contains("HEADERS_SOURCE"), "{}", answer.text);
    }
    let path = format!("/api/v1/versions/{id}/proof");
    let answer = post(api, Method::POST, &path, &json!({"tx": "00"})).await;
    answer.expect_problem(404, "bundles_off");
    api.settle().await;
    for table in ["published_version", "version_proof", "bundle_audit"] {
        let sql = format!("SELECT count(*) FROM {table}");
        assert_eq!(server.database.count(&sql).await, 0, "{table}");
    }
    let of_bundles = "SELECT count(*) FROM checkpoint WHERE name IN ('versions', 'bundles')";
    assert_eq!(server.database.count(of_bundles).await, 0);
    for pattern in ["cache:bundle:*", "cache:headers:*"] {
        assert_eq!(redis.cli(&["--scan", "--pattern", pattern]), "");
    }
    let metrics = api.get("/metrics").await.expect(200).text;
    let mut counted = metrics.lines().filter(|line| !line.starts_with('#'));
    let of_bundles =
        counted.find(|line| line.contains("kurier_bundle") || line.contains("kurier_headers"));
    assert_eq!(of_bundles, None);
    assert!(!server.log().contains("kurier::headers"));
}
