//! A message that quotes content, in every channel, as its server gets it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{HANDBOOK, import};
use crate::channels::Sink;
use crate::channels::email::{read, settings};
use crate::harness::{ADMIN_KEY, Api, Database, Server, WRITE_KEY, on_both};
use crate::journeys::{post, put};

on_both![a_message_shows_content_as_its_channel_does];

async fn set_up(api: &Api, http: &Sink, smtp: &Sink) {
    let email = settings(smtp);
    let slack = json!({"kind": "slack", "settings": {"api_url": http.url("/api"), "channel": "C0"},
        "secrets": {"token": "xoxb-1"}});
    let sms = json!({"kind": "sms", "settings": {"provider": "http", "url": http.url("/ok")}});
    let hook = json!({"kind": "webhook", "settings": {"url": http.url("/ok")},
        "secrets": {"signing_secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}});
    for (name, settings) in [
        ("email", email),
        ("team", slack),
        ("texts", sms),
        ("hook", hook),
    ] {
        let set = put(api, &format!("/api/v1/channels/{name}"), &settings).await;
        assert!(set.status < 300, "{name}: {}", set.text);
    }
}

async fn send(api: &Api, channel: &str, to: &str) {
    let body = json!({"channel": channel, "to": to, "template": "refund"});
    post(api, "/api/v1/messages", &body).await.expect(202);
}

fn body(request: &Value) -> String {
    let bytes = STANDARD
        .decode(request["body"].as_str().expect("base64"))
        .expect("base64");
    String::from_utf8(bytes).expect("UTF-8")
}

async fn a_message_shows_content_as_its_channel_does(database: Database) {
    let (mut http, mut smtp) = (Sink::http(json!({})).await, Sink::smtp(json!({})).await);
    let keys = [
        ("KURIER_BOOTSTRAP_WRITE_KEY", WRITE_KEY),
        ("KURIER_BOOTSTRAP_ADMIN_KEY", ADMIN_KEY),
        ("KURIER_OUTGOING_ALLOW", "127.0.0.0/8"),
    ];
    let server = Server::start_with(database, &keys).await;
    let api = &server.api;
    set_up(api, &http, &smtp).await;
    import(api, &[("a.md", HANDBOOK)]).await;
    let quote = "{{ content('para:refund_policy:001') }}";
    let template =
        json!({"subject": "Refunds", "html": format!("<div>{quote}</div>"), "text": quote});
    put(api, "/api/v1/templates/refund", &template)
        .await
        .expect(201);

    send(api, "email", "ann@example.net").await;
    let mail = read(&smtp.next("mail").await, "", &[]).to_string();
    assert!(mail.contains("<strong>back</strong>"), "{mail}");
    assert!(
        mail.contains("Money back within 30 days (https://x.de/r)."),
        "{mail}"
    );
    send(api, "team", "C1").await;
    let said: Value = serde_json::from_str(&body(&http.next("request").await)).expect("JSON");
    let said = said["text"].as_str().expect("a text");
    assert!(
        said.contains("Money *back* within <https://x.de/r|30 days>."),
        "{said}"
    );
    send(api, "texts", "+4915112345678").await;
    let said = body(&http.next("request").await);
    assert!(said.contains("Money back within 30 days"), "{said}");
    assert!(
        !said.contains("**") && !said.contains("<strong>"),
        "no markup in {said}"
    );
    send(api, "hook", "x").await;
    let said = body(&http.next("request").await);
    assert!(said.contains("<strong>back</strong>"), "{said}");
    assert!(
        said.contains("Money back within 30 days (https://x.de/r)."),
        "{said}"
    );
}
