//! Names, places and types: what the grammar allows but has no meaning is refused here, all
//! of it at once. What passes becomes a plan.

mod operand;

use super::ast::{CompareOp, Entity, Expr, ExprKind, Literal, Operand, TextOp};
use super::error::{Error, Span};
use super::plan::{Condition, Fold, Plan, Scalar, Term, TextTest, What};

/// A compiled regular expression may take this many bytes.
const REGEX_BYTES_MAX: usize = 64 * 1024;
/// And this many in a template, which may ask it of long texts and in loops.
const CLOSED_REGEX_BYTES_MAX: usize = 16 * 1024;

/// What an expression may speak of besides the contact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    /// An event is in scope: triggers and event waits.
    pub event: bool,
    /// A journey is in scope.
    pub journey: bool,
    /// Only what was handed over is in scope: there is no history to look into.
    pub is_closed: bool,
}

impl Place {
    pub const SEGMENT: Self = Self::of(false, false);
    pub const TRIGGER: Self = Self::of(true, false);
    pub const JOURNEY: Self = Self::of(false, true);
    pub const JOURNEY_EVENT: Self = Self::of(true, true);
    pub const TEMPLATE: Self = Self {
        is_closed: true,
        ..Self::JOURNEY
    };

    const fn of(event: bool, journey: bool) -> Self {
        Self {
            event,
            journey,
            is_closed: false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Unknown,
    Bool,
    Number,
    Text,
    Time,
    Duration,
    Null,
}

impl Type {
    const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "a value",
            Self::Bool => "TRUE or FALSE",
            Self::Number => "a number",
            Self::Text => "a text",
            Self::Time => "a time",
            Self::Duration => "a duration",
            Self::Null => "NULL",
        }
    }
}

/// Checks an expression for its place and makes its plan.
pub fn check(expr: &Expr, place: Place) -> Result<Plan, Vec<Error>> {
    let mut checker = Checker {
        place,
        errors: Vec::new(),
        folds: Vec::new(),
    };
    let condition = checker.condition(expr);
    if checker.errors.is_empty() {
        return Ok(Plan {
            condition,
            folds: checker.folds,
        });
    }
    checker.errors.sort_by_key(|error| error.span);
    Err(checker.errors)
}

struct Checker {
    place: Place,
    errors: Vec<Error>,
    folds: Vec<Fold>,
}

impl Checker {
    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.errors.push(Error::new(span, message));
    }

    fn suggest(&mut self, span: Span, message: impl Into<String>, suggestion: impl Into<String>) {
        self.errors
            .push(Error::new(span, message).suggest(suggestion));
    }

    fn condition(&mut self, expr: &Expr) -> Condition {
        match &expr.kind {
            ExprKind::Const(value) => Condition::Const(*value),
            ExprKind::And(parts) => Condition::And(self.conditions(parts)),
            ExprKind::Or(parts) => Condition::Or(self.conditions(parts)),
            ExprKind::Not(inner) => Condition::Not(Box::new(self.condition(inner))),
            ExprKind::Compare { left, op, right } => self.compare(left, *op, right),
            ExprKind::In {
                operand,
                list,
                negated,
            } => self.in_list(operand, list, *negated),
            ExprKind::Between {
                operand,
                low,
                high,
                negated,
            } => self.between(operand, (low, high), *negated),
            ExprKind::Text {
                operand,
                op,
                pattern,
                negated,
            } => self.text(operand, *op, pattern, *negated),
            ExprKind::IsNull { operand, negated } => Condition::IsNull {
                term: self.term(operand).0,
                negated: *negated,
            },
            ExprKind::Exists { entity, filter } => {
                self.exists(*entity, filter.as_deref(), expr.span)
            }
            ExprKind::Unreadable => Condition::Const(false),
        }
    }

    fn conditions(&mut self, parts: &[Expr]) -> Vec<Condition> {
        parts.iter().map(|part| self.condition(part)).collect()
    }

    fn compare(&mut self, left: &Operand, op: CompareOp, right: &Operand) -> Condition {
        let ((a, a_type), (b, b_type)) = (self.term(left), self.term(right));
        self.comparable((left.span, a_type), (right, b_type));
        if op.is_order() && (a_type == Type::Bool || b_type == Type::Bool) {
            let message = format!(
                "TRUE and FALSE have no order, so {} says nothing",
                op.text()
            );
            self.suggest(left.span.to(right.span), message, "use = or !=");
        }
        Condition::Compare {
            left: a,
            op,
            right: b,
        }
    }

    /// Two values of known and different types are never equal, nor one before the other.
    fn comparable(&mut self, (left, a): (Span, Type), (right, b): (&Operand, Type)) {
        let span = left.to(right.span);
        match (a, b) {
            (Type::Null, _) | (_, Type::Null) => {
                self.suggest(
                    span,
                    "a comparison with NULL is never true",
                    "use IS NULL or IS NOT NULL",
                );
            }
            (Type::Duration, _) | (_, Type::Duration) => {
                self.suggest(
                    span,
                    "a duration can only be added to a time",
                    "write, for example, now() - 7d",
                );
            }
            (Type::Unknown, _) | (_, Type::Unknown) => {}
            (Type::Time, Type::Text) | (Type::Text, Type::Time) => {
                let message = "a time is compared with a text here";
                self.suggest(span, message, "write timestamp '2026-01-31T00:00:00Z'");
            }
            (a, b) if a != b => {
                self.error(
                    span,
                    format!("{} is compared with {} here", a.name(), b.name()),
                );
            }
            _ => {}
        }
    }

    fn in_list(&mut self, operand: &Operand, list: &[Literal], negated: bool) -> Condition {
        let (term, kind) = self.term(operand);
        let mut scalars = Vec::with_capacity(list.len());
        for literal in list {
            let literal_operand = Operand {
                kind: super::ast::OperandKind::Literal(literal.clone()),
                span: operand.span,
            };
            let (item, item_kind) = self.term(&literal_operand);
            self.comparable((operand.span, kind), (&literal_operand, item_kind));
            if let Term::Const(scalar) = item {
                scalars.push(scalar);
            }
        }
        Condition::In {
            term,
            list: scalars,
            negated,
        }
    }

    fn between(
        &mut self,
        operand: &Operand,
        (low, high): (&Operand, &Operand),
        negated: bool,
    ) -> Condition {
        let (term, kind) = self.term(operand);
        let ((low_term, low_kind), (high_term, high_kind)) = (self.term(low), self.term(high));
        self.comparable((operand.span, kind), (low, low_kind));
        self.comparable((operand.span, kind), (high, high_kind));
        if [kind, low_kind, high_kind].contains(&Type::Bool) {
            self.error(
                operand.span.to(high.span),
                "TRUE and FALSE have no order, so BETWEEN says nothing",
            );
        }
        Condition::Between {
            term,
            low: low_term,
            high: high_term,
            negated,
        }
    }

    fn text(
        &mut self,
        operand: &Operand,
        op: TextOp,
        pattern: &Operand,
        negated: bool,
    ) -> Condition {
        let ((term, kind), (pattern_term, pattern_kind)) = (self.term(operand), self.term(pattern));
        if !matches!(kind, Type::Unknown | Type::Text) {
            let message = format!(
                "{} looks into a text, and this is {}",
                op.text(),
                kind.name()
            );
            self.error(operand.span, message);
        }
        // A list may contain numbers, too.
        let is_fit = match op {
            TextOp::Contains => !matches!(pattern_kind, Type::Null | Type::Duration | Type::Time),
            _ => matches!(pattern_kind, Type::Unknown | Type::Text),
        };
        if !is_fit {
            let message = format!(
                "{} needs a text, and this is {}",
                op.text(),
                pattern_kind.name()
            );
            self.error(pattern.span, message);
        }
        let test = match op {
            TextOp::Matches => self.regex(pattern, &pattern_term),
            _ => TextTest::Pattern(op, pattern_term),
        };
        Condition::Text {
            term,
            test,
            negated,
        }
    }

    fn regex(&mut self, pattern: &Operand, term: &Term) -> TextTest {
        let nothing = || TextTest::Pattern(TextOp::Matches, Term::Const(Scalar::Bool(false)));
        let Term::Const(Scalar::Text(text)) = term else {
            self.error(pattern.span, "MATCHES needs a pattern in quotes");
            return nothing();
        };
        let bytes_max = match self.place.is_closed {
            true => CLOSED_REGEX_BYTES_MAX,
            false => REGEX_BYTES_MAX,
        };
        match regex::RegexBuilder::new(text).size_limit(bytes_max).build() {
            Ok(regex) => TextTest::Matches(Box::new(regex)),
            Err(error) => {
                let reason = error.to_string();
                let reason = reason
                    .lines()
                    .last()
                    .unwrap_or_default()
                    .trim_start_matches("error: ");
                self.error(pattern.span, format!("this is not a pattern: {reason}"));
                nothing()
            }
        }
    }

    fn exists(&mut self, entity: Entity, filter: Option<&Expr>, span: Span) -> Condition {
        match (entity, filter) {
            // The contact in scope exists; what matters is what is said of it.
            (Entity::Contact, None) => Condition::Const(true),
            (Entity::Contact, Some(filter)) => self.condition(filter),
            (Entity::Event, _) if self.place.is_closed => {
                self.closed(span);
                Condition::Const(false)
            }
            (Entity::Event, filter) => Condition::Exists(self.fold(What::Exists, filter)),
        }
    }

    fn closed(&mut self, span: Span) {
        let message = "a template sees only its inputs, and no events";
        let suggestion = "decide it in the journey, or hand the value over in data";
        self.suggest(span, message, suggestion);
    }

    fn fold(&mut self, what: What, filter: Option<&Expr>) -> usize {
        let outside = std::mem::replace(&mut self.place.event, true);
        let filter = filter.map_or(Condition::Const(true), |filter| self.condition(filter));
        self.place.event = outside;
        self.folds.push(Fold {
            what,
            types: filter.types(),
            filter,
        });
        self.folds.len() - 1
    }
}

#[cfg(test)]
mod tests;
