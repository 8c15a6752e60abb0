//! One connection that is kept, as SDKs do.

use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::harness::{Api, Database, Server, on_both};

on_both![
    whatever_comes_on_one_connection_is_answered_in_order,
    a_revoked_key_is_refused_on_a_connection_that_showed_it_before,
    a_connection_that_waits_does_not_keep_the_server,
];

struct Line(TcpStream);

impl Line {
    async fn to(api: &Api) -> Self {
        let address = api.url.strip_prefix("http://").expect("an http address");
        Self(TcpStream::connect(address).await.expect("connected"))
    }

    async fn write(&mut self, text: &str) {
        self.0.write_all(text.as_bytes()).await.expect("written");
    }

    /// One whole answer.
    async fn read(&mut self) -> String {
        let mut answer = String::new();
        loop {
            let mut byte = [0];
            self.0.read_exact(&mut byte).await.expect("an answer");
            answer.push(char::from(byte[0]));
            let Some(head) = answer.strip_suffix("\r\n\r\n") else {
                continue;
            };
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(": ")?;
                name.eq_ignore_ascii_case("content-length")
                    .then(|| value.parse())?
                    .ok()
            });
            let mut body = vec![0; length.expect("a length")];
            self.0.read_exact(&mut body).await.expect("a body");
            return answer + std::str::from_utf8(&body).expect("text");
        }
    }
}

fn head(key: &str, length: usize) -> String {
    format!(
        "POST /v1/track HTTP/1.1\r\nHost: kurier\r\nAuthorization: Bearer {key}\r\n\
         Content-Length: {length}\r\n\r\n"
    )
}

fn track(key: &str, event: &str) -> String {
    let body = json!({"userId": "u", "event": event}).to_string();
    head(key, body.len()) + &body
}

fn is_ok(answer: &str) -> bool {
    answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("\r\ndate: ")
}

async fn whatever_comes_on_one_connection_is_answered_in_order(database: Database) {
    let server = Server::start(database).await;
    let key = server.api.write_key.clone();
    let mut line = Line::to(&server.api).await;
    let faulty = head(&key, 2) + "[]";
    line.write(&(track(&key, "a") + &faulty + &track("wrong", "no") + &track(&key, "b")))
        .await;
    assert!(is_ok(&line.read().await));
    let refused = line.read().await;
    assert!(
        refused.starts_with("HTTP/1.1 400 Bad Request\r\n"),
        "{refused}"
    );
    assert!(
        refused.contains("access-control-allow-origin: *"),
        "{refused}"
    );
    let unknown = line.read().await;
    assert!(
        unknown.starts_with("HTTP/1.1 401 Unauthorized\r\n"),
        "{unknown}"
    );
    assert!(unknown.contains("www-authenticate: Bearer"), "{unknown}");
    assert!(is_ok(&line.read().await));
    // From here on hyper has it: a head comes alone, its body with what is next.
    let body = json!({"userId": "u", "event": "c"}).to_string();
    line.write(&head(&key, body.len())).await;
    line.write(&(body + "GET /healthz HTTP/1.1\r\nHost: kurier\r\n\r\n"))
        .await;
    assert!(is_ok(&line.read().await));
    assert!(is_ok(&line.read().await));
    line.write(&track(&key, "d")).await;
    assert!(is_ok(&line.read().await));
    let events = server.api.events(&server.api.contact("u").await).await;
    let mut names: Vec<&str> = events.iter().filter_map(|it| it["name"].as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["a", "b", "c", "d"], "{events:?}");
    let counted = "kurier_http_requests_total{route=\"/v1/{type}\",status=\"401\"}";
    assert_eq!(server.api.metric(counted).await, 1);
}

async fn a_revoked_key_is_refused_on_a_connection_that_showed_it_before(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let keys = "/api/v1/api-keys";
    let admin = |method, path: &str| {
        let bearer = format!("Bearer {}", api.admin_key);
        api.bare(method, path).header("Authorization", bearer)
    };
    let new = json!({"name": "site", "scopes": ["ingest"]});
    let made = admin(Method::POST, keys).json(&new).send().await;
    let made: serde_json::Value = made.expect("sent").json().await.expect("JSON");
    let key = made["key"].as_str().expect("shown");
    let mut line = Line::to(api).await;
    for event in ["a", "b"] {
        line.write(&track(key, event)).await;
        assert!(is_ok(&line.read().await));
    }
    let one = format!("{keys}/{}", made["id"].as_str().expect("an id"));
    let gone = admin(Method::DELETE, &one).send().await.expect("sent");
    assert_eq!(gone.status(), 204);
    line.write(&track(key, "c")).await;
    let refused = line.read().await;
    assert!(refused.starts_with("HTTP/1.1 401 "), "{refused}");
    assert_eq!(api.contact("u").await["event_count"], 2);
}

async fn a_connection_that_waits_does_not_keep_the_server(database: Database) {
    let server = Server::start(database).await;
    let mut line = Line::to(&server.api).await;
    line.write(&track(&server.api.write_key, "a")).await;
    assert!(is_ok(&line.read().await));
    server.terminate().await;
    let mut rest = Vec::new();
    line.0
        .read_to_end(&mut rest)
        .await
        .expect("closed in order");
    assert_eq!(rest, b"");
}
