//! A checked expression, taken apart for evaluation: one condition over the contact, and the
//! folds over its events that the condition reads. A fold's filter sees one event at a time
//! and never another fold's event, so each fold has one value per contact.

use super::ast::{CompareOp, Function, TextOp};
use crate::time::Timestamp;

#[derive(Debug, Clone)]
pub struct Plan {
    pub condition: Condition,
    /// A fold reads only folds that stand before it.
    pub folds: Vec<Fold>,
}

#[derive(Debug, Clone)]
pub enum Condition {
    Const(bool),
    And(Vec<Condition>),
    Or(Vec<Condition>),
    Not(Box<Condition>),
    Compare {
        left: Term,
        op: CompareOp,
        right: Term,
    },
    In {
        term: Term,
        list: Vec<Scalar>,
        negated: bool,
    },
    Between {
        term: Term,
        low: Term,
        high: Term,
        negated: bool,
    },
    Text {
        term: Term,
        test: TextTest,
        negated: bool,
    },
    IsNull {
        term: Term,
        negated: bool,
    },
    /// Whether the fold found an event.
    Exists(usize),
}

#[derive(Debug, Clone)]
pub enum TextTest {
    Pattern(TextOp, Term),
    Matches(Box<regex::Regex>),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Term {
    Const(Scalar),
    /// Now, moved by so many microseconds.
    Now(i64),
    Contact(ContactField),
    Event(EventField),
    Journey(Vec<String>),
    /// A name that the place gives, and names under it.
    Given(Vec<String>),
    Fold(usize),
    Shifted(Box<Term>, i64),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ContactField {
    Id,
    UserId,
    CreatedAt,
    Attribute(Vec<String>),
}

impl ContactField {
    /// What `contact.…` means.
    pub fn of(names: &[String]) -> Self {
        let words: Vec<&str> = names.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["id"] => Self::Id,
            ["user_id"] => Self::UserId,
            ["created_at"] => Self::CreatedAt,
            _ => Self::Attribute(names.to_vec()),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum EventField {
    Type,
    Time,
    Property(Vec<String>),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Scalar {
    Bool(bool),
    Number(f64),
    Text(String),
    Time(Timestamp),
}

#[derive(Debug, Clone)]
pub struct Fold {
    pub what: What,
    /// Only events of these types can pass the filter; `None`: events of any type may.
    pub types: Option<Vec<String>>,
    pub filter: Condition,
}

#[derive(Debug, Clone, PartialEq)]
pub enum What {
    Exists,
    /// COUNT(event), or of those events that have the field.
    Count(Option<EventField>),
    /// SUM, AVG, MIN or MAX of a field.
    Of(Function, EventField),
}

impl Condition {
    /// The event types without which this condition, as a filter, cannot hold.
    pub fn types(&self) -> Option<Vec<String>> {
        let text = |scalar: &Scalar| match scalar {
            Scalar::Text(text) => Some(text.clone()),
            _ => None,
        };
        match self {
            Self::Const(false) => Some(Vec::new()),
            Self::Compare {
                left: Term::Event(EventField::Type),
                op: CompareOp::Equal,
                right: Term::Const(value),
            }
            | Self::Compare {
                left: Term::Const(value),
                op: CompareOp::Equal,
                right: Term::Event(EventField::Type),
            } => Some(text(value).into_iter().collect()),
            Self::In {
                term: Term::Event(EventField::Type),
                list,
                negated: false,
            } => Some(sorted(list.iter().filter_map(text).collect())),
            Self::And(parts) => parts
                .iter()
                .filter_map(Self::types)
                .reduce(|a, b| common(&a, &b)),
            Self::Or(parts) => {
                let all: Option<Vec<Vec<String>>> = parts.iter().map(Self::types).collect();
                all.map(|all| sorted(all.concat()))
            }
            _ => None,
        }
    }
}

fn sorted(mut types: Vec<String>) -> Vec<String> {
    types.sort();
    types.dedup();
    types
}

fn common(a: &[String], b: &[String]) -> Vec<String> {
    a.iter().filter(|name| b.contains(name)).cloned().collect()
}
