//! What is said of a mail when servers refuse, vanish and are not who they should be.

use kurier_core::message::{Blame, Category, Letter, Outcome};
use serde_json::{Value, json};

use super::email::{header, read, settings};
use super::sink::Sink;
use super::{channel, keys, letter, refused, sent, text, unknown};

#[tokio::test(flavor = "multi_thread")]
async fn replies_are_told_as_they_are_and_the_connection_is_used_again() {
    let mut sink = Sink::smtp(json!({})).await;
    let email = channel(settings(&sink), &[]);
    for (to, category, blame, code) in [
        (
            "reply-550-5.1.1",
            Category::Permanent,
            Blame::Recipient,
            "smtp 550 5.1.1",
        ),
        (
            "reply-452-4.2.2",
            Category::Temporary,
            Blame::Recipient,
            "smtp 452 4.2.2",
        ),
        (
            "data-554-5.7.1",
            Category::Permanent,
            Blame::Message,
            "smtp 554 5.7.1",
        ),
        (
            "data-451-4.3.0",
            Category::Temporary,
            Blame::Channel,
            "smtp 451 4.3.0",
        ),
        (
            "reply-550",
            Category::Permanent,
            Blame::Recipient,
            "smtp 550",
        ),
    ] {
        let outcome = email.send(&letter(&format!("{to}@example.net"))).await;
        assert_eq!(refused(outcome), (category, blame, code.to_owned()), "{to}");
    }
    for _ in 0..20 {
        sent(email.send(&letter("ann@example.net")).await);
        sink.next("mail").await;
    }
    assert_eq!(
        sink.rest("connection").await,
        0,
        "one connection did it all"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_lost_answer_is_unknown() {
    let mut sink = Sink::smtp(json!({})).await;
    let mut settings = settings(&sink);
    settings["settings"]["timeout_seconds"] = json!(1);
    let email = channel(settings.clone(), &[]);
    unknown(&email.send(&letter("drop@example.net")).await);
    unknown(&email.send(&letter("slow@example.net")).await);
    let (category, blame, code) = refused(email.send(&letter("drop-rcpt@example.net")).await);
    assert_eq!((category, blame), (Category::Retryable, Blame::Channel));
    assert_eq!(code, "connect");
    let outcome = email.send(&letter("slow-rcpt@example.net")).await;
    assert_eq!(
        refused(outcome),
        (Category::Retryable, Blame::Channel, "timeout".into())
    );
    // What was lost has arrived, and a second attempt carries the same ids.
    let lost = letter("drop@example.net");
    let ids = async |sink: &mut Sink, to: &str| loop {
        let mail = sink.next("mail").await;
        if mail["to"] == json!([to]) {
            let read = read(&mail, "", &[]);
            return (
                text(&json!(header(&read, "Message-ID")[0])),
                text(&json!(header(&read, "X-Kurier-Message")[0])),
            );
        }
    };
    sink.next("mail").await;
    unknown(&email.send(&lost).await);
    let first = ids(&mut sink, "drop@example.net").await;
    let again = Letter {
        attempt: 2,
        to: Some("ann@example.net".into()),
        ..lost
    };
    sent(email.send(&again).await);
    assert_eq!(ids(&mut sink, "ann@example.net").await, first);
    // Nobody is there any more, also on the connection that was kept.
    sink.rest("mail").await;
    let (category, blame, code) = refused(email.send(&again).await);
    assert_eq!((category, blame), (Category::Retryable, Blame::Channel));
    assert_eq!(code, "connect");
    settings["settings"]["host"] = json!("no-such-name.invalid");
    let outcome = channel(settings, &[]).send(&again).await;
    assert_eq!(refused(outcome).2, "connect");
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_are_encrypted_and_passwords_are_not_told_to_strangers() {
    for security in ["starttls", "tls"] {
        let options =
            json!({"certificate": keys()["server"], "password": "swordfish", "security": security});
        let mut sink = Sink::smtp(options).await;
        let mut settings = settings(&sink);
        let it = &mut settings["settings"];
        it["host"] = json!("localhost");
        it["security"] = json!(security);
        it["username"] = json!("kurier");
        it["ca_certificate"] = keys()["ca"].clone();
        let email = channel(settings.clone(), &[("password", "swordfish")]);
        sent(email.send(&letter("ann@example.net")).await);
        let mail = sink.next("mail").await;
        assert_eq!(
            (&mail["tls"], &mail["user"]),
            (&json!(true), &json!("kurier"))
        );
        let wrong = channel(settings.clone(), &[("password", "wrong")]);
        let (category, blame, code) = refused(wrong.send(&letter("ann@example.net")).await);
        assert_eq!((category, blame), (Category::Permanent, Blame::Channel));
        assert!(code.starts_with("smtp 535"), "{code}");
        for other in [keys()["other_ca"].clone(), Value::Null] {
            settings["settings"]["ca_certificate"] = other;
            let stranger = channel(settings.clone(), &[("password", "swordfish")]);
            let (category, blame, code) = refused(stranger.send(&letter("a@b.c")).await);
            assert_eq!((category, blame), (Category::Retryable, Blame::Channel));
            assert!(["tls", "connect"].contains(&code.as_str()), "{code}");
        }
        assert_eq!(sink.rest("mail").await, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_starttls_nothing_is_sent() {
    let sink = Sink::smtp(json!({})).await;
    let mut settings = settings(&sink);
    settings["settings"]["security"] = json!("starttls");
    let outcome = channel(settings, &[])
        .send(&letter("ann@example.net"))
        .await;
    let (category, blame, _) = refused(outcome);
    assert_eq!((category, blame), (Category::Permanent, Blame::Channel));
    assert_eq!(sink.rest("mail").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_at_once_share_a_few_connections() {
    let mut sink = Sink::smtp(json!({})).await;
    let mut settings = settings(&sink);
    settings["settings"]["pool_size"] = json!(4);
    let email = channel(settings, &[]);
    let mut sending = tokio::task::JoinSet::new();
    for _ in 0..200 {
        let email = email.clone();
        sending.spawn(async move { email.send(&letter("ann@example.net")).await });
    }
    let mut ids = std::collections::HashSet::new();
    let mut connections = 0;
    while ids.len() < 200 {
        let said = sink.any().await;
        match said["kind"].as_str() {
            Some("mail") => drop(ids.insert(said["raw"].to_string())),
            _ => connections += 1,
        }
    }
    for outcome in sending.join_all().await {
        assert!(matches!(outcome, Outcome::Sent { .. }), "{outcome:?}");
    }
    assert!(connections <= 4, "{connections} connections");
}

/// A server that offers STARTTLS, and someone between who adds a line to its answer.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_slipped_in_before_encryption_ends_it() {
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
    let listener = listener.expect("bound");
    let port = listener.local_addr().expect("an address").port();
    let server = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.expect("a connection");
        let mut stream = BufReader::new(stream);
        stream.write_all(b"220 hi\r\n").await.expect("said");
        let mut said = Vec::new();
        let mut line = Vec::new();
        while stream.read_until(b'\n', &mut line).await.unwrap_or(0) > 0 {
            let answer: &[u8] = match line.as_slice() {
                b"STARTTLS\r\n" => b"220 go\r\n250 slipped in\r\n",
                _ => b"250-hi\r\n250 STARTTLS\r\n",
            };
            said.append(&mut line);
            // Who has left does not hear it.
            let _ = stream.write_all(answer).await;
        }
        [said, line].concat()
    });
    let settings = json!({"kind": "email", "settings": {"host": "127.0.0.1", "port": port,
        "timeout_seconds": 20, "from": {"address": "hello@example.com"}}});
    let (category, blame, code) = refused(channel(settings, &[]).send(&letter("a@b.c")).await);
    assert_eq!(
        (category, blame, code.as_str()),
        (Category::Retryable, Blame::Channel, "tls")
    );
    let said = server.await.expect("ended");
    let expected = "EHLO example.com\r\nSTARTTLS\r\n";
    assert_eq!(String::from_utf8_lossy(&said), expected, "nothing after it");
}
