use super::*;

const EVIL: &str = "<script>alert('1')</script> & \"q\" *b* [l](javascript:x) `c` # h";

fn evil() -> Object {
    let mut inputs = ann();
    let mut contact = Object::new();
    contact.insert("evil".into(), Value::Text(EVIL.into()));
    contact.insert("lines".into(), Value::Text("a\n\n# b\r\n<i>c".into()));
    contact.insert("link".into(), Value::Text("javascript:alert(1)".into()));
    contact.insert("quote".into(), Value::Text("\" onclick=\"x".into()));
    inputs.insert("contact".into(), Value::Object(contact));
    inputs
}

fn html(text: &str) -> String {
    let rendered = render("html", text, &evil()).unwrap_or_else(|why| panic!("{text}: {why}"));
    rendered.html.expect("html")
}

fn markdown(text: &str) -> String {
    let rendered = render("markdown", text, &evil()).unwrap_or_else(|why| panic!("{text}: {why}"));
    rendered.html.expect("html")
}

#[test]
fn html_is_escaped_unless_it_is_raw() {
    let safe = "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;q&quot; *b* [l](javascript:x) `c` # h";
    assert_eq!(html("<p>{{ contact.evil }}</p>"), format!("<p>{safe}</p>"));
    assert_eq!(html("{{ contact.evil | escape }}"), safe);
    assert_eq!(html("{{ contact.evil | raw }}"), EVIL);
    assert_eq!(
        html("{{ contact.evil | append: '<b>' | truncate: 9, '' }}"),
        "&lt;script&gt;a"
    );
    assert_eq!(
        html("{{ contact.evil | escape | append: '' }}")
            .matches("&amp;lt;")
            .count(),
        2
    );
    assert_eq!(
        html("{{ contact.lines | newline_to_br }}"),
        "a<br />\n<br />\n# b\r<br />\n&lt;i&gt;c"
    );
    assert_eq!(
        html("<a title=\"{{ contact.quote }}\">"),
        "<a title=\"&quot; onclick=&quot;x\">"
    );
    assert_eq!(
        html("<a href=\"/?q={{ contact.quote | url_encode }}\">"),
        "<a href=\"/?q=%22%20onclick%3D%22x\">"
    );
    assert!(!html("{% assign x = contact.evil %}{{ x }}").contains("<script"));
    assert!(
        !html("{% for x in (1..1) %}{{ contact.evil | json }}{% endfor %}").contains("<script")
    );
}

#[test]
fn text_is_not_escaped_and_a_subject_is_one_line() {
    let rendered = render("text", "{{ contact.evil }}", &evil()).expect("rendered");
    assert_eq!(rendered.text.as_deref(), Some(EVIL));
    let rendered =
        render("subject", "Hi {{ contact.lines }}\r\nBcc: x", &evil()).expect("rendered");
    assert_eq!(rendered.subject.as_deref(), Some("Hi a # b <i>c Bcc: x"));
}

#[test]
fn links_that_run_programs_are_refused() {
    for text in [
        "<a href=\"{{ contact.link }}\">x</a>",
        "<a href=\"java{{ 'script:x' }}\">x</a>",
    ] {
        let fault = render("html", text, &evil()).expect_err(text);
        assert_eq!(
            fault.to_string(),
            "html: unsafe_link: a link begins with `javascript:`"
        );
    }
    let fault = render("markdown", "[x]({{ contact.link }})", &evil()).expect_err("refused");
    assert_eq!(fault.code(), "unsafe_link");
    let fault =
        render("markdown", "[x][r]\n\n[r]: {{ contact.link }}", &evil()).expect_err("refused");
    assert_eq!(fault.code(), "unsafe_link");
}

#[test]
fn values_never_become_markdown() {
    let html = markdown("Hi {{ contact.evil }}");
    assert!(html.contains("<p>Hi &lt;script&gt;"), "{html}");
    assert!(html.contains("*b* [l](javascript:x) `c` # h</p>"), "{html}");
    let html = markdown("{{ contact.lines }}");
    assert!(html.contains("<p>a\n\n# b\r\n&lt;i&gt;c</p>"), "{html}");
    let html = markdown("{{ contact.lines | newline_to_br }}");
    assert!(
        html.contains("<p>a<br />\n<br />\n# b\r<br />\n&lt;i&gt;c</p>"),
        "{html}"
    );
    assert!(markdown("`{{ contact.evil }}`").contains("<code>&lt;script&gt;"));
    assert!(markdown("**{{ contact.evil }}**").contains("<strong>&lt;script&gt;"));
    // What is no name of an attribute makes no tag.
    assert!(markdown("<b {{ contact.quote }}>x</b>").contains("<p>&lt;b \" onclick=\"x&gt;x"));
    assert!(!markdown("<b title={{ contact.quote }}>x</b>").contains("onclick="));
    assert!(!markdown("<div>\n{{ contact.evil }}\n</div>").contains("<script"));
    assert!(markdown("{{ '**b**' | raw }}").contains("<strong>b</strong>"));
    assert!(markdown("\u{e000}0\u{e001}{{ contact.evil }}").contains("<p>\u{fffd}0\u{fffd}&lt;"));
}

#[test]
fn json_stays_json() {
    let text = r#"{"a": "say {{ contact.evil }}", "b": {{ data.items | json }}, "n": {{ data.count | json }}, "c": {{ contact.none | json }}}"#;
    let rendered = render("json", text, &evil()).expect("rendered");
    let json: serde_json::Value =
        serde_json::from_str(&rendered.json.expect("json")).expect("JSON");
    assert_eq!(json["a"], format!("say {EVIL}"));
    assert_eq!(json["b"][1]["title"], "Cup");
    assert_eq!(
        (&json["n"], &json["c"]),
        (&2.into(), &serde_json::Value::Null)
    );
    let fault = render("json", r#"{"a": {{ contact.evil | raw }}}"#, &evil()).expect_err("no JSON");
    assert_eq!(fault.code(), "not_json");
    let fault = render("json", "{{ contact.evil | json }} x", &evil()).expect_err("no JSON");
    assert!(
        fault
            .to_string()
            .starts_with("json: not_json: what it became is no JSON: "),
        "{fault}"
    );
}
