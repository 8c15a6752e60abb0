use proptest::prelude::*;

use super::generate::{expression, facts};
use super::*;
use crate::value::Object;

const NOW: &str = "2026-06-15T12:00:00Z";

fn time(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

fn object(json: &str) -> Object {
    serde_json::from_str(json).expect("a JSON object")
}

fn ann() -> Facts {
    let event = |event_type: &str, at: &str, properties: &str| EventFact {
        event_type: event_type.into(),
        event_time: time(at),
        properties: object(properties),
    };
    Facts {
        id: Some("c1".into()),
        user_id: Some("ann".into()),
        created_at: Some(time("2026-01-01T00:00:00Z")),
        attributes: object(
            r#"{"plan":"pro","age":42,"vip":true,"tags":["a",7],"city":"Bönn","address":{"zip":"53111"},
                "renews_at":"2026-06-20T00:00:00Z","none":null}"#,
        ),
        journey: object(r#"{"step_count":3}"#),
        events: vec![
            event(
                "purchase",
                "2026-06-01T12:00:00Z",
                r#"{"amount":10.5,"item":"book"}"#,
            ),
            event("login", "2026-06-10T12:00:00Z", "{}"),
            event("purchase", "2026-06-14T12:00:00Z", r#"{"amount":30}"#),
            event("purchase", "2026-06-14T13:00:00Z", r#"{"amount":"much"}"#),
        ],
    }
}

fn verdict(text: &str) -> Verdict {
    let checked =
        Checked::new(text, Place::JOURNEY).unwrap_or_else(|errors| panic!("{text}: {errors:?}"));
    checked.evaluate(&ann(), None, time(NOW))
}

#[track_caller]
fn check_all(holds: bool, texts: &[&str]) {
    for text in texts {
        assert_eq!(verdict(text).holds, holds, "{text}");
    }
}

#[test]
fn comparisons() {
    check_all(
        true,
        &[
            "contact.plan = 'pro'",
            "contact.age > 41.5 AND contact.age <= 42",
            "contact.vip = TRUE AND contact.vip != FALSE",
            "contact.plan IN ('free', 'pro')",
            "contact.plan NOT IN ('free')",
            "contact.age BETWEEN 42 AND 50",
            "contact.age NOT BETWEEN 1 AND 41",
            "contact.address.zip STARTS_WITH '531'",
            "contact.city ENDS_WITH 'önn'",
            "contact.city MATCHES '^B.nn$'",
            "contact.tags CONTAINS 'a' AND contact.tags CONTAINS 7",
            "contact.tags NOT CONTAINS 'b'",
            "contact.city CONTAINS 'nn'",
            "contact.user_id = 'ann' AND contact.id = 'c1'",
            "journey.step_count = 3",
            "'Z' < 'a' AND 'a' < 'ä'",
        ],
    );
}

#[test]
fn what_is_missing_or_of_another_type_makes_a_comparison_false() {
    check_all(
        false,
        &[
            "contact.gone = 1",
            "contact.gone != 1",
            "contact.gone IN (1)",
            "contact.gone NOT IN (1)",
            "contact.gone NOT BETWEEN 1 AND 2",
            "contact.gone NOT CONTAINS 'x'",
            "contact.none = 1",
            "contact.age = '42'",
            "contact.plan > 1",
            "contact.plan NOT BETWEEN 1 AND 2",
            "contact.address = 'x'",
            "contact.plan.deeper = 'x'",
            "contact.age CONTAINS '4'",
        ],
    );
    check_all(
        true,
        &[
            "NOT contact.gone = 1",
            "contact.gone IS NULL AND contact.none IS NULL",
            "contact.plan IS NOT NULL AND contact.address IS NOT NULL",
            "NOT contact.plan > 1",
        ],
    );
}

#[test]
fn folds_over_events() {
    check_all(
        true,
        &[
            "EXISTS event WHERE event_type = 'login'",
            "NOT EXISTS (event WHERE event_type = 'logout')",
            "EXISTS (event WHERE event_type = 'purchase' AND properties.amount > 20)",
            "COUNT(event) = 4 AND COUNT(event WHERE event_type = 'purchase') = 3",
            "COUNT(event.properties.item) = 1",
            "SUM(event.properties.amount WHERE event_type = 'purchase') = 40.5",
            "AVG(event.properties.amount) = 20.25",
            "MIN(event.properties.amount) = 10.5 AND MAX(event.properties.amount) = 30",
            "MAX(event.event_time WHERE event_type = 'login') = timestamp '2026-06-10T12:00:00Z'",
            "COUNT(event WHERE event_type = 'none') = 0 AND SUM(event.properties.amount WHERE FALSE) = 0",
            "AVG(event.properties.amount WHERE FALSE) IS NULL AND MIN(event.properties.none) IS NULL",
            "EXISTS (event WHERE properties.amount = MAX(event.properties.amount))",
            "EXISTS contact WHERE contact.plan = 'pro'",
            "EXISTS (event WHERE event_time > contact.created_at)",
        ],
    );
}

#[test]
fn times_are_instants_also_as_text() {
    check_all(
        true,
        &[
            "contact.renews_at > now()",
            "contact.renews_at <= now() + 5d",
            "contact.renews_at - 1w < now()",
            "contact.created_at = timestamp '2026-01-01T01:00:00+01:00'",
            "contact.renews_at = '2026-06-20T00:00:00Z'",
            "now() > contact.created_at AND system.now = now()",
        ],
    );
    check_all(
        false,
        &["contact.plan < now()", "contact.renews_at = '2026-06-20'"],
    );
}

#[test]
fn a_verdict_says_until_when_it_holds() {
    let until = |text: &str| match verdict(text).until {
        FOREVER => "for ever".to_owned(),
        until => until.to_string(),
    };
    assert_eq!(until("contact.plan = 'pro'"), "for ever");
    // The purchase of 14 June 13:00 leaves the window of 7 days; strictly greater ends at the instant.
    let recent = "EXISTS (event WHERE event_type = 'purchase' AND event_time > now() - 7d AND properties.amount > 20)";
    assert_eq!(until(recent), "2026-06-21T12:00:00Z");
    assert_eq!(
        until("EXISTS (event WHERE event_type = 'login' AND event_time >= now() - 7d)"),
        "2026-06-17T12:00:00.000001Z"
    );
    assert_eq!(
        until("COUNT(event WHERE event_type = 'login' AND event_time > now() - 7d) = 0"),
        "2026-06-17T12:00:00Z"
    );
    assert_eq!(
        until("contact.renews_at < now()"),
        "2026-06-20T00:00:00.000001Z"
    );
    assert_eq!(
        until("contact.renews_at BETWEEN now() AND now() + 1d"),
        "2026-06-19T00:00:00Z"
    );
    // What is false by something that time does not change stays false.
    assert_eq!(
        until("contact.plan = 'free' AND contact.renews_at < now()"),
        "for ever"
    );
    assert_eq!(until("contact.gone > now()"), "for ever");
}

#[test]
fn reasons_are_given_in_words() {
    let reasons = |text: &str| {
        let checked = Checked::new(text, Place::SEGMENT).expect("good");
        let reasons = checked.explain(&ann(), None, time(NOW));
        reasons
            .iter()
            .map(|r| format!("{}: {} ({})", r.holds, r.condition, r.found))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        reasons("contact.plan = 'pro' AND COUNT(event WHERE event_type = 'login') > 1"),
        [
            "false: COUNT(event WHERE event.event_type = 'login') > 1 (COUNT(event WHERE event.event_type = 'login') is 1)"
        ]
    );
    assert_eq!(
        reasons("contact.gone = 1 OR EXISTS (event WHERE event_type = 'purchase')"),
        [
            "true: EXISTS (event WHERE event.event_type = 'purchase') (event 'purchase' at 2026-06-14T13:00:00Z)"
        ]
    );
    assert_eq!(
        reasons("contact.gone = 1 OR EXISTS (event WHERE event_type = 'x')"),
        [
            "false: contact.gone = 1 (contact.gone is missing)",
            "false: EXISTS (event WHERE event.event_type = 'x') (none of the contact's 4 events)",
        ]
    );
}

proptest! {
    #[test]
    fn printing_and_parsing_come_round(text in expression(3, false)) {
        let expr = parse(&text).expect("generated text parses");
        let printed = expr.to_string();
        let again = parse(&printed).expect("printed text parses");
        prop_assert_eq!(&again, &expr, "{}", printed);
        prop_assert_eq!(again.to_string(), printed);
    }

    #[test]
    fn parsing_never_panics(text in r#"(?s)[a-z(),.=<>!'"0-9 \-+ANDORTEXISWHé]{0,60}"#) {
        if let Err(errors) = parse(&text) {
            prop_assert!(!errors.is_empty());
            for error in errors {
                prop_assert!(error.span.start <= error.span.end && error.span.end <= text.len());
                prop_assert!(text.is_char_boundary(error.span.start) && text.is_char_boundary(error.span.end));
            }
        }
    }

    /// A verdict does not change before the instant it names.
    #[test]
    fn verdicts_hold_as_long_as_they_say(text in expression(2, false), facts in facts(), ahead in 1..60_000_000i64) {
        let Ok(checked) = Checked::new(&text, Place::SEGMENT) else { return Ok(()) };
        let now = time(NOW);
        let verdict = checked.evaluate(&facts, None, now);
        let just_before = verdict.until.shifted(-1).min(time("2030-01-01T00:00:00Z"));
        let span = just_before.micros_since(now).max(0);
        for later in [now.shifted(span), now.shifted(span / 2), now.shifted(ahead.min(span))] {
            let again = checked.evaluate(&facts, None, later);
            prop_assert_eq!(again.holds, verdict.holds, "at {:?}, until {:?}", later, verdict.until);
        }
    }

    /// NOT turns every verdict round, and canonical text means the same.
    #[test]
    fn not_and_canonical_agree(text in expression(2, false), facts in facts()) {
        let Ok(checked) = Checked::new(&text, Place::SEGMENT) else { return Ok(()) };
        let now = time(NOW);
        let holds = checked.evaluate(&facts, None, now).holds;
        let turned = Checked::new(&format!("NOT ({text})"), Place::SEGMENT).expect("good");
        prop_assert_eq!(turned.evaluate(&facts, None, now).holds, !holds);
        let canonical = Checked::new(&checked.canonical(), Place::SEGMENT).expect("good");
        prop_assert_eq!(canonical.evaluate(&facts, None, now).holds, holds);
    }
}
