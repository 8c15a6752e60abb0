//! Where events are sent, with which key, and what is answered.

use reqwest::Method;
use serde_json::json;

use crate::harness::{Answer, Database, Server, WRITE_KEY, on_both, unique};

on_both![
    every_path_answers_exactly_200,
    nothing_is_ever_redirected,
    the_key_may_be_in_header_query_or_body,
    a_wrong_key_is_refused_in_words_every_sdk_shows,
    browsers_may_send,
    browsers_get_their_settings,
];

/// Every ingest address with an event it accepts.
fn addresses() -> Vec<(&'static str, serde_json::Value)> {
    let batch = json!({"batch": [{"type": "track", "userId": "u", "event": "e"}]});
    vec![
        ("/v1/identify", json!({"userId": "u", "traits": {"a": 1}})),
        ("/v1/track", json!({"userId": "u", "event": "e"})),
        ("/v1/page", json!({"userId": "u", "name": "Home"})),
        ("/v1/screen", json!({"userId": "u", "name": "Home"})),
        ("/v1/group", json!({"userId": "u", "groupId": "g"})),
        ("/v1/alias", json!({"userId": "u", "previousId": "p"})),
        ("/v1/batch", batch.clone()),
        ("/v1/i", json!({"userId": "u"})),
        ("/v1/t", json!({"userId": "u", "event": "e"})),
        ("/v1/p", json!({"userId": "u"})),
        ("/v1/s", json!({"userId": "u"})),
        ("/v1/g", json!({"userId": "u", "groupId": "g"})),
        ("/v1/a", json!({"userId": "u", "previousId": "p"})),
        ("/v1/b", batch.clone()),
        ("/v1/import", batch.clone()),
        ("/beacon/v1/batch", batch.clone()),
        ("/api/public/apps/identify", json!({"userId": "u"})),
        (
            "/api/public/apps/track",
            json!({"userId": "u", "event": "e"}),
        ),
        ("/api/public/apps/page", json!({"userId": "u"})),
        ("/api/public/apps/screen", json!({"userId": "u"})),
        (
            "/api/public/apps/group",
            json!({"userId": "u", "groupId": "g"}),
        ),
        (
            "/api/public/apps/alias",
            json!({"userId": "u", "previousId": "p"}),
        ),
        ("/api/public/apps/batch", batch),
    ]
}

async fn every_path_answers_exactly_200(database: Database) {
    let server = Server::start(database).await;
    let addresses = addresses();
    for (path, body) in &addresses {
        let answer = server.api.post(path, body.to_string()).await;
        assert_eq!(
            (answer.status, answer.text.as_str()),
            (200, r#"{"success":true}"#),
            "{path}"
        );
        assert_eq!(
            answer.header("content-type"),
            Some("application/json"),
            "{path}"
        );
    }
    let contact = server.api.contact("u").await;
    let events = server.api.events(&contact).await;
    assert_eq!(events.len(), addresses.len());
    let mut kinds: Vec<&str> = events
        .iter()
        .filter_map(|event| event["type"].as_str())
        .collect();
    kinds.sort_unstable();
    let expected = "alias alias alias group group group identify identify identify \
                    page page page screen screen screen \
                    track track track track track track track track";
    assert_eq!(kinds.join(" "), expected);
}

async fn nothing_is_ever_redirected(database: Database) {
    let api = Server::start(database).await;
    let strange = [
        "/v1/batch/",
        "//v1/batch",
        "/V1/batch",
        "/v1/../v1/batch",
        "/v1/nonsense",
        "/v1",
    ];
    let known = addresses().into_iter().map(|(path, _)| path);
    for path in known.chain(strange) {
        for method in [Method::GET, Method::POST, Method::PUT, Method::HEAD] {
            let request = api
                .api
                .bare(method.clone(), path)
                .bearer_auth(WRITE_KEY)
                .body("{}");
            let answer = Answer::of(request.send().await.expect("an answer")).await;
            assert!(answer.status >= 400, "{method} {path}: {}", answer.status);
            assert_eq!(answer.header("location"), None, "{method} {path}");
        }
    }
}

async fn the_key_may_be_in_header_query_or_body(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let event = || json!({"userId": "u", "event": "e"});
    let keyed = json!({"userId": "u", "event": "e", "writeKey": WRITE_KEY});
    let post = |path: &str| api.bare(Method::POST, path);
    let in_query = format!("/v1/track?writeKey={WRITE_KEY}");
    let requests = [
        api.ingest("/v1/track", event().to_string()),
        post("/v1/track")
            .basic_auth(WRITE_KEY, Some("password"))
            .body(event().to_string()),
        post("/v1/track")
            .bearer_auth(WRITE_KEY)
            .body(event().to_string()),
        post("/v1/track").body(keyed.to_string()),
        post(&in_query).body(event().to_string()),
    ];
    let count = requests.len();
    for request in requests {
        Answer::of(request.send().await.expect("an answer"))
            .await
            .expect(200);
    }
    let contact = api.contact("u").await;
    assert_eq!(contact["event_count"], count);
    // The key is the request's, not the event's: it is kept nowhere.
    let payloads = server.database.rows("SELECT payload FROM log").await;
    assert!(payloads.iter().all(|payload| !payload.contains(WRITE_KEY)));
}

async fn a_wrong_key_is_refused_in_words_every_sdk_shows(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let body = json!({"userId": "u", "event": "e"}).to_string();
    let post = |path: &str| api.bare(Method::POST, path).body(body.clone());
    let requests = [
        post("/v1/track"),
        post("/v1/track").bearer_auth("wrong"),
        post("/v1/track").basic_auth("wrong", Some("")),
        post("/v1/track").basic_auth("", Some(WRITE_KEY)),
        post("/v1/track").header("authorization", "Digest x"),
        post("/v1/track").header("authorization", "Basic %%%"),
        post("/v1/track?writeKey=wrong"),
        post("/v1/track?writeKey="),
    ];
    for request in requests {
        let answer = Answer::of(request.send().await.expect("an answer")).await;
        let answer = answer.expect_problem(401, "unauthorized");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    }
    let wrong = json!({"userId": "u", "event": "e", "writeKey": "wrong"}).to_string();
    let request = api.bare(Method::POST, "/v1/track").body(wrong);
    let answer = Answer::of(request.send().await.expect("an answer")).await;
    answer.expect_problem(401, "unauthorized");
    assert_eq!(
        server
            .database
            .count("SELECT count(*) FROM log WHERE kind = 'track'")
            .await,
        0
    );
}

async fn browsers_may_send(database: Database) {
    let server = Server::start(database).await;
    for path in [
        "/v1/t",
        "/v1/track",
        "/v1/batch",
        "/beacon/v1/batch",
        "/v1/b",
    ] {
        let request = server
            .api
            .bare(Method::OPTIONS, path)
            .header("origin", "https://shop.example")
            .header("access-control-request-method", "POST")
            .header(
                "access-control-request-headers",
                "authorization,content-type,anonymousid",
            );
        let answer = Answer::of(request.send().await.expect("an answer"))
            .await
            .expect(200);
        assert_eq!(
            answer.header("access-control-allow-origin"),
            Some("*"),
            "{path}"
        );
        assert_eq!(
            answer.header("access-control-allow-credentials"),
            None,
            "{path}"
        );
        let methods = answer
            .header("access-control-allow-methods")
            .unwrap_or_default();
        assert!(methods.contains("POST"), "{path}: {methods}");
        let headers = answer
            .header("access-control-allow-headers")
            .unwrap_or_default();
        for name in ["authorization", "content-type", "anonymousid"] {
            assert!(headers.contains(name), "{path}: {headers}");
        }
    }
    // The answers themselves can be read by the page too, also when they are problems.
    let event = json!({"anonymousId": unique("a"), "event": "e"}).to_string();
    for (key, status) in [(WRITE_KEY, 200), ("wrong", 401)] {
        let request = server
            .api
            .bare(Method::POST, "/v1/t")
            .header("origin", "https://shop.example")
            .bearer_auth(key)
            .body(event.clone());
        let answer = Answer::of(request.send().await.expect("an answer"))
            .await
            .expect(status);
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    }
}

async fn browsers_get_their_settings(database: Database) {
    let server = Server::start(database).await;
    let answer = server
        .api
        .bare(Method::GET, "/v1/projects/WK1/settings")
        .send()
        .await;
    let settings = Answer::of(answer.expect("an answer"))
        .await
        .expect(200)
        .json();
    assert_eq!(
        settings,
        json!({"integrations": {"Segment.io": {"apiKey": "WK1"}}})
    );
    let answer = server
        .api
        .bare(Method::GET, "/sourceConfig/?p=npm&v=3")
        .send()
        .await;
    let config = Answer::of(answer.expect("an answer"))
        .await
        .expect(200)
        .json();
    assert_eq!(config["source"]["enabled"], true);
    assert_eq!(config["source"]["destinations"], json!([]));
}
