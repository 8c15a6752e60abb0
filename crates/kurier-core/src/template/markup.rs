//! HTML as its readers take it apart: tags, attributes, texts. It builds no tree and refuses
//! nothing, as browsers do.

use std::borrow::Cow;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bit<'h> {
    Text(&'h str),
    Open { name: &'h str, attributes: &'h str },
    Close { name: &'h str },
}

pub struct Bits<'h>(&'h str);

/// The bits of a text, in order; comments and declarations are left out.
pub const fn bits(html: &str) -> Bits<'_> {
    Bits(html)
}

impl<'h> Iterator for Bits<'h> {
    type Item = Bit<'h>;

    fn next(&mut self) -> Option<Bit<'h>> {
        loop {
            let rest = self.0;
            if rest.is_empty() {
                return None;
            }
            if let Some(comment) = rest.strip_prefix("<!--") {
                self.0 = comment.find("-->").map_or("", |end| &comment[end + 3..]);
                continue;
            }
            if rest.starts_with("<!") || rest.starts_with("<?") {
                self.0 = rest.find('>').map_or("", |end| &rest[end + 1..]);
                continue;
            }
            return Some(match is_tag(rest) {
                true => self.tag(rest),
                false => self.text(rest),
            });
        }
    }
}

fn is_tag(rest: &str) -> bool {
    let name = rest
        .strip_prefix('<')
        .map(|rest| rest.strip_prefix('/').unwrap_or(rest));
    name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()))
}

impl<'h> Bits<'h> {
    fn text(&mut self, rest: &'h str) -> Bit<'h> {
        // A `<` that opens nothing is text as well.
        let first = rest.chars().next().map_or(1, char::len_utf8);
        let end = rest[first..].find('<').map_or(rest.len(), |at| at + first);
        self.0 = &rest[end..];
        Bit::Text(&rest[..end])
    }

    fn tag(&mut self, rest: &'h str) -> Bit<'h> {
        let end = tag_end(rest);
        self.0 = &rest[(end + 1).min(rest.len())..];
        let inner = &rest[1..end];
        let (inner, is_close) = match inner.strip_prefix('/') {
            Some(inner) => (inner, true),
            None => (inner, false),
        };
        let length = inner
            .find(|c: char| c.is_whitespace() || c == '/')
            .unwrap_or(inner.len());
        let (name, attributes) = inner.split_at(length);
        match is_close {
            true => Bit::Close { name },
            false => Bit::Open { name, attributes },
        }
    }
}

/// Where a tag's `>` stands: not in quotes that follow a `=`.
fn tag_end(rest: &str) -> usize {
    let (mut quote, mut before) = (None, ' ');
    for (at, c) in rest.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '>' => return at,
            None if matches!(c, '"' | '\'') && before == '=' => quote = Some(c),
            None => {}
        }
        if !c.is_whitespace() {
            before = c;
        }
    }
    rest.len()
}

/// The attributes of a tag, with their values as they are written.
pub fn attributes(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let is_gap = |c: char| c.is_whitespace() || c == '/';
    let mut rest = text.trim_start_matches(is_gap);
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| is_gap(c) || c == '=')
            .unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end.max(1).min(rest.len()));
        let behind = behind.trim_start();
        let (value, after) = match behind.strip_prefix('=') {
            Some(behind) => attribute_value(behind.trim_start()),
            None => ("", behind),
        };
        found.push((name, value));
        rest = after.trim_start_matches(is_gap);
    }
    found
}

fn attribute_value(rest: &str) -> (&str, &str) {
    if let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let inner = &rest[1..];
        let end = inner.find(quote).unwrap_or(inner.len());
        return (&inner[..end], inner.get(end + 1..).unwrap_or_default());
    }
    rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len()))
}

const NAMED: &[(&str, &str)] = &[
    ("amp", "&"),
    ("lt", "<"),
    ("gt", ">"),
    ("quot", "\""),
    ("apos", "'"),
    ("nbsp", " "),
    ("colon", ":"),
    ("Tab", "\t"),
    ("NewLine", "\n"),
    ("hellip", "…"),
    ("mdash", "—"),
    ("ndash", "–"),
    ("bull", "•"),
    ("middot", "·"),
    ("copy", "©"),
    ("reg", "®"),
    ("trade", "™"),
    ("euro", "€"),
    ("laquo", "«"),
    ("raquo", "»"),
    ("lsquo", "‘"),
    ("rsquo", "’"),
    ("ldquo", "“"),
    ("rdquo", "”"),
    ("times", "×"),
    ("auml", "ä"),
    ("ouml", "ö"),
    ("uuml", "ü"),
    ("Auml", "Ä"),
    ("Ouml", "Ö"),
    ("Uuml", "Ü"),
    ("szlig", "ß"),
    ("eacute", "é"),
];

/// Character references become their characters; what is none stays as it is.
pub fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        decoded.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match reference(rest) {
            Some((character, length)) => {
                decoded.push_str(&character);
                rest = &rest[length..];
            }
            None => decoded.push('&'),
        }
    }
    decoded.push_str(rest);
    Cow::Owned(decoded)
}

/// The character of a reference behind its `&`, and how long the reference is.
fn reference(rest: &str) -> Option<(Cow<'static, str>, usize)> {
    if let Some(number) = rest.strip_prefix('#') {
        let (digits, radix, lead) = match number.strip_prefix(['x', 'X']) {
            Some(digits) => (digits, 16, 2),
            None => (number, 10, 1),
        };
        let length = digits
            .find(|c: char| !c.is_digit(radix))
            .unwrap_or(digits.len());
        let code = u32::from_str_radix(digits.get(..length)?, radix).ok()?;
        let character = char::from_u32(code)?;
        let end = usize::from(digits[length..].starts_with(';'));
        return Some((character.to_string().into(), lead + length + end));
    }
    let length = rest
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(rest.len());
    let (_, character) = NAMED.iter().find(|(name, _)| *name == &rest[..length])?;
    let end = usize::from(rest[length..].starts_with(';'));
    Some((Cow::Borrowed(character), length + end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_their_attributes_are_found() {
        let html = "a < b<p>x<!-- <i> --><a href=\"u>v\" id=7 c>y</a><br/>";
        let all: Vec<Bit<'_>> = bits(html).collect();
        let open = |name, attributes| Bit::Open { name, attributes };
        let expected = [
            Bit::Text("a "),
            Bit::Text("< b"),
            open("p", ""),
            Bit::Text("x"),
            open("a", " href=\"u>v\" id=7 c"),
            Bit::Text("y"),
            Bit::Close { name: "a" },
            open("br", "/"),
        ];
        assert_eq!(all, expected);
        let found = attributes(" href=\"u>v\" id=7 c");
        assert_eq!(found, [("href", "u>v"), ("id", "7"), ("c", "")]);
    }

    #[test]
    fn references_become_characters() {
        assert_eq!(
            decoded("a &amp; b &#106; &#x6A; &bogus; &"),
            "a & b j j &bogus; &"
        );
        assert_eq!(decoded("javascript&colon;x"), "javascript:x");
    }
}
