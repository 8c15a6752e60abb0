use super::*;

#[track_caller]
fn canonical(text: &str, expected: &str) {
    let expr = parse(text).unwrap_or_else(|errors| panic!("{text}: {errors:?}"));
    assert_eq!(expr.to_string(), expected);
    assert_eq!(parse(expected).expect("canonical text parses"), expr);
}

/// Errors as `start..end message; suggestion`.
#[track_caller]
fn faults(text: &str, expected: &[&str]) {
    let errors = parse(text).expect_err("must be refused");
    let shown: Vec<String> = errors
        .iter()
        .map(|e| format!("{}..{} {e}", e.span.start, e.span.end))
        .collect();
    assert_eq!(shown, expected, "for {text}");
}

#[test]
fn everything_has_one_way_to_be_written() {
    canonical("contact.plan=='pro'", "contact.plan = 'pro'");
    canonical(
        "contact.attributes.plan <> \"pro\"",
        "contact.plan != 'pro'",
    );
    canonical("not Contact.age >= 18", "NOT contact.age >= 18");
    canonical("contact.a in (1, -2.50,'x')", "contact.a IN (1, -2.5, 'x')");
    canonical(
        "contact.a not between 1 and 2 and TRUE",
        "contact.a NOT BETWEEN 1 AND 2 AND TRUE",
    );
    canonical("contact.tags contains 'vip'", "contact.tags CONTAINS 'vip'");
    canonical("contact.a is not null", "contact.a IS NOT NULL");
    canonical(
        "contact.\"first name\" = 'O''Neil'",
        "contact.\"first name\" = 'O''Neil'",
    );
    canonical(
        "exists event where event_type='x'",
        "EXISTS (event WHERE event.event_type = 'x')",
    );
    canonical(
        "EXISTS (event) AND exists contact",
        "EXISTS event AND EXISTS contact",
    );
    canonical(
        "count(event where event_time > now()-7d) = 0",
        "COUNT(event WHERE event.event_time > now() - 1w) = 0",
    );
    canonical(
        "SUM(event.properties.amount) > 1",
        "SUM(event.properties.amount) > 1",
    );
    canonical(
        "contact.created_at < timestamp '2026-01-31'",
        "contact.created_at < timestamp '2026-01-31T00:00:00Z'",
    );
}

#[test]
fn not_binds_before_and_and_and_before_or() {
    canonical("TRUE OR FALSE AND TRUE", "TRUE OR FALSE AND TRUE");
    canonical("(TRUE OR FALSE) AND TRUE", "(TRUE OR FALSE) AND TRUE");
    canonical("NOT TRUE AND FALSE", "NOT TRUE AND FALSE");
    canonical("NOT (TRUE AND FALSE)", "NOT (TRUE AND FALSE)");
    canonical("((TRUE))", "TRUE");
    let ExprKind::Or(parts) = parse("TRUE OR FALSE AND TRUE").expect("parses").kind else {
        panic!()
    };
    assert!(matches!(parts[1].kind, ExprKind::And(_)));
}

#[test]
fn a_where_reaches_as_far_as_it_can() {
    canonical(
        "EXISTS event WHERE event_type = 'x' AND TRUE",
        "EXISTS (event WHERE event.event_type = 'x' AND TRUE)",
    );
    canonical(
        "EXISTS (event WHERE event_type = 'x') AND TRUE",
        "EXISTS (event WHERE event.event_type = 'x') AND TRUE",
    );
    canonical(
        "EXISTS event WHERE (event_type = 'x') AND TRUE",
        "EXISTS (event WHERE event.event_type = 'x' AND TRUE)",
    );
}

#[test]
fn all_faults_are_told_at_once() {
    faults(
        "contact.plan = AND contact.age LIKE 'x' OR plan = 3",
        &[
            "15..18 expected a value, found `AND`",
            "31..35 expected a comparison, found `LIKE`; use CONTAINS, STARTS_WITH, ENDS_WITH or MATCHES",
            "43..47 `plan` is not a value this language knows; write contact.plan for an attribute, 'plan' for a text",
        ],
    );
}

#[test]
fn faults_come_with_a_suggestion() {
    faults(
        "contact.vip",
        &[
            "11..11 expected a comparison, found the end; for a yes-or-no value write `contact.vip = TRUE`",
        ],
    );
    faults(
        "CUONT(event) > 3",
        &["0..5 there is no function `CUONT`; did you mean COUNT?"],
    );
    faults(
        "frobnicate(1) > 3",
        &[
            "0..10 there is no function `frobnicate`; there are COUNT, SUM, AVG, MIN, MAX, EXISTS and now()",
        ],
    );
    faults(
        "contcat.a = 1",
        &["0..7 `contcat` is not a value this language knows; did you mean contact?"],
    );
    faults(
        "TRUE && FALSE",
        &[
            "5..7 `&` means nothing here; write AND",
            "8..13 expected AND, OR or the end, found `FALSE`",
        ],
    );
    faults(
        "(TRUE",
        &["0..1 expected `)` for this parenthesis, found the end"],
    );
    faults(
        "TRUE)",
        &["4..5 expected AND, OR or the end, found `)`; remove this parenthesis"],
    );
    faults(
        "contact.a IN 'x'",
        &["13..16 IN needs a list in parentheses, found `'x'`; write IN ('a', 'b')"],
    );
    faults(
        "now() - 7 > contact.a",
        &[
            "8..9 only a duration can be added or taken away, not `7`; write, for example, now() - 7d",
        ],
    );
    faults(
        "EXISTS purchase",
        &[
            "7..15 EXISTS is followed by `event` or `contact`, not by `purchase`; write EXISTS (event WHERE …)",
        ],
    );
    faults("", &["0..0 expected a value, found the end"]);
}

#[test]
fn limits_are_told_once() {
    let cases = [
        format!("{}TRUE{}", "(".repeat(1_000), ")".repeat(1_000)),
        format!("{}TRUE", "NOT ".repeat(1_000)),
        vec!["contact.a = 1"; 80_000].join(" AND "),
        vec!["TRUE"; 5_000].join(" OR "),
        format!("contact.a IN ({})", vec!["1"; 5_000].join(",")),
        format!(
            "{}TRUE{}",
            "EXISTS (event WHERE ".repeat(100),
            ")".repeat(100)
        ),
    ];
    for text in cases {
        let errors = parse(&text).expect_err("over a limit");
        assert_eq!(errors.len(), 1, "{:?}", &errors[..2.min(errors.len())]);
        assert!(errors[0].message.contains("at most"), "{errors:?}");
        assert!(errors[0].span.end <= text.len());
    }
}
