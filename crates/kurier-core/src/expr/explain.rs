//! Why a verdict is what it is: the comparisons that decided, with the values they met, and
//! the event that was found.

use super::ast::{Entity, Expr, ExprKind, Operand, OperandKind};
use super::check::{Place, check};
use super::eval::{evaluate, fold_value};
use super::plan::{EventField, Plan, Term};
use super::subject::{Datum, Subject};
use crate::time::Timestamp;

/// One deciding condition, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// The condition as it is written.
    pub condition: String,
    pub holds: bool,
    /// What was found: values, or the event.
    pub found: String,
}

/// The reasons for a verdict. For AND that fails and OR that holds it is the one part that
/// decides; otherwise all parts do.
pub fn explain<S: Subject>(
    expr: &Expr,
    place: Place,
    subject: &S,
    event: Option<S::Event>,
    now: Timestamp,
) -> Vec<Reason> {
    let explainer = Explainer {
        subject,
        event,
        now,
    };
    let mut reasons = Vec::new();
    explainer.explain(expr, place, &mut reasons);
    reasons
}

struct Explainer<'a, S: Subject> {
    subject: &'a S,
    event: Option<S::Event>,
    now: Timestamp,
}

impl<S: Subject> Explainer<'_, S> {
    fn holds(&self, expr: &Expr, place: Place) -> bool {
        let plan = check(expr, place);
        plan.is_ok_and(|plan| evaluate(&plan, self.subject, self.event, self.now).holds)
    }

    fn explain(&self, expr: &Expr, place: Place, reasons: &mut Vec<Reason>) {
        match &expr.kind {
            ExprKind::And(parts) => self.chain(parts, place, true, reasons),
            ExprKind::Or(parts) => self.chain(parts, place, false, reasons),
            ExprKind::Not(inner) => self.explain(inner, place, reasons),
            ExprKind::Exists {
                entity: Entity::Contact,
                filter: Some(filter),
            } => {
                self.explain(filter, place, reasons);
            }
            _ => reasons.push(self.reason(expr, place)),
        }
    }

    fn chain(&self, parts: &[Expr], place: Place, all: bool, reasons: &mut Vec<Reason>) {
        match parts.iter().find(|part| self.holds(part, place) != all) {
            Some(decides) => self.explain(decides, place, reasons),
            None => parts
                .iter()
                .for_each(|part| self.explain(part, place, reasons)),
        }
    }

    fn reason(&self, expr: &Expr, place: Place) -> Reason {
        let found = match &expr.kind {
            ExprKind::Exists { filter, .. } => self.found_event(filter.as_deref(), place),
            _ => operands(expr)
                .into_iter()
                .filter_map(|operand| self.found_value(operand, place))
                .collect::<Vec<_>>()
                .join(", "),
        };
        Reason {
            condition: expr.to_string(),
            holds: self.holds(expr, place),
            found,
        }
    }

    /// `contact.plan is 'free'`, for what is not written in the condition itself.
    fn found_value(&self, operand: &Operand, place: Place) -> Option<String> {
        if matches!(
            operand.kind,
            OperandKind::Literal(_) | OperandKind::Unreadable
        ) {
            return None;
        }
        // A plan of the comparison with itself holds just this operand's term.
        let kind = ExprKind::IsNull {
            operand: operand.clone(),
            negated: false,
        };
        let plan = check(
            &Expr {
                kind,
                span: operand.span,
            },
            place,
        )
        .ok()?;
        let value = self.value(&plan)?;
        Some(format!("{operand} is {}", words(&value)))
    }

    fn value(&self, plan: &Plan) -> Option<Datum<'static>> {
        let super::plan::Condition::IsNull { term, .. } = &plan.condition else {
            return None;
        };
        self.term(plan, term)
    }

    fn term(&self, plan: &Plan, term: &Term) -> Option<Datum<'static>> {
        Some(match term {
            Term::Const(_) => return None,
            Term::Now(micros) => Datum::Time(self.now.shifted(*micros)),
            Term::Contact(field) => owned(self.subject.contact(field)),
            Term::Event(field) => self.event.map_or(Datum::Missing, |event| {
                owned(self.subject.event(event, field))
            }),
            Term::Journey(names) => owned(self.subject.journey(names)),
            Term::Given(names) => owned(self.subject.given(names)),
            Term::Fold(fold) => fold_value(plan, *fold, self.subject, self.now),
            Term::Shifted(base, micros) => {
                let time = self.term(plan, base)?.as_time();
                time.map_or(Datum::Missing, |time| Datum::Time(time.shifted(*micros)))
            }
        })
    }

    fn found_event(&self, filter: Option<&Expr>, place: Place) -> String {
        let inside = Place {
            event: true,
            ..place
        };
        let all: Vec<S::Event> = self.subject.events(None).collect();
        let plan = filter.and_then(|filter| check(filter, inside).ok());
        let passes = |event: &S::Event| match &plan {
            Some(plan) => evaluate(plan, self.subject, Some(*event), self.now).holds,
            None => filter.is_none(),
        };
        match all.iter().rev().find(|event| passes(event)) {
            Some(event) => {
                let field = |field| words(&owned(self.subject.event(*event, &field)));
                format!(
                    "event {} at {}",
                    field(EventField::Type),
                    field(EventField::Time)
                )
            }
            None => format!("none of the contact's {} events", all.len()),
        }
    }
}

fn operands(expr: &Expr) -> Vec<&Operand> {
    match &expr.kind {
        ExprKind::Compare { left, right, .. } => vec![left, right],
        ExprKind::In { operand, .. } | ExprKind::IsNull { operand, .. } => vec![operand],
        ExprKind::Between {
            operand, low, high, ..
        } => vec![operand, low, high],
        ExprKind::Text {
            operand, pattern, ..
        } => vec![operand, pattern],
        _ => Vec::new(),
    }
}

fn owned(datum: Datum<'_>) -> Datum<'static> {
    match datum {
        Datum::Text(text) => Datum::Text(text.into_owned().into()),
        // Lists are shown by what they are, not item by item.
        Datum::List(_) | Datum::Object => Datum::Object,
        Datum::Missing => Datum::Missing,
        Datum::Bool(value) => Datum::Bool(value),
        Datum::Number(number) => Datum::Number(number),
        Datum::Time(time) => Datum::Time(time),
    }
}

fn words(datum: &Datum<'_>) -> String {
    match datum {
        Datum::Missing => "missing".to_owned(),
        Datum::Bool(true) => "TRUE".to_owned(),
        Datum::Bool(false) => "FALSE".to_owned(),
        Datum::Number(number) => number.to_string(),
        Datum::Text(text) => format!("'{text}'"),
        Datum::Time(time) => time.to_string(),
        Datum::List(_) | Datum::Object => "a list or object".to_owned(),
    }
}
