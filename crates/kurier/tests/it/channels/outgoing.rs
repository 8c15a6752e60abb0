//! Requests to servers that misbehave.

use kurier_core::message::{Blame, Category, Outcome};
use serde_json::json;

use super::sink::Sink;
use super::{channel, keys, letter, refused, sent, unknown, webhook_settings};

const SECRET: (&str, &str) = ("signing_secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");

async fn post(sink: &Sink, path: &str) -> Outcome {
    let hook = channel(webhook_settings(&sink.url(path)), &[SECRET]);
    hook.send(&letter("ann@example.net")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn statuses_are_told_as_they_are() {
    let sink = Sink::http(json!({})).await;
    for (status, category, blame, code) in [
        (500, Category::Temporary, Blame::Channel, "http 500"),
        (503, Category::Temporary, Blame::Channel, "http 503"),
        (400, Category::Permanent, Blame::Message, "http 400"),
        (401, Category::Permanent, Blame::Channel, "http 401"),
        (404, Category::Permanent, Blame::Channel, "http 404"),
        (410, Category::Permanent, Blame::Channel, "gone"),
    ] {
        let outcome = post(&sink, &format!("/status/{status}")).await;
        assert_eq!(refused(outcome), (category, blame, code.to_owned()));
    }
    for status in [200, 201, 202, 204] {
        sent(post(&sink, &format!("/status/{status}")).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_says_how_long_it_wants_to_be_left_alone() {
    let sink = Sink::http(json!({})).await;
    let Outcome::Refused(seconds) = post(&sink, "/retry/17").await else {
        panic!("not refused")
    };
    assert_eq!(
        (seconds.category, seconds.retry_after),
        (Category::Temporary, Some(17))
    );
    let Outcome::Refused(date) = post(&sink, "/retry/date").await else {
        panic!("not refused")
    };
    let after = date.retry_after.expect("read");
    assert!((80..=90).contains(&after), "{after}");
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_are_not_followed() {
    for path in ["/redirect/metadata", "/redirect/here"] {
        let mut sink = Sink::http(json!({})).await;
        let outcome = post(&sink, path).await;
        let expected = (Category::Permanent, Blame::Channel, "http 302".to_owned());
        assert_eq!(refused(outcome), expected);
        sink.next("request").await;
        assert_eq!(sink.rest("request").await, 0, "no second request");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_gigabyte_little_is_read() {
    let mut sink = Sink::http(json!({})).await;
    sent(post(&sink, "/huge").await);
    let written = sink.next("huge").await["written"]
        .as_u64()
        .expect("a number");
    // What the server got rid of is what was read and what the kernels hold.
    assert!(written < 16 << 20, "{written} bytes");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_lost_answer_is_unknown() {
    let mut sink = Sink::http(json!({})).await;
    unknown(&post(&sink, "/hang").await);
    unknown(&post(&sink, "/close").await);
    sink.next("request").await;
    sink.next("request").await;
    let port = sink.port;
    sink.rest("request").await;
    let hook = channel(
        webhook_settings(&format!("http://127.0.0.1:{port}/")),
        &[SECRET],
    );
    let outcome = hook.send(&letter("a@b.c")).await;
    assert_eq!(
        refused(outcome),
        (Category::Retryable, Blame::Channel, "connect".into())
    );
    let hook = channel(webhook_settings("http://no-such-name.invalid/"), &[SECRET]);
    let outcome = hook.send(&letter("a@b.c")).await;
    assert_eq!(
        refused(outcome),
        (Category::Retryable, Blame::Channel, "dns".into())
    );
}

/// A listener that accepts and says nothing: no TLS handshake ends, so nothing is handed over.
#[tokio::test(flavor = "multi_thread")]
async fn what_never_connects_was_not_sent() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("bound");
    let port = silent.local_addr().expect("an address").port();
    let mut settings = webhook_settings(&format!("https://127.0.0.1:{port}/"));
    settings["settings"]["timeout_seconds"] = json!(1);
    let outcome = channel(settings, &[SECRET]).send(&letter("a@b.c")).await;
    assert_eq!(
        refused(outcome),
        (Category::Retryable, Blame::Channel, "timeout".into())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_are_checked() {
    let sink = Sink::http(json!({"certificate": keys()["server"]})).await;
    let url = format!("https://localhost:{}/ok", sink.port);
    let mut settings = webhook_settings(&url);
    settings["settings"]["ca_certificate"] = keys()["ca"].clone();
    let outside = kurier::channel::Outside::new(
        kurier_core::net::Guard::new(["localhost", "127.0.0.1", "::1"]).expect("good"),
    );
    let hook = super::channel_in(&outside, settings.clone(), &[SECRET]);
    sent(hook.send(&letter("a@b.c")).await);
    for other in [keys()["other_ca"].clone(), serde_json::Value::Null] {
        settings["settings"]["ca_certificate"] = other;
        let hook = super::channel_in(&outside, settings.clone(), &[SECRET]);
        let outcome = hook.send(&letter("a@b.c")).await;
        assert_eq!(
            refused(outcome),
            (Category::Retryable, Blame::Channel, "tls".into())
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_is_asked_by_a_few_at_a_time() {
    let mut sink = Sink::http(json!({})).await;
    let mut settings = webhook_settings(&sink.url("/gate/3"));
    settings["settings"]["concurrency"] = json!(3);
    settings["settings"]["timeout_seconds"] = json!(30);
    let hook = channel(settings, &[SECRET]);
    assert_eq!(hook.concurrency(), 3);
    let mut sending = tokio::task::JoinSet::new();
    for _ in 0..3 {
        let hook = hook.clone();
        sending.spawn(async move { hook.send(&letter("a@b.c")).await });
    }
    for outcome in sending.join_all().await {
        sent(outcome);
    }
    let mut most = 0;
    for _ in 0..3 {
        most = sink.next("request").await["most"]
            .as_u64()
            .expect("a number");
    }
    assert_eq!(most, 3, "three at once");
    // Twenty more never are more than three at once.
    let mut sending = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let hook = hook.clone();
        sending.spawn(async move { hook.send(&letter("a@b.c")).await });
    }
    let mut seen = 0;
    while seen < 18 {
        most = sink.next("request").await["most"]
            .as_u64()
            .expect("a number");
        seen += 1;
    }
    assert_eq!(most, 3);
}
