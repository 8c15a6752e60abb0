use super::*;
use crate::expr::parse;

#[track_caller]
fn faults(text: &str, place: Place, expected: &[&str]) {
    let errors = check(&parse(text).expect("parses"), place).expect_err("must be refused");
    let shown: Vec<String> = errors
        .iter()
        .map(|e| format!("{}..{} {e}", e.span.start, e.span.end))
        .collect();
    assert_eq!(shown, expected, "for {text}");
}

#[track_caller]
fn good(text: &str, place: Place) -> Plan {
    check(&parse(text).expect("parses"), place)
        .unwrap_or_else(|errors| panic!("{text}: {errors:?}"))
}

#[test]
fn values_mean_something_only_in_their_place() {
    faults(
        "event.properties.x = 1 AND journey.step = 2",
        Place::SEGMENT,
        &[
            "0..18 `event.properties.x` means something only where there is an event; write EXISTS (event WHERE event.properties.x …)",
            "27..39 `journey.step` means something only inside a journey",
        ],
    );
    good("event.properties.x = 1", Place::TRIGGER);
    good("journey.step = 1", Place::JOURNEY);
    good(
        "EXISTS (event WHERE properties.x = contact.x)",
        Place::SEGMENT,
    );
    // Inside an EXISTS there is an event, behind it there is none again.
    faults(
        "EXISTS (event WHERE event_type = 'a') AND event_type = 'b'",
        Place::SEGMENT,
        &[
            "42..52 `event.event_type` means something only where there is an event; write EXISTS (event WHERE event.event_type …)",
        ],
    );
}

#[test]
fn known_types_must_agree() {
    let check = |text, expected: &str| faults(text, Place::SEGMENT, &[expected]);
    check("'a' = 5", "0..7 a text is compared with a number here");
    check(
        "COUNT(event) = 'x'",
        "0..18 a number is compared with a text here",
    );
    check(
        "contact.created_at > 'x'",
        "0..24 a time is compared with a text here; write timestamp '2026-01-31T00:00:00Z'",
    );
    check(
        "contact.a = NULL",
        "0..16 a comparison with NULL is never true; use IS NULL or IS NOT NULL",
    );
    check(
        "contact.a > 7d",
        "0..14 a duration can only be added to a time; write, for example, now() - 7d",
    );
    check(
        "contact.a < TRUE",
        "0..16 TRUE and FALSE have no order, so < says nothing; use = or !=",
    );
    check(
        "contact.a MATCHES '('",
        "18..21 this is not a pattern: unclosed group",
    );
    check(
        "contact.a MATCHES contact.b",
        "18..27 MATCHES needs a pattern in quotes",
    );
    check(
        "COUNT(event) CONTAINS 'x'",
        "0..12 CONTAINS looks into a text, and this is a number",
    );
    check(
        "contact.a STARTS_WITH 5",
        "22..23 STARTS_WITH needs a text, and this is a number",
    );
    check(
        "contact.a IN (1, NULL)",
        "0..9 a comparison with NULL is never true; use IS NULL or IS NOT NULL",
    );
    check(
        "5 + 7d > now()",
        "0..1 a duration can be added to a time, and this is a number",
    );
}

#[test]
fn aggregates_need_what_they_are_over() {
    let check = |text, expected: &str| faults(text, Place::SEGMENT, &[expected]);
    check(
        "SUM(event) > 1",
        "0..10 SUM of what?; write SUM(event.properties.amount)",
    );
    check(
        "SUM(event.event_time) > 1",
        "0..21 SUM is over numbers, and this is none",
    );
    check(
        "SUM(event.amount) > 1",
        "0..17 an event has no `amount`; it has event_type, event_time and properties; write event.properties.amount",
    );
    check(
        "SUM(event.propertys.amount) > 1",
        "0..27 an event has no `propertys`; it has event_type, event_time and properties; did you mean event.properties?",
    );
    good("MAX(event.event_time) > now() - 7d", Place::SEGMENT);
}

#[test]
fn reads_are_known() {
    let plan = good(
        "contact.plan = 'pro' AND COUNT(event.properties.n WHERE event_type IN ('b','a') AND properties.x.y > 1) > 2
         AND NOT EXISTS (event WHERE event_time > now() - 1d)",
        Place::SEGMENT,
    );
    let reads = plan.reads();
    let list = |set: &std::collections::BTreeSet<String>| {
        set.iter().cloned().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        (
            list(&reads.contact),
            list(&reads.events),
            list(&reads.properties)
        ),
        ("plan".into(), "a b".into(), "n x.y".into())
    );
    assert!(reads.any_event && reads.time);
}

#[test]
fn the_types_of_events_are_narrowed_where_they_can_be() {
    let types = |filter: &str| {
        good(&format!("EXISTS (event WHERE {filter})"), Place::SEGMENT).folds[0]
            .types
            .clone()
    };
    let some = |names: &[&str]| Some(names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>());
    assert_eq!(types("event_type = 'a'"), some(&["a"]));
    assert_eq!(types("event_type = 'a' AND properties.x = 1"), some(&["a"]));
    assert_eq!(
        types("event_type IN ('b','a') OR 'c' = event_type"),
        some(&["a", "b", "c"])
    );
    assert_eq!(types("event_type = 'a' OR properties.x = 1"), None);
    assert_eq!(types("NOT event_type = 'a'"), None);
    assert_eq!(types("event_type = 'a' AND event_type = 'b'"), some(&[]));
}
