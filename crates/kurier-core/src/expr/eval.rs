//! The row evaluator: one contact at a time, at one instant. It answers the verdict and how
//! long it holds if nothing but time passes.

mod accumulator;

use std::cell::OnceCell;

use super::ast::{CompareOp, TextOp};
use super::plan::{Condition, Fold, Plan, Scalar, Term, TextTest, What};
use super::subject::{Datum, Subject};
use crate::time::Timestamp;
use accumulator::Accumulator;

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

    /// Bounds a verdict from outside, for example by how often to look again.
    #[must_use]
    pub fn at_most(self, until: Timestamp) -> Self {
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
    fn condition(&self, condition: &Condition, event: Option<S::Event>) -> Verdict {
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
            Condition::Compare { left, op, right } => self.compare((left, right), *op, event),
            Condition::In {
                term,
                list,
                negated,
            } => self.in_list(term, list, *negated, event),
            Condition::Between {
                term,
                low,
                high,
                negated,
            } => self.between(term, (low, high), *negated, event),
            Condition::Text {
                term,
                test,
                negated,
            } => self.text(term, test, *negated, event),
            Condition::IsNull { term, negated } => {
                let (value, until) = self.term(term, event);
                Verdict {
                    holds: value.is_missing() != *negated,
                    until,
                }
            }
            Condition::Exists(fold) => {
                let fold = self.fold(*fold);
                Verdict {
                    holds: fold.found,
                    until: fold.until,
                }
            }
        }
    }

    /// AND (`all`) or OR: the first part that decides is the verdict, for as long as it holds.
    fn chain(&self, parts: &[Condition], event: Option<S::Event>, all: bool) -> Verdict {
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

    /// A term's value, and how long it stays. `now()` has no end here: see [`Self::compare`].
    fn term<'t>(&'t self, term: &'t Term, event: Option<S::Event>) -> (Datum<'t>, Timestamp) {
        let value = match term {
            Term::Const(scalar) => Datum::of_scalar(scalar),
            Term::Now(micros) => Datum::Time(self.now.shifted(*micros)),
            Term::Contact(field) => self.subject.contact(field),
            Term::Event(field) => {
                event.map_or(Datum::Missing, |event| self.subject.event(event, field))
            }
            Term::Journey(names) => self.subject.journey(names),
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

    fn compare(
        &self,
        (left, right): (&Term, &Term),
        op: CompareOp,
        event: Option<S::Event>,
    ) -> Verdict {
        let ((a, a_until), (b, b_until)) = (self.term(left, event), self.term(right, event));
        let until = a_until.min(b_until).min(match (left, right) {
            (Term::Now(_), Term::Now(_)) => FOREVER,
            (Term::Now(micros), _) => self.flip(*micros, op, &b),
            (_, Term::Now(micros)) => self.flip(*micros, op.mirrored(), &a),
            _ => FOREVER,
        });
        Verdict {
            holds: holds(&a, op, &b),
            until,
        }
    }

    /// When `now() + micros OP other` will next change, other things being equal.
    fn flip(&self, micros: i64, op: CompareOp, other: &Datum<'_>) -> Timestamp {
        let Some(time) = other.as_time() else {
            return FOREVER;
        };
        let meets = time.shifted(-micros);
        let passes = meets.shifted(1);
        let flips = match op {
            CompareOp::Less | CompareOp::GreaterEqual => [meets, meets],
            CompareOp::LessEqual | CompareOp::Greater => [passes, passes],
            CompareOp::Equal | CompareOp::NotEqual => [meets, passes],
        };
        flips
            .into_iter()
            .find(|flip| *flip > self.now)
            .unwrap_or(FOREVER)
    }

    fn in_list(
        &self,
        term: &Term,
        list: &[Scalar],
        negated: bool,
        event: Option<S::Event>,
    ) -> Verdict {
        let (value, mut until) = self.term(term, event);
        if value.is_missing() {
            return Verdict {
                holds: false,
                until,
            };
        }
        if let Term::Now(micros) = term {
            let flips = list
                .iter()
                .map(|item| self.flip(*micros, CompareOp::Equal, &Datum::of_scalar(item)));
            until = flips.fold(until, Timestamp::min);
        }
        let is_in = list
            .iter()
            .any(|item| value.equals(&Datum::of_scalar(item)));
        Verdict {
            holds: is_in != negated,
            until,
        }
    }

    fn between(
        &self,
        term: &Term,
        (low, high): (&Term, &Term),
        negated: bool,
        event: Option<S::Event>,
    ) -> Verdict {
        let not_below = self.compare((term, low), CompareOp::GreaterEqual, event);
        let not_above = self.compare((term, high), CompareOp::LessEqual, event);
        let until = not_below.until.min(not_above.until);
        if !negated {
            return Verdict {
                holds: not_below.holds && not_above.holds,
                until,
            };
        }
        // Outside means below or above, not merely incomparable.
        let below = self.compare((term, low), CompareOp::Less, event);
        let above = self.compare((term, high), CompareOp::Greater, event);
        let until = until.min(below.until).min(above.until);
        Verdict {
            holds: below.holds || above.holds,
            until,
        }
    }

    fn text(
        &self,
        term: &Term,
        test: &TextTest,
        negated: bool,
        event: Option<S::Event>,
    ) -> Verdict {
        let (value, until) = self.term(term, event);
        let found = match test {
            TextTest::Matches(regex) => match &value {
                Datum::Text(text) => Some(regex.is_match(text)),
                _ => None,
            },
            TextTest::Pattern(op, pattern) => {
                let (pattern, pattern_until) = self.term(pattern, event);
                return Verdict {
                    holds: text_test(&value, *op, &pattern).is_some_and(|found| found != negated),
                    until: until.min(pattern_until),
                };
            }
        };
        Verdict {
            holds: found.is_some_and(|found| found != negated),
            until,
        }
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

/// A missing value, and values that cannot be compared, make every comparison false.
fn holds(a: &Datum<'_>, op: CompareOp, b: &Datum<'_>) -> bool {
    if op.is_order() && matches!((a, b), (Datum::Bool(_), _) | (_, Datum::Bool(_))) {
        return false;
    }
    a.compare(b).is_some_and(|ordering| op.holds(ordering))
}

/// `None` if the test says nothing of such a value.
fn text_test(value: &Datum<'_>, op: TextOp, pattern: &Datum<'_>) -> Option<bool> {
    if let (Datum::List(values), TextOp::Contains) = (value, op) {
        let known = !pattern.is_missing();
        return known.then(|| {
            values
                .iter()
                .any(|item| Datum::of(Some(item)).equals(pattern))
        });
    }
    let (Datum::Text(text), Datum::Text(pattern)) = (value, pattern) else {
        return None;
    };
    Some(match op {
        TextOp::Contains => text.contains(pattern.as_ref()),
        TextOp::StartsWith => text.starts_with(pattern.as_ref()),
        TextOp::EndsWith => text.ends_with(pattern.as_ref()),
        // A pattern that is no literal was refused by the checker.
        TextOp::Matches => return None,
    })
}
