//! Slack and SMS.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kurier_core::message::{Blame, Category, Letter};
use serde_json::{Value, json};

use super::sink::Sink;
use super::{channel, letter, refused, sent, text};

fn body(request: &Value) -> String {
    let bytes = STANDARD.decode(text(&request["body"])).expect("base64");
    String::from_utf8(bytes).expect("UTF-8")
}

fn posted(request: &Value) -> Value {
    serde_json::from_str(&body(request)).expect("JSON")
}

fn bot(sink: &Sink, channel_name: Option<&str>) -> std::sync::Arc<dyn kurier::channel::Channel> {
    let settings = json!({"kind": "slack", "settings": {
        "api_url": sink.url("/api"), "channel": channel_name}});
    channel(settings, &[("token", "xoxb-1")])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bot_posts_text_and_blocks() {
    let mut sink = Sink::http(json!({})).await;
    let slack = bot(&sink, Some("C0"));
    let mut long = letter("C1");
    long.rendered.text = Some("ä".repeat(7_000));
    assert_eq!(sent(slack.send(&long).await).as_deref(), Some("1.2"));
    let request = sink.next("request").await;
    assert_eq!(request["path"], "/api/chat.postMessage");
    assert_eq!(request["headers"]["authorization"], "Bearer xoxb-1");
    let said = posted(&request);
    assert_eq!(said["channel"], "C1");
    let lengths = said["blocks"].as_array().expect("blocks").iter();
    let lengths: Vec<usize> = lengths
        .map(|it| text(&it["text"]["text"]).chars().count())
        .collect();
    assert_eq!(lengths, [3_000, 3_000, 1_000]);
    let mut blocks = letter("C1");
    blocks.to = None;
    blocks.rendered.json = Some(json!([{"type": "divider"}]).to_string());
    sent(slack.send(&blocks).await);
    let said = posted(&sink.next("request").await);
    assert_eq!(
        (&said["channel"], &said["blocks"]),
        (&json!("C0"), &json!([{"type": "divider"}]))
    );
    assert!(
        !text(&said["text"]).is_empty(),
        "there is always text to fall back to"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_slack_would_refuse_is_not_sent_and_what_it_refuses_is_told() {
    let sink = Sink::http(json!({})).await;
    let slack = bot(&sink, None);
    let with_json = |json: Value| {
        let mut letter = letter("C1");
        letter.rendered.json = Some(json.to_string());
        letter
    };
    let divider = json!({"type": "divider"});
    let long = json!({"type": "section", "text": {"type": "mrkdwn", "text": "x".repeat(3_001)}});
    let nobody = Letter {
        to: None,
        ..letter("")
    };
    for (letter, code) in [
        (with_json(json!(vec![divider; 51])), "blocks"),
        (with_json(json!([long])), "blocks"),
        (with_json(json!([{"text": "x"}])), "blocks"),
        (with_json(json!("x")), "blocks"),
        (nobody, "no_address"),
    ] {
        let (category, _, found) = refused(slack.send(&letter).await);
        assert_eq!((category, found.as_str()), (Category::Permanent, code));
    }
    for (error, category, blame) in [
        ("channel_not_found", Category::Permanent, Blame::Recipient),
        ("invalid_auth", Category::Permanent, Blame::Channel),
        ("ratelimited", Category::Temporary, Blame::Channel),
    ] {
        let outcome = slack.send(&letter(error)).await;
        assert_eq!(
            refused(outcome),
            (category, blame, format!("slack {error}"))
        );
    }
    assert_eq!(sink.rest("request").await, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_incoming_webhook_takes_what_names_no_channel() {
    let mut sink = Sink::http(json!({})).await;
    let incoming = |path: &str| {
        channel(
            json!({"kind": "slack"}),
            &[("webhook_url", &sink.url(path))],
        )
    };
    let nobody = Letter {
        to: None,
        ..letter("")
    };
    let (good, limited) = (incoming("/ok"), incoming("/retry/3"));
    let (gone, missing) = (
        incoming("/text/410/channel_is_archived"),
        incoming("/text/404/no_service"),
    );
    sent(good.send(&nobody).await);
    let said = posted(&sink.next("request").await);
    assert!(
        said.get("channel").is_none() && said["blocks"].is_array(),
        "{said}"
    );
    let kurier_core::message::Outcome::Refused(refusal) = limited.send(&nobody).await else {
        panic!("not refused")
    };
    assert_eq!(
        (refusal.category, refusal.retry_after),
        (Category::Temporary, Some(3))
    );
    let (_, blame, code) = refused(gone.send(&nobody).await);
    assert_eq!(
        (blame, code.as_str()),
        (Blame::Recipient, "slack channel_is_archived")
    );
    let (_, blame, code) = refused(missing.send(&nobody).await);
    assert_eq!((blame, code.as_str()), (Blame::Channel, "slack no_service"));
}

#[tokio::test(flavor = "multi_thread")]
async fn twilio_is_spoken_to_as_it_wants() {
    let mut sink = Sink::http(json!({})).await;
    let twilio = |code: u32| {
        let settings = json!({"kind": "sms", "settings": {"provider": "twilio", "account_sid": "AC1",
            "from": "+1555", "base_url": sink.url(&format!("/twilio/{code}"))}});
        channel(settings, &[("auth_token", "t0")])
    };
    let (good, bad, stopped) = (twilio(0), twilio(21211), twilio(21610));
    let mut letter = letter("+4930123");
    letter.rendered.text = Some("Grüße & more = 100%".into());
    assert_eq!(sent(good.send(&letter).await).as_deref(), Some("SM1"));
    let request = sink.next("request").await;
    assert_eq!(
        request["path"],
        "/twilio/0/2010-04-01/Accounts/AC1/Messages.json"
    );
    let user = STANDARD.encode("AC1:t0");
    assert_eq!(request["headers"]["authorization"], format!("Basic {user}"));
    assert_eq!(
        request["headers"]["idempotency-key"],
        letter.message.to_string()
    );
    let form = "To=%2B4930123&From=%2B1555&Body=Gr%C3%BC%C3%9Fe+%26+more+%3D+100%25";
    assert_eq!(body(&request), form);
    for (channel, code) in [(bad, "twilio 21211"), (stopped, "twilio 21610")] {
        let outcome = channel.send(&letter).await;
        assert_eq!(
            refused(outcome),
            (Category::Permanent, Blame::Recipient, code.to_owned())
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn any_provider_is_spoken_to_by_template() {
    let mut sink = Sink::http(json!({})).await;
    let settings = json!({"kind": "sms", "settings": {"provider": "http", "url": sink.url("/send"),
        "method": "PUT", "headers": {"x-from": "acme"},
        "body": r#"{"messages": [{"dst": "{to}", "msg": "{text}", "ref": "{id}"}]}"#}});
    let sms = channel(settings, &[("authorization", "Key k1")]);
    let mut letter = letter("+1");
    letter.rendered.text = Some("a \"quote\" {to} \\ \n ä".into());
    assert_eq!(sent(sms.send(&letter).await).as_deref(), Some("p1"));
    let request = sink.next("request").await;
    assert_eq!(
        (&request["method"], &request["headers"]["x-from"]),
        (&json!("PUT"), &json!("acme"))
    );
    assert_eq!(request["headers"]["authorization"], "Key k1");
    assert_eq!(
        request["headers"]["idempotency-key"],
        letter.message.to_string()
    );
    let expected = json!({"messages": [{"dst": "+1", "msg": letter.rendered.text, "ref": letter.message.to_string()}]});
    assert_eq!(posted(&request), expected);
    let words = json!({"kind": "sms", "settings": {"provider": "http", "url": sink.url("/text/400/invalid_phone")}});
    let outcome = channel(words, &[]).send(&letter).await;
    assert_eq!(
        refused(outcome),
        (Category::Permanent, Blame::Recipient, "http 400".into())
    );
}
