//! A message that quotes content, in every channel, as its server gets it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{HANDBOOK, import};
use crate::channels::Sink;
use crate::channels::email::{read, settings};
use crate::harness::{ADMIN_KEY, Api, Database, Server, WRITE_KEY, on_both};
use crate::journeys::{post, put};

on_both![
    a_message_shows_content_as_its_channel_does,
    whatever_markdown_holds_every_channel_shows_it_and_obeys_nothing,
];

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

/// A server whose channels are the sinks.
async fn start(database: Database, http: &Sink, smtp: &Sink) -> Server {
    let keys = [
        ("KURIER_BOOTSTRAP_WRITE_KEY", WRITE_KEY),
        ("KURIER_BOOTSTRAP_ADMIN_KEY", ADMIN_KEY),
        ("KURIER_OUTGOING_ALLOW", "127.0.0.0/8"),
    ];
    let server = Server::start_with(database, &keys).await;
    set_up(&server.api, http, smtp).await;
    server
}

async fn publish(api: &Api, key: &str) {
    let quote = format!("{{{{ content('{key}') }}}}");
    let template =
        json!({"subject": "Refunds", "html": format!("<div>{quote}</div>"), "text": quote});
    put(api, "/api/v1/templates/refund", &template)
        .await
        .expect(201);
}

async fn a_message_shows_content_as_its_channel_does(database: Database) {
    let (mut http, mut smtp) = (Sink::http(json!({})).await, Sink::smtp(json!({})).await);
    let server = start(database, &http, &smtp).await;
    let api = &server.api;
    import(api, &[("a.md", HANDBOOK)]).await;
    publish(api, "para:refund_policy:001").await;
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

/// One of everything, some of it not meant well.
const ALL: &str = "## All of it\n\nA *soft* and **strong** word, ~~gone~~, `a<b` & [the terms](https://x.de/t?a=1&b=2).\n\n\
- one\n  - inner\n- two\n\n1. first\n2. second\n\n| Plan | Price |\n|---|---|\n| Basic | 5 € |\n\n\
```sh\nls -l\n```\n\n> Quoted.\n\n![Our logo](https://x.de/logo.png)\n\n\
<script>alert('block')</script>\n\nText <img src=x onerror=alert(1)> with \
[a trap](javascript:alert(2)), ![a picture](data:text/html,x) and <!channel>.\n";

async fn whatever_markdown_holds_every_channel_shows_it_and_obeys_nothing(database: Database) {
    let (mut http, mut smtp) = (Sink::http(json!({})).await, Sink::smtp(json!({})).await);
    let server = start(database, &http, &smtp).await;
    let api = &server.api;
    import(api, &[("a.md", ALL)]).await;
    publish(api, "para:all_of_it:001").await;
    send(api, "email", "ann@example.net").await;
    let mail = read(&smtp.next("mail").await, "", &[]);
    let part = |kind: &str| {
        let parts = mail["parts"].as_array().expect("parts").iter();
        let found = parts.into_iter().find(|part| part[0] == kind);
        let text = found.unwrap_or_else(|| panic!("{mail}"))[1].clone();
        text.as_str().expect("a text").replace("\r\n", "\n")
    };
    let (html, text) = (part("text/html"), part("text/plain"));
    send(api, "hook", "x").await;
    let hook: Value = serde_json::from_str(&body(&http.next("request").await)).expect("JSON");
    let hook = hook.to_string();
    assert!(hook.contains("<strong>strong</strong>"), "{hook}");
    assert!(
        !hook.contains("<script") && !hook.contains("<img src=x"),
        "{hook}"
    );
    send(api, "team", "C1").await;
    let slack: Value = serde_json::from_str(&body(&http.next("request").await)).expect("JSON");
    send(api, "texts", "+4915112345678").await;
    let sms: Value = serde_json::from_str(&body(&http.next("request").await)).expect("JSON");
    let said = |value: &Value| {
        value["text"]
            .as_str()
            .unwrap_or_else(|| panic!("{value}"))
            .to_owned()
    };
    let shown = [html, text, said(&slack), said(&sms)];
    let shown = shown.each_ref().map(|it| it.trim());
    assert_eq!(shown, [HTML, TEXT, SLACK, SMS]);
}

const HTML: &str = "<div><h2>All of it</h2>\n<p>A <em>soft</em> and <strong>strong</strong> word, \
<del>gone</del>, <code>a&lt;b</code> &amp; <a href=\"https://x.de/t?a=1&amp;b=2\">the terms</a>.</p>\n\
<ul>\n<li>one\n<ul>\n<li>inner</li>\n</ul>\n</li>\n<li>two</li>\n</ul>\n\
<ol>\n<li>first</li>\n<li>second</li>\n</ol>\n\
<table><thead><tr><th>Plan</th><th>Price</th></tr></thead><tbody>\n\
<tr><td>Basic</td><td>5 €</td></tr>\n</tbody></table>\n\
<pre><code class=\"language-sh\">ls -l\n</code></pre>\n<blockquote>\n<p>Quoted.</p>\n</blockquote>\n\
<p><img src=\"https://x.de/logo.png\" alt=\"Our logo\" /></p>\n\
&lt;script&gt;alert('block')&lt;/script&gt;\n\
<p>Text &lt;img src=x onerror=alert(1)&gt; with a trap, a picture and &lt;!channel&gt;.</p></div>";
const TEXT: &str = "All of it\n\nA soft and strong word, gone, a<b & the terms \
(https://x.de/t?a=1&b=2).\n\n- one\n  - inner\n- two\n\n1. first\n2. second\n\nPlan | Price\n\
Basic | 5 €\n\nls -l\n\n> Quoted.\n\nOur logo\n\nText  with a trap, a picture and .";
const SLACK: &str = "*All of it*\n\nA _soft_ and *strong* word, ~gone~, `a&lt;b` &amp; \
<https://x.de/t?a=1&amp;b=2|the terms>.\n\n• one\n  • inner\n• two\n\n1. first\n2. second\n\n\
Plan | Price\nBasic | 5 €\n\n```\nls -l\n```\n\n> Quoted.\n\nOur logo\n\n\
Text  with a trap, a picture and .";
const SMS: &str = "All of it\nA soft and strong word, gone, a<b & the terms: \
https://x.de/t?a=1&b=2.\n- one\n  - inner\n- two\n1. first\n2. second\nPlan | Price\n\
Basic | 5 €\nls -l\nQuoted.\nOur logo\nText  with a trap, a picture and .";
