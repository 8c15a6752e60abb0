use super::*;
use crate::message::Blame::{self, Channel, Message, Recipient};
use crate::message::Category::{self, Permanent, Retryable, Temporary};
use crate::time::Timestamp;

#[rustfmt::skip]
const REPLIES: &[(u16, &str, Category, Blame)] = &[
    (421, "4.7.0 Try again later", Temporary, Channel),
    (421, "closing", Temporary, Channel),
    (421, "4.2.1 too fast for this mailbox", Temporary, Channel),
    (432, "4.7.12 A password transition is needed", Permanent, Channel),
    (450, "4.1.1 no such user here yet", Temporary, Recipient),
    (450, "4.2.0 greylisted", Temporary, Recipient),
    (450, "4.2.1 mailbox disabled", Temporary, Recipient),
    (450, "4.1.8 sender's domain not found", Temporary, Channel),
    (450, "4.7.1 client host rejected", Temporary, Message),
    (450, "mailbox busy", Temporary, Recipient),
    (451, "4.3.0 queue file write error", Temporary, Channel),
    (451, "4.4.1 no answer from host", Temporary, Recipient),
    (451, "4.7.1 greylisting in action", Temporary, Message),
    (451, "local error", Temporary, Channel),
    (452, "4.2.2 the mailbox is over quota", Temporary, Recipient),
    (452, "4.3.1 out of disk", Temporary, Channel),
    (452, "4.5.3 too many recipients", Temporary, Channel),
    (452, "insufficient system storage", Temporary, Channel),
    (454, "4.7.0 TLS not available", Temporary, Channel),
    (455, "parameters", Temporary, Message),
    (471, "something of its own", Temporary, Message),
    (500, "5.5.2 unrecognised command", Permanent, Message),
    (501, "5.1.3 bad recipient address syntax", Permanent, Recipient),
    (501, "5.5.4 invalid arguments", Permanent, Message),
    (501, "5.1.7 bad sender address syntax", Permanent, Channel),
    (503, "5.5.1 bad sequence", Permanent, Message),
    (504, "not implemented", Permanent, Message),
    (521, "5.3.2 takes no mail", Permanent, Channel),
    (523, "too long", Permanent, Message),
    (530, "5.7.0 Authentication required", Permanent, Channel),
    (530, "5.5.1 Authentication Required", Permanent, Channel),
    (534, "5.7.9 mechanism too weak", Permanent, Channel),
    (535, "5.7.8 bad credentials", Permanent, Channel),
    (535, "authentication failed", Permanent, Channel),
    (538, "5.7.11 encryption required", Permanent, Channel),
    (550, "5.1.1 user unknown", Permanent, Recipient),
    (550, "5.1.2 bad destination system", Permanent, Recipient),
    (550, "5.1.10 null MX", Permanent, Recipient),
    (550, "5.1.6 has moved", Permanent, Recipient),
    (550, "5.1.8 sender rejected", Permanent, Channel),
    (550, "5.2.1 mailbox disabled", Permanent, Recipient),
    (550, "5.2.3 message too long for it", Permanent, Message),
    (550, "5.3.0 system", Permanent, Channel),
    (550, "5.4.1 recipient rejected", Permanent, Recipient),
    (550, "5.4.4 unable to route", Permanent, Recipient),
    (550, "5.4.6 loop", Permanent, Channel),
    (550, "5.5.0 requested action not taken", Permanent, Message),
    (550, "5.6.0 invalid header", Permanent, Message),
    (550, "5.7.0 local policy", Permanent, Message),
    (550, "5.7.1 blocked using a list", Permanent, Message),
    (550, "5.7.2 list members only", Permanent, Recipient),
    (550, "5.7.23 SPF validation failed", Permanent, Channel),
    (550, "5.7.25 PTR record required", Permanent, Channel),
    (550, "5.7.26 unauthenticated mail", Permanent, Channel),
    (550, "5.7.28 unusual rate of mail", Temporary, Channel),
    (550, "5.7.60 may not send as this sender", Permanent, Channel),
    (550, "5.9.9 no subject we know", Permanent, Message),
    (550, "no such user", Permanent, Recipient),
    (550, "mailbox unavailable", Permanent, Recipient),
    (550, "rejected: looks like spam", Permanent, Message),
    (550, "relaying denied", Permanent, Message),
    (551, "user not local", Permanent, Recipient),
    (552, "5.2.2 mailbox full", Temporary, Recipient),
    (552, "5.3.4 message too big", Permanent, Message),
    (552, "quota exceeded", Temporary, Recipient),
    (553, "mailbox name not allowed", Permanent, Recipient),
    (553, "5.1.3 syntax", Permanent, Recipient),
    (554, "5.7.1 rejected as spam", Permanent, Message),
    (554, "5.6.1 media not supported", Permanent, Message),
    (554, "transaction failed", Permanent, Message),
    (554, "4.4.7 the class disagrees with the code", Permanent, Recipient),
    (555, "parameters", Permanent, Message),
    (556, "5.1.10 takes no mail", Permanent, Recipient),
];

#[test]
fn replies_mean_what_the_table_says() {
    assert!(REPLIES.len() >= 60);
    for (code, text, category, blame) in REPLIES {
        let refusal = smtp(*code, Enhanced::of(text), text);
        assert_eq!(
            (refusal.category, refusal.blame),
            (*category, *blame),
            "{code} {text}"
        );
        assert_eq!(refusal.detail, *text);
        assert!(
            refusal.code.starts_with(&format!("smtp {code}")),
            "{refusal:?}"
        );
    }
}

#[test]
fn enhanced_codes_are_read_at_the_start_only() {
    assert_eq!(Enhanced::of("5.1.1 <a@b> unknown"), Some(Enhanced(5, 1, 1)));
    assert_eq!(Enhanced::of("5.7.26"), Some(Enhanced(5, 7, 26)));
    for none in [
        "",
        "user 5.1.1",
        "5.1",
        "5.1.1.1 x",
        "3.1.1 x",
        "5.x.1",
        "5.1.1000",
        "1.2.3.4",
    ] {
        assert_eq!(Enhanced::of(none), None, "{none}");
    }
    assert_eq!(
        smtp(550, Enhanced::of("5.1.1 x"), "5.1.1 x").code,
        "smtp 550 5.1.1"
    );
    assert_eq!(smtp(550, None, "x").code, "smtp 550");
}

#[track_caller]
fn check_http(status: u16, text: &str, expected: (Category, Blame)) {
    let refusal = http(&Status {
        status,
        retry_after: Some(7),
        text,
    });
    assert_eq!(
        (refusal.category, refusal.blame),
        expected,
        "{status} {text}"
    );
    assert_eq!(refusal.retry_after, Some(7));
    assert!(!refusal.detail.is_empty());
}

#[test]
fn statuses_mean_what_the_table_says() {
    for (statuses, expected) in [
        ([301, 302, 307], (Permanent, Channel)),
        ([401, 403, 404], (Permanent, Channel)),
        ([405, 410, 501], (Permanent, Channel)),
        ([400, 422, 413], (Permanent, Message)),
        ([414, 415, 451], (Permanent, Message)),
        ([408, 429, 500], (Temporary, Channel)),
        ([502, 503, 599], (Temporary, Channel)),
        ([199, 600, 999], (Permanent, Channel)),
    ] {
        for status in statuses {
            check_http(status, "", expected);
        }
    }
    check_http(409, "", (Temporary, Message));
    let gone = http(&Status {
        status: 410,
        retry_after: None,
        text: "",
    });
    assert_eq!(gone.code, "gone");
}

#[test]
fn an_unknown_provider_is_understood_by_its_words() {
    for status in [400, 422] {
        check_http(status, "Invalid phone number", (Permanent, Recipient));
        check_http(
            status,
            r#"{"error":"invalid-email"}"#,
            (Permanent, Recipient),
        );
        check_http(status, "the address BOUNCED", (Permanent, Recipient));
        check_http(status, "network_error", (Retryable, Channel));
        check_http(status, "Provider error", (Retryable, Channel));
        check_http(status, "rate limit reached", (Temporary, Channel));
        check_http(status, "upstream timeout", (Temporary, Channel));
        check_http(status, "nonsense", (Permanent, Message));
    }
    // A status that says enough is believed before any word.
    check_http(500, "invalid phone", (Temporary, Channel));
    check_http(401, "rate limit", (Permanent, Channel));
}

#[test]
fn providers_say_more_than_http() {
    for (error, expected) in [
        ("channel_not_found", (Permanent, Recipient)),
        ("invalid_auth", (Permanent, Channel)),
        ("ratelimited", (Temporary, Channel)),
        ("invalid_blocks", (Permanent, Message)),
        ("never_heard_of", (Permanent, Message)),
        ("some_server_error", (Temporary, Channel)),
    ] {
        let refusal = slack(error);
        assert_eq!((refusal.category, refusal.blame), expected, "{error}");
        assert_eq!(refusal.code, format!("slack {error}"));
    }
    let verdict = |code| twilio(code, "x").map(|it| (it.category, it.blame));
    assert_eq!(verdict(21211), Some((Permanent, Recipient)));
    assert_eq!(verdict(21610), Some((Permanent, Recipient)));
    assert_eq!(verdict(20003), Some((Permanent, Channel)));
    assert_eq!(verdict(30003), Some((Temporary, Recipient)));
    assert_eq!(verdict(99999), None);
}

#[test]
fn retry_after_comes_in_both_forms() {
    let now: Timestamp = "2026-11-15T08:49:37Z".parse().expect("valid");
    for (value, expected) in [
        ("120", Some(120)),
        (" 0 ", Some(0)),
        ("99999999999999999999999", Some(86_400)),
        ("Sun, 15 Nov 2026 08:50:37 GMT", Some(60)),
        ("Sun, 15 Nov 2026 08:00:00 GMT", Some(0)),
        ("Mon, 15 Nov 2027 08:00:00 GMT", Some(86_400)),
        ("-5", None),
        ("soon", None),
        ("", None),
        ("1.5", None),
    ] {
        assert_eq!(retry_after(value, now), expected, "{value}");
    }
    let half = now.shifted(500_000);
    assert_eq!(retry_after("Sun, 15 Nov 2026 08:49:39 GMT", half), Some(2));
}

#[test]
fn details_are_short_and_on_one_line() {
    let long = format!("a\r\nb\u{1b}[31m{}", "x".repeat(1_000));
    let refusal = smtp(554, None, &long);
    assert_eq!(refusal.detail.chars().count(), 300);
    assert!(!refusal.detail.contains(|c: char| c.is_control()));
}

fn row(cells: &[&str]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

fn blame_word(blame: Blame) -> &'static str {
    match blame {
        Recipient => "recipient",
        Message => "message",
        Channel => "channel",
    }
}

fn smtp_rows() -> String {
    let plain = |rows: &[(u16, Category, Blame, &str)], enhanced: &str| {
        let cells = rows.iter().map(|(code, category, blame, meaning)| {
            let code = code.to_string();
            row(&[
                &code,
                enhanced,
                category.as_str(),
                blame_word(*blame),
                meaning,
            ])
        });
        cells.collect::<String>()
    };
    let enhanced = smtp::BY_ENHANCED.iter().map(|it| {
        let detail = it.1.map_or("*".to_owned(), |detail| detail.to_string());
        let category = it.2.map_or("as the code", Category::as_str);
        let code = format!("x.{}.{detail}", it.0);
        row(&["any other", &code, category, blame_word(it.3), it.4])
    });
    let last = row(&[
        "any other",
        "none",
        "as the code",
        "message",
        "anything else",
    ]);
    plain(smtp::FIRST, "any") + &enhanced.collect::<String>() + &plain(smtp::PLAIN, "none") + &last
}

fn http_rows() -> String {
    let rows = http::STATUSES.iter().map(|it| {
        let statuses = match it.0 == it.1 {
            true => it.0.to_string(),
            false => format!("{} to {}", it.0, it.1),
        };
        row(&[&statuses, it.2.as_str(), blame_word(it.3), it.4])
    });
    rows.collect()
}

/// Codes with the same meaning on one line.
fn grouped(codes: impl Iterator<Item = (String, Category, Blame)>) -> String {
    let mut groups: Vec<((Category, Blame), Vec<String>)> = Vec::new();
    for (code, category, blame) in codes {
        match groups.iter_mut().find(|it| it.0 == (category, blame)) {
            Some(group) => group.1.push(code),
            None => groups.push(((category, blame), vec![code])),
        }
    }
    let rows = groups.iter().map(|((category, blame), codes)| {
        let codes: Vec<String> = codes.iter().map(|code| format!("`{code}`")).collect();
        row(&[&codes.join(", "), category.as_str(), blame_word(*blame)])
    });
    rows.collect()
}

#[test]
fn the_manual_prints_these_very_tables() {
    let manual = include_str!("../../../../../docs/reference/channels.md");
    let slack = provider::SLACK
        .iter()
        .map(|it| (it.0.to_owned(), it.1, it.2));
    let twilio = provider::TWILIO
        .iter()
        .map(|it| (it.0.to_string(), it.1, it.2));
    let words = words::WORDS.iter().map(|it| (it.0.to_owned(), it.1, it.2));
    let tables = [
        smtp_rows(),
        http_rows(),
        grouped(slack),
        grouped(twilio),
        grouped(words),
    ];
    let missing = tables.into_iter().filter(|table| !manual.contains(table));
    let missing: Vec<String> = missing.collect();
    let missing = missing.join("--\n");
    assert!(
        missing.is_empty(),
        "docs/reference/channels.md lacks:\n{missing}"
    );
}
