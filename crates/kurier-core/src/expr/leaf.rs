//! Comparisons and tests of values: what every evaluator decides by.

use super::ast::{CompareOp, TextOp};
use super::eval::{FOREVER, Verdict};
use super::plan::{Condition, Scalar, Term, TextTest};
use super::subject::Datum;
use crate::time::Timestamp;

/// Decides conditions that have no conditions in them, at an instant. `read` gives a term's
/// value, and how long it stays.
pub struct Leaf<R> {
    now: Timestamp,
    read: R,
}

impl<'t, R: Fn(&'t Term) -> (Datum<'t>, Timestamp)> Leaf<R> {
    pub const fn new(now: Timestamp, read: R) -> Self {
        Self { now, read }
    }

    pub fn verdict(&self, condition: &'t Condition) -> Verdict {
        match condition {
            Condition::Compare { left, op, right } => self.compare((left, right), *op),
            Condition::In {
                term,
                list,
                negated,
            } => self.in_list(term, list, *negated),
            Condition::Between {
                term,
                low,
                high,
                negated,
            } => self.between(term, (low, high), *negated),
            Condition::Text {
                term,
                test,
                negated,
            } => self.text(term, test, *negated),
            Condition::IsNull { term, negated } => {
                let (value, until) = (self.read)(term);
                Verdict {
                    holds: value.is_missing() != *negated,
                    until,
                }
            }
            _ => unreachable!("only conditions without conditions in them are decided here"),
        }
    }

    fn compare(&self, (left, right): (&'t Term, &'t Term), op: CompareOp) -> Verdict {
        let ((a, a_until), (b, b_until)) = ((self.read)(left), (self.read)(right));
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

    fn in_list(&self, term: &'t Term, list: &'t [Scalar], negated: bool) -> Verdict {
        let (value, mut until) = (self.read)(term);
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

    fn between(&self, term: &'t Term, (low, high): (&'t Term, &'t Term), negated: bool) -> Verdict {
        let not_below = self.compare((term, low), CompareOp::GreaterEqual);
        let not_above = self.compare((term, high), CompareOp::LessEqual);
        let until = not_below.until.min(not_above.until);
        if !negated {
            return Verdict {
                holds: not_below.holds && not_above.holds,
                until,
            };
        }
        // Outside means below or above, not merely incomparable.
        let below = self.compare((term, low), CompareOp::Less);
        let above = self.compare((term, high), CompareOp::Greater);
        let until = until.min(below.until).min(above.until);
        Verdict {
            holds: below.holds || above.holds,
            until,
        }
    }

    fn text(&self, term: &'t Term, test: &'t TextTest, negated: bool) -> Verdict {
        let (value, until) = (self.read)(term);
        let found = match test {
            TextTest::Matches(regex) => match &value {
                Datum::Text(text) => Some(regex.is_match(text)),
                _ => None,
            },
            TextTest::Pattern(op, pattern) => {
                let (pattern, pattern_until) = (self.read)(pattern);
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
