//! What arrives is hardly HTTP.

use std::fmt::Write as _;

use serde_json::json;
use tokio::io::AsyncWriteExt as _;

use super::{assert_status, connect, exchange, head};
use crate::harness::{Database, Server, on_both};

on_both![
    ten_thousand_headers_are_refused,
    garbage_is_refused,
    garbage_after_a_good_request_costs_only_itself,
    a_body_may_come_in_chunks,
    requests_that_can_be_read_in_two_ways_are_refused,
    a_body_that_ends_early_is_not_half_accepted,
];

async fn ten_thousand_headers_are_refused(database: Database) {
    let server = Server::start(database).await;
    let many = |count: usize| {
        let mut lines = String::new();
        for n in 0..count {
            write!(lines, "X-Header-{n}: value\r\n").expect("written");
        }
        lines
    };
    for count in [200, 10_000] {
        let answer = exchange(&server.api, head(&server.api, &many(count)).as_bytes()).await;
        assert_status(&answer, 431);
        server.api.assert_alive().await;
    }
    let huge = format!("X-Huge: {}\r\n", "x".repeat(1024 * 1024));
    let answer = exchange(&server.api, head(&server.api, &huge).as_bytes()).await;
    assert_status(&answer, 431);
    let long = format!(
        "GET /{} HTTP/1.1\r\nHost: kurier\r\n\r\n",
        "x".repeat(100_000)
    );
    let answer = exchange(&server.api, long.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
    server.api.assert_alive().await;
}

async fn garbage_is_refused(database: Database) {
    let server = Server::start(database).await;
    let pieces: [&[u8]; 5] = [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 a TLS hello\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nBad Header : x\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
    ];
    for piece in pieces {
        let answer = exchange(&server.api, piece).await;
        let shown = String::from_utf8_lossy(piece);
        assert!(answer.starts_with("HTTP/1.1 400"), "{shown}: {answer}");
        server.api.assert_alive().await;
    }
}

async fn garbage_after_a_good_request_costs_only_itself(database: Database) {
    let server = Server::start(database).await;
    let body = json!({"userId": "u", "event": "e"}).to_string();
    let good = format!(
        "{}{body}",
        head(&server.api, &format!("Content-Length: {}\r\n", body.len()))
    );
    let answer = exchange(
        &server.api,
        format!("{good}{good}\x01garbage\r\n\r\n").as_bytes(),
    )
    .await;
    assert_eq!(answer.matches("HTTP/1.1 200 OK").count(), 2, "{answer}");
    assert_eq!(answer.matches("HTTP/1.1 400").count(), 1, "{answer}");
    server.api.assert_alive().await;
    assert_eq!(server.api.contact("u").await["event_count"], 2);
}

async fn a_body_may_come_in_chunks(database: Database) {
    let server = Server::start(database).await;
    let body = json!({"userId": "u", "event": "e"}).to_string();
    let mut request = head(
        &server.api,
        "Transfer-Encoding: chunked\r\nConnection: close\r\n",
    );
    for piece in body.as_bytes().chunks(5) {
        let piece = std::str::from_utf8(piece).expect("ASCII");
        write!(request, "{:x}\r\n{piece}\r\n", piece.len()).expect("written");
    }
    request.push_str("0\r\n\r\n");
    let answer = exchange(&server.api, request.as_bytes()).await;
    assert_status(&answer, 200);
    assert!(answer.ends_with(r#"{"success":true}"#), "{answer}");
    // Chunks of a body without end are counted like any other.
    let mut endless = head(
        &server.api,
        "Transfer-Encoding: chunked\r\nConnection: close\r\n",
    );
    for _ in 0..40 {
        write!(endless, "{:x}\r\n{}\r\n", 65_536, " ".repeat(65_536)).expect("written");
    }
    endless.push_str("0\r\n\r\n");
    assert_status(&exchange(&server.api, endless.as_bytes()).await, 413);
    let wrong = head(
        &server.api,
        "Transfer-Encoding: chunked\r\nConnection: close\r\n",
    );
    assert_status(
        &exchange(&server.api, format!("{wrong}zz\r\nx\r\n").as_bytes()).await,
        400,
    );
    server.api.assert_alive().await;
    assert_eq!(server.api.contact("u").await["event_count"], 1);
}

async fn requests_that_can_be_read_in_two_ways_are_refused(database: Database) {
    let server = Server::start(database).await;
    let inner = json!({"userId": "smuggled", "event": "e"}).to_string();
    let smuggled = format!(
        "{}{inner}",
        head(&server.api, &format!("Content-Length: {}\r\n", inner.len()))
    );
    let two_lengths = head(&server.api, "Content-Length: 0\r\nContent-Length: 5\r\n");
    let answer = exchange(&server.api, format!("{two_lengths}{smuggled}").as_bytes()).await;
    assert_status(&answer, 400);
    let both = head(
        &server.api,
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
    );
    let answer = exchange(&server.api, format!("{both}0\r\n\r\n\x01").as_bytes()).await;
    assert!(!answer.contains("HTTP/1.1 200"), "{answer}");
    server.api.assert_alive().await;
    assert_eq!(
        server
            .database
            .count("SELECT count(*) FROM log WHERE contact IS NOT NULL")
            .await,
        0
    );
}

async fn a_body_that_ends_early_is_not_half_accepted(database: Database) {
    let server = Server::start(database).await;
    let body = json!({"userId": "u", "event": "e"}).to_string();
    for _ in 0..20 {
        let mut stream = connect(&server.api).await;
        let head = head(
            &server.api,
            &format!("Content-Length: {}\r\n", body.len() + 1),
        );
        stream
            .write_all(format!("{head}{body}").as_bytes())
            .await
            .expect("written");
        drop(stream);
    }
    server.api.assert_alive().await;
    server.api.settle().await;
    assert_eq!(
        server
            .database
            .count("SELECT count(*) FROM log WHERE contact IS NOT NULL")
            .await,
        0
    );
}
