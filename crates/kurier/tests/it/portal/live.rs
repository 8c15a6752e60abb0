//! Server-sent events: in order, bounded, and with an end.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::{Browser, set_up};
use crate::harness::{Database, Server, on_both};

on_both![
    events_of_a_contact_come_in_order_and_of_nobody_else,
    the_overview_moves_and_stays_silent_when_nothing_does,
    counts_of_a_journey_move,
    signing_out_ends_a_stream,
    stopping_ends_streams_at_once,
    not_too_many_listen,
    a_quiet_stream_is_kept_alive,
];

const LIMIT: Duration = Duration::from_secs(30);

/// A stream, read event by event.
struct Stream {
    response: reqwest::Response,
    text: String,
}

impl Stream {
    async fn open(browser: &Browser, query: &str) -> Self {
        let request = browser.bare(Method::GET, &format!("/api/v1/live{query}"));
        let response = request.send().await.expect("an answer");
        assert_eq!(response.status(), 200);
        let kind = response.headers()["content-type"].to_str().expect("text");
        assert!(kind.starts_with("text/event-stream"), "{kind}");
        Self {
            response,
            text: String::new(),
        }
    }

    /// The next event with its data; none when the stream has ended.
    async fn next(&mut self) -> Option<(String, Value)> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let event = event.to_owned();
                self.text = rest.to_owned();
                let field = |name: &str| event.lines().find_map(|it| it.strip_prefix(name));
                let Some(name) = field("event: ") else {
                    continue;
                };
                let data = field("data: ").expect("data");
                let data = serde_json::from_str(data).expect("JSON");
                return Some((name.to_owned(), data));
            }
            let more = tokio::time::timeout(LIMIT, self.response.chunk()).await;
            let more = more.expect("something within 30 s").ok()??;
            self.text
                .push_str(std::str::from_utf8(&more).expect("UTF-8"));
        }
    }

    /// Waits for a comment, which is a sign of life after 15 s of quiet. What set-up leaves to be
    /// told breaks it, and the turn of a minute, which may be just before its end.
    async fn wait_for_comment(&mut self) {
        let read = async {
            while !self.text.contains(": still here") {
                let more = self.response.chunk().await.expect("it goes on");
                let more = more.expect("more comes");
                self.text
                    .push_str(std::str::from_utf8(&more).expect("UTF-8"));
            }
        };
        tokio::time::timeout(2 * LIMIT, read)
            .await
            .expect("within a minute");
    }

    /// The next event of a name.
    async fn wait_for(&mut self, name: &str) -> Value {
        loop {
            let (found, data) = self.next().await.expect("the stream goes on");
            if found == name {
                return data;
            }
        }
    }
}

async fn events_of_a_contact_come_in_order_and_of_nobody_else(database: Database) {
    let server = Server::start(database).await;
    let (api, ann) = (&server.api, set_up(&server.api).await);
    api.send("identify", json!({"userId": "u"})).await;
    let contact = api.contact("u").await;
    let id = contact["id"].as_str().expect("an id");
    let mut stream = Stream::open(&ann, &format!("?contact={id}")).await;
    stream.wait_for("overview").await;
    let item = |user: &str, number: u32| json!({"type": "track", "userId": user, "event": format!("e{number}")});
    let items: Vec<Value> = (0..50)
        .flat_map(|it| [item("u", it), item("v", it)])
        .collect();
    api.batch(&items).await.expect(200);
    for number in 0..50 {
        let event = stream.wait_for("event").await;
        assert_eq!(event["name"], format!("e{number}"));
        assert_eq!(event["user_id"], "u");
    }
}

async fn the_overview_moves_and_stays_silent_when_nothing_does(database: Database) {
    let server = Server::start(database).await;
    let (api, ann) = (&server.api, set_up(&server.api).await);
    api.send("track", json!({"userId": "u", "event": "e"}))
        .await;
    api.contact("u").await;
    let mut stream = Stream::open(&ann, "").await;
    let mut overview = stream.wait_for("overview").await;
    while overview["totals"]["events"] != 1 {
        overview = stream.wait_for("overview").await;
    }
    assert_eq!(overview["minutes"].as_array().map(Vec::len), Some(60));
    assert_eq!(overview["days"].as_array().map(Vec::len), Some(30));
    let sum = |series: &Value| -> i64 {
        let each = series.as_array().expect("a series").iter();
        each.filter_map(|it| it["events"].as_i64()).sum()
    };
    assert_eq!((sum(&overview["minutes"]), sum(&overview["days"])), (1, 1));
    assert_eq!(overview["keyspace"], json!({"kind": "memory", "ok": true}));
    let names: Vec<_> = overview["projections"].as_array().expect("all").to_vec();
    assert!(names.iter().any(|it| it["name"] == "contacts"));
    api.send("track", json!({"userId": "u", "event": "e"}))
        .await;
    while overview["totals"]["events"] != 2 {
        let next = stream.wait_for("overview").await;
        let timeless = |it: &Value| {
            let mut it = it.clone();
            it["at"].take();
            it
        };
        assert_ne!(
            timeless(&next),
            timeless(&overview),
            "the same is not told again"
        );
        overview = next;
    }
    let asked = ann.get("/api/v1/overview").await.expect(200).json();
    assert_eq!(asked["totals"], overview["totals"]);
}

async fn counts_of_a_journey_move(database: Database) {
    let server = Server::start(database).await;
    let (api, ann) = (&server.api, set_up(&server.api).await);
    let path = crate::journeys::publish(api, &crate::journeys::cart("Cart", "t")).await;
    let id = path.rsplit('/').next().expect("an id");
    let mut stream = Stream::open(&ann, &format!("?journey={id}")).await;
    let first = stream.wait_for("counts").await;
    assert!(first["nodes"].is_array() && first["edges"].is_array());
    assert_eq!(entered(&first), 0);
    // Not only the first counts come: they move, and move on.
    for number in 1..=2 {
        let cart = json!({"cart_id": format!("c{number}")});
        api.send(
            "track",
            json!({"userId": "u", "event": "cart", "properties": cart}),
        )
        .await;
        let mut counts = stream.wait_for("counts").await;
        while entered(&counts) < number {
            counts = stream.wait_for("counts").await;
        }
        assert_eq!(entered(&counts), number);
    }
    let missing = "00000000-0000-7000-8000-000000000000";
    for query in [
        "?journey=none",
        "?contact=none",
        &format!("?contact={missing}"),
    ] {
        let answer = ann.get(&format!("/api/v1/live{query}")).await;
        answer.expect_problem(404, "not_found");
    }
}

/// How many came to the node where this journey begins.
fn entered(counts: &Value) -> i64 {
    let nodes = counts["nodes"].as_array().expect("nodes");
    let start = nodes.iter().find(|node| node["node"] == "start");
    start.map_or(0, |node| node["entered"].as_i64().expect("a number"))
}

async fn signing_out_ends_a_stream(database: Database) {
    let server = Server::start(database).await;
    let ann = set_up(&server.api).await;
    let mut stream = Stream::open(&ann, "").await;
    stream.wait_for("overview").await;
    let out = ann.send(Method::DELETE, "/api/v1/session", json!({}));
    out.await.expect(204);
    assert_eq!(stream.wait_for("end").await, json!({"why": "signed_out"}));
    assert_eq!(stream.next().await, None);
}

async fn stopping_ends_streams_at_once(database: Database) {
    let server = Server::start(database).await;
    let ann = set_up(&server.api).await;
    let mut stream = Stream::open(&ann, "").await;
    stream.wait_for("overview").await;
    let began = std::time::Instant::now();
    server.ask_to_stop();
    assert_eq!(stream.wait_for("end").await, json!({"why": "stopping"}));
    let (status, _) = server.wait().await;
    assert!(status.success());
    assert!(
        began.elapsed() < Duration::from_secs(15),
        "{:?}",
        began.elapsed()
    );
}

async fn not_too_many_listen(database: Database) {
    let server = Server::start(database).await;
    let ann = set_up(&server.api).await;
    let mut streams = Vec::new();
    for _ in 0..200 {
        streams.push(Stream::open(&ann, "").await);
    }
    let more = ann.get("/api/v1/live").await;
    let more = more.expect_problem(503, "unavailable");
    assert!(more.header("retry-after").is_some());
    drop(streams);
    let again = async || {
        let request = ann.bare(Method::GET, "/api/v1/live");
        let response = request.send().await.expect("an answer");
        (response.status() == 200).then_some(())
    };
    crate::harness::eventually("there is room again", LIMIT, again).await;
}

async fn a_quiet_stream_is_kept_alive(database: Database) {
    let server = Server::start(database).await;
    let ann = set_up(&server.api).await;
    let mut stream = Stream::open(&ann, "").await;
    stream.wait_for("overview").await;
    stream.wait_for_comment().await;
}
