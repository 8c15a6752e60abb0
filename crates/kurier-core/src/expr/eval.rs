//! The row evaluator: one contact at a time, at one instant. It answers the verdict and how
//! long it holds if nothing but time passes.

use std::cell::OnceCell;

use super::ast::Function;
use super::leaf::Leaf;
use super::plan::{Condition, EventField, Fold, Plan, Term, What};
use super::subject::{Datum, Subject};
use crate::time::Timestamp;

/// The end of time: what holds until then holds for ever.
pub const FOREVER: Timestamp = Timestamp::from_micros(i64::MAX);

/// Whether a condition holds, and the first instant at which that may have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    pub holds: bool,
    pub until: Timestamp,
}

impl Verdict {
    const fn forever(holds: bool) -> Self {
        Self {
            holds,
            until: FOREVER,
        }
    }

    fn at_most(self, until: Timestamp) -> Self {
        Self {
            until: self.until.min(until),
            ..self
        }
    }
}

/// Evaluates a plan for a contact, at an instant, with the event that is in scope if one is.
pub fn evaluate<S: Subject>(
    plan: &Plan,
    subject: &S,
    event: Option<S::Event>,
    now: Timestamp,
) -> Verdict {
    let folds = plan.folds.iter().map(|_| OnceCell::new()).collect();
    let evaluation = Evaluation {
        plan,
        subject,
        now,
        folds,
    };
    evaluation.condition(&plan.condition, event)
}

/// The value of a plan's fold: for showing it.
pub fn fold_value<S: Subject>(
    plan: &Plan,
    fold: usize,
    subject: &S,
    now: Timestamp,
) -> Datum<'static> {
    let folds = plan.folds.iter().map(|_| OnceCell::new()).collect();
    let evaluation = Evaluation {
        plan,
        subject,
        now,
        folds,
    };
    evaluation.fold(fold).value.clone()
}

struct Evaluation<'a, S: Subject> {
    plan: &'a Plan,
    subject: &'a S,
    now: Timestamp,
    folds: Vec<OnceCell<FoldValue>>,
}

struct FoldValue {
    value: Datum<'static>,
    found: bool,
    until: Timestamp,
}

impl<S: Subject> Evaluation<'_, S> {
    fn condition<'t>(&'t self, condition: &'t Condition, event: Option<S::Event>) -> Verdict {
        match condition {
            Condition::Const(value) => Verdict::forever(*value),
            Condition::And(parts) => self.chain(parts, event, true),
            Condition::Or(parts) => self.chain(parts, event, false),
            Condition::Not(inner) => {
                let verdict = self.condition(inner, event);
                Verdict {
                    holds: !verdict.holds,
                    ..verdict
                }
            }
            Condition::Exists(fold) => {
                let fold = self.fold(*fold);
                Verdict {
                    holds: fold.found,
                    until: fold.until,
                }
            }
            leaf => {
                let read = |term| self.term(term, event);
                Leaf::new(self.now, read).verdict(leaf)
            }
        }
    }

    /// AND (`all`) or OR: the first part that decides is the verdict, for as long as it holds.
    fn chain<'t>(&'t self, parts: &'t [Condition], event: Option<S::Event>, all: bool) -> Verdict {
        let mut until = FOREVER;
        for part in parts {
            let verdict = self.condition(part, event);
            if verdict.holds != all {
                return verdict;
            }
            until = until.min(verdict.until);
        }
        Verdict { holds: all, until }
    }

    /// A term's value, and how long it stays. `now()` has no end here: see [`Leaf`].
    fn term<'t>(&'t self, term: &'t Term, event: Option<S::Event>) -> (Datum<'t>, Timestamp) {
        let value = match term {
            Term::Const(scalar) => Datum::of_scalar(scalar),
            Term::Now(micros) => Datum::Time(self.now.shifted(*micros)),
            Term::Contact(field) => self.subject.contact(field),
            Term::Event(field) => {
                event.map_or(Datum::Missing, |event| self.subject.event(event, field))
            }
            Term::Journey(names) => self.subject.journey(names),
            Term::Given(names) => self.subject.given(names),
            Term::Fold(fold) => {
                let fold = self.fold(*fold);
                return (fold.value.clone(), fold.until);
            }
            Term::Shifted(base, micros) => {
                let (value, until) = self.term(base, event);
                let moved = value.as_time().map(|time| time.shifted(*micros));
                return (moved.map_or(Datum::Missing, Datum::Time), until);
            }
        };
        (value, FOREVER)
    }

    fn fold(&self, index: usize) -> &FoldValue {
        self.folds[index].get_or_init(|| self.run_fold(&self.plan.folds[index]))
    }

    fn run_fold(&self, fold: &Fold) -> FoldValue {
        let mut state = Accumulator::default();
        let mut until = FOREVER;
        for event in self.subject.events(fold.types.as_deref()) {
            let verdict = self.condition(&fold.filter, Some(event));
            if !verdict.holds {
                until = until.min(verdict.until);
                continue;
            }
            if fold.what == What::Exists {
                return FoldValue {
                    value: Datum::Bool(true),
                    found: true,
                    until: verdict.until,
                };
            }
            until = until.min(verdict.until);
            state.add(&fold.what, |field| self.subject.event(event, field));
        }
        FoldValue {
            value: state.value(&fold.what),
            found: false,
            until,
        }
    }
}

/// What a fold has gathered so far.
#[derive(Default)]
struct Accumulator {
    count: u64,
    sum: f64,
    least: Option<f64>,
    greatest: Option<f64>,
    earliest: Option<Timestamp>,
    latest: Option<Timestamp>,
}

impl Accumulator {
    fn add<'a>(&mut self, what: &What, read: impl Fn(&EventField) -> Datum<'a>) {
        let field = match what {
            What::Exists | What::Count(None) => {
                self.count += 1;
                return;
            }
            What::Count(Some(field)) => {
                self.count += u64::from(!read(field).is_missing());
                return;
            }
            What::Of(_, field) => field,
        };
        match read(field) {
            Datum::Number(number) => self.number(number),
            Datum::Time(time) => {
                self.earliest = Some(self.earliest.map_or(time, |first| first.min(time)));
                self.latest = Some(self.latest.map_or(time, |last| last.max(time)));
            }
            _ => {}
        }
    }

    fn number(&mut self, number: f64) {
        self.count += 1;
        self.sum += number;
        self.least = Some(self.least.map_or(number, |least| least.min(number)));
        self.greatest = Some(
            self.greatest
                .map_or(number, |greatest| greatest.max(number)),
        );
    }

    fn value(&self, what: &What) -> Datum<'static> {
        let number = |number: Option<f64>| number.map_or(Datum::Missing, Datum::Number);
        let time = |time: Option<Timestamp>| time.map_or(Datum::Missing, Datum::Time);
        match what {
            What::Exists => Datum::Bool(self.count > 0),
            What::Count(_) => Datum::Number(self.count as f64),
            What::Of(Function::Sum, _) => Datum::Number(self.sum),
            What::Of(Function::Avg, _) => {
                number((self.count > 0).then(|| self.sum / self.count as f64))
            }
            What::Of(Function::Min, EventField::Time) => time(self.earliest),
            What::Of(Function::Max, EventField::Time) => time(self.latest),
            What::Of(Function::Min, _) => number(self.least),
            What::Of(Function::Max, _) => number(self.greatest),
            What::Of(Function::Count, _) => Datum::Number(self.count as f64),
        }
    }
}

impl Verdict {
    /// Bounds a verdict from outside, for example by how often to look again.
    #[must_use]
    pub fn bounded(self, until: Timestamp) -> Self {
        self.at_most(until)
    }
}
