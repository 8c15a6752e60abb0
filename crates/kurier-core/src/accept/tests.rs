use proptest::prelude::*;

use super::*;

const NOON: &str = "2026-11-15T12:00:00Z";

fn time(text: &str) -> Timestamp {
    text.parse().expect("valid time")
}

fn reception(key: &IdentityKey) -> Reception<'_> {
    let fresh_id = &|| EventId::of_message("fresh");
    Reception {
        key,
        received_at: time(NOON),
        sent_at: None,
        kind: None,
        fresh_id,
    }
}

fn try_accept(raw: &str) -> Result<Event, Vec<Problem>> {
    accept(raw, &reception(&IdentityKey::new([1; 32])))
}

#[track_caller]
fn check_problems(raw: &str, expected: &[&str]) {
    let problems = try_accept(raw).expect_err("must be refused");
    let shown: Vec<String> = problems
        .iter()
        .map(|p| format!("{} {}", p.pointer, p.detail))
        .collect();
    assert_eq!(shown, expected, "for {raw}");
}

#[test]
fn a_track_becomes_an_event() {
    let raw = r#"{"type":"track","event":"Signed Up","userId":"u1","anonymousId":null,
        "messageId":"m1","timestamp":"2026-11-15T11:00:00Z","properties":{"plan":"pro"},
        "integrations":{},"_metadata":{"x":1},"writeKey":"secret"}"#;
    let event = try_accept(raw).expect("accepted");
    let key = IdentityKey::new([1; 32]);
    assert_eq!(event.contact, Some(key.contact_of_user("u1")));
    assert_eq!(event.id, EventId::of_message("m1"));
    assert_eq!(event.occurred_at, time("2026-11-15T11:00:00Z"));
    assert_eq!(
        event.payload,
        r#"{"messageId":"m1","userId":"u1","event":"Signed Up","timestamp":"2026-11-15T11:00:00Z","properties":{"plan":"pro"}}"#
    );
}

#[test]
fn every_problem_is_reported_at_once() {
    check_problems(
        r#"{"type":"trakc","userId":{},"timestamp":"soon","properties":[1]}"#,
        &[
            "/type must be one of identify, track, page, screen, group, alias",
            "/timestamp `soon` is not an RFC 3339 time such as 2026-01-31T09:30:00Z",
            "/userId must be a string",
            "/properties must be an object",
        ],
    );
}

#[test]
fn each_kind_needs_its_fields() {
    check_problems(
        r#"{"type":"track"}"#,
        &[
            "/userId is missing: an event needs a userId or an anonymousId",
            "/event is missing: what was tracked?",
        ],
    );
    check_problems(
        r#"{"type":"group","userId":"u"}"#,
        &["/groupId is missing: which group?"],
    );
    check_problems(
        r#"{"type":"alias","anonymousId":"a"}"#,
        &[
            "/previousId is missing: which contact was it before?",
            "/userId is missing: which contact is it now?",
        ],
    );
    check_problems(
        r#"{"type":"contact.erased","userId":"u"}"#,
        &["/type must be one of identify, track, page, screen, group, alias"],
    );
}

#[test]
fn a_clock_that_is_off_is_corrected() {
    // The client's clock is one hour fast: it claims 12:59 and says it sent at 13:00.
    let raw = r#"{"type":"page","userId":"u","originalTimestamp":"2026-11-15T12:59:00Z","sentAt":"2026-11-15T13:00:00Z"}"#;
    assert_eq!(
        try_accept(raw).expect("accepted").occurred_at,
        time("2026-11-15T11:59:00Z")
    );
    let silent = r#"{"type":"page","userId":"u"}"#;
    assert_eq!(
        try_accept(silent).expect("accepted").occurred_at,
        time(NOON)
    );
}

#[test]
fn a_batch_item_inherits_sent_at() {
    let key = IdentityKey::new([1; 32]);
    let reception = Reception {
        sent_at: Some(time("2026-11-15T13:00:00Z")),
        ..reception(&key)
    };
    let raw = r#"{"type":"page","userId":"u","timestamp":"2026-11-15T13:00:00Z"}"#;
    assert_eq!(
        accept(raw, &reception).expect("accepted").occurred_at,
        time(NOON)
    );
}

#[test]
fn numbers_are_ids_too_and_empty_is_absent() {
    let event = try_accept(r#"{"type":"page","userId":42,"anonymousId":""}"#).expect("accepted");
    let key = IdentityKey::new([1; 32]);
    assert_eq!(event.contact, Some(key.contact_of_user("42")));
    assert_eq!(event.payload, r#"{"userId":"42"}"#);
}

#[test]
fn both_ids_join_and_an_alias_joins_whoever_it_was() {
    let key = IdentityKey::new([1; 32]);
    let joins = |raw: &str| {
        let event = try_accept(raw).expect("accepted");
        let said: crate::event::Said<'_> = serde_json::from_str(&event.payload).expect("parses");
        said.joins
    };
    let both = joins(r#"{"type":"page","userId":"u","anonymousId":"a"}"#);
    assert_eq!(both, [key.contact_of_anonymous("a")]);
    let alias = joins(r#"{"type":"alias","userId":"u","previousId":"p"}"#);
    assert_eq!(
        alias,
        [key.contact_of_user("p"), key.contact_of_anonymous("p")]
    );
}

#[test]
fn an_identify_carries_its_address_as_a_hash() {
    let key = IdentityKey::new([1; 32]);
    for raw in [
        r#"{"type":"identify","userId":"u","traits":{"email":" Ann@Example.com "}}"#,
        r#"{"type":"identify","userId":"u","context":{"traits":{"email":"ann@example.com"}}}"#,
    ] {
        let event = try_accept(raw).expect("accepted");
        let said: crate::event::Said<'_> = serde_json::from_str(&event.payload).expect("parses");
        assert_eq!(said.address, Some(key.address("ann@example.com")), "{raw}");
    }
}

#[test]
fn limits_hold() {
    let long = format!(r#"{{"type":"page","userId":"{}"}}"#, "x".repeat(600));
    check_problems(&long, &["/userId is longer than 512 bytes"]);
    let huge = format!(
        r#"{{"type":"page","userId":"u","properties":{{"x":"{}"}}}}"#,
        "x".repeat(40_000)
    );
    let problems = try_accept(&huge).expect_err("too large");
    assert!(problems[0].detail.contains("at most 32768"), "{problems:?}");
    let deep = format!(
        r#"{{"type":"page","userId":"u","properties":{{"x":{}1{}}}}}"#,
        "[".repeat(90),
        "]".repeat(90)
    );
    let problems = try_accept(&deep).expect_err("too deep");
    assert!(
        problems[0].detail.contains("nested deeper than 64"),
        "{problems:?}"
    );
}

#[test]
fn envelopes_are_taken_apart() {
    let body = r#"{"batch":[{"a":1}, {"b":2}],"sentAt":"2026-11-15T12:00:00Z","writeKey":"WK"}"#;
    let whole = envelope(body, true).expect("readable");
    let texts: Vec<&str> = whole.items.iter().map(|item| item.text).collect();
    assert_eq!(texts, [r#"{"a":1}"#, r#"{"b":2}"#]);
    assert_eq!(
        (whole.sent_at, whole.write_key.as_deref()),
        (Some(time(NOON)), Some("WK"))
    );
    assert_eq!(
        envelope("[1]", true).expect_err("a list"),
        Unreadable::NotObject
    );
    assert_eq!(
        envelope("{}", true).expect_err("no batch"),
        Unreadable::NotBatch
    );
    assert_eq!(
        envelope(r#"{"batch":{}}"#, true).expect_err("no list"),
        Unreadable::NotBatch
    );
    assert!(matches!(
        envelope("{\"a\":", false),
        Err(Unreadable::NotJson(_))
    ));
    assert!(matches!(envelope("", false), Err(Unreadable::NotJson(_))));
}

proptest! {
    /// Whatever is accepted can be read back: the log never holds an unreadable payload.
    #[test]
    fn accepted_payloads_parse(
        user in any::<String>(),
        name in "[a-zA-Z\\\\\"u0 ]{0,12}",
        number in any::<f64>(),
        text in any::<String>(),
    ) {
        let number = serde_json::Number::from_f64(number).map_or(serde_json::Value::Null, Into::into);
        let item = serde_json::json!({
            "type": "track", "event": name, "userId": user,
            "properties": {"n": number, "t": text, "deep": [[{"x": null}]]},
        });
        // NUL cannot be kept by a database and comes back as U+FFFD.
        if let Ok(event) = try_accept(&item.to_string()) {
            let said: crate::event::Said<'_> = serde_json::from_str(&event.payload).expect("parses");
            let kept_user = user.replace('\0', "\u{fffd}");
            prop_assert_eq!(said.user_id.as_deref(), Some(kept_user.as_str()));
            let properties = said.properties.expect("kept").get();
            let kept: crate::value::Value = serde_json::from_str(properties).expect("parses");
            prop_assert!(kept.as_object().is_some());
        }
    }
}

#[test]
fn one_event_is_read_with_what_is_around_it() {
    let key = IdentityKey::new([1; 32]);
    let body =
        r#" {"event":"e","userId":"u","writeKey":"W\u004b","sentAt":"2026-11-15T12:00:00Z"} "#;
    let alone = envelope(body, false).expect("readable");
    assert_eq!(
        (alone.sent_at, alone.write_key.as_deref()),
        (Some(time(NOON)), Some("WK"))
    );
    let reception = Reception {
        kind: Some(Kind::Track),
        ..reception(&key)
    };
    let read = alone.items[0].accept(&reception);
    assert_eq!(read, accept(body.trim(), &reception));
    assert!(read.is_ok());
}

#[test]
fn what_is_wrong_with_one_event_is_told_of_the_event() {
    let twice = r#"{"event":"a","event":"b","userId":"u","writeKey":"WK"}"#;
    let alone = envelope(twice, false).expect("readable");
    assert_eq!(alone.write_key.as_deref(), Some("WK"));
    let key = IdentityKey::new([1; 32]);
    let problems = alone.items[0].accept(&reception(&key)).expect_err("twice");
    assert!(
        problems[0].detail.contains("duplicate field"),
        "{problems:?}"
    );
    assert!(matches!(
        envelope(r#"{"writeKey":5}"#, false),
        Err(Unreadable::NotJson(_))
    ));
    let none = envelope(r#"{"writeKey":null}"#, false).expect("readable");
    assert_eq!(none.write_key, None);
}
