use super::*;

#[test]
fn values_are_put_in() {
    check("Hi {{ contact.first_name }}!", "Hi Ann!");
    check(
        "{{ contact.age }} {{ contact.vip }} {{ contact.tags }}",
        "41 true a, b",
    );
    check("{{ journey.state.cart_id }} {{ journey.name }}", "c-1 Cart");
    check(
        "{{ data.items }}",
        r#"{"price":3.5,"title":"Tea"}, {"price":8,"title":"Cup"}"#,
    );
    check(
        "{{ 'it''s' }} {{ 3 }} {{ -2.5 }} {{ true }}",
        "it's 3 -2.5 true",
    );
    check("[{{ contact.last_name }}]", "[]");
    check("{{ contact.attributes.plan }}", "pro");
    check("{{ data.\"items\" | size }}", "2");
}

#[test]
fn conditions_are_expressions() {
    check("{% if contact.plan = 'pro' %}P{% else %}F{% endif %}", "P");
    check(
        "{% if contact.plan == 'max' %}M{% elsif contact.age > 40 %}O{% endif %}",
        "O",
    );
    check(
        "{% if contact.age BETWEEN 1 AND 9 OR data.count in (2, 3) %}y{% endif %}",
        "y",
    );
    check(
        "{% unless contact.last_name IS NOT NULL %}none{% endunless %}",
        "none",
    );
    check(
        "{% unless contact.vip = TRUE %}a{% elsif contact.age > 1 %}b{% endunless %}",
        "b",
    );
    check("{% if contact.tags contains 'b' %}y{% endif %}", "y");
    check(
        "{% if contact.email matches '@example[.]org$' %}y{% endif %}",
        "y",
    );
    check(
        "{% if contact.created_at < now() - 30d %}old{% endif %}",
        "old",
    );
    check(
        "{% if journey.state.cart_id starts_with 'c' %}y{% endif %}",
        "y",
    );
    check(
        "{% assign n = contact.first_name | size %}{% if n = 3 %}three{% endif %}",
        "three",
    );
}

#[test]
fn a_case_takes_the_first_that_fits() {
    let text = "{% case contact.plan %} {% when 'free', 'pro' %}A{% when 'pro' or 'max' %}B{% else %}C{% endcase %}";
    check(text, "A");
    check(
        "{% case contact.age | plus: 1 %}{% when 42 %}y{% endcase %}",
        "y",
    );
    check(
        "{% case contact.none %}{% when nil %}none{% endcase %}",
        "none",
    );
    check(
        "{% case contact.age %}{% when '41' %}text{% else %}no{% endcase %}",
        "no",
    );
}

#[test]
fn loops_go_through_lists_and_ranges() {
    let items = "{% for item in data.items %}{{ forloop.index }}:{{ item.title }}{% unless forloop.last = TRUE %}, {% endunless %}{% endfor %}";
    check(items, "1:Tea, 2:Cup");
    check("{% for i in (1..4) limit: 3 %}{{ i }}{% endfor %}", "123");
    check("{% for i in (data.count..3) %}{{ i }}{% endfor %}", "23");
    check("{% for i in (3..1) %}x{% else %}none{% endfor %}", "none");
    check(
        "{% for i in data.empty %}x{% else %}none{% endfor %}",
        "none",
    );
    check(
        "{% for i in contact.plan %}x{% else %}no list{% endfor %}",
        "no list",
    );
    check(
        "{% for a in (1..2) %}{% for b in (1..2) %}{{ a }}{{ b }} {% endfor %}{% endfor %}",
        "11 12 21 22 ",
    );
    check(
        "{% for item in data.items %}{% if item.price > 5 %}{{ item.title }}{% endif %}{% endfor %}",
        "Cup",
    );
    check(
        "{% for i in (1..2) %}{{ forloop.first }}{{ forloop.index0 }}{{ forloop.length }} {% endfor %}",
        "true02 false12 ",
    );
}

#[test]
fn variables_are_assigned() {
    check(
        "{% assign name = contact.first_name | upcase %}{{ name }}",
        "ANN",
    );
    check(
        "{% assign parts = 'a,b,c' | split: ',' %}{% for p in parts %}<{{ p }}>{% endfor %}",
        "<a><b><c>",
    );
    check(
        "{% for i in (1..3) %}{% assign last = i %}{% endfor %}{{ last }}",
        "3",
    );
    check(
        "{% assign item = data.items | first %}{{ item.title }}",
        "Tea",
    );
}

#[test]
fn white_space_comments_and_raw() {
    check("a\n{%- if contact.age > 1 -%}\n b \n{%- endif %} c", "ab c");
    check("a {{- contact.age -}} b", "a41b");
    check(
        "a{% comment %} {{ nonsense {% if %} {% endcomment %}b{% # c %}",
        "ab",
    );
    check(
        "{% raw %}{{ contact.first_name }} {% if %}{% endraw %}",
        "{{ contact.first_name }} {% if %}",
    );
}

#[test]
fn what_is_read_is_known() {
    let text = "{{ contact.first_name | default: data.name }}{% if journey.state.n > contact.age %}
        {% for x in data.items %}{{ x.title }}{{ x.n | append: contact.sep }}{% endfor %}{% endif %}
        {% assign y = contact.z %}{{ y.w }}{% case contact.plan %}{% when data.p %}{% endcase %}";
    let reads: Vec<String> = compile("text", text)
        .expect("good")
        .reads()
        .into_iter()
        .collect();
    let expected = [
        "contact.age",
        "contact.first_name",
        "contact.plan",
        "contact.sep",
        "contact.z",
        "data.items",
        "data.name",
        "data.p",
        "journey.state.n",
    ];
    assert_eq!(reads, expected);
}

#[test]
fn a_markdown_body_becomes_html_and_text() {
    let text = "# Hi {{ contact.first_name }}\n\n{% for item in data.items %}- **{{ item.title }}**\n{% endfor %}\n[Go](https://example.org/?id={{ journey.state.cart_id }})\n";
    let rendered = render("markdown", text, &ann()).expect("rendered");
    let html = rendered.html.expect("html");
    let body = "<h1>Hi Ann</h1>\n<ul>\n<li><strong>Tea</strong></li>\n<li><strong>Cup</strong></li>\n</ul>\n<p><a href=\"https://example.org/?id=c-1\">Go</a></p>\n";
    assert!(html.contains(body), "{html}");
    assert_eq!(
        rendered.text.as_deref(),
        Some("Hi Ann\n\n- Tea\n- Cup\n\nGo (https://example.org/?id=c-1)\n")
    );
}

#[test]
fn a_document_has_its_parts() {
    let document = crate::journey::read_document(
        "name: t\ntopic: news\nsubject: Hi {{ contact.first_name }}\npreheader: For {{ contact.plan }} <3\nhtml: <html><body class='x'><p>{{ data.note }}</p></body></html>\n",
    );
    let compiled = Compiled::new(&document.expect("YAML")).expect("good");
    assert_eq!(
        (compiled.name.as_str(), compiled.topic.as_deref()),
        ("t", Some("news"))
    );
    let rendered = compiled.render(&ann(), now()).expect("rendered");
    assert_eq!(rendered.subject.as_deref(), Some("Hi Ann"));
    let html = "<html><body class='x'><div style=\"display:none;max-height:0;overflow:hidden\">For pro &lt;3</div><p>a &lt; b &amp; c</p></body></html>";
    assert_eq!(rendered.html.as_deref(), Some(html));
    assert_eq!(rendered.text.as_deref(), Some("a < b & c\n"));
}

#[test]
fn what_is_missing_is_noted_or_refused() {
    let text =
        "{{ contact.a }}{{ contact.b | default: 'x' }}{{ contact.c.d | upcase }}{{ data.count }}";
    let noted = compile("text", text)
        .expect("good")
        .render_noting(&object("{}"), now());
    let missing: Vec<String> = noted.expect("rendered").missing.into_iter().collect();
    // An upper-case nothing is an empty text, but nothing was there.
    assert_eq!(missing, ["contact.a", "contact.c.d", "data.count"]);
    let mut strict = object(r#"{"name": "t", "strict": true}"#);
    strict.insert("text".into(), Value::Text(text.into()));
    let compiled = Compiled::new(&Value::Object(strict)).expect("good");
    let fault = compiled.render(&object("{}"), now()).expect_err("strict");
    assert_eq!(fault.to_string(), "text: missing: `contact.a` has no value");
}
