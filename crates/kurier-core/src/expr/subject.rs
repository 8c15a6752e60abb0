//! Whom an expression is evaluated for: a contact and its events, however they are kept.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::plan::{ContactField, EventField, Scalar};
use crate::time::Timestamp;
use crate::value::{Object, Value};

/// A contact with its history, as evaluation sees it.
pub trait Subject {
    /// How one of its events is named while evaluating.
    type Event: Copy;

    fn contact(&self, field: &ContactField) -> Datum<'_>;

    fn journey(&self, names: &[String]) -> Datum<'_>;

    /// The value of a name that the place gives; most places give none.
    fn given(&self, _names: &[String]) -> Datum<'_> {
        Datum::Missing
    }

    /// Its events of these types (`None`: of all), in the order in which they arrived.
    fn events(&self, types: Option<&[String]>) -> impl Iterator<Item = Self::Event>;

    fn event(&self, event: Self::Event, field: &EventField) -> Datum<'_>;
}

/// A value met while evaluating.
#[derive(Debug, Clone, PartialEq)]
pub enum Datum<'a> {
    Missing,
    Bool(bool),
    Number(f64),
    Text(Cow<'a, str>),
    Time(Timestamp),
    List(Cow<'a, [Value]>),
    Object,
}

impl<'a> Datum<'a> {
    pub fn of(value: Option<&'a Value>) -> Self {
        match value {
            None | Some(Value::Null) => Self::Missing,
            Some(Value::Bool(value)) => Self::Bool(*value),
            Some(Value::Int(number)) => Self::Number(*number as f64),
            Some(Value::Float(number)) => Self::Number(*number),
            Some(Value::Text(text)) => Self::Text(Cow::Borrowed(text)),
            Some(Value::List(values)) => Self::List(Cow::Borrowed(values)),
            Some(Value::Object(_)) => Self::Object,
        }
    }

    pub fn of_scalar(scalar: &'a Scalar) -> Self {
        match scalar {
            Scalar::Bool(value) => Self::Bool(*value),
            Scalar::Number(number) => Self::Number(*number),
            Scalar::Text(text) => Self::Text(Cow::Borrowed(text)),
            Scalar::Time(time) => Self::Time(*time),
        }
    }

    /// As a value to keep; none for what is missing, and for an object, of which evaluation sees
    /// only that it is one.
    pub fn into_value(self) -> Option<Value> {
        match self {
            Self::Missing | Self::Object => None,
            Self::Bool(value) => Some(Value::Bool(value)),
            Self::Number(number) => Some(Value::of_number(number)),
            Self::Text(text) => Some(Value::Text(text.into_owned())),
            Self::Time(time) => Some(Value::Text(time.to_string())),
            Self::List(list) => {
                let items = list.into_owned().into_iter().map(|item| match item {
                    Value::Float(number) => Value::of_number(number),
                    item => item,
                });
                Some(Value::List(items.collect()))
            }
        }
    }

    pub const fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }

    /// As an instant: JSON has no times, so a text that is one counts as one.
    pub fn as_time(&self) -> Option<Timestamp> {
        match self {
            Self::Time(time) => Some(*time),
            Self::Text(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// How two values stand to each other; `None` if they cannot be compared. Text compares
    /// by code point.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.partial_cmp(b),
            (Self::Text(a), Self::Text(b)) => Some(a.as_ref().cmp(b.as_ref())),
            (Self::Bool(a), Self::Bool(b)) => Some(a.cmp(b)),
            (Self::Time(a), b) => Some(a.cmp(&b.as_time()?)),
            (a, Self::Time(b)) => Some(a.as_time()?.cmp(b)),
            _ => None,
        }
    }

    pub fn equals(&self, other: &Self) -> bool {
        self.compare(other) == Some(Ordering::Equal)
    }
}

/// A contact and its events as plain values: for `kurier eval`, simulations and tests.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    pub id: Option<String>,
    pub user_id: Option<String>,
    pub created_at: Option<Timestamp>,
    pub attributes: Object,
    pub journey: Object,
    /// In the order in which they arrived.
    pub events: Vec<EventFact>,
}

#[derive(Debug, Clone, Default)]
pub struct EventFact {
    pub event_type: String,
    pub event_time: Timestamp,
    pub properties: Object,
}

/// The value under these names.
pub fn lookup<'a>(object: &'a Object, names: &[String]) -> Option<&'a Value> {
    let (last, parents) = names.split_last()?;
    let parent = parents
        .iter()
        .try_fold(object, |object, name| object.get(name)?.as_object());
    parent?.get(last)
}

fn text(text: Option<&String>) -> Datum<'_> {
    text.map_or(Datum::Missing, |text| Datum::Text(Cow::Borrowed(text)))
}

impl Subject for Facts {
    type Event = usize;

    fn contact(&self, field: &ContactField) -> Datum<'_> {
        match field {
            ContactField::Id => text(self.id.as_ref()),
            ContactField::UserId => text(self.user_id.as_ref()),
            ContactField::CreatedAt => self.created_at.map_or(Datum::Missing, Datum::Time),
            ContactField::Attribute(names) => Datum::of(lookup(&self.attributes, names)),
        }
    }

    fn journey(&self, names: &[String]) -> Datum<'_> {
        Datum::of(lookup(&self.journey, names))
    }

    fn events(&self, types: Option<&[String]>) -> impl Iterator<Item = usize> {
        let wanted =
            move |event: &EventFact| types.is_none_or(|types| types.contains(&event.event_type));
        self.events
            .iter()
            .enumerate()
            .filter(move |(_, event)| wanted(event))
            .map(|(index, _)| index)
    }

    fn event(&self, event: usize, field: &EventField) -> Datum<'_> {
        let event = &self.events[event];
        match field {
            EventField::Type => text(Some(&event.event_type)),
            EventField::Time => Datum::Time(event.event_time),
            EventField::Property(names) => Datum::of(lookup(&event.properties, names)),
        }
    }
}
