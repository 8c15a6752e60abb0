//! Which shape a condition has: the narrower, the faster its kernel.

use super::{Bound, Other, Source, Test, Varying};
use crate::expr::{CompareOp, Condition, Scalar};
use crate::time::Timestamp;

/// Shifts up to this far cannot take a time that JSON can say past the ends of time.
const SHIFT_MAX: i64 = i64::MAX / 4;

/// The shape of a condition whose terms stand at these sources.
pub fn test_of(condition: &Condition, sources: Vec<Source>) -> Test {
    let known = match condition {
        Condition::Compare { op, .. } => compare(&sources, *op),
        Condition::Between { negated, .. } => between(&sources, *negated),
        Condition::In { list, negated, .. } => in_texts(&sources[0], list, *negated),
        Condition::IsNull { negated, .. } if is_value(&sources[0]) => Some(Test::Null {
            source: sources[0].clone(),
            negated: *negated,
        }),
        _ => None,
    };
    known.unwrap_or_else(|| Test::Other(other(condition.clone(), sources)))
}

fn other(condition: Condition, sources: Vec<Source>) -> Other {
    let mut differing = (0..sources.len()).filter(|at| !sources[*at].is_uniform());
    let varying = match (differing.next(), differing.next()) {
        (None, _) => Varying::None,
        (Some(one), None) if sources.iter().filter(|s| !s.is_constant()).count() == 1 => {
            Varying::One(one)
        }
        _ => Varying::Many,
    };
    Other {
        condition,
        sources,
        varying,
        truths: Vec::new(),
        has_lists: false,
    }
}

/// Whether rows have the value as it is, without a shift.
fn is_value(source: &Source) -> bool {
    !source.is_uniform() && !matches!(source, Source::Shifted(..) | Source::Id)
}

fn compare(sources: &[Source], op: CompareOp) -> Option<Test> {
    let (left, right) = (&sources[0], &sources[1]);
    match right.is_uniform() {
        true => compare_with(left, op, right),
        false if left.is_uniform() => compare_with(right, op.mirrored(), left),
        false => None,
    }
}

fn compare_with(source: &Source, op: CompareOp, known: &Source) -> Option<Test> {
    let negated = op == CompareOp::NotEqual;
    match known {
        Source::Const(Scalar::Number(number)) if number.is_finite() && is_value(source) => {
            let (low, high) = number_range(op, *number);
            Some(number_test(source, low, high, negated))
        }
        Source::Const(Scalar::Text(text)) if !op.is_order() && is_value(source) => {
            Some(Test::Texts {
                source: source.clone(),
                texts: vec![text.clone()],
                codes: None,
                negated,
                others: false,
            })
        }
        Source::Const(Scalar::Bool(value)) if !op.is_order() && is_value(source) => {
            Some(Test::Flag {
                source: source.clone(),
                value: *value,
                negated,
            })
        }
        known => {
            let bound = bound(known)?;
            let (low, high) = match op {
                CompareOp::Equal | CompareOp::NotEqual => (bound, bound),
                CompareOp::Less => (FIRST, bound.shifted(-1)),
                CompareOp::LessEqual => (FIRST, bound),
                CompareOp::Greater => (bound.shifted(1), LAST),
                CompareOp::GreaterEqual => (bound, LAST),
            };
            time_test(source, low, high, negated)
        }
    }
}

const FIRST: Bound = Bound {
    micros: i64::MIN,
    from_now: false,
};
const LAST: Bound = Bound {
    micros: i64::MAX,
    from_now: false,
};

impl Bound {
    const fn shifted(self, micros: i64) -> Self {
        Self {
            micros: self.micros.saturating_add(micros),
            ..self
        }
    }

    pub const fn at(self, now: Timestamp) -> i64 {
        match self.from_now {
            true => now.as_micros().saturating_add(self.micros),
            false => self.micros,
        }
    }
}

fn bound(known: &Source) -> Option<Bound> {
    let (micros, from_now) = match known {
        Source::Const(Scalar::Time(time)) => (time.as_micros(), false),
        Source::Now(micros) => (*micros, true),
        _ => return None,
    };
    (-SHIFT_MAX..SHIFT_MAX)
        .contains(&micros)
        .then_some(Bound { micros, from_now })
}

/// A time that was moved is within bounds when it is, unmoved, within bounds moved back.
fn time_test(source: &Source, low: Bound, high: Bound, negated: bool) -> Option<Test> {
    let (source, shift) = source.unshifted();
    let has_time = is_value(source) && (-SHIFT_MAX..SHIFT_MAX).contains(&shift);
    let moved = |bound: Bound| match bound {
        FIRST | LAST => bound,
        bound => bound.shifted(-shift),
    };
    has_time.then(|| Test::Time {
        source: source.clone(),
        low: moved(low),
        high: moved(high),
        negated,
    })
}

fn number_test(source: &Source, low: f64, high: f64, negated: bool) -> Test {
    Test::Number {
        source: source.clone(),
        low,
        high,
        negated,
    }
}

/// The numbers for which `number OP other` holds, or for `!=` does not.
fn number_range(op: CompareOp, number: f64) -> (f64, f64) {
    match op {
        CompareOp::Equal | CompareOp::NotEqual => (number, number),
        CompareOp::Less => (f64::NEG_INFINITY, number.next_down()),
        CompareOp::LessEqual => (f64::NEG_INFINITY, number),
        CompareOp::Greater => (number.next_up(), f64::INFINITY),
        CompareOp::GreaterEqual => (number, f64::INFINITY),
    }
}

fn between(sources: &[Source], negated: bool) -> Option<Test> {
    let [source, low, high] = sources else {
        return None;
    };
    if let (Source::Const(Scalar::Number(low)), Source::Const(Scalar::Number(high))) = (low, high) {
        let is_fit = low.is_finite() && high.is_finite() && is_value(source);
        return is_fit.then(|| number_test(source, *low, *high, negated));
    }
    time_test(source, bound(low)?, bound(high)?, negated)
}

fn in_texts(source: &Source, list: &[Scalar], negated: bool) -> Option<Test> {
    let texts = list.iter().map(|item| match item {
        Scalar::Text(text) => Some(text.clone()),
        _ => None,
    });
    let texts = texts.collect::<Option<Vec<_>>>()?;
    is_value(source).then(|| Test::Texts {
        source: source.clone(),
        texts,
        codes: None,
        negated,
        others: negated,
    })
}
