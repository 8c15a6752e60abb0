//! Tokens become a tree. A fault is noted, its comparison skipped, and parsing goes on, so
//! that everything wrong is said at once.

mod operand;
mod tokens;

use super::ast::{CompareOp, Entity, Expr, ExprKind, Operand, TextOp};
use super::error::{Error, Span, closest};
use super::lex::{Symbol, Token, lex};

/// An expression's text may be this long.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;
/// Parentheses, NOTs and WHEREs may nest this deep.
pub const DEPTH_MAX: usize = 64;
/// A tree may have this many nodes.
pub const NODES_MAX: usize = 2_000;

/// Parses an expression; the tree is whole only if there are no errors.
pub fn parse(text: &str) -> Result<Expr, Vec<Error>> {
    parse_with(text, &[])
}

/// The same, where the place gives names of its own.
pub fn parse_with(text: &str, given: &[&str]) -> Result<Expr, Vec<Error>> {
    if text.len() > TEXT_BYTES_MAX {
        let message = format!(
            "an expression has at most {TEXT_BYTES_MAX} bytes; this one has {}",
            text.len()
        );
        return Err(vec![Error::new(
            Span::new(floor(text, TEXT_BYTES_MAX), text.len()),
            message,
        )]);
    }
    let (tokens, errors) = lex(text);
    let mut parser = Parser {
        text,
        given,
        tokens,
        at: 0,
        errors,
        nodes: 0,
        stopped: false,
    };
    let expr = parser.expr(0);
    parser.expect_end();
    if parser.errors.is_empty() {
        return Ok(expr);
    }
    parser.errors.sort_by_key(|error| error.span);
    Err(parser.errors)
}

fn floor(text: &str, at: usize) -> usize {
    (0..=at)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}

struct Parser<'a> {
    text: &'a str,
    given: &'a [&'a str],
    tokens: Vec<(Token, Span)>,
    at: usize,
    errors: Vec<Error>,
    nodes: usize,
    /// A limit was passed: what follows is not looked at.
    stopped: bool,
}

impl Parser<'_> {
    fn expr(&mut self, depth: usize) -> Expr {
        self.chain(depth, "OR", ExprKind::Or, |parser, depth| {
            parser.chain(depth, "AND", ExprKind::And, Self::not)
        })
    }

    /// `part { word part }`, flat however long it is.
    fn chain(
        &mut self,
        depth: usize,
        word: &str,
        join: fn(Vec<Expr>) -> ExprKind,
        part: impl Fn(&mut Self, usize) -> Expr,
    ) -> Expr {
        let start = self.span();
        let mut parts = vec![part(self, depth)];
        while self.take_word(word) {
            parts.push(part(self, depth));
        }
        match parts.len() {
            1 => parts.remove(0),
            _ => self.node(start, join(parts)),
        }
    }

    fn not(&mut self, depth: usize) -> Expr {
        let start = self.span();
        if !self.take_word("NOT") {
            return self.primary(depth);
        }
        if depth >= DEPTH_MAX {
            return self.too_deep();
        }
        let inner = self.not(depth + 1);
        self.node(start, ExprKind::Not(Box::new(inner)))
    }

    fn too_deep(&mut self) -> Expr {
        self.stop(format!("an expression nests at most {DEPTH_MAX} deep"));
        Expr {
            kind: ExprKind::Unreadable,
            span: self.span(),
        }
    }

    fn primary(&mut self, depth: usize) -> Expr {
        if depth >= DEPTH_MAX {
            return self.too_deep();
        }
        if *self.peek() == Token::Symbol(Symbol::Open) {
            return self.parenthesised(depth);
        }
        if self.is_word("EXISTS") {
            return self.exists(depth);
        }
        let start = self.span();
        match self.comparison(depth) {
            Ok(kind) => self.node(start, kind),
            Err(error) => {
                self.error(error);
                self.recover();
                self.node(start, ExprKind::Unreadable)
            }
        }
    }

    fn parenthesised(&mut self, depth: usize) -> Expr {
        let open = self.span();
        self.advance();
        let inner = self.expr(depth + 1);
        self.close(open);
        inner
    }

    fn close(&mut self, open: Span) {
        if self.take_symbol(Symbol::Close) {
            return;
        }
        let message = format!("expected `)` for this parenthesis, found {}", self.found());
        self.error(Error::new(open, message));
        self.recover();
        self.take_symbol(Symbol::Close);
    }

    fn exists(&mut self, depth: usize) -> Expr {
        let start = self.span();
        self.advance();
        let open = self.span();
        let has_parenthesis = self.take_symbol(Symbol::Open);
        let entity = self.entity();
        let filter = self.filter(depth);
        if has_parenthesis {
            self.close(open);
        }
        self.node(
            start,
            ExprKind::Exists {
                entity,
                filter: filter.map(Box::new),
            },
        )
    }

    fn entity(&mut self) -> Entity {
        if self.take_word("event") {
            return Entity::Event;
        }
        if self.take_word("contact") {
            return Entity::Contact;
        }
        let message = format!(
            "EXISTS is followed by `event` or `contact`, not by {}",
            self.found()
        );
        self.error(Error::new(self.span(), message).suggest("write EXISTS (event WHERE …)"));
        if matches!(self.peek(), Token::Word(_)) {
            self.advance();
        }
        Entity::Event
    }

    fn filter(&mut self, depth: usize) -> Option<Expr> {
        self.take_word("WHERE").then(|| self.expr(depth + 1))
    }

    fn comparison(&mut self, depth: usize) -> Result<ExprKind, Error> {
        let operand = self.operand(depth)?;
        if let Some(op) = self.compare_op() {
            let right = self.operand(depth)?;
            return Ok(ExprKind::Compare {
                left: operand,
                op,
                right,
            });
        }
        if self.take_word("IS") {
            let negated = self.take_word("NOT");
            return self
                .expect_null()
                .map(|()| ExprKind::IsNull { operand, negated });
        }
        let negated = self.take_word("NOT");
        if self.take_word("IN") {
            return self.list().map(|list| ExprKind::In {
                operand,
                list,
                negated,
            });
        }
        if self.take_word("BETWEEN") {
            return self.between(operand, negated, depth);
        }
        if let Some(op) = self.text_op() {
            let pattern = self.operand(depth)?;
            return Ok(ExprKind::Text {
                operand,
                op,
                pattern,
                negated,
            });
        }
        self.constant(operand, negated)
    }

    fn between(
        &mut self,
        operand: Operand,
        negated: bool,
        depth: usize,
    ) -> Result<ExprKind, Error> {
        let low = self.operand(depth)?;
        if !self.take_word("AND") {
            let message = format!(
                "BETWEEN needs two bounds: expected AND, found {}",
                self.found()
            );
            return Err(Error::new(self.span(), message));
        }
        let high = self.operand(depth)?;
        Ok(ExprKind::Between {
            operand,
            low,
            high,
            negated,
        })
    }

    fn compare_op(&mut self) -> Option<CompareOp> {
        let Token::Symbol(symbol) = self.peek() else {
            return None;
        };
        let op = match symbol {
            Symbol::Equal | Symbol::EqualEqual => CompareOp::Equal,
            Symbol::NotEqual | Symbol::LessGreater => CompareOp::NotEqual,
            Symbol::Less => CompareOp::Less,
            Symbol::LessEqual => CompareOp::LessEqual,
            Symbol::Greater => CompareOp::Greater,
            Symbol::GreaterEqual => CompareOp::GreaterEqual,
            _ => return None,
        };
        self.advance();
        Some(op)
    }

    fn text_op(&mut self) -> Option<TextOp> {
        let op = TextOp::ALL.iter().find(|op| self.is_word(op.text()))?;
        self.advance();
        Some(*op)
    }

    fn expect_null(&mut self) -> Result<(), Error> {
        if self.take_word("NULL") {
            return Ok(());
        }
        let message = format!(
            "IS is followed by NULL or NOT NULL, not by {}",
            self.found()
        );
        Err(Error::new(self.span(), message).suggest("compare values with ="))
    }

    /// An operand without an operator: fine if it is TRUE or FALSE.
    fn constant(&mut self, operand: Operand, negated: bool) -> Result<ExprKind, Error> {
        use super::ast::{Literal, OperandKind};
        if let (OperandKind::Literal(Literal::Bool(value)), false) = (&operand.kind, negated) {
            return Ok(ExprKind::Const(*value));
        }
        let message = format!("expected a comparison, found {}", self.found());
        let error = Error::new(self.span(), message);
        let text = &self.text[operand.span.start..operand.span.end];
        Err(match (self.peek(), &operand.kind) {
            (Token::Word(word), _) => {
                let known = [
                    "IN",
                    "BETWEEN",
                    "IS",
                    "CONTAINS",
                    "STARTS_WITH",
                    "ENDS_WITH",
                    "MATCHES",
                ];
                match word.to_uppercase().as_str() {
                    "LIKE" => error.suggest("use CONTAINS, STARTS_WITH, ENDS_WITH or MATCHES"),
                    _ => suggest_word(error, word, &known),
                }
            }
            (_, OperandKind::Path(_)) => {
                error.suggest(format!("for a yes-or-no value write `{text} = TRUE`"))
            }
            _ => error,
        })
    }
}

fn suggest_word(error: Error, word: &str, known: &[&str]) -> Error {
    match closest(word, known.iter().copied()) {
        Some(near) => error.suggest(format!("did you mean {near}?")),
        None => error,
    }
}

#[cfg(test)]
mod tests;
