//! The one language for triggers, conditions, waits, branches and segments. Text is parsed
//! into a tree, checked for its place into a plan, and evaluated for a contact.

mod ast;
mod check;
mod error;
mod eval;
mod explain;
pub(crate) mod leaf;
mod lex;
mod parse;
mod plan;
mod print;
mod reads;
mod subject;
pub mod words;

pub use ast::{
    Aggregate, CompareOp, Entity, Expr, ExprKind, Function, Literal, Operand, OperandKind, Root,
    TextOp,
};
pub use check::{Place, check};
pub(crate) use error::closest;
pub use error::{Error, Span};
pub use eval::{FOREVER, Verdict, evaluate};
pub use explain::{Reason, explain};
pub use parse::{DEPTH_MAX, NODES_MAX, TEXT_BYTES_MAX, parse, parse_with};
pub use plan::{Condition, ContactField, EventField, Fold, Plan, Scalar, Term, TextTest, What};
pub use reads::Reads;
pub use subject::{Datum, EventFact, Facts, Subject};

use crate::time::Timestamp;

/// An expression that was found good for its place.
#[derive(Debug, Clone)]
pub struct Checked {
    pub expr: Expr,
    pub plan: Plan,
    pub place: Place,
}

impl Checked {
    /// Parses and checks; or says everything that is wrong.
    pub fn new(text: &str, place: Place) -> Result<Self, Vec<Error>> {
        Self::given(text, place, &[])
    }

    /// The same, where the place gives names of its own.
    pub fn given(text: &str, place: Place, names: &[&str]) -> Result<Self, Vec<Error>> {
        let expr = parse_with(text, names)?;
        let plan = check(&expr, place)?;
        Ok(Self { expr, plan, place })
    }

    /// The one way to write it.
    pub fn canonical(&self) -> String {
        self.expr.to_string()
    }

    pub fn evaluate<S: Subject>(
        &self,
        subject: &S,
        event: Option<S::Event>,
        now: Timestamp,
    ) -> Verdict {
        evaluate(&self.plan, subject, event, now)
    }

    pub fn explain<S: Subject>(
        &self,
        subject: &S,
        event: Option<S::Event>,
        now: Timestamp,
    ) -> Vec<Reason> {
        explain(&self.expr, self.place, subject, event, now)
    }
}

#[cfg(test)]
pub(crate) mod generate;
#[cfg(test)]
mod tests;
