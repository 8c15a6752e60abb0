//! Expressions that are wrong in the ways that break parsers: refused at once, with the place.

use serde_json::json;

use super::members::post;
use crate::cli::reading;
use crate::harness::{Database, Server};

/// What is said of a text, and the bytes it points at.
struct Fault {
    text: String,
    says: &'static str,
    span: (usize, usize),
}

fn chain(parts: usize) -> String {
    vec!["contact.plan = 'pro'"; parts].join(" AND ")
}

fn faults() -> Vec<Fault> {
    let nested = format!("{}TRUE{}", "(".repeat(1_000), ")".repeat(1_000));
    let long = chain(20_000);
    let length = long.len();
    let fault = |text: &str, says, span| Fault {
        text: text.to_owned(),
        says,
        span,
    };
    vec![
        fault(&nested, "nests at most 64 deep", (64, 65)),
        fault(&long, "at most 65536 bytes", (65_536, length)),
        fault("event.x = 1", "only where there is an event", (0, 7)),
        fault(
            "contact.age > 1 AND 'a' = 1",
            "a text is compared with a number",
            (20, 27),
        ),
        fault(
            "frobnicate(1) > 3",
            "there is no function `frobnicate`",
            (0, 10),
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn each_is_refused_with_its_place() {
    let server = Server::start(Database::sqlite()).await;
    for Fault { text, says, span } in faults() {
        let body = json!({ "expression": text });
        let answer = post(&server.api, "/api/v1/expressions/check", &body).await;
        let answer = answer.expect(200).json();
        assert_eq!(answer["ok"], false);
        let error = &answer["errors"][0];
        let message = error["message"].as_str().expect("a message");
        assert!(message.contains(says), "{message}");
        let wanted = json!({"start": span.0, "end": span.1});
        assert_eq!(error["span"], wanted, "{message}");
        let evaluated = reading(&text, &["eval", "-"]).expect(2);
        assert!(evaluated.stderr.contains(message), "{}", evaluated.stderr);
        assert!(evaluated.stderr.contains('^'), "{}", evaluated.stderr);
        assert!(evaluated.stderr.lines().all(|line| line.len() < 400));
    }
}

/// Longer than other bodies may be: it is read, and told of as every other fault is.
#[tokio::test(flavor = "multi_thread")]
async fn a_megabyte_is_refused_with_its_place() {
    let text = chain(42_000);
    assert!(text.len() > 1_000_000);
    let server = Server::start(Database::sqlite()).await;
    let body = json!({ "expression": text });
    let answer = post(&server.api, "/api/v1/expressions/check", &body).await;
    let answer = answer.expect(200).json();
    let says = format!(
        "an expression has at most 65536 bytes; this one has {}",
        text.len()
    );
    let error = &answer["errors"][0];
    assert_eq!(error["message"], json!(says));
    assert_eq!(error["span"], json!({"start": 65_536, "end": text.len()}));
    let evaluated = reading(&text, &["eval", "-"]).expect(2);
    assert!(evaluated.stderr.contains(&says), "{}", evaluated.stderr);
}

/// There is an end to what is read.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_larger_than_any_text_is_refused_unread() {
    let server = Server::start(Database::sqlite()).await;
    let body = json!({ "expression": " ".repeat(9 * 1024 * 1024) });
    let answer = post(&server.api, "/api/v1/expressions/check", &body).await;
    answer.expect_problem(413, "too_large");
}
