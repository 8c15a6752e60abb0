//! A part's text, cut into what is said as it is, outputs and tags.

use crate::expr::{Error, Span};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// Said as it is.
    Text(Span),
    /// What stands between `{{` and `}}`.
    Output(Span),
    /// What stands between `{%` and `%}`.
    Tag(Span),
}

/// Cuts a text; what is not closed is a fault, and the text ends there.
pub fn cut(text: &str) -> (Vec<Piece>, Vec<Error>) {
    let mut cutter = Cutter {
        text,
        at: 0,
        trims: false,
        pieces: Vec::new(),
        errors: Vec::new(),
    };
    while cutter.at < text.len() {
        cutter.next();
    }
    (cutter.pieces, cutter.errors)
}

struct Cutter<'a> {
    text: &'a str,
    at: usize,
    /// The tag before ended with a `-`: the white space behind it goes.
    trims: bool,
    pieces: Vec<Piece>,
    errors: Vec<Error>,
}

impl Cutter<'_> {
    fn next(&mut self) {
        let rest = &self.text[self.at..];
        let opens = |at: &usize| rest[at + 1..].starts_with(['{', '%']);
        let mut braces = rest.match_indices('{').map(|(at, _)| at);
        let Some(open) = braces.find(opens).map(|at| self.at + at) else {
            return self.text_up_to(self.text.len(), false);
        };
        let is_output = self.text[open..].starts_with("{{");
        let trims = self.text[open + 2..].starts_with('-');
        self.text_up_to(open, trims);
        let start = open + 2 + usize::from(trims);
        let Some(close) = self.close(start, if is_output { "}}" } else { "%}" }) else {
            return self.unclosed(open, is_output);
        };
        self.at = close + 2;
        self.trims = close > start && self.text[..close].ends_with('-');
        let inner = Span::new(start, close - usize::from(self.trims));
        match is_output {
            true => self.pieces.push(Piece::Output(inner)),
            false => self.tag(inner),
        }
    }

    fn text_up_to(&mut self, end: usize, trims: bool) {
        let (mut start, mut end_at) = (self.at, end);
        if self.trims {
            let text = &self.text[start..end];
            start += text.len() - text.trim_start().len();
        }
        if trims {
            end_at = start + self.text[start..end].trim_end().len();
        }
        self.trims = false;
        if start < end_at {
            self.pieces.push(Piece::Text(Span::new(start, end_at)));
        }
        self.at = end;
    }

    /// Where a tag ends; what stands in quotes is no end.
    fn close(&self, start: usize, end: &str) -> Option<usize> {
        let mut quote = None;
        for (at, c) in self.text[start..].char_indices() {
            match quote {
                Some(open) if c == open => quote = None,
                Some(_) => {}
                None if self.text[start + at..].starts_with(end) => return Some(start + at),
                None if c == '\'' || c == '"' => quote = Some(c),
                None => {}
            }
        }
        None
    }

    fn unclosed(&mut self, open: usize, is_output: bool) {
        let (what, end) = match is_output {
            true => ("this output", "}}"),
            false => ("this tag", "%}"),
        };
        let error = Error::new(Span::new(open, open + 2), format!("{what} is not closed"));
        let suggestion = format!("write `{end}` at its end, and close every quote in it");
        self.errors.push(error.suggest(suggestion));
        self.at = self.text.len();
    }

    fn tag(&mut self, inner: Span) {
        let word = self.text[inner.start..inner.end].trim();
        match word {
            "raw" => self.verbatim(inner),
            "comment" => self.comment(inner),
            _ if word.starts_with('#') => {}
            _ => self.pieces.push(Piece::Tag(inner)),
        }
    }

    /// Everything up to `endraw` is said as it is.
    fn verbatim(&mut self, inner: Span) {
        let (start, trims) = (self.at, self.trims);
        let Some((open, trims_before)) = self.find_end("endraw") else {
            return self.unended(inner, "raw");
        };
        let after = (self.at, self.trims);
        (self.at, self.trims) = (start, trims);
        self.text_up_to(open, trims_before);
        (self.at, self.trims) = after;
    }

    fn comment(&mut self, inner: Span) {
        if self.find_end("endcomment").is_none() {
            self.unended(inner, "comment");
        }
    }

    fn unended(&mut self, inner: Span, word: &str) {
        let error = Error::new(inner, format!("`{word}` has no end"));
        self.errors
            .push(error.suggest(format!("write {{% end{word} %}}")));
        self.at = self.text.len();
    }

    /// Goes behind the next tag of this word; answers where it opens, and whether it trims.
    fn find_end(&mut self, word: &str) -> Option<(usize, bool)> {
        let rest = &self.text[self.at..];
        for (open, _) in rest.match_indices("{%") {
            if let Some((behind, trims)) = is_end(&rest[open + 2..], word) {
                let open = self.at + open;
                self.at = self.text.len() - behind.len();
                self.trims = self.text[..self.at - 2].ends_with('-');
                return Some((open, trims));
            }
        }
        None
    }
}

/// What stands behind a tag of just this word, and whether the tag trims what is before it.
fn is_end<'a>(inner: &'a str, word: &str) -> Option<(&'a str, bool)> {
    let trims = inner.starts_with('-');
    let named = inner.strip_prefix('-').unwrap_or(inner).trim_start();
    let behind = named.strip_prefix(word)?.trim_start();
    let behind = behind.strip_prefix('-').unwrap_or(behind);
    Some((behind.strip_prefix("%}")?, trims))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let (pieces, errors) = cut(text);
        let shown: Vec<String> = pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(span) => format!("{:?}", &text[span.start..span.end]),
                Piece::Output(span) => format!("out({})", text[span.start..span.end].trim()),
                Piece::Tag(span) => format!("tag({})", text[span.start..span.end].trim()),
            })
            .chain(errors.iter().map(|error| format!("! {error}")))
            .collect();
        assert_eq!(shown.join(" "), expected, "{text}");
    }

    #[test]
    fn texts_outputs_and_tags_are_told_apart() {
        check("a {{ b }} c", "\"a \" out(b) \" c\"");
        check("{% if x %}{{y}}{% endif %}", "tag(if x) out(y) tag(endif)");
        check("{{ '}}' }} {", "out('}}') \" {\"");
        check("a {{- b -}} c", "\"a\" out(b) \"c\"");
        check("a\n{%- if x -%}\n b", "\"a\" tag(if x) \"b\"");
        check(
            "a{% # hush %}b{% comment %}{{ x }}{% endcomment %}c",
            "\"a\" \"b\" \"c\"",
        );
        check("{% raw %}{{ x }}{% endraw %}.", "\"{{ x }}\" \".\"");
        check("{% raw -%} {{ x }} {%- endraw -%} .", "\"{{ x }}\" \".\"");
    }

    #[test]
    fn what_is_not_closed_is_told() {
        check(
            "a {{ b",
            "\"a \" ! this output is not closed; write `}}` at its end, and close every quote in it",
        );
        check("{% raw %} x", "! `raw` has no end; write {% endraw %}");
    }
}
