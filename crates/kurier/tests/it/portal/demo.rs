//! The demo: full at once, moving, and by itself.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Browser, post, sent};
use crate::harness::server::command;
use crate::harness::{Database, Server, eventually, on_both};

on_both![
    a_demo_is_full_and_moves,
    a_first_start_warns_of_nothing,
    a_demo_goes_on_where_it_was,
    a_demo_does_not_mix_with_contacts,
];

const LIMIT: Duration = Duration::from_secs(120);
/// Thirty days are lived through before the first answer, here by a debug build.
const START_LIMIT: Duration = Duration::from_secs(60);
const DEMO: &[(&str, &str)] = &[
    ("KURIER_DEMO", "true"),
    ("KURIER_BOOTSTRAP_WRITE_KEY", crate::harness::WRITE_KEY),
    ("KURIER_BOOTSTRAP_ADMIN_KEY", crate::harness::ADMIN_KEY),
];

async fn enter(server: &Server) -> Browser {
    let answer = post(&server.api, "/api/v1/session", json!({"demo": true})).await;
    let answer = answer.expect(200);
    assert_eq!(answer.json()["demo"], true);
    Browser::of(&server.api, &answer)
}

async fn until(browser: &Browser, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
    eventually(what, LIMIT, async || {
        let overview = browser.get("/api/v1/overview").await.expect(200).json();
        holds(&overview).then_some(overview)
    })
    .await
}

async fn a_demo_is_full_and_moves(database: Database) {
    let began = Instant::now();
    let server = Server::start_with(database, DEMO).await;
    let took = began.elapsed();
    assert!(took < START_LIMIT, "{took:?}");
    let told = server
        .greeting
        .iter()
        .any(|line| line.starts_with("demo at http://"));
    assert!(told, "{:?}", server.greeting);
    let nobody = sent(server.api.bare(reqwest::Method::GET, "/api/v1/session")).await;
    assert_eq!(nobody.expect(401).json()["demo"], true);
    let browser = enter(&server).await;
    let full = |it: &Value| {
        let total = |name: &str| it["totals"][name].as_i64().unwrap_or(0);
        total("contacts") >= 2_000 && total("entries") > 500 && total("sends") > 300
    };
    // The counts of days are a read model, which may be behind the log.
    let is_busy = |it: &Value| {
        let days = it["days"].as_array().expect("days");
        let busy = |(what, least)| {
            days.iter()
                .filter(|day| day[what].as_i64() > Some(least))
                .count()
        };
        [("events", 50), ("entries", 5), ("sends", 5)]
            .into_iter()
            .map(busy)
            .all(|days| days >= 28)
    };
    let full = |it: &Value| full(it) && is_busy(it);
    let overview = until(&browser, "the demo is full", full).await;
    let before = overview["totals"]["events"].as_i64();
    let moves = |it: &Value| it["totals"]["events"].as_i64() > before;
    until(&browser, "it moves", moves).await;
    // Each is a read model of its own: it may be behind the counts.
    for (path, least) in [("segments", 6), ("journeys", 4), ("templates", 15)] {
        eventually(path, LIMIT, async || {
            let list = browser.get(&format!("/api/v1/{path}")).await;
            let list = list.expect(200).json();
            let count = list["data"].as_array().map_or(0, Vec::len);
            (count == least).then_some(())
        })
        .await;
    }
    sizes_go_back(&browser).await;
    let id = eventually("a message was sent", LIMIT, async || {
        let sent = browser.get("/api/v1/messages?state=sent&limit=5").await;
        let sent = sent.expect(200).json();
        sent["data"][0]["id"].as_str().map(str::to_owned)
    });
    let id = id.await;
    let shown = browser.get(&format!("/api/v1/messages/{id}/preview")).await;
    assert!(!shown.expect(200).text.is_empty());
}

/// Whoever starts it has set nothing up yet, and so nothing wrongly.
async fn a_first_start_warns_of_nothing(database: Database) {
    let server = Server::start_with(database, DEMO).await;
    let browser = enter(&server).await;
    let events = |it: &Value| it["totals"]["events"].as_i64().unwrap_or(0);
    let before = until(&browser, "it is there", |it| events(it) > 0).await;
    until(&browser, "it goes on", |it| events(it) > events(&before)).await;
    let stopped = server.terminate().await;
    let log = stopped.log();
    assert!(
        log.contains("this is a demo") && log.contains("stopped"),
        "{log}"
    );
    // PostgreSQL may be slow on a busy machine, which is no fault of a setting.
    let is_ours = |line: &&str| !line.contains("sqlx::query: slow statement");
    let warned =
        |line: &&str| is_ours(line) && (line.contains(" WARN ") || line.contains("ERROR "));
    let warnings: Vec<&str> = log.lines().filter(warned).collect();
    assert!(warnings.is_empty(), "{warnings:#?}");
}

/// Who is in a segment changed all the while, not only at the start.
async fn sizes_go_back(browser: &Browser) {
    let segments = browser.get("/api/v1/segments").await.expect(200).json();
    let all = segments["data"].as_array().expect("segments");
    let german = all.iter().find(|it| it["name"] == "German speakers");
    let id = german.expect("the segment")["id"].as_str().expect("an id");
    let path = format!("/api/v1/segments/{id}/sizes");
    let sizes = browser.get(&path).await.expect(200).json();
    let days: BTreeSet<&str> = sizes["data"]
        .as_array()
        .expect("sizes")
        .iter()
        .filter_map(|row| row["hour"].as_str()?.get(..10))
        .collect();
    assert!(days.len() >= 28, "{days:?}");
}

async fn a_demo_goes_on_where_it_was(database: Database) {
    let server = Server::start_with(database, DEMO).await;
    let browser = enter(&server).await;
    let first = until(&browser, "it is there", |it| it["totals"]["contacts"] != 0).await;
    let server = server.terminate().await.restart_with(DEMO).await;
    let browser = enter(&server).await;
    let position = first["position"].as_i64().expect("a position");
    let again = browser.get("/api/v1/overview").await.expect(200).json();
    let made = again["position"].as_i64().expect("a position") - position;
    assert!(made < 20_000, "it was not made again: {made}");
}

async fn a_demo_does_not_mix_with_contacts(database: Database) {
    let server = Server::start(database).await;
    server
        .api
        .upsert(&json!({"user_id": "a real one"}))
        .await
        .expect(201);
    let refused = post(&server.api, "/api/v1/session", json!({"demo": true})).await;
    refused.expect_problem(403, "forbidden");
    let stopped = server.terminate().await;
    let mut serve = command();
    serve.args(["serve", "--demo", "--listen", "127.0.0.1:0"]);
    let output = serve.args(stopped.database.options()).output();
    let output = output.expect("it runs");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{told}");
    assert!(
        told.contains("--demo needs a database of its own"),
        "{told}"
    );
}
