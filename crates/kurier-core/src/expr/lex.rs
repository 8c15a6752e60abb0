//! Text becomes tokens. What is no token is noted, and reading goes on behind it.

use super::error::{Error, Span};
use crate::time::Timestamp;

#[derive(Debug, Clone, PartialEq)]
pub enum Token {
    /// A keyword or a name: which, depends on the place.
    Word(String),
    Number(f64),
    Text(String),
    /// In microseconds.
    Duration(i64),
    Symbol(Symbol),
    End,
}

macro_rules! symbols {
    ($($name:ident = $text:literal,)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Symbol { $($name,)* }

        impl Symbol {
            pub const fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// Longest first: `<=` is not `<`.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Whether it says something of what stands on both its sides.
            pub const fn is_operator(self) -> bool {
                !matches!(self, Self::Open | Self::Close | Self::Comma | Self::Dot)
            }
        }
    };
}

symbols! {
    EqualEqual = "==",
    NotEqual = "!=",
    LessGreater = "<>",
    LessEqual = "<=",
    GreaterEqual = ">=",
    Equal = "=",
    Less = "<",
    Greater = ">",
    Open = "(",
    Close = ")",
    Comma = ",",
    Dot = ".",
    Plus = "+",
    Minus = "-",
}

pub const UNITS: &[(&str, i64)] = &[
    ("s", 1_000_000),
    ("m", 60_000_000),
    ("h", 3_600_000_000),
    ("d", 86_400_000_000),
    ("w", 604_800_000_000),
];

/// All tokens, an `End` last, and what could not be read.
pub fn lex(text: &str) -> (Vec<(Token, Span)>, Vec<Error>) {
    let mut lexer = Lexer {
        text,
        at: 0,
        errors: Vec::new(),
    };
    let mut tokens = Vec::new();
    while let Some(token) = lexer.next() {
        tokens.push(token);
    }
    tokens.push((Token::End, Span::new(text.len(), text.len())));
    (tokens, lexer.errors)
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    errors: Vec<Error>,
}

impl Lexer<'_> {
    fn next(&mut self) -> Option<(Token, Span)> {
        loop {
            self.take_while(char::is_whitespace);
            let start = self.at;
            let first = self.peek()?;
            let token = match first {
                c if c.is_alphabetic() || c == '_' || c == '$' => Some(self.word()),
                c if c.is_ascii_digit() => self.number(),
                '\'' | '"' => self.quoted(first),
                _ => self.symbol(),
            };
            if let Some(token) = token {
                return Some((token, Span::new(start, self.at)));
            }
        }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &str {
        let start = self.at;
        let rest = &self.text[start..];
        self.at += rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        &self.text[start..self.at]
    }

    fn error(&mut self, start: usize, message: impl Into<String>, suggestion: &str) {
        let error = Error::new(Span::new(start, self.at), message);
        self.errors.push(if suggestion.is_empty() {
            error
        } else {
            error.suggest(suggestion)
        });
    }

    fn word(&mut self) -> Token {
        Token::Word(
            self.take_while(|c| c.is_alphanumeric() || c == '_' || c == '$')
                .to_owned(),
        )
    }

    /// A number, or a duration when a unit stands right behind it.
    fn number(&mut self) -> Option<Token> {
        let start = self.at;
        self.take_while(|c| c.is_ascii_digit());
        if self.text[self.at..].starts_with('.')
            && self.text[self.at + 1..].starts_with(|c: char| c.is_ascii_digit())
        {
            self.at += 1;
            self.take_while(|c| c.is_ascii_digit());
        }
        let digits = self.text[start..self.at].to_owned();
        let unit = self
            .take_while(|c| c.is_alphanumeric() || c == '_')
            .to_lowercase();
        if unit.is_empty() {
            return digits.parse().ok().map(Token::Number);
        }
        match UNITS.iter().find(|(name, _)| *name == unit) {
            Some((_, micros)) => self.duration(start, &digits, *micros),
            None => {
                let message = format!("`{digits}{unit}` is neither a number nor a duration");
                self.error(
                    start,
                    message,
                    "durations are written 30s, 15m, 12h, 7d or 2w",
                );
                None
            }
        }
    }

    fn duration(&mut self, start: usize, digits: &str, micros: i64) -> Option<Token> {
        let total = digits
            .parse::<i64>()
            .ok()
            .and_then(|count| count.checked_mul(micros));
        // A century is as good as for ever, and sums of such durations do not overflow.
        let total = total.filter(|total| *total <= 36_525 * 86_400_000_000);
        if total.is_none() {
            self.error(
                start,
                "a duration is a whole number of at most a hundred years",
                "",
            );
        }
        total.map(Token::Duration)
    }

    /// A text; its own quote is doubled inside. Backslashes mean themselves.
    fn quoted(&mut self, quote: char) -> Option<Token> {
        let start = self.at;
        let mut text = String::new();
        self.at += 1;
        loop {
            text.push_str(self.take_while(|c| c != quote));
            if self.at == self.text.len() {
                self.error(
                    start,
                    "this text has no end",
                    &format!("close it with {quote}"),
                );
                return None;
            }
            self.at += 1;
            if self.peek() != Some(quote) {
                return Some(Token::Text(text));
            }
            text.push(quote);
            self.at += 1;
        }
    }

    fn symbol(&mut self) -> Option<Token> {
        let rest = &self.text[self.at..];
        if let Some(symbol) = Symbol::ALL
            .iter()
            .find(|symbol| rest.starts_with(symbol.text()))
        {
            self.at += symbol.text().len();
            return Some(Token::Symbol(*symbol));
        }
        let start = self.at;
        let odd = rest.chars().next().unwrap_or_default();
        self.at += odd.len_utf8();
        let suggestion = match odd {
            '&' => "write AND",
            '|' => "write OR",
            '!' => "write NOT",
            '%' => "CONTAINS, STARTS_WITH and ENDS_WITH need no wildcards",
            '‘' | '’' | '“' | '”' | '„' | '`' => "use straight quotes: 'text'",
            _ => "",
        };
        self.take_while(|c| c == odd);
        self.error(start, format!("`{odd}` means nothing here"), suggestion);
        None
    }
}

/// A duration as it is written: the largest unit that fits.
pub fn print_duration(micros: i64) -> String {
    let fits = UNITS.iter().rev().find(|(_, unit)| micros % unit == 0);
    let (name, unit) = fits.unwrap_or(&UNITS[0]);
    format!("{}{name}", micros / unit)
}

/// A time literal's text as an instant.
pub fn parse_time(text: &str, span: Span) -> Result<Timestamp, Error> {
    text.parse()
        .map_err(|error: crate::time::TimeError| Error::new(span, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Token> {
        let (tokens, errors) = lex(text);
        assert_eq!(errors, [], "{text}");
        tokens.into_iter().map(|(token, _)| token).collect()
    }

    #[test]
    fn tokens_are_told_apart() {
        let symbol = Token::Symbol;
        assert_eq!(
            words("a.b<=7d 1.5 'it''s' \"x\""),
            [
                Token::Word("a".into()),
                symbol(Symbol::Dot),
                Token::Word("b".into()),
                symbol(Symbol::LessEqual),
                Token::Duration(7 * 86_400_000_000),
                Token::Number(1.5),
                Token::Text("it's".into()),
                Token::Text("x".into()),
                Token::End
            ]
        );
    }

    #[test]
    fn what_is_no_token_is_noted_and_reading_goes_on() {
        let (tokens, errors) = lex("a && b | 5x 'open");
        assert_eq!(tokens.len(), 3, "{tokens:?}");
        let shown: Vec<String> = errors.iter().map(Error::to_string).collect();
        assert_eq!(
            shown,
            [
                "`&` means nothing here; write AND",
                "`|` means nothing here; write OR",
                "`5x` is neither a number nor a duration; durations are written 30s, 15m, 12h, 7d or 2w",
                "this text has no end; close it with '",
            ]
        );
        assert_eq!(errors[0].span, Span::new(2, 4));
    }

    #[test]
    fn durations_print_in_their_largest_unit() {
        for text in ["30s", "90m", "12h", "8d", "2w", "0w"] {
            let [Token::Duration(micros), Token::End] = words(text)[..] else {
                panic!("{text}")
            };
            assert_eq!(print_duration(micros), text);
        }
        assert!(!lex("99999999999w").1.is_empty());
    }
}
