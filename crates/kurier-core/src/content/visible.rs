//! What of raw HTML can be read: no tags, no comments, no scripts. It is fed line by line.

/// Where in the HTML the next line begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Visible {
    #[default]
    Text,
    Tag {
        quote: Option<u8>,
    },
    Comment,
    /// Up to this closing tag nothing is read.
    Silent(&'static str),
}

const SILENT: [(&str, &str); 2] = [("<script", "</script"), ("<style", "</style")];

impl Visible {
    /// Hands on what can be read of the next line; a tag stands between words.
    pub fn feed(&mut self, line: &str, mut hand: impl FnMut(&str)) {
        let mut rest = line;
        while !rest.is_empty() {
            rest = match *self {
                Self::Text => self.text(rest, &mut hand),
                Self::Tag { quote } => self.tag(rest, quote),
                Self::Comment => self.until(rest, "-->", 3),
                Self::Silent(close) => self.until(rest, close, 0),
            };
        }
    }

    fn text<'l>(&mut self, rest: &'l str, hand: &mut impl FnMut(&str)) -> &'l str {
        let end = rest.find('<').unwrap_or(rest.len());
        hand_text(&rest[..end], hand);
        let rest = &rest[end..];
        let Some(behind) = rest.strip_prefix('<') else {
            return "";
        };
        if let Some(comment) = rest.strip_prefix("<!--") {
            *self = Self::Comment;
            return comment;
        }
        let silent = SILENT.iter().find(|(open, _)| begins(rest, open));
        if let Some((open, close)) = silent {
            *self = Self::Silent(close);
            return &rest[open.len()..];
        }
        if behind.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?')) {
            *self = Self::Tag { quote: None };
            hand(" ");
        } else {
            hand("<");
        }
        behind
    }

    fn tag<'l>(&mut self, rest: &'l str, mut quote: Option<u8>) -> &'l str {
        for (at, byte) in rest.bytes().enumerate() {
            match (quote, byte) {
                (Some(open), byte) if byte == open => quote = None,
                (None, b'"' | b'\'') => quote = Some(byte),
                (None, b'>') => {
                    *self = Self::Text;
                    return &rest[at + 1..];
                }
                _ => {}
            }
        }
        *self = Self::Tag { quote };
        ""
    }

    fn until<'l>(&mut self, rest: &'l str, end: &str, skipped: usize) -> &'l str {
        let mut starts = rest.match_indices(&end[..1]).map(|(at, _)| at);
        match starts.find(|at| begins(&rest[*at..], end)) {
            Some(at) => {
                *self = Self::Text;
                &rest[at + skipped..]
            }
            None => "",
        }
    }
}

fn begins(text: &str, with: &str) -> bool {
    let start = text.as_bytes().get(..with.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(with.as_bytes()))
}

/// Character references say nothing for an identifier.
fn hand_text(text: &str, hand: &mut impl FnMut(&str)) {
    let mut parts = text.split('&');
    hand(parts.next().unwrap_or_default());
    for part in parts {
        match part.split_once(';') {
            Some((name, behind)) if is_reference(name) => {
                hand(" ");
                hand(behind);
            }
            _ => {
                hand("&");
                hand(part);
            }
        }
    }
}

fn is_reference(name: &str) -> bool {
    let name = name.strip_prefix('#').unwrap_or(name);
    !name.is_empty() && name.len() <= 32 && name.bytes().all(|b| b.is_ascii_alphanumeric())
}
