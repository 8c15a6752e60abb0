//! Operands: which value each means, and of which type as far as that is known.

use super::super::ast::{Aggregate, Function, Literal, Operand, OperandKind, Path, Root};
use super::super::error::{Span, closest};
use super::super::plan::{ContactField, EventField, Scalar, Term, What};
use super::{Checker, Type};

/// Stands for what was refused; never evaluated.
const REFUSED: (Term, Type) = (Term::Const(Scalar::Bool(false)), Type::Unknown);

impl Checker {
    pub(super) fn term(&mut self, operand: &Operand) -> (Term, Type) {
        match &operand.kind {
            OperandKind::Literal(literal) => scalar(literal),
            OperandKind::Now => (Term::Now(0), Type::Time),
            OperandKind::Path(path) => self.path(path, operand.span),
            OperandKind::Shifted { base, micros } => self.shifted(base, *micros),
            OperandKind::Aggregate(aggregate) => self.aggregate(aggregate, operand.span),
            OperandKind::Unreadable => REFUSED,
        }
    }

    fn shifted(&mut self, base: &Operand, micros: i64) -> (Term, Type) {
        let (term, kind) = self.term(base);
        if !matches!(kind, Type::Time | Type::Unknown) {
            let message = format!(
                "a duration can be added to a time, and this is {}",
                kind.name()
            );
            self.error(base.span, message);
        }
        let term = match term {
            Term::Now(moved) => Term::Now(moved.saturating_add(micros)),
            Term::Shifted(inner, moved) => Term::Shifted(inner, moved.saturating_add(micros)),
            term => Term::Shifted(Box::new(term), micros),
        };
        (term, Type::Time)
    }

    fn path(&mut self, path: &Path, span: Span) -> (Term, Type) {
        match path.root {
            Root::Contact => self.contact(&path.names, span),
            Root::Event => self.event(path, span),
            Root::Journey => self.journey(path, span),
            Root::System => self.system(&path.names, span),
            Root::Given => (Term::Given(path.names.clone()), Type::Unknown),
        }
    }

    fn contact(&mut self, names: &[String], span: Span) -> (Term, Type) {
        if names.is_empty() {
            let suggestion = "write, for example, contact.plan";
            self.suggest(span, "which attribute of the contact?", suggestion);
            return REFUSED;
        }
        let field = ContactField::of(names);
        let kind = match field {
            ContactField::Id | ContactField::UserId => Type::Text,
            ContactField::CreatedAt => Type::Time,
            ContactField::Attribute(_) => Type::Unknown,
        };
        (Term::Contact(field), kind)
    }

    fn event(&mut self, path: &Path, span: Span) -> (Term, Type) {
        if self.place.is_closed {
            self.closed(span);
            return REFUSED;
        }
        if !self.place.event {
            let message = format!("`{path}` means something only where there is an event");
            self.suggest(
                span,
                message,
                format!("write EXISTS (event WHERE {path} …)"),
            );
        }
        match self.event_field(&path.names, span) {
            Some(field) => {
                let kind = match field {
                    EventField::Type => Type::Text,
                    EventField::Time => Type::Time,
                    EventField::Property(_) => Type::Unknown,
                };
                (Term::Event(field), kind)
            }
            None => REFUSED,
        }
    }

    fn event_field(&mut self, names: &[String], span: Span) -> Option<EventField> {
        let names_text: Vec<&str> = names.iter().map(String::as_str).collect();
        match names_text.as_slice() {
            ["event_type"] => Some(EventField::Type),
            ["event_time"] => Some(EventField::Time),
            ["properties", _, ..] => Some(EventField::Property(names[1..].to_vec())),
            [] | ["properties"] => {
                self.suggest(
                    span,
                    "which property of the event?",
                    "write, for example, event.properties.amount",
                );
                None
            }
            [name, ..] => {
                let message = format!(
                    "an event has no `{name}`; it has event_type, event_time and properties"
                );
                let near = closest(name, ["event_type", "event_time", "properties"]);
                let suggestion = near.map_or_else(
                    || format!("write event.properties.{}", names.join(".")),
                    |near| format!("did you mean event.{near}?"),
                );
                self.suggest(span, message, suggestion);
                None
            }
        }
    }

    fn journey(&mut self, path: &Path, span: Span) -> (Term, Type) {
        if !self.place.journey {
            self.error(
                span,
                format!("`{path}` means something only inside a journey"),
            );
        }
        if path.names.is_empty() {
            self.suggest(
                span,
                "which value of the journey?",
                "write, for example, journey.step_count",
            );
        }
        (Term::Journey(path.names.clone()), Type::Unknown)
    }

    fn system(&mut self, names: &[String], span: Span) -> (Term, Type) {
        if let [name] = names
            && matches!(name.as_str(), "now" | "time")
        {
            return (Term::Now(0), Type::Time);
        }
        self.suggest(
            span,
            "the system knows only its time",
            "write system.now or now()",
        );
        REFUSED
    }

    fn aggregate(&mut self, aggregate: &Aggregate, span: Span) -> (Term, Type) {
        if self.place.is_closed {
            self.closed(span);
            return REFUSED;
        }
        let name = aggregate.function.text();
        let field = match aggregate.names.as_slice() {
            [] => None,
            names => match self.event_field(names, span) {
                Some(field) => Some(field),
                None => return REFUSED,
            },
        };
        let (what, kind) = match (aggregate.function, field) {
            (Function::Count, field) => (What::Count(field), Type::Number),
            (_, None) => {
                self.suggest(
                    span,
                    format!("{name} of what?"),
                    format!("write {name}(event.properties.amount)"),
                );
                return REFUSED;
            }
            (function @ (Function::Min | Function::Max), Some(EventField::Time)) => {
                (What::Of(function, EventField::Time), Type::Time)
            }
            (_, Some(EventField::Time | EventField::Type)) => {
                self.error(span, format!("{name} is over numbers, and this is none"));
                return REFUSED;
            }
            (function, Some(field)) => (What::Of(function, field), Type::Number),
        };
        (Term::Fold(self.fold(what, aggregate.filter.as_ref())), kind)
    }
}

fn scalar(literal: &Literal) -> (Term, Type) {
    let (scalar, kind) = match literal {
        Literal::Bool(value) => (Scalar::Bool(*value), Type::Bool),
        Literal::Number(number) => (Scalar::Number(*number), Type::Number),
        Literal::Text(text) => (Scalar::Text(text.clone()), Type::Text),
        Literal::Time(time) => (Scalar::Time(*time), Type::Time),
        Literal::Null => (Scalar::Bool(false), Type::Null),
        Literal::Duration(_) => (Scalar::Bool(false), Type::Duration),
    };
    (Term::Const(scalar), kind)
}
