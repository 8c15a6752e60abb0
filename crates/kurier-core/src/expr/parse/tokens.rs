//! The parser's hands: looking at tokens, taking them, and noting what is wrong.

use super::super::ast::{Expr, ExprKind};
use super::super::error::{Error, Span};
use super::super::lex::{Symbol, Token};
use super::{NODES_MAX, Parser, suggest_word};

impl Parser<'_> {
    // Tokens

    pub(super) fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    pub(super) fn peek_second(&self) -> &Token {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].0
    }

    pub(super) fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    pub(super) fn last_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].1
    }

    pub(super) fn advance(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(found) if found.eq_ignore_ascii_case(word))
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let is_there = self.is_word(word);
        if is_there {
            self.advance();
        }
        is_there
    }

    pub(super) fn take_symbol(&mut self, symbol: Symbol) -> bool {
        let is_there = *self.peek() == Token::Symbol(symbol);
        if is_there {
            self.advance();
        }
        is_there
    }

    // Faults

    pub(super) fn error(&mut self, error: Error) {
        if !self.stopped {
            self.errors.push(error);
        }
    }

    /// What stands here, for a message.
    pub(super) fn found(&self) -> String {
        match self.peek() {
            Token::End => "the end".to_owned(),
            _ => format!("`{}`", &self.text[self.span().start..self.span().end]),
        }
    }

    /// Skips to where the next condition may begin.
    pub(super) fn recover(&mut self) {
        let mut depth = 0usize;
        loop {
            match self.peek() {
                Token::End => return,
                Token::Symbol(Symbol::Open) => depth += 1,
                Token::Symbol(Symbol::Close) if depth == 0 => return,
                Token::Symbol(Symbol::Close) => depth -= 1,
                _ if depth == 0 && (self.is_word("AND") || self.is_word("OR")) => return,
                _ => {}
            }
            self.advance();
        }
    }

    /// A limit was passed: says so once and gives up on the rest.
    pub(super) fn stop(&mut self, message: String) {
        self.error(Error::new(self.span(), message));
        self.stopped = true;
        self.at = self.tokens.len() - 1;
    }

    pub(super) fn count(&mut self) {
        self.nodes += 1;
        if self.nodes > NODES_MAX && !self.stopped {
            self.stop(format!("an expression has at most {NODES_MAX} parts"));
        }
    }

    pub(super) fn expect_end(&mut self) {
        if *self.peek() == Token::End {
            return;
        }
        let message = format!("expected AND, OR or the end, found {}", self.found());
        let error = Error::new(self.span(), message);
        let error = match self.peek() {
            Token::Symbol(Symbol::Close) => error.suggest("remove this parenthesis"),
            Token::Word(word) => suggest_word(error, word, &["AND", "OR"]),
            _ => error,
        };
        self.error(error);
    }

    pub(super) fn node(&mut self, start: Span, kind: ExprKind) -> Expr {
        self.count();
        Expr {
            kind,
            span: start.to(self.last_span()),
        }
    }
}
