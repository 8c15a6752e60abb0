//! Webhooks, verified with the libraries of the standard itself.

use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kurier_core::message::Letter;
use serde_json::{Value, json};

use super::sink::Sink;
use super::{ask, channel, installed, letter, script, sent, text, webhook_settings};

const NEW: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OLD: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const OTHER: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";

fn body(request: &Value) -> String {
    let bytes = STANDARD.decode(text(&request["body"])).expect("base64");
    String::from_utf8(bytes).expect("UTF-8")
}

/// What both libraries say to each question.
fn verify(questions: &[Value]) -> [Vec<String>; 2] {
    let lines: String = questions.iter().map(|it| format!("{it}\n")).collect();
    let words = |said: String| {
        let lines = said
            .lines()
            .map(|line| line.split(' ').next().unwrap_or_default().to_owned());
        lines.collect::<Vec<_>>()
    };
    let mut python = Command::new(&installed().python);
    let python = ask(python.arg(script("read_webhook.py")), &lines);
    let copy = installed()
        .node
        .join(format!("read-{}.mjs", std::process::id()));
    std::fs::copy(script("read_webhook.mjs"), &copy).expect("copied");
    let node = ask(Command::new("node").arg(copy), &lines);
    [words(python), words(node)]
}

#[tokio::test(flavor = "multi_thread")]
async fn the_standards_own_libraries_verify_what_is_posted() {
    let mut sink = Sink::http(json!({})).await;
    let hook = channel(
        webhook_settings(&sink.url("/ok")),
        &[("signing_secret", &format!("{NEW} {OLD}"))],
    );
    let mut letter = letter("ann@example.net");
    letter.rendered.json =
        Some(r#"{"name": "Jörg \u2028", "n": 1.50, "big": 12345678901234567890}"#.into());
    sent(hook.send(&letter).await);
    let request = sink.next("request").await;
    let (headers, body) = (request["headers"].clone(), body(&request));
    let question = |secret: &str, body: &str, headers: &Value| json!({"secret": secret, "body": body, "headers": headers});
    let with = |name: &str, value: &str| {
        let mut headers = headers.clone();
        headers[name] = json!(value);
        headers
    };
    let seconds: i64 = text(&headers["webhook-timestamp"])
        .parse()
        .expect("seconds");
    let signature = text(&headers["webhook-signature"]);
    assert_eq!(signature.split(' ').count(), 2, "one for each secret");
    let flipped = body.replace("1.50", "1.51");
    let questions = [
        question(NEW, &body, &headers),
        question(OLD, &body, &headers),
        question(OTHER, &body, &headers),
        question(NEW, &flipped, &headers),
        question(NEW, &body, &with("webhook-id", "other")),
        question(
            NEW,
            &body,
            &with("webhook-timestamp", &(seconds - 1).to_string()),
        ),
        question(
            NEW,
            &body,
            &with("webhook-timestamp", &(seconds - 3_600).to_string()),
        ),
    ];
    for said in verify(&questions) {
        assert_eq!(said, ["good", "good", "bad", "bad", "bad", "bad", "bad"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_posted_is_as_the_standard_has_it_and_its_id_stays() {
    let mut sink = Sink::http(json!({})).await;
    let mut settings = webhook_settings(&sink.url("/ok?a=b"));
    settings["settings"]["headers"] = json!({"x-tenant": "acme"});
    let hook = channel(settings, &[("signing_secret", NEW)]);
    let first = letter("ann@example.net");
    let again = Letter {
        attempt: 2,
        ..first.clone()
    };
    for letter in [&first, &again] {
        sent(hook.send(letter).await);
        let request = sink.next("request").await;
        assert_eq!(
            (&request["method"], &request["path"]),
            (&json!("POST"), &json!("/ok?a=b"))
        );
        assert_eq!(request["headers"]["webhook-id"], first.message.to_string());
        assert_eq!(request["headers"]["x-tenant"], "acme");
        assert_eq!(request["headers"]["content-type"], "application/json");
        let posted: Value = serde_json::from_str(&body(&request)).expect("JSON");
        let expected = json!({"type": "welcome", "timestamp": first.at.to_string(), "data": {
            "id": first.message.to_string(), "to": "ann@example.net", "subject": "Hello",
            "text": first.rendered.text}});
        assert_eq!(posted, expected);
    }
    let mut given = letter("ann@example.net");
    given.rendered.json = Some(r#"{"b": 1, "a": [1e2, "x"]}"#.into());
    sent(hook.send(&given).await);
    let said = body(&sink.next("request").await);
    assert!(
        said.contains(r#""data":{"b": 1, "a": [1e2, "x"]}"#),
        "as it was written: {said}"
    );
}
