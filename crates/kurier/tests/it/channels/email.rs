//! Mails, as a foreign server receives them and foreign programs read them.

use std::process::Command;

use kurier_core::message::{Blame, Category, Letter};
use serde_json::{Value, json};

use super::sink::Sink;
use super::{ask, channel, installed, keys, letter, refused, script, sent, text};

pub fn settings(sink: &Sink) -> Value {
    json!({"kind": "email", "settings": {
        "host": "127.0.0.1", "port": sink.port, "security": "none", "timeout_seconds": 20,
        "from": {"name": "Acme", "address": "hello@example.com"}}})
}

fn signed(sink: &Sink) -> Value {
    let mut settings = settings(sink);
    settings["settings"]["dkim"] = json!({"domain": "example.com", "selector": "k1"});
    settings["settings"]["unsubscribe_mailto"] = json!("leave@example.com");
    settings
}

/// What Python and dkimpy make of a mail.
pub fn read(mail: &Value, record: &str, tamper: &[&str]) -> Value {
    let question = json!({"raw": mail["raw"], "record": record, "tamper": tamper,
        "selector": "k1._domainkey.example.com"});
    let mut python = Command::new(&installed().python);
    let answer = ask(python.arg(script("read_mail.py")), &question.to_string());
    serde_json::from_str(&answer).expect("JSON")
}

pub fn header<'a>(read: &'a Value, name: &str) -> Vec<&'a str> {
    let all = read["headers"].as_array().expect("headers");
    let named = all.iter().filter(|it| it[0] == name);
    named.map(|it| it[1].as_str().expect("text")).collect()
}

fn with_all_parts(to: &str) -> Letter {
    let mut letter = letter(to);
    letter.rendered.html = Some("<p>Hello <b>Ann</b></p>".into());
    letter.unsubscribe = Some("https://k.example.com/u/abc?x=1".into());
    letter.topic = Some("news".into());
    letter
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_is_signed_and_foreign_code_verifies_it() {
    let mut sink = Sink::smtp(json!({})).await;
    let rsa = format!("v=DKIM1; k=rsa; p={}", text(&keys()["rsa_public"]));
    let small = format!("v=DKIM1; k=ed25519; p={}", text(&keys()["ed25519_public"]));
    for (key, record) in [("rsa", &rsa), ("rsa_old", &rsa), ("ed25519", &small)] {
        let pem = text(&keys()[key]);
        let email = channel(signed(&sink), &[("dkim_private_key", &pem)]);
        let letter = with_all_parts("ann@example.net");
        assert_eq!(
            sent(email.send(&letter).await).as_deref(),
            Some("2.0.0 kept as 42")
        );
        let mail = sink.next("mail").await;
        let tamper = [
            "List-Unsubscribe",
            "List-Unsubscribe-Post",
            "Subject",
            "To",
            "Date",
        ];
        let read = read(&mail, record, &tamper);
        assert_eq!(read["verified"], true, "{key}: {read}");
        assert_eq!(read["folded"], true, "a relay may fold headers");
        assert_eq!(read["extra_from"], false, "a second From breaks it");
        for header in tamper {
            assert_eq!(read["tampered"][header], false, "{header} is covered");
        }
        let covered = text(&read["tags"]["h"]);
        let covered: Vec<&str> = covered.split(':').collect();
        for name in [
            "from",
            "to",
            "subject",
            "date",
            "message-id",
            "mime-version",
            "content-type",
            "list-unsubscribe",
            "list-unsubscribe-post",
        ] {
            assert!(covered.contains(&name), "{name} is not in {covered:?}");
        }
        assert_eq!(read["tags"]["c"], "relaxed/relaxed");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_has_all_its_headers_and_text_beside_html() {
    let mut sink = Sink::smtp(json!({})).await;
    let pem = text(&keys()["rsa"]);
    let email = channel(signed(&sink), &[("dkim_private_key", &pem)]);
    let letter = with_all_parts("ann@example.net");
    sent(email.send(&letter).await);
    let read = read(&sink.next("mail").await, "", &[]);
    let id = format!("<{}@example.com>", letter.message);
    assert_eq!(header(&read, "Message-ID"), [id.as_str()]);
    assert_eq!(header(&read, "To"), ["ann@example.net"]);
    assert_eq!(header(&read, "From"), ["Acme <hello@example.com>"]);
    assert_eq!(
        header(&read, "X-Kurier-Message"),
        [letter.message.to_string()]
    );
    assert_eq!(
        header(&read, "Feedback-ID"),
        ["welcome:news:kurier:example-com"]
    );
    let lines = json!([
        "List-Unsubscribe: <https://k.example.com/u/abc?x=1>, <mailto:leave@example.com>",
        "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
    ]);
    assert_eq!(read["raw_unsubscribe"], lines, "each on one line");
    assert_eq!(read["type"], "multipart/alternative");
    assert_eq!(read["parts"][0][0], "text/plain");
    assert_eq!(
        read["parts"][1],
        json!(["text/html", "<p>Hello <b>Ann</b></p>"])
    );
    // Without text of its own, HTML is read aloud.
    let mut html = with_all_parts("ann@example.net");
    html.rendered.text = None;
    html.unsubscribe = None;
    sent(email.send(&html).await);
    let read = self::read(&sink.next("mail").await, "", &[]);
    assert_eq!(text(&read["parts"][0][1]).trim_end(), "Hello Ann");
    assert_eq!(read["raw_unsubscribe"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_escapes_its_header_and_no_body_is_two_mails() {
    let mut sink = Sink::smtp(json!({})).await;
    let mut settings = settings(&sink);
    settings["settings"]["from"]["name"] = json!("Käse \"und\" <Brot>, Bcc: x@y.z");
    let email = channel(settings, &[]);
    let subjects = [
        "Hi\r\nBcc: victim@example.org\r\n\r\nbody".to_owned(),
        "Grüße 🎉 ".repeat(40),
        "=?utf-8?q?=0D=0ABcc:_x@y.z?=".to_owned(),
        "x".repeat(3_000),
        "\u{202e}txt\0 tab\there".to_owned(),
        String::new(),
    ];
    let bodies = [
        ".\r\n..\r\n.\r\nMAIL FROM:<a@b>\r\n",
        "a\n.\nb\r.\rc\n.\r\nd\r\n.\r\n\r\nQUIT\r\n",
        "ä\n.\r\nx\r\n.\n",
        "x",
        "\u{2028}\u{85}.\n",
        "no end\r",
    ];
    for (subject, body) in subjects.iter().zip(bodies) {
        let mut letter = letter("ann@example.net");
        letter.rendered.subject = Some(subject.clone());
        letter.rendered.text = Some(body.into());
        sent(email.send(&letter).await);
        let read = read(&sink.next("mail").await, "", &[]);
        let names: Vec<&str> = read["headers"]
            .as_array()
            .expect("headers")
            .iter()
            .map(|it| it[0].as_str().expect("a name"))
            .collect();
        let mut sorted: Vec<String> = names.iter().map(|it| it.to_lowercase()).collect();
        sorted.sort_unstable();
        let expected = [
            "content-transfer-encoding",
            "content-type",
            "date",
            "feedback-id",
            "from",
            "message-id",
            "mime-version",
            "subject",
            "to",
            "x-kurier-message",
        ];
        assert_eq!(sorted, expected, "{subject:?}");
        assert_eq!(header(&read, "To"), ["ann@example.net"]);
        assert_eq!(
            (&read["defects"], &read["lone"]),
            (&json!([]), &json!(0)),
            "{read}"
        );
        assert!(read["lines_max"].as_u64().expect("a number") <= 998);
        let lines = |text: &str| {
            text.replace("\r\n", "\n")
                .replace('\r', "\n")
                .trim_end()
                .to_owned()
        };
        assert_eq!(lines(&text(&read["parts"][0][1])), lines(body), "{body:?}");
    }
    assert_eq!(sink.rest("mail").await, 0, "each was one mail");
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_are_addresses() {
    let mut sink = Sink::smtp(json!({})).await;
    let email = channel(settings(&sink), &[]);
    for bad in [
        "",
        "ann",
        "a@b\r\nBcc: x@y.z",
        "a@b>,<c@d",
        "a b@c.d",
        "@",
        "a@",
        "ann@example.net, bob@x.y",
    ] {
        let (category, blame, code) = refused(email.send(&letter(bad)).await);
        assert_eq!(
            (category, blame),
            (Category::Permanent, Blame::Recipient),
            "{bad:?}"
        );
        assert!(code == "bad_address" || code == "no_address", "{code}");
    }
    sent(email.send(&letter("jörg@example.net")).await);
    assert_eq!(sink.next("mail").await["to"], json!(["jörg@example.net"]));
    assert_eq!(sink.rest("mail").await, 0);
    let old = Sink::smtp(json!({"utf8": false})).await;
    let email = channel(settings(&old), &[]);
    let (category, blame, code) = refused(email.send(&letter("jörg@example.net")).await);
    assert_eq!((category, blame), (Category::Permanent, Blame::Recipient));
    assert_eq!(code, "smtputf8");
    let mut empty = letter("ann@example.net");
    empty.rendered.text = Some(" ".into());
    let (_, blame, code) = refused(email.send(&empty).await);
    assert_eq!((blame, code.as_str()), (Blame::Message, "empty"));
}
