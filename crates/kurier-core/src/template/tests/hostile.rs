//! Templates that are made to bring a server down. Each ends with the limit it passes.

use super::*;
use crate::template::limits::{BODY_BYTES_MAX, DEPTH_MAX, MARKDOWN_BYTES_MAX, NODES_MAX};

/// What rendering says; a fault of the text says what compiling did.
fn outcome(part: &str, text: &str, inputs: &Object) -> String {
    match compile(part, text) {
        Err(faults) => faults[0].message.clone(),
        Ok(compiled) => match compiled.render(inputs, now()) {
            Ok(_) => "rendered".to_owned(),
            Err(fault) => fault.why.to_string(),
        },
    }
}

#[track_caller]
fn check_limit(text: &str, expected: &str) {
    check_limit_in("text", text, expected);
}

#[track_caller]
fn check_limit_in(part: &str, text: &str, expected: &str) {
    let inputs = object(&format!(
        r#"{{"data": {{"long": "{}"}}}}"#,
        "x".repeat(200_000)
    ));
    assert_eq!(
        outcome(part, text, &inputs),
        expected,
        "{}",
        &text[..text.len().min(120)]
    );
}

const TEXT: &str = "limit: a text made on the way is larger than 256 KiB";
const WORK: &str = "limit: the texts made on the way are larger than 4 MiB together";
const OUTPUT: &str = "limit: output is larger than 1 MiB";
const STEPS: &str = "limit: it takes more than 100,000 steps";
const LOOPS: &str = "limit: its loops run more than 10,000 times";
const ITEMS: &str = "limit: a list made on the way has more than 10,000 items";

#[test]
fn strings_that_double() {
    let double = "{% assign s = s | append: s %}".repeat(40);
    check_limit(&format!("{{% assign s = 'x' %}}{double}{{{{ s }}}}"), TEXT);
    check_limit(
        "{% assign s = 'x' %}{% for i in (1..40) %}{% assign s = s | append: s %}{% endfor %}",
        TEXT,
    );
    check_limit(
        "{% assign s = 'x' %}{% for i in (1..40) %}{% assign s = s | prepend: s %}{% endfor %}",
        TEXT,
    );
    check_limit(
        "{% assign s = 'xx' %}{% for i in (1..40) %}{% assign s = s | replace: 'x', s %}{% endfor %}",
        TEXT,
    );
    check_limit(
        "{% assign s = 'xx' %}{% for i in (1..99) %}{% assign s = s | split: '' | join: s %}{% endfor %}",
        ITEMS,
    );
    check_limit(
        "{% assign s = '&' %}{% for i in (1..99) %}{% assign s = s | append: s | escape | url_encode %}{% endfor %}",
        TEXT,
    );
    check_limit(
        "{% assign s = '\"' %}{% for i in (1..99) %}{% assign s = s | json %}{% endfor %}",
        TEXT,
    );
}

#[test]
fn ranges_and_loops_without_end() {
    check_limit("{% for i in (1..1000000000) %}{{ i }}{% endfor %}", LOOPS);
    check_limit(
        "{% for i in (-9223372036854775807..9223372036854775807) %}{% endfor %}",
        LOOPS,
    );
    let nested = format!(
        "{}x{}",
        "{% for i in (1..100) %}".repeat(5),
        "{% endfor %}".repeat(5)
    );
    check_limit(&nested, LOOPS);
    check_limit(
        &format!(
            "{{% for i in (1..9999) %}}{}{{% endfor %}}",
            "{{ 1 }}".repeat(20)
        ),
        STEPS,
    );
    check_limit(
        "{% for i in (1..9999) %}{{ i | plus: 1 | plus: 1 | plus: 1 | plus: 1 | plus: 1 | plus: 1 | plus: 1 | plus: 1 | plus: 1 | plus: 1 }}{% endfor %}",
        STEPS,
    );
}

#[test]
fn giant_outputs_and_filters() {
    check_limit("{% for i in (1..9) %}{{ data.long }}{% endfor %}", OUTPUT);
    check_limit_in(
        "html",
        "{% for i in (1..9) %}{{ data.long }}{% endfor %}",
        OUTPUT,
    );
    check_limit("{{ data.long | append: data.long }}", TEXT);
    check_limit("{{ data.long | replace: 'x', data.long }}", TEXT);
    check_limit("{{ data.long | split: '' | size }}", ITEMS);
    check_limit("{{ data.long | url_encode | append: data.long }}", TEXT);
    check_limit(
        "{% for i in (1..99) %}{% assign s = data.long | upcase %}{% endfor %}",
        WORK,
    );
    check_limit(
        "{% for i in (1..99) %}{% assign s = data.long | size %}{% endfor %}",
        WORK,
    );
    check_limit(
        "{{ 5 | number: 2, data.long }}{{ 1000000 | number: 2, data.long }}",
        TEXT,
    );
    // What asks for too much room gets what there is.
    for (text, expected) in [
        ("{{ 'x' | truncate: 10000000000 }}", "x"),
        ("{{ 1 | round: 10000000000 }}", "1"),
        ("{{ 1 | number: 10000000000 | size }}", "14"),
        ("{{ 'now' | date: '%Y' | size }}", "4"),
        (
            "{{ 9223372036854775807 | times: 9223372036854775807 | append: '' | size }}",
            "38",
        ),
    ] {
        check(text, expected);
    }
    check_limit(
        "{{ 'now' | date: '%100000Y' }}",
        "`%100000Y` is not a format of a time, such as %d.%m.%Y %H:%M",
    );
}

#[test]
fn copies_and_conditions_are_paid_for() {
    check_limit(
        "{% assign l = data.long | append: '' %}{% for i in (1..99) %}{% assign m = l %}{% endfor %}",
        WORK,
    );
    check_limit(
        "{% for i in (1..9999) %}{% if data.long contains 'xy' %}{% endif %}{% endfor %}",
        WORK,
    );
    check_limit(
        "{% for i in (1..9999) %}{% if data.long matches '(x+x+)+y' %}{% endif %}{% endfor %}",
        WORK,
    );
    let many = vec!["data.long contains 'y'"; 300].join(" OR ");
    check_limit(&format!("{{% if {many} %}}{{% endif %}}"), WORK);
    check_limit(
        "{% for i in (1..9999) %}{% case data.long %}{% when data.long %}{{ i }}{% endcase %}{% endfor %}",
        WORK,
    );
}

#[test]
fn deep_and_long_templates() {
    let deep = |depth: usize| {
        let (open, close) = ("{% if contact.a = 1 %}", "{% endif %}");
        format!("{}{}", open.repeat(depth), close.repeat(depth))
    };
    check_limit(&deep(DEPTH_MAX), "rendered");
    check_limit(&deep(DEPTH_MAX + 1), "blocks nest at most 32 deep");
    check_limit(&deep(5_000), "blocks nest at most 32 deep");
    check_limit(&"{{ 1 }}".repeat(NODES_MAX), "rendered");
    let nodes = "a part has at most 10000 tags, outputs and texts";
    check_limit(&"{{ 1 }}".repeat(NODES_MAX + 1), nodes);
    check_limit(&"{{ 1 }}".repeat(30_000), nodes);
    check_limit(
        &"x".repeat(BODY_BYTES_MAX + 1),
        "has 262145 bytes, and may have 262144",
    );
    let filters = " | upcase".repeat(33);
    check_limit(
        &format!("{{{{ 'x'{filters} }}}}"),
        "a value goes through at most 32 filters",
    );
    let parens = format!(
        "{{% if {}contact.a = 1{} %}}{{% endif %}}",
        "(".repeat(9_000),
        ")".repeat(9_000)
    );
    check_limit(&parens, "an expression nests at most 64 deep");
    check_limit(
        &format!("{{{{ contact{} }}}}", ".a".repeat(9_000)),
        "a path has at most 64 names",
    );
    let variables: String = (0..70)
        .map(|n| format!("{{% assign v{n} = 1 %}}"))
        .collect();
    check_limit(&variables, "a part assigns at most 64 variables");
    check_limit(
        "{% if contact.a matches '(\\w{50}){50}' %}{% endif %}",
        "this is not a pattern: Compiled regex exceeds size limit of 16384 bytes.",
    );
}

#[test]
fn markdown_that_grows() {
    check_limit_in(
        "markdown",
        "{% for i in (1..9) %}{{ data.long | raw }}{% endfor %}",
        "limit: the Markdown is larger than 64 KiB",
    );
    check_limit_in(
        "markdown",
        "{% for i in (1..9) %}{{ data.long }} {% endfor %}",
        OUTPUT,
    );
    let table = format!(
        "|{}\n|{}\n{}",
        "a|".repeat(7_000),
        "-|".repeat(7_000),
        "|x\n".repeat(7_000)
    );
    check_limit_in(
        "markdown",
        &table,
        "limit: its tables could have more than 20,000 cells",
    );
    check_limit_in(
        "markdown",
        &format!("[r]: /{{{{ data.long }}}}\n\n{}", "[r] ".repeat(20)),
        OUTPUT,
    );
    for text in [
        ">".repeat(MARKDOWN_BYTES_MAX),
        "*".repeat(MARKDOWN_BYTES_MAX),
        "[".repeat(MARKDOWN_BYTES_MAX),
        "`a".repeat(MARKDOWN_BYTES_MAX / 2),
        "<a ".repeat(MARKDOWN_BYTES_MAX / 3),
        "- ".repeat(MARKDOWN_BYTES_MAX / 2),
        "![[](".repeat(MARKDOWN_BYTES_MAX / 5),
        "*a_ ".repeat(MARKDOWN_BYTES_MAX / 4),
    ] {
        let said = outcome("markdown", &text, &object("{}"));
        assert!(
            said == "rendered" || said == OUTPUT,
            "{}: {said}",
            &text[..9]
        );
    }
}
