use super::*;
use crate::content::{Key, References, Target, render as shown_in};
use crate::template::{Quotes, Shown, quoted_in};

const MARKDOWN: &str = "Money **back** within [30 days](https://x.de/r), <b>always</b>.";

fn key() -> Key {
    "para:refund_policy:001".parse().expect("a key")
}

fn quotes(target: Target) -> Quotes {
    let shown = |target| shown_in(MARKDOWN, &References::default(), target).expect("shown");
    let mut quotes = Quotes::default();
    let (html, text) = (shown(Target::Html).into(), shown(target).into());
    quotes.insert(key(), Shown { html, text });
    quotes
}

fn quoting(part: &str, text: &str, target: Target) -> Rendered {
    let compiled = compile(part, text).unwrap_or_else(|faults| panic!("{text}: {faults:?}"));
    let noted = compiled.render_quoting(&ann(), now(), &quotes(target));
    noted.unwrap_or_else(|why| panic!("{text}: {why}")).rendered
}

#[test]
fn each_part_shows_content_in_its_own_way() {
    let quote = r#"{{ content("para:refund_policy:001") }}"#;
    let html = quoting("html", &format!("<td>{quote}</td>"), Target::Text).html;
    let expected = "<td><p>Money <strong>back</strong> within <a href=\"https://x.de/r\">30 days</a>, \
                    &lt;b&gt;always&lt;/b&gt;.</p></td>";
    assert_eq!(html.as_deref(), Some(expected));
    let page = quoting("markdown", &format!("Hi\n\n{quote}\n\nBye"), Target::Text).html;
    let page = page.expect("HTML");
    assert!(page.contains("<p>Hi</p>\n<p>Money <strong>back"), "{page}");
    let text = quoting("text", quote, Target::Text).text;
    assert_eq!(
        text.as_deref(),
        Some("Money back within 30 days (https://x.de/r), always.")
    );
    let slack = quoting("text", quote, Target::Slack).text.expect("text");
    assert!(
        slack.starts_with("Money *back* within <https://x.de/r|30 days>"),
        "{slack}"
    );
    let sms = quoting("text", quote, Target::Sms).text.expect("text");
    assert!(sms.contains("Money back within 30 days"), "{sms}");
    let json = quoting("json", &format!(r#"{{"t": "{}"}}"#, quote), Target::Slack).json;
    assert!(json.expect("JSON").contains("*back*"));
}

#[test]
fn what_is_quoted_is_known_with_its_place() {
    let text = "a {{ content('para:refund_policy:001') }}";
    let compiled = compile("text", text).expect("good");
    let quoted: Vec<_> = compiled.quotes().collect();
    assert_eq!(quoted.len(), 1);
    let (field, found, span) = quoted[0];
    assert_eq!((field, found), ("text", key()));
    assert_eq!(&text[span.start..span.end], "'para:refund_policy:001'");
    assert_eq!(quoted_in(&compiled.reads()), [key()]);
}

#[test]
fn content_that_is_not_there_is_a_fault_of_its_own() {
    let why = render("text", "{{ content('para:refund_policy:001') }}", &ann());
    let why = why.expect_err("nothing is there");
    assert_eq!(why.code(), "no_content");
    assert_eq!(
        why.to_string(),
        "text: no_content: there is no `para:refund_policy:001`"
    );
}

#[test]
fn a_quotation_is_checked_where_it_stands() {
    for (part, text, expected) in [
        ("text", "{{ content('refunds') }}", "`refunds` is no key"),
        (
            "text",
            "{{ content(contact.plan) }}",
            "by its key, in quotes",
        ),
        ("text", "{{ content('para:aa:001' }}", "expected `)`"),
        (
            "text",
            "{{ content('para:aa:001') | upcase }}",
            "no filter goes",
        ),
        (
            "text",
            "{% assign x = content('para:aa:001') %}",
            "`content` is not known",
        ),
        (
            "html",
            "<a href=\"{{ content('para:aa:001') }}\">x</a>",
            "within a tag",
        ),
        (
            "json",
            "{\"a\": {{ content('para:aa:001') }}}",
            "would be no JSON",
        ),
    ] {
        let faults = compile(part, text).err().unwrap_or_default();
        let told = faults.iter().map(ToString::to_string).collect::<String>();
        assert!(told.contains(expected), "{text}: {told}");
        assert!(faults[0].span.is_some(), "{text}");
    }
}
