use super::*;

/// The faults of a part, each with the text it points at.
#[track_caller]
fn check_faults(part: &str, text: &str, expected: &[&str]) {
    let faults = compile(part, text).err().unwrap_or_default();
    let shown: Vec<String> = faults
        .iter()
        .map(|fault| match fault.span {
            Some(span) => format!("{fault} @ {}", text[span.start..span.end].trim()),
            None => fault.to_string(),
        })
        .collect();
    assert_eq!(shown, expected, "{text}");
}

#[test]
fn all_faults_are_told_at_once_with_their_places() {
    check_faults(
        "text",
        "{{ contact.a | upcas }}{{ contcat.b }}{% asign x %}{{ 'x' | truncate }}{% endfor %}",
        &[
            "text: there is no filter `upcas`; did you mean upcase? @ upcas",
            "text: `contcat` is not known here; did you mean contact? @ contcat.b",
            "text: there is no tag `asign`; did you mean assign? @ asign x",
            "text: `truncate` takes 1 to 2 arguments; write truncate: 20 @ truncate",
            "text: `endfor` stands outside of its block; write {% for … %} before it, or remove it @ endfor",
        ],
    );
}

#[test]
fn conditions_say_what_is_wrong_in_their_own_words() {
    check_faults(
        "text",
        "a {% if contact.vip %}x{% endif %}",
        &[
            "text: expected a comparison, found the end; for a yes-or-no value write `contact.vip = TRUE` @ ",
        ],
    );
    let refused = "a template sees only its inputs, and no events; decide it in the journey, or hand the value over in data";
    check_faults(
        "text",
        "{% if EXISTS (event WHERE event_type = 'x') AND COUNT(event) > 3 OR event.properties.a = 1 %}{% endif %}",
        &[
            &format!("text: {refused} @ EXISTS (event WHERE event_type = 'x')"),
            &format!("text: {refused} @ COUNT(event)"),
            &format!("text: {refused} @ event.properties.a"),
        ],
    );
    check_faults(
        "text",
        "{% assign itm = 1 %}{% if item = 1 %}{% endif %}",
        &["text: `item` is not a value this language knows; did you mean itm? @ item"],
    );
    check_faults(
        "text",
        "{% if %}{% endif %}",
        &["text: `if` needs a condition; write, for example, contact.plan = 'pro' @ if"],
    );
}

#[test]
fn blocks_end_where_they_belong() {
    check_faults(
        "text",
        "{% if contact.a = 1 %}x",
        &["text: `if` has no end; write {% endif %} @ if contact.a = 1"],
    );
    check_faults(
        "text",
        "{% for x in data.a %}{% endif %}{% endfor %}",
        &["text: `endif` does not belong in `for`; end it with {% endfor %} first @ endif"],
    );
    check_faults(
        "text",
        "{% for contact in data.a %}{% endfor %}",
        &["text: `contact` means something else; choose another name @ contact"],
    );
    check_faults(
        "text",
        "{% for x of data.a %}{% endfor %}",
        &["text: expected `in`; write x in data.items @ of"],
    );
    check_faults(
        "text",
        "{% include 'x' %}",
        &["text: there is no tag `include`; a template sees nothing but its inputs @ include 'x'"],
    );
    check_faults(
        "text",
        "{{ forloop.index }}{{ contact }}{{ contact.a b }}",
        &[
            "text: `forloop` means something only inside a loop; write contact.forloop, data.forloop or 'forloop' @ forloop.index",
            "text: which value of the contact?; write, for example, contact.first_name @ contact",
            "text: `b` is too much here @ b",
        ],
    );
    check_faults(
        "text",
        "{{ 'x' | date: '%!' }}",
        &["text: `%!` is not a format of a time, such as %d.%m.%Y %H:%M @ date"],
    );
    check_faults(
        "text",
        "{{ contact.a | raw | upcase }}",
        &[
            "text: `raw` says that nothing is escaped, so it comes last; move `raw` to the end @ upcase",
        ],
    );
}

#[test]
fn values_stand_only_where_they_can_be_made_safe() {
    let quotes = "html: a value in a tag needs quotes around it; write, for example, href=\"{{ … }}\" @ contact.a";
    check_faults("html", "<a href={{ contact.a }}>", &[quotes]);
    check_faults("html", "<a {{ contact.a }}>", &[quotes]);
    check_faults(
        "html",
        "<a {% if contact.b = 1 %}class=\"x\"{% endif %} id={{ contact.a }}>",
        &[quotes],
    );
    check_faults(
        "html",
        "<a onclick=\"f('{{ contact.a }}')\">",
        &[
            "html: a value cannot be made safe in `onclick`; put it into a data- attribute @ contact.a",
        ],
    );
    check_faults(
        "html",
        "<script>var a = '{{ contact.a }}'</script>",
        &[
            "html: a value cannot be made safe in `script`; put it into an attribute or a text, or mark it `raw` @ contact.a",
        ],
    );
    for good in [
        "<script>x</script><p class=\"{{ contact.a }}\" id='{{ contact.b }}'>{{ contact.c }}</p>",
        "1 < 2 {{ contact.a }} <!-- {{ contact.b }} --><style>p > a {}</style>{{ contact.c }}",
        "<a href={{ contact.a | raw }}>",
        "{% if contact.a = 1 %}<p>{% else %}<b>{% endif %}{{ contact.a }}",
    ] {
        check_faults("html", good, &[]);
    }
    check_faults(
        "json",
        r#"{"a": {{ contact.a }}, "b": "{{ contact.b | json }}"}"#,
        &[
            "json: a value outside of quotes would change the JSON around it; write `| json` behind it, or quotes around it @ contact.a",
            "json: `json` brings its own quotes; remove `json`, or the quotes around it @ contact.b | json",
        ],
    );
    check_faults(
        "json",
        r#"{"a\"{{ contact.a }}": [{% for x in data.y %}"{{ x }}",{% endfor %} 1]}"#,
        &[],
    );
}

#[test]
fn documents_say_what_they_lack() {
    let check = |json: &str, expected: &[&str]| {
        let faults = Compiled::new(&Value::Object(object(json))).expect_err(json);
        let shown: Vec<String> = faults.iter().map(ToString::to_string).collect();
        assert_eq!(shown, expected, "{json}");
    };
    check(
        "{}",
        &[
            "name: is missing",
            "the template: has no body; write markdown, html, text or json",
        ],
    );
    check(
        r#"{"name": "a b", "sbject": "x", "html": "x", "json": "1", "strict": 1, "text": 2}"#,
        &[
            "sbject: is not a field of a template; did you mean subject?",
            "name: a name is made of letters, digits, `-`, `_` and `.`, and begins with a letter or digit",
            "strict: must be true or false",
            "json: a template has one body, and this one has `html` already",
            "text: must be a text",
        ],
    );
    check(
        r#"{"name": "a", "text": "x", "preheader": "y"}"#,
        &["preheader: stands in HTML, and this template makes none"],
    );
    let long = format!(
        r#"{{"name": "a", "subject": "{}", "text": "x"}}"#,
        "x".repeat(5_000)
    );
    check(&long, &["subject: has 5000 bytes, and may have 4096"]);
}
