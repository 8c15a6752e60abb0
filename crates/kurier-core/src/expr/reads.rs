//! What an expression reads: only a change of that can change its verdict.

use std::collections::BTreeSet;

use super::plan::{Condition, ContactField, EventField, Plan, Term, TextTest, What};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reads {
    /// Attributes and other fields of the contact, dotted.
    pub contact: BTreeSet<String>,
    /// Event types whose arrival may matter.
    pub events: BTreeSet<String>,
    /// Events of any type may matter.
    pub any_event: bool,
    /// Properties of events, dotted.
    pub properties: BTreeSet<String>,
    /// What it reads of the journey it stands in, dotted.
    pub journey: BTreeSet<String>,
    /// What it reads of the names that its place gives, dotted.
    pub given: BTreeSet<String>,
    /// The verdict may change by time alone.
    pub time: bool,
}

impl Plan {
    pub fn reads(&self) -> Reads {
        let mut reads = Reads::default();
        reads.condition(&self.condition);
        for fold in &self.folds {
            match &fold.types {
                Some(types) => reads.events.extend(types.iter().cloned()),
                None => reads.any_event = true,
            }
            if let What::Count(Some(field)) | What::Of(_, field) = &fold.what {
                reads.event(field);
            }
            reads.condition(&fold.filter);
        }
        reads
    }
}

impl Reads {
    fn condition(&mut self, condition: &Condition) {
        match condition {
            Condition::Const(_) | Condition::Exists(_) => {}
            Condition::And(parts) | Condition::Or(parts) => {
                parts.iter().for_each(|part| self.condition(part))
            }
            Condition::Not(inner) => self.condition(inner),
            Condition::Compare { left, right, .. } => self.terms(&[left, right]),
            Condition::In { term, .. } | Condition::IsNull { term, .. } => self.terms(&[term]),
            Condition::Between {
                term, low, high, ..
            } => self.terms(&[term, low, high]),
            Condition::Text {
                term,
                test: TextTest::Pattern(_, pattern),
                ..
            } => self.terms(&[term, pattern]),
            Condition::Text {
                term,
                test: TextTest::Matches(_),
                ..
            } => self.terms(&[term]),
        }
    }

    fn terms(&mut self, terms: &[&Term]) {
        for term in terms {
            match term {
                Term::Const(_) | Term::Fold(_) => {}
                Term::Journey(names) => drop(self.journey.insert(names.join("."))),
                Term::Given(names) => drop(self.given.insert(names.join("."))),
                Term::Now(_) => self.time = true,
                Term::Contact(field) => drop(self.contact.insert(contact_name(field))),
                Term::Event(field) => self.event(field),
                Term::Shifted(base, _) => self.terms(&[base]),
            }
        }
    }

    fn event(&mut self, field: &EventField) {
        if let EventField::Property(names) = field {
            self.properties.insert(names.join("."));
        }
    }
}

fn contact_name(field: &ContactField) -> String {
    match field {
        ContactField::Id => "id".to_owned(),
        ContactField::UserId => "user_id".to_owned(),
        ContactField::CreatedAt => "created_at".to_owned(),
        ContactField::Attribute(names) => names.join("."),
    }
}
