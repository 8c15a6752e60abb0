//! A plan, bound to the columns of a world: names are resolved, conditions sorted into the
//! shapes that kernels know, and each fold taken apart by event type.

mod compile;
mod shape;

pub use compile::{Depth, compile, terms};

use crate::expr::{Condition, Scalar, What};

#[derive(Debug, Clone)]
pub struct Program {
    pub condition: Node,
    pub folds: Vec<FoldProgram>,
}

#[derive(Debug, Clone)]
pub struct FoldProgram {
    pub what: What,
    /// One per event type that can pass.
    pub parts: Vec<Part>,
}

/// A fold over the events of one type.
#[derive(Debug, Clone)]
pub struct Part {
    pub event_type: u32,
    pub filter: Node,
    /// What the filter asks of the contact alone: decided once per contact.
    pub of_contact: Vec<Node>,
    /// Folds whose values the filter compares with each event's.
    pub needs: Vec<usize>,
    /// What is gathered.
    pub field: Source,
}

#[derive(Debug, Clone)]
pub enum Node {
    Const(bool),
    And(Vec<Node>),
    Or(Vec<Node>),
    Not(Box<Node>),
    Exists(usize),
    /// In a filter: the part's condition of that number on the contact.
    OfContact(usize),
    Test(Test),
}

/// Where a value stands.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// Nowhere: no such value was ever seen.
    Nothing,
    Const(Scalar),
    Now(i64),
    Id,
    UserId,
    Created,
    Attribute(u32),
    EventTime,
    Property(u32),
    Fold(usize),
    Shifted(Box<Source>, i64),
}

/// A bound of time: fixed, or so far from now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    pub micros: i64,
    pub from_now: bool,
}

#[derive(Debug, Clone)]
pub enum Test {
    /// A number that is (not) from `low` to `high`.
    Number {
        source: Source,
        low: f64,
        high: f64,
        negated: bool,
    },
    /// An instant, or a text that is one, that is (not) from `low` to `high`.
    Time {
        source: Source,
        low: Bound,
        high: Bound,
        negated: bool,
    },
    /// A text that is (not) one of these.
    Texts {
        source: Source,
        texts: Vec<String>,
        /// The texts as codes of the source's pool; none before a scan.
        codes: Option<Vec<u32>>,
        negated: bool,
        /// What holds of a value that is there and no text.
        others: bool,
    },
    Flag {
        source: Source,
        value: bool,
        negated: bool,
    },
    Null {
        source: Source,
        negated: bool,
    },
    /// Any other condition, decided value by value.
    Other(Other),
}

#[derive(Debug, Clone)]
pub struct Other {
    pub condition: Condition,
    /// Where the condition's terms stand, in the order in which they are written.
    pub sources: Vec<Source>,
    /// Which of them differs from row to row, if just one does.
    pub varying: Varying,
    /// The verdict for each text of the pool, by code, and for what is missing at 0; empty
    /// if that is not known.
    pub truths: Vec<u8>,
    /// Lists were seen at the varying source, and they are asked one by one.
    pub has_lists: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Varying {
    /// The verdict is the same for all rows.
    None,
    /// Only this source differs, and the others are constants.
    One(usize),
    Many,
}

impl Source {
    /// The source without the shift in time, and the shift.
    pub fn unshifted(&self) -> (&Self, i64) {
        match self {
            Self::Shifted(base, micros) => (base, *micros),
            source => (source, 0),
        }
    }

    pub fn is_of_event(&self) -> bool {
        matches!(self.unshifted().0, Self::EventTime | Self::Property(_))
    }

    pub fn is_constant(&self) -> bool {
        matches!(self.unshifted().0, Self::Nothing | Self::Const(_))
    }

    pub fn is_uniform(&self) -> bool {
        self.is_constant() || matches!(self.unshifted().0, Self::Now(_))
    }

    pub fn fold(&self) -> Option<usize> {
        match self.unshifted().0 {
            Self::Fold(fold) => Some(*fold),
            _ => None,
        }
    }
}

impl Test {
    pub fn sources(&self) -> &[Source] {
        match self {
            Self::Number { source, .. }
            | Self::Time { source, .. }
            | Self::Texts { source, .. }
            | Self::Flag { source, .. }
            | Self::Null { source, .. } => std::slice::from_ref(source),
            Self::Other(other) => &other.sources,
        }
    }

    /// How dear it is to decide: AND and OR ask the cheap first.
    pub fn cost(&self) -> u32 {
        match self {
            Self::Other(other) if other.varying == Varying::None => 1,
            Self::Other(other) if !other.truths.is_empty() && !other.has_lists => 3,
            Self::Other(_) => 8,
            _ => 2,
        }
    }
}

impl Node {
    fn cost(&self) -> u32 {
        match self {
            Self::Const(_) => 0,
            Self::OfContact(_) => 1,
            Self::And(parts) | Self::Or(parts) => {
                parts.iter().map(Self::cost).max().unwrap_or(0) + 1
            }
            Self::Not(inner) => inner.cost(),
            Self::Exists(_) => 5,
            Self::Test(test) => {
                let folds = test.sources().iter().any(|source| source.fold().is_some());
                test.cost() + if folds { 3 } else { 0 }
            }
        }
    }

    /// AND (`all`) or OR of parts, without what decides nothing, cheap parts first.
    fn chain(parts: Vec<Self>, all: bool) -> Self {
        let mut kept = Vec::new();
        for part in parts {
            match part {
                Self::Const(value) if value == all => {}
                Self::Const(value) => return Self::Const(value),
                Self::And(inner) if all => kept.extend(inner),
                Self::Or(inner) if !all => kept.extend(inner),
                part => kept.push(part),
            }
        }
        kept.sort_by_key(Self::cost);
        match kept.len() {
            0 => Self::Const(all),
            1 => kept.remove(0),
            _ if all => Self::And(kept),
            _ => Self::Or(kept),
        }
    }

    fn not(inner: Self) -> Self {
        match inner {
            Self::Const(value) => Self::Const(!value),
            Self::Not(inner) => *inner,
            inner => Self::Not(Box::new(inner)),
        }
    }
}
