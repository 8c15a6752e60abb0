//! The tree of a template's part.

use super::filter::Filter;
use crate::content::Key;
use crate::expr::{Plan, Span};
use crate::value::Value;

#[derive(Debug, Clone)]
pub enum Node {
    Text(String),
    Output {
        pipe: Pipe,
        span: Span,
    },
    /// `{{ content("para:refund_policy:001") }}`
    Quote {
        key: Key,
        span: Span,
    },
    If(If),
    Case(Case),
    For(For),
    Assign {
        name: String,
        pipe: Pipe,
    },
}

/// `if`, `elsif`, `else`; `unless` is an `if` whose first test is turned around.
#[derive(Debug, Clone)]
pub struct If {
    pub branches: Vec<(Test, Vec<Node>)>,
    pub otherwise: Vec<Node>,
}

/// A condition in the expression language.
#[derive(Debug, Clone)]
pub struct Test {
    pub plan: Plan,
    pub negated: bool,
    /// How much slower than its texts are long it is decided.
    pub weight: u64,
}

#[derive(Debug, Clone)]
pub struct Case {
    pub subject: Pipe,
    pub whens: Vec<(Vec<Source>, Vec<Node>)>,
    pub otherwise: Vec<Node>,
}

#[derive(Debug, Clone)]
pub struct For {
    pub name: String,
    pub over: Over,
    pub limit: Option<Source>,
    pub body: Vec<Node>,
    /// If there is nothing to go through.
    pub otherwise: Vec<Node>,
}

#[derive(Debug, Clone)]
pub enum Over {
    Items(Source),
    /// From one number to another, both included.
    Range(Source, Source),
}

/// A value and what is done to it.
#[derive(Debug, Clone)]
pub struct Pipe {
    pub source: Source,
    pub filters: Vec<Applied>,
}

#[derive(Debug, Clone)]
pub struct Applied {
    pub filter: Filter,
    pub args: Vec<Source>,
}

#[derive(Debug, Clone)]
pub enum Source {
    Literal(Value),
    Path(Path),
}

/// A root and the names under it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    pub root: Root,
    pub names: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Root {
    /// `contact`, `journey` or `data`.
    Input(&'static str),
    Local(String),
    ForLoop,
    Now,
}

/// What a template is handed.
pub const INPUTS: &[&str] = &["contact", "journey", "data"];

impl Path {
    /// As it is written: `contact.first_name`.
    pub fn dotted(&self) -> String {
        let root = match &self.root {
            Root::Input(name) => name,
            Root::Local(name) => name.as_str(),
            Root::ForLoop => "forloop",
            Root::Now => "now",
        };
        let mut all = root.to_owned();
        for name in &self.names {
            all.push('.');
            all.push_str(name);
        }
        all
    }
}
