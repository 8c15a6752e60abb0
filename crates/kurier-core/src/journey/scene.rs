//! What a journey's expressions see: the contact with its history, the instance, and the
//! event that is in scope.

use super::{Definition, Instance};
use crate::columns::{ContactView, EventAt};
use crate::expr::{ContactField, Datum, EventFact, EventField, Subject};
use crate::value::{Object, Value};

pub struct Scene<'a> {
    pub view: ContactView<'a>,
    pub definition: &'a Definition,
    /// `None` while it is decided whether there will be one.
    pub instance: Option<&'a Instance>,
    pub event: Option<&'a EventFact>,
}

/// An event of the contact's history, or the one in scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    Before(EventAt),
    InScope,
}

impl Scene<'_> {
    pub fn event_in_scope(&self) -> Option<Seen> {
        self.event.map(|_| Seen::InScope)
    }
}

impl Subject for Scene<'_> {
    type Event = Seen;

    fn contact(&self, field: &ContactField) -> Datum<'_> {
        self.view.contact(field)
    }

    fn journey(&self, names: &[String]) -> Datum<'_> {
        match self.instance {
            Some(instance) => instance.datum(self.definition, names),
            None => Datum::Missing,
        }
    }

    fn events(&self, types: Option<&[String]>) -> impl Iterator<Item = Seen> {
        self.view.events(types).map(Seen::Before)
    }

    fn event(&self, event: Seen, field: &EventField) -> Datum<'_> {
        match event {
            Seen::Before(event) => self.view.event(event, field),
            Seen::InScope => self.event.map_or(Datum::Missing, |fact| match field {
                EventField::Type => Datum::Text(fact.event_type.as_str().into()),
                EventField::Time => Datum::Time(fact.event_time),
                EventField::Property(names) => Datum::of(property(&fact.properties, names)),
            }),
        }
    }
}

fn property<'a>(object: &'a Object, names: &[String]) -> Option<&'a Value> {
    let (last, parents) = names.split_last()?;
    let parent = parents
        .iter()
        .try_fold(object, |object, name| object.get(name)?.as_object());
    parent?.get(last)
}
