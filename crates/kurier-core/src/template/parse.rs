//! Pieces become a tree. A fault is noted and parsing goes on, so that everything wrong is
//! said at once.

mod block;
mod quote;
mod value;

use std::collections::BTreeSet;

use super::ast::{INPUTS, Node};
use super::limits::{DEPTH_MAX, NODES_MAX, VARIABLES_MAX};
use super::pieces::{Piece, cut};
use super::token::{Token, tokens};
use crate::content::Key;
use crate::expr::{Error, Span};

/// Names that no variable may have: they mean something already, here or in conditions.
const RESERVED: &[&str] = &[
    "contact",
    "journey",
    "data",
    "event",
    "system",
    "now",
    "forloop",
    "event_type",
    "event_time",
    "properties",
    "and",
    "or",
    "not",
    "in",
    "is",
    "between",
    "contains",
    "starts_with",
    "ends_with",
    "matches",
    "exists",
    "where",
    "true",
    "false",
    "null",
    "timestamp",
    "count",
    "sum",
    "avg",
    "min",
    "max",
    "like",
    "where",
];

/// A part that was read.
#[derive(Debug, Clone, Default)]
pub struct Parsed {
    pub nodes: Vec<Node>,
    /// What it reads of its inputs, dotted: `contact.first_name`.
    pub reads: BTreeSet<String>,
    /// What it quotes of content, and where.
    pub quotes: Vec<(Key, Span)>,
}

/// Parses a part's text; or says everything that is wrong with it.
pub fn parse(text: &str) -> Result<Parsed, Vec<Error>> {
    let (pieces, errors) = cut(text);
    let mut parser = Parser {
        text,
        pieces,
        at: 0,
        errors,
        nodes: 0,
        stopped: false,
        loops: Vec::new(),
        assigned: BTreeSet::new(),
        parsed: Parsed::default(),
    };
    parser.parsed.nodes = parser.top();
    if parser.errors.is_empty() {
        return Ok(parser.parsed);
    }
    parser.errors.sort_by_key(|error| error.span);
    Err(parser.errors)
}

struct Parser<'a> {
    text: &'a str,
    pieces: Vec<Piece>,
    at: usize,
    errors: Vec<Error>,
    nodes: usize,
    /// A limit was passed: what follows is not looked at.
    stopped: bool,
    /// Variables of the loops around this place.
    loops: Vec<String>,
    assigned: BTreeSet<String>,
    parsed: Parsed,
}

/// A tag, taken apart.
struct Tag {
    word: String,
    /// All of it.
    span: Span,
    tokens: Tokens,
}

/// What is left of a tag or an output.
struct Tokens {
    all: Vec<(Token, Span)>,
    at: usize,
}

impl Tokens {
    fn peek(&self) -> &Token {
        &self.all[self.at].0
    }

    fn span(&self) -> Span {
        self.all[self.at].1
    }

    fn next(&mut self) -> (Token, Span) {
        let next = self.all[self.at].clone();
        self.at = (self.at + 1).min(self.all.len() - 1);
        next
    }

    fn take(&mut self, symbol: &str) -> bool {
        let is_there = matches!(self.peek(), Token::Symbol(found) if *found == symbol);
        if is_there {
            self.next();
        }
        is_there
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is_there = matches!(self.peek(), Token::Word(found) if found == word);
        if is_there {
            self.next();
        }
        is_there
    }
}

impl Parser<'_> {
    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.fault(Error::new(span, message));
    }

    fn fault(&mut self, error: Error) {
        if !self.stopped {
            self.errors.push(error);
        }
    }

    /// Says so once and gives up on the rest.
    fn stop(&mut self, span: Span, message: String) {
        self.error(span, message);
        self.stopped = true;
        self.at = self.pieces.len();
    }

    fn suggest(&mut self, span: Span, message: impl Into<String>, suggestion: impl Into<String>) {
        self.fault(Error::new(span, message).suggest(suggestion));
    }

    fn top(&mut self) -> Vec<Node> {
        let mut nodes = Vec::new();
        loop {
            nodes.extend(self.nodes(0));
            // A block's end without its beginning.
            let Some(tag) = self.take_tag() else {
                return nodes;
            };
            self.stray(&tag);
        }
    }

    fn stray(&mut self, tag: &Tag) {
        let message = format!("`{}` stands outside of its block", tag.word);
        let begins = match tag.word.strip_prefix("end") {
            Some(word) => format!("write {{% {word} … %}} before it, or remove it"),
            None => "write the tag it belongs to before it, or remove it".to_owned(),
        };
        self.suggest(tag.span, message, begins);
    }

    /// Nodes up to the end of the block that they stand in, or of the text.
    fn nodes(&mut self, depth: usize) -> Vec<Node> {
        let mut nodes = Vec::new();
        while let Some(piece) = self.pieces.get(self.at).copied() {
            if let Piece::Tag(span) = piece
                && block::is_end(self.text[span.start..span.end].trim())
            {
                break;
            }
            self.at += 1;
            if !self.count(piece) {
                break;
            }
            nodes.extend(self.node(piece, depth));
        }
        nodes
    }

    fn count(&mut self, piece: Piece) -> bool {
        self.nodes += 1;
        if self.nodes <= NODES_MAX {
            return true;
        }
        let (Piece::Text(span) | Piece::Output(span) | Piece::Tag(span)) = piece;
        self.stop(
            span,
            format!("a part has at most {NODES_MAX} tags, outputs and texts"),
        );
        false
    }

    fn node(&mut self, piece: Piece, depth: usize) -> Option<Node> {
        match piece {
            Piece::Text(span) => Some(Node::Text(self.text[span.start..span.end].to_owned())),
            Piece::Output(span) => self.output(span),
            Piece::Tag(span) => {
                let tag = self.tag(span);
                self.block(tag, depth)
            }
        }
    }

    fn output(&mut self, span: Span) -> Option<Node> {
        let mut tokens = self.tokens(span);
        if self.is_quote(&tokens) {
            return self.quote(&mut tokens, span);
        }
        let pipe = self.pipe(&mut tokens)?;
        self.expect_end(&tokens);
        Some(Node::Output { pipe, span })
    }

    fn tokens(&mut self, span: Span) -> Tokens {
        let (all, errors) = tokens(self.text, span);
        self.errors.extend(errors);
        Tokens { all, at: 0 }
    }

    /// A tag: its word, and what follows. A condition is not cut into tokens here.
    fn tag(&mut self, span: Span) -> Tag {
        let inner = &self.text[span.start..span.end];
        let start = span.start + (inner.len() - inner.trim_start().len());
        let rest = &self.text[start..span.end];
        let length = rest
            .find(|c: char| c.is_whitespace() || c == '(')
            .unwrap_or(rest.len());
        let word = rest[..length].to_owned();
        let behind = Span::new(start + length, span.end);
        let tokens = match word.as_str() {
            "if" | "elsif" | "unless" => Tokens {
                all: vec![(Token::End, behind)],
                at: 0,
            },
            _ => self.tokens(behind),
        };
        Tag { word, span, tokens }
    }

    fn take_tag(&mut self) -> Option<Tag> {
        match self.pieces.get(self.at) {
            Some(Piece::Tag(span)) => {
                let span = *span;
                self.at += 1;
                Some(self.tag(span))
            }
            _ => None,
        }
    }

    fn expect_end(&mut self, tokens: &Tokens) {
        if *tokens.peek() != Token::End {
            let span = tokens.span();
            let found = &self.text[span.start..span.end];
            self.error(span, format!("`{found}` is too much here"));
        }
    }

    fn is_too_deep(&mut self, span: Span, depth: usize) -> bool {
        if depth >= DEPTH_MAX {
            self.stop(span, format!("blocks nest at most {DEPTH_MAX} deep"));
        }
        depth >= DEPTH_MAX
    }

    /// A variable that is to be made here, if its name may be one.
    fn variable(&mut self, tokens: &mut Tokens) -> Option<String> {
        let (token, span) = tokens.next();
        let Token::Word(name) = token else {
            self.suggest(span, "expected a name", "write, for example, item");
            return None;
        };
        if RESERVED.iter().any(|word| name.eq_ignore_ascii_case(word)) {
            self.suggest(
                span,
                format!("`{name}` means something else"),
                "choose another name",
            );
            return None;
        }
        Some(name)
    }

    fn assign(&mut self, name: &str, span: Span) {
        self.assigned.insert(name.to_owned());
        if self.assigned.len() == VARIABLES_MAX + 1 {
            self.error(
                span,
                format!("a part assigns at most {VARIABLES_MAX} variables"),
            );
        }
    }

    /// The names that conditions may use here beside the contact and the journey.
    fn given(&self) -> Vec<String> {
        let mut names = vec!["data".to_owned()];
        if !self.loops.is_empty() {
            names.push("forloop".to_owned());
        }
        names.extend(self.loops.iter().cloned());
        names.extend(self.assigned.iter().cloned());
        names
    }

    /// Notes what is read of the inputs.
    fn reads(&mut self, dotted: String) {
        self.parsed.reads.insert(dotted);
    }
}

/// The root of the inputs with this name.
fn input(name: &str) -> Option<&'static str> {
    INPUTS.iter().find(|input| **input == name).copied()
}
