//! The tree of an expression.

use super::error::Span;
use crate::time::Timestamp;

/// A condition, with its place in the text.
#[derive(Debug, Clone)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    Const(bool),
    /// Two or more, in order.
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Not(Box<Expr>),
    Compare {
        left: Operand,
        op: CompareOp,
        right: Operand,
    },
    In {
        operand: Operand,
        list: Vec<Literal>,
        negated: bool,
    },
    Between {
        operand: Operand,
        low: Operand,
        high: Operand,
        negated: bool,
    },
    Text {
        operand: Operand,
        op: TextOp,
        pattern: Operand,
        negated: bool,
    },
    IsNull {
        operand: Operand,
        negated: bool,
    },
    Exists {
        entity: Entity,
        filter: Option<Box<Expr>>,
    },
    /// What could not be read; its error is reported beside the tree.
    Unreadable,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entity {
    Event,
    Contact,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CompareOp {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl CompareOp {
    pub const fn text(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
        }
    }

    /// The operator that says the same with its sides exchanged.
    #[must_use]
    pub const fn mirrored(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessEqual => Self::GreaterEqual,
            Self::Greater => Self::Less,
            Self::GreaterEqual => Self::LessEqual,
            same => same,
        }
    }

    pub const fn holds(self, ordering: std::cmp::Ordering) -> bool {
        match self {
            Self::Equal => ordering.is_eq(),
            Self::NotEqual => ordering.is_ne(),
            Self::Less => ordering.is_lt(),
            Self::LessEqual => ordering.is_le(),
            Self::Greater => ordering.is_gt(),
            Self::GreaterEqual => ordering.is_ge(),
        }
    }

    pub const fn is_order(self) -> bool {
        !matches!(self, Self::Equal | Self::NotEqual)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextOp {
    Contains,
    StartsWith,
    EndsWith,
    Matches,
}

impl TextOp {
    pub const ALL: &[Self] = &[
        Self::Contains,
        Self::StartsWith,
        Self::EndsWith,
        Self::Matches,
    ];

    pub const fn text(self) -> &'static str {
        match self {
            Self::Contains => "CONTAINS",
            Self::StartsWith => "STARTS_WITH",
            Self::EndsWith => "ENDS_WITH",
            Self::Matches => "MATCHES",
        }
    }
}

#[derive(Debug, Clone)]
pub struct Operand {
    pub kind: OperandKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum OperandKind {
    Literal(Literal),
    Path(Path),
    Now,
    /// A time, moved by a duration (in microseconds, either way).
    Shifted {
        base: Box<Operand>,
        micros: i64,
    },
    Aggregate(Box<Aggregate>),
    Unreadable,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    pub function: Function,
    /// What is aggregated; empty means the events themselves.
    pub names: Vec<String>,
    pub filter: Option<Expr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Function {
    Count,
    Sum,
    Avg,
    Min,
    Max,
}

impl Function {
    pub const ALL: &[Self] = &[Self::Count, Self::Sum, Self::Avg, Self::Min, Self::Max];

    pub const fn text(self) -> &'static str {
        match self {
            Self::Count => "COUNT",
            Self::Sum => "SUM",
            Self::Avg => "AVG",
            Self::Min => "MIN",
            Self::Max => "MAX",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    Time(Timestamp),
    /// In microseconds.
    Duration(i64),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Path {
    pub root: Root,
    pub names: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Root {
    Contact,
    Event,
    Journey,
    System,
    /// A name that the place gives, as a template does; it is the first of the path's names.
    Given,
}

impl Root {
    /// Those that every place knows.
    pub const ALL: &[Self] = &[Self::Contact, Self::Event, Self::Journey, Self::System];

    pub const fn text(self) -> &'static str {
        match self {
            Self::Contact => "contact",
            Self::Event => "event",
            Self::Journey => "journey",
            Self::System => "system",
            Self::Given => "",
        }
    }
}

/// Trees are equal when they say the same, wherever it stood.
impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl PartialEq for Operand {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}
