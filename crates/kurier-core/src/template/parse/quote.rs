//! `content("para:refund_policy:001")`: a quotation, by itself in its output. Which node it is
//! stands in the text, so that publishing can tell whether it is there.

use super::super::ast::Node;
use super::super::quotes::as_read;
use super::super::token::Token;
use super::{Parser, Tokens};
use crate::content::Key;
use crate::expr::Span;

const WORD: &str = "content";
const EXAMPLE: &str = "write, for example, content(\"para:refund_policy:001\")";

impl Parser<'_> {
    pub(super) fn is_quote(&self, tokens: &Tokens) -> bool {
        let begins = matches!(tokens.peek(), Token::Word(word) if word == WORD);
        let opens = matches!(tokens.all.get(1), Some((Token::Symbol("("), _)));
        begins && opens
    }

    pub(super) fn quote(&mut self, tokens: &mut Tokens, span: Span) -> Option<Node> {
        tokens.next();
        tokens.next();
        let (token, place) = tokens.next();
        let Token::Text(text) = token else {
            self.suggest(place, "content is quoted by its key, in quotes", EXAMPLE);
            return None;
        };
        let Ok(key) = text.parse::<Key>() else {
            self.suggest(place, format!("`{text}` is no key of content"), EXAMPLE);
            return None;
        };
        if !tokens.take(")") {
            self.suggest(tokens.span(), "expected `)`", EXAMPLE);
            return None;
        }
        if tokens.take("|") {
            let message = "no filter goes with content: it is shown as its channel shows things";
            self.suggest(tokens.span(), message, "remove the filter");
            return None;
        }
        self.expect_end(tokens);
        self.reads(as_read(key));
        self.parsed.quotes.push((key, place));
        Some(Node::Quote { key, span })
    }
}
