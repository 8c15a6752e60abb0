//! What makes a text safe where it is put.

use std::fmt::Write as _;

/// For HTML, in text and in quoted attributes.
pub fn html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\0' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// For anywhere in HTML, also outside of quotes: every sign by its number.
pub fn html_anywhere(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_alphanumeric() {
            true => escaped.push(c),
            false => drop(write!(escaped, "&#{};", u32::from(c).max(1))),
        }
    }
    escaped
}

/// For any place in a URL: all but letters, digits and `-._~` in percents.
pub fn url(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                escaped.push(char::from(byte));
            }
            byte => drop(write!(escaped, "%{byte:02X}")),
        }
    }
    escaped
}

/// For between the quotes of a JSON string.
pub fn json(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap_or_default();
    let inner = quoted
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    inner.unwrap_or_default().to_owned()
}

/// For a header's line: whatever is no printable sign is a space, and the ends are cut.
pub fn line(text: &str) -> String {
    let folded = text.split(|c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'));
    let parts = folded.map(str::trim).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_target_has_its_own_way() {
        assert_eq!(
            html("<a href='x'>&\""),
            "&lt;a href=&#39;x&#39;&gt;&amp;&quot;"
        );
        assert_eq!(html_anywhere("a b=c"), "a&#32;b&#61;c");
        assert_eq!(url("a b/ä?&"), "a%20b%2F%C3%A4%3F%26");
        assert_eq!(json("say \"hi\"\n\\"), "say \\\"hi\\\"\\n\\\\");
        assert_eq!(
            line(" Hello\r\nBcc: all@example.org\t "),
            "Hello Bcc: all@example.org"
        );
    }
}
