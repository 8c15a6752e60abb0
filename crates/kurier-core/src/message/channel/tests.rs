use serde_json::json;

use super::*;

fn email() -> Value {
    json!({"kind": "email", "settings": {"host": "mail.example.com", "from": {"address": "a@example.com"}}})
}

#[track_caller]
fn problems(written: Value) -> Vec<String> {
    let problems = ChannelSettings::read(written).expect_err("it has faults");
    problems.into_iter().map(|it| it.pointer).collect()
}

#[test]
fn what_is_not_said_has_a_default() {
    let settings = ChannelSettings::read(email()).expect("good");
    let Setup::Email(it) = &settings.setup else {
        panic!("{settings:?}")
    };
    assert_eq!(
        (it.port(), it.security, it.pool_size),
        (587, Security::Starttls, 16)
    );
    assert_eq!(
        (settings.max_retries, settings.on_unknown),
        (5, OnUnknown::Resend)
    );
    assert_eq!(settings.breaker, BreakerLimits::default());
    assert!(settings.enabled);
    for (kind, unknown) in [("webhook", OnUnknown::Resend), ("slack", OnUnknown::Ask)] {
        let settings = match kind {
            "webhook" => json!({"kind": kind, "settings": {"url": "https://example.com/"}}),
            _ => json!({"kind": kind}),
        };
        let settings = ChannelSettings::read(settings).expect("good");
        assert_eq!(settings.on_unknown, unknown, "{kind}");
    }
}

#[test]
fn what_is_written_is_read_back_the_same() {
    for written in [
        email(),
        json!({"kind": "webhook", "settings": {"url": "https://example.com/", "headers": {"x-a": "b"}}}),
        json!({"kind": "slack", "settings": {"channel": "#general"}, "enabled": false}),
        json!({"kind": "sms", "settings": {"provider": "twilio", "account_sid": "AC1", "from": "+1"}}),
        json!({"kind": "sms", "settings": {"provider": "http", "url": "https://sms.example/"}}),
        json!({"kind": "outbox", "rate_limit_per_minute": 6,
               "contact_limit": {"max": 1, "window_seconds": 60, "then": "skip"}}),
    ] {
        let settings = ChannelSettings::read(written).expect("good");
        let text = serde_json::to_string(&settings).expect("written");
        assert_eq!(
            serde_json::from_str::<ChannelSettings>(&text).expect("read"),
            settings
        );
    }
}

#[test]
fn all_faults_are_told_at_once() {
    let mut written = email();
    written["settings"]["host"] = json!("a b");
    written["settings"]["from"] = json!({"address": "a@b\r\nBcc: x@y", "name": "x\r\ny"});
    written["settings"]["username"] = json!("u");
    written["settings"]["security"] = json!("none");
    written["settings"]["dkim"] = json!({"domain": "a b", "selector": ""});
    written["settings"]["pool_size"] = json!(0);
    written["settings"]["timeout_seconds"] = json!(601);
    written["max_retries"] = json!(51);
    written["rate_limit_per_minute"] = json!(0);
    written["contact_limit"] = json!({"max": 0, "window_seconds": 0});
    written["breaker"] =
        json!({"failure_threshold": 0, "success_threshold": 0, "timeout_seconds": 0});
    let expected = [
        "/rate_limit_per_minute",
        "/max_retries",
        "/contact_limit/max",
        "/contact_limit/window_seconds",
        "/breaker/failure_threshold",
        "/breaker/success_threshold",
        "/breaker/timeout_seconds",
        "/settings/host",
        "/settings/security",
        "/settings/from/address",
        "/settings/from/name",
        "/settings/dkim/domain",
        "/settings/dkim/selector",
        "/settings/pool_size",
        "/settings/timeout_seconds",
    ];
    assert_eq!(problems(written), expected);
}

#[test]
fn what_nobody_knows_is_refused() {
    assert_eq!(problems(json!({"kind": "pigeon"})), [""]);
    assert_eq!(problems(json!({"kind": "outbox", "colour": 1})), [""]);
    assert_eq!(
        problems(json!({"kind": "outbox", "settings": {"url": 1}})),
        ["/settings"]
    );
    let mut written = email();
    written["settings"]["password"] = json!("in the clear");
    assert_eq!(problems(written), ["/settings"]);
}

#[test]
fn headers_and_bodies_are_checked() {
    let webhook = |headers: Value| json!({"kind": "webhook", "settings": {"url": "http://a@b/", "headers": headers}});
    let found = problems(webhook(
        json!({"a b": "x", "Host": "x", "x-y": "a\r\nb", "good": "x"}),
    ));
    let expected = [
        "/settings/url",
        "/settings/headers/Host",
        "/settings/headers/a b",
        "/settings/headers/x-y",
    ];
    assert_eq!(found, expected);
    let sms =
        json!({"kind": "sms", "settings": {"provider": "http", "url": "https://a/", "body": "x"}});
    assert_eq!(problems(sms), ["/settings/body", "/settings/body"]);
    let both = json!({"kind": "sms", "settings": {"provider": "twilio", "account_sid": "A/",
        "from": "1", "messaging_service_sid": "2"}});
    assert_eq!(problems(both), ["/settings/account_sid", "/settings/from"]);
}

#[test]
fn secrets_are_known_by_name() {
    let settings = ChannelSettings::read(email()).expect("good");
    assert_eq!(settings.check_secrets(&[]), []);
    let found = settings.check_secrets(&["pasword"]);
    assert_eq!(found[0].pointer, "/secrets/pasword");
    let mut written = email();
    written["settings"]["username"] = json!("u");
    written["settings"]["dkim"] = json!({"domain": "example.com", "selector": "k1"});
    let settings = ChannelSettings::read(written).expect("good");
    let found = settings.check_secrets(&["dkim_private_key"]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].pointer, "/secrets/password");
    let slack = ChannelSettings::read(json!({"kind": "slack"})).expect("good");
    assert_eq!(slack.check_secrets(&[]).len(), 1);
    assert_eq!(slack.check_secrets(&["webhook_url"]), []);
}

#[test]
fn names_are_plain() {
    for good in ["email", "a", "orders-2.eu_west", &"a".repeat(64)] {
        assert_eq!(check_name(good), Ok(()), "{good}");
    }
    for bad in ["", "Email", "1a", "-a", "a b", "a/b", "ä", &"a".repeat(65)] {
        assert!(check_name(bad).is_err(), "{bad}");
    }
}
