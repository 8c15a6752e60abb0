//! What stands in an output or a tag, as tokens.

use crate::expr::{Error, Span};

#[derive(Debug, Clone, PartialEq)]
pub enum Token {
    Word(String),
    Int(i64),
    Float(f64),
    Text(String),
    /// One of `| : , . = ( ) -` or `..`.
    Symbol(&'static str),
    End,
}

const SYMBOLS: &[&str] = &["..", "|", ":", ",", ".", "=", "(", ")", "-"];

/// The tokens of a stretch of a text, an `End` last; their places are in the whole text.
pub fn tokens(text: &str, span: Span) -> (Vec<(Token, Span)>, Vec<Error>) {
    let (mut found, mut errors) = (Vec::new(), Vec::new());
    let mut at = span.start;
    while at < span.end {
        let rest = &text[at..span.end];
        let first = rest.chars().next().unwrap_or(' ');
        let (token, length) = match first {
            c if c.is_whitespace() => (None, c.len_utf8()),
            c if is_name_start(c) => word(rest),
            c if c.is_ascii_digit() => number(rest),
            '\'' | '"' => quoted(rest, first),
            _ => symbol(rest),
        };
        let here = Span::new(at, at + length);
        if token.is_none() && !first.is_whitespace() {
            let message = format!("`{first}` has no meaning here");
            errors.push(Error::new(here, message));
        }
        found.extend(token.map(|token| (token, here)));
        at += length;
    }
    found.push((Token::End, Span::new(span.end, span.end)));
    (found, errors)
}

pub fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == '$'
}

fn word(rest: &str) -> (Option<Token>, usize) {
    let is_in = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let length = rest.find(|c| !is_in(c)).unwrap_or(rest.len());
    (Some(Token::Word(rest[..length].to_owned())), length)
}

/// `2..5` is two numbers; `2.5` is one.
fn number(rest: &str) -> (Option<Token>, usize) {
    let digits = |text: &str| {
        text.find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len())
    };
    let whole = digits(rest);
    let fraction = match rest[whole..].strip_prefix('.') {
        Some(behind) => digits(behind),
        None => 0,
    };
    if fraction == 0 {
        let int = rest[..whole].parse().map(Token::Int);
        return (int.or_else(|_| float(&rest[..whole])).ok(), whole);
    }
    let length = whole + 1 + fraction;
    (float(&rest[..length]).ok(), length)
}

fn float(text: &str) -> Result<Token, std::num::ParseFloatError> {
    text.parse().map(Token::Float)
}

/// A quote that is doubled stands for itself, as in conditions.
fn quoted(rest: &str, quote: char) -> (Option<Token>, usize) {
    let mut text = String::new();
    let mut letters = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = letters.next() {
        if c != quote {
            text.push(c);
        } else if letters.peek().is_some_and(|(_, next)| *next == quote) {
            text.push(quote);
            letters.next();
        } else {
            return (Some(Token::Text(text)), at + 1);
        }
    }
    (None, rest.len())
}

fn symbol(rest: &str) -> (Option<Token>, usize) {
    let known = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol));
    match known {
        Some(symbol) => (Some(Token::Symbol(symbol)), symbol.len()),
        None => (None, rest.chars().next().map_or(1, char::len_utf8)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_know_their_places() {
        let text = "x {{ a.b | f: 'it''s', 2.5 }}";
        let (found, errors) = tokens(text, Span::new(4, 26));
        assert!(errors.is_empty());
        let words: Vec<&str> = found
            .iter()
            .map(|(_, span)| &text[span.start..span.end])
            .collect();
        assert_eq!(
            words,
            ["a", ".", "b", "|", "f", ":", "'it''s'", ",", "2.5", ""]
        );
        assert_eq!(found[6].0, Token::Text("it's".into()));
    }

    #[test]
    fn a_range_is_no_fraction() {
        let (found, _) = tokens("(1..10)", Span::new(0, 7));
        let kinds: Vec<&Token> = found.iter().map(|(token, _)| token).collect();
        let (one, ten) = (Token::Int(1), Token::Int(10));
        let symbol = Token::Symbol;
        let expected = [
            &symbol("("),
            &one,
            &symbol(".."),
            &ten,
            &symbol(")"),
            &Token::End,
        ];
        assert_eq!(kinds, expected);
    }
}
