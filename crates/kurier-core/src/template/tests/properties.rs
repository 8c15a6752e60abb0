use proptest::prelude::*;

use super::*;
use crate::template::limits::OUTPUT_BYTES_MAX;

/// Snippets that templates are made of, and what breaks them.
const SNIPPETS: &[&str] = &[
    "{{",
    "}}",
    "{%",
    "%}",
    "{%-",
    "-%}",
    "{{-",
    "{{ contact.a }}",
    "{{ contact.b.c | upcase }}",
    "{{ data.l | join: ', ' }}",
    "{{ data.t | split: 'a' | first | append: data.t }}",
    "{% if contact.a = 'x' %}",
    "{% elsif data.n > 3 %}",
    "{% else %}",
    "{% endif %}",
    "{% for x in data.l limit: 3 %}",
    "{{ x }}{{ forloop.index }}",
    "{% endfor %}",
    "{% for i in (1..data.n) %}",
    "{% assign v = data.t | replace: 'a', data.t %}",
    "{{ v | size }}",
    "{% unless v IS NULL %}",
    "{% endunless %}",
    "{% case contact.a %}",
    "{% when 'x', 1 %}",
    "{% endcase %}",
    "{% raw %}",
    "{% endraw %}",
    "{% comment %}",
    "{% endcomment %}",
    "{{ data.d | date: '%Y' }}",
    "{{ data.n | money: '€' }}",
    "{{ contact.a | newline_to_br }}",
    "{{ contact.a | json }}",
    "{{ data | json }}",
    "<p class=\"",
    "\">",
    "<a href='",
    "'>",
    "# ",
    "- ",
    "**",
    "`",
    "[a](",
    ")",
    "\n\n",
    "|a|b|\n|-|-|\n|",
    "<!--",
    "-->",
    "\"",
    "\\",
    "{\"k\": \"",
    "\"}",
    "ä€",
    "\u{e000}1\u{e001}",
];

fn template() -> impl Strategy<Value = String> {
    let snippet = prop_oneof![
        6 => prop::sample::select(SNIPPETS).prop_map(str::to_owned),
        1 => "[ a-z{}%|.'\"<>&=:,()-]{0,12}",
    ];
    prop::collection::vec(snippet, 0..24).prop_map(|parts| parts.concat())
}

/// A template whose blocks and quotes are whole.
fn sound() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(
        &[
            "x ",
            "{{ contact.a }}",
            "{{ data.t | upcase }}",
            "<p title=\"{{ contact.a }}\">",
            "{{ data.l }}",
            "</p>",
            "{{ contact.a | default: 'y' | append: data.t | truncate: 30 }}",
            "<!-- {{ contact.a }} -->",
            "{{ contact.a | newline_to_br }}",
            "{% assign v = contact.a | prepend: '>' %}",
            "{{ data | json }}",
            "{{ data.l | first }}{{ data.l | last | capitalize }}",
            "{{ contact.b.c | escape }}",
        ][..],
    );
    leaf.prop_map(str::to_owned)
        .prop_recursive(3, 24, 4, |inner| {
            let many = prop::collection::vec(inner, 1..4).prop_map(|parts| parts.concat());
            prop_oneof![
                many.clone()
                    .prop_map(|body| format!("{{% if contact.a != 'q' %}}{body}{{% endif %}}")),
                many.clone().prop_map(|body| format!(
                    "{{% for x in data.l %}}{body}{{{{ x }}}}{{% endfor %}}"
                )),
                many,
            ]
        })
}

fn value() -> impl Strategy<Value = String> {
    "[a-c<>&\"'`*_#\\[\\]()!|~:/ \n\r\t\\\\{}%ä\u{e000}\u{e001}0-9-]{0,24}"
}

fn inputs(a: &str, t: &str, items: &[String]) -> Object {
    let list = items.iter().cloned().map(Value::Text).collect();
    let contact = Object::from([
        ("a".to_owned(), Value::Text(a.to_owned())),
        (
            "b".to_owned(),
            Value::Object(Object::from([("c".to_owned(), Value::Text(t.to_owned()))])),
        ),
    ]);
    let data = Object::from([
        ("t".to_owned(), Value::Text(t.to_owned())),
        ("l".to_owned(), Value::List(list)),
        ("n".to_owned(), Value::Int(7)),
        ("d".to_owned(), Value::Text("2026-01-31".to_owned())),
    ]);
    Object::from([
        ("contact".to_owned(), Value::Object(contact)),
        ("data".to_owned(), Value::Object(data)),
    ])
}

/// How often each sign of HTML stands in a text.
fn signs(text: &str) -> [usize; 3] {
    ['<', '>', '"'].map(|sign| text.matches(sign).count())
}

proptest! {
    #[test]
    fn whatever_is_written_neither_panics_nor_outgrows_its_budget(
        text in template(), a in value(), t in value(), items in prop::collection::vec(value(), 0..4),
    ) {
        let inputs = inputs(&a, &t, &items);
        for part in ["html", "text", "markdown", "json", "subject"] {
            let Ok(compiled) = compile(part, &text) else { continue };
            if let Ok(rendered) = compiled.render(&inputs, now()) {
                let parts = [rendered.subject, rendered.html, rendered.text, rendered.json];
                // A page stands around what the Markdown became.
                let longest = parts.iter().flatten().map(String::len).max();
                prop_assert!(longest.unwrap_or(0) <= OUTPUT_BYTES_MAX + 200);
            }
        }
    }

    #[test]
    fn no_value_brings_markup_into_html(
        text in sound(), a in value(), t in value(), items in prop::collection::vec(value(), 0..4),
    ) {
        let Ok(compiled) = compile("html", &text) else { return Ok(()) };
        // The same template with harmless values has every sign that is its own.
        let tame = |text: &str| "z".repeat(text.chars().count().max(1));
        let tamed: Vec<String> = items.iter().map(|item| tame(item)).collect();
        let ours = compiled.render(&inputs(&tame(&a), &tame(&t), &tamed), now());
        let theirs = compiled.render(&inputs(&a, &t, &items), now());
        let (Ok(ours), Ok(theirs)) = (ours, theirs) else { return Ok(()) };
        let (ours, theirs) = (ours.html.unwrap_or_default(), theirs.html.unwrap_or_default());
        // A line break is the only markup that a value may ask for.
        let theirs = theirs.replace("<br />\n", "");
        prop_assert_eq!(signs(&ours), signs(&theirs), "{}\n{}\n{}", text, ours, theirs);
    }

    #[test]
    fn no_value_brings_markup_into_markdown(a in value(), t in value()) {
        let text = "# T {{ contact.a }}\n\nx {{ contact.b.c }} **{{ contact.a }}** `{{ data.t }}`\n\n- {{ contact.a }}\n- [l](/{{ data.t }})\n\n|{{ contact.a }}|b|\n|-|-|\n|{{ data.t }}|y|\n\n<b title={{ contact.a }}>{{ data.t }}</b>\n";
        let compiled = compile("markdown", text).expect("good");
        let tags = |html: &str| html.split('<').skip(1).map(|tag| tag.split(['>', ' ']).next().unwrap_or("").to_owned()).collect::<Vec<_>>();
        let ours = compiled.render(&inputs("z", "z", &[]), now()).expect("rendered");
        let theirs = compiled.render(&inputs(&a, &t, &[]), now()).expect("rendered");
        prop_assert_eq!(tags(&ours.html.unwrap_or_default()), tags(&theirs.html.unwrap_or_default()));
    }

    #[test]
    fn a_string_in_json_is_what_the_value_is(a in value()) {
        let compiled = compile("json", r#"{"a": "{{ contact.a }}", "b": {{ contact.a | json }}}"#).expect("good");
        let rendered = compiled.render(&inputs(&a, "", &[]), now()).expect("JSON");
        let json: serde_json::Value = serde_json::from_str(&rendered.json.unwrap_or_default()).expect("JSON");
        prop_assert_eq!(json["a"].as_str(), Some(a.as_str()));
        prop_assert_eq!(json["b"].as_str(), Some(a.as_str()));
    }
}
