//! What channels show.

use super::*;

#[track_caller]
fn shows(markdown: &str, target: Target, expected: &str) {
    let shown = render(markdown, &References::default(), target).expect("short");
    assert_eq!(shown, expected, "{markdown}");
}

const ALL: &str = "## Kopf **fett**\n\nEin *Wort* und **zwei** & ~~drei~~ mit `co<de`.\nWeiter\\\nhier \
                   [Link](https://e.org/?a=1&b=2|c) <https://e.org>\n\n- a\n  - b\n- c\n\n1. x\n2. y\n\n> Zitat\n>\n> mehr\n\n\
                   ```rust\nlet x = 1;\n\n  y\n```\n\n| a | b |\n|---|---|\n| c | d |\n";

#[test]
fn html_is_html() {
    shows(
        "Ein *Wort* & `co<de` [Link](https://e.org/?a=1&b)\n\n- a\n- [x] b\n",
        Target::Html,
        "<p>Ein <em>Wort</em> &amp; <code>co&lt;de</code> \
         <a href=\"https://e.org/?a=1&amp;b\">Link</a></p>\n<ul>\n<li>a</li>\n<li>☑ b</li>\n</ul>",
    );
}

#[test]
fn raw_html_is_shown_and_not_obeyed() {
    shows(
        "<script>alert(1)</script>\n\na <b onclick=x>b</b> <!-- c --> d\n",
        Target::Html,
        "&lt;script&gt;alert(1)&lt;/script&gt;\n<p>a &lt;b onclick=x&gt;b&lt;/b&gt;  d</p>",
    );
    shows("<!-- a\n\nb --> c\n", Target::Html, "c");
}

#[test]
fn attributes_of_headings_are_not_written() {
    shows(
        "# A {#i .c onclick=\"alert(1)\"}\n",
        Target::Html,
        "<h1>A</h1>",
    );
}

#[test]
fn links_lead_only_where_people_go() {
    for address in [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "java&#10;script:alert(1)",
        "&#1;javascript:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
    ] {
        for markdown in [format!("[x](<{address}>)"), format!("![x](<{address}>)")] {
            shows(&markdown, Target::Html, "<p>x</p>");
            shows(&markdown, Target::Text, "x");
            shows(&markdown, Target::Slack, "x");
        }
    }
    shows(
        "[x](../y.md)",
        Target::Html,
        "<p><a href=\"../y.md\">x</a></p>",
    );
    shows("[x](../y.md)", Target::Text, "x");
    shows("[x](HTTPS://e.org)", Target::Text, "x (HTTPS://e.org)");
    shows("<a@e.org>", Target::Text, "a@e.org");
}

#[test]
fn text_is_text() {
    shows(
        ALL,
        Target::Text,
        "Kopf fett\n\nEin Wort und zwei & drei mit co<de. Weiter\nhier Link \
         (https://e.org/?a=1&b=2|c) https://e.org\n\n- a\n  - b\n- c\n\n1. x\n2. y\n\n> Zitat\n>\n> mehr\n\n\
         let x = 1;\n\n  y\n\na | b\nc | d",
    );
}

#[test]
fn slack_has_its_own_marks() {
    shows(
        ALL,
        Target::Slack,
        "*Kopf fett*\n\nEin _Wort_ und *zwei* &amp; ~drei~ mit `co&lt;de`. Weiter\nhier \
         <https://e.org/?a=1&amp;b=2%7Cc|Link> <https://e.org|https://e.org>\n\n• a\n  • b\n• c\n\n\
         1. x\n2. y\n\n> Zitat\n>\n> mehr\n\n```\nlet x = 1;\n\n  y\n```\n\na | b\nc | d",
    );
    // What would call everybody is left out as raw HTML, or written as it is.
    shows("a <!channel> b", Target::Slack, "a  b");
    shows(
        "a \\<!here> `<!here>`",
        Target::Slack,
        "a &lt;!here&gt; `&lt;!here&gt;`",
    );
}

#[test]
fn short_messages_have_few_characters() {
    shows(
        ALL,
        Target::Sms,
        "Kopf fett\nEin Wort und zwei & drei mit co<de. Weiter\nhier Link: https://e.org/?a=1&b=2|c \
         https://e.org\n- a\n  - b\n- c\n1. x\n2. y\nZitat\nmehr\nlet x = 1;\n\n  y\na | b\nc | d",
    );
    shows("„Ja“ – so\u{a0}ist’s…", Target::Sms, "\"Ja\" - so ist's...");
}

#[test]
fn raw_html_is_left_out_of_text() {
    shows(
        "<div>\n<p>Hallo <b>du</b></p>\n</div>\n",
        Target::Text,
        "Hallo du",
    );
    shows("a<br>b <i>c</i>", Target::Text, "a\nb c");
}

#[test]
fn references_of_the_document_lead_on() {
    let source = "Siehe [Das Ding][ding] hier.\n\n[Ding]: https://e.org 'T'\n";
    let document = imported(source);
    let text = document.text(&document.nodes[1], source);
    let shown = render(&text, &document.references, Target::Text);
    assert_eq!(shown.as_deref(), Ok("Siehe Das Ding (https://e.org) hier."));
    shows(&text, Target::Text, "Siehe [Das Ding][ding] hier.");
}

#[test]
fn what_becomes_too_long_is_refused() {
    let text = "a".repeat(OUTPUT_BYTES_MAX + 1);
    for target in [Target::Html, Target::Text, Target::Slack, Target::Sms] {
        let shown = render(&text, &References::default(), target);
        assert_eq!(shown, Err(Error::OutputTooLong));
    }
    let deep = format!("{} x\n", ">".repeat(50_000));
    assert!(render(&deep, &References::default(), Target::Text).is_ok());
}
