//! One contact of the world, as the row evaluator sees it.

use std::borrow::Cow;

use super::World;
use super::block::Block;
use super::cell::{Cell, Open};
use super::pool::Pool;
use crate::expr::{ContactField, Datum, EventField, Subject};
use crate::time::Timestamp;
use crate::value::{Object, Value};

/// A contact of a world. A number that stands for nobody has no attributes and no events.
#[derive(Debug, Clone, Copy)]
pub struct ContactView<'w> {
    world: &'w World,
    number: u32,
    block: Option<&'w Block>,
    slot: u16,
}

/// Where an event stands: valid until the world changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventAt {
    event_type: u32,
    row: u32,
}

impl<'w> ContactView<'w> {
    pub(super) fn new(world: &'w World, number: u32) -> Self {
        let (block, slot) = world.block(number);
        Self {
            world,
            number,
            block: block.filter(|block| block.is_live(slot)),
            slot,
        }
    }

    /// All that is kept of a field, an object with its members. Of objects in lists it is not
    /// kept what they hold.
    pub fn value(&self, field: &ContactField) -> Option<Value> {
        if let (ContactField::Attribute(names), Some(block)) = (field, self.block)
            && let Some(path) = self.world.attributes.find(names)
            && matches!(block.attribute(path, self.slot).open(), Open::Object)
        {
            return Some(Value::Object(self.members(block, path)));
        }
        self.contact(field).into_value()
    }

    fn members(&self, block: &Block, path: u32) -> Object {
        let attributes = &self.world.attributes;
        let mut members = Object::new();
        for child in attributes.children(path) {
            let cell = block.attribute(child, self.slot);
            let value = match cell.open() {
                Open::Object => Some(Value::Object(self.members(block, child))),
                _ => datum(attributes.pool(child), cell).into_value(),
            };
            let name = attributes.name(child).to_string();
            members.extend(value.map(|value| (name, value)));
        }
        members
    }

    fn types(&self, names: Option<&[String]>) -> Vec<u32> {
        match names {
            Some(names) => {
                let found = names.iter().filter_map(|name| self.world.types.find(name));
                found.collect()
            }
            None => (0..self.world.types.len() as u32).collect(),
        }
    }
}

impl Subject for ContactView<'_> {
    type Event = EventAt;

    fn contact(&self, field: &ContactField) -> Datum<'_> {
        let Some(block) = self.block else {
            return Datum::Missing;
        };
        match field {
            ContactField::Id => {
                let id = self.world.contact_id(self.number);
                Datum::Text(Cow::Owned(id.to_string()))
            }
            ContactField::UserId => datum(&self.world.user_ids, block.user_id(self.slot)),
            ContactField::CreatedAt => {
                let created = block.created()[usize::from(self.slot)];
                Datum::Time(Timestamp::from_micros(created))
            }
            ContactField::Attribute(names) => {
                let path = self.world.attributes.find(names);
                path.map_or(Datum::Missing, |path| {
                    let pool = self.world.attributes.pool(path);
                    datum(pool, block.attribute(path, self.slot))
                })
            }
        }
    }

    fn journey(&self, _names: &[String]) -> Datum<'_> {
        Datum::Missing
    }

    fn events(&self, types: Option<&[String]>) -> impl Iterator<Item = EventAt> {
        let types = self.types(types);
        let mut events = Vec::new();
        for event_type in &types {
            let Some(set) = self.block.and_then(|block| block.set(*event_type)) else {
                continue;
            };
            let found = set.rows(self.slot).map(|row| {
                let event = EventAt {
                    event_type: *event_type,
                    row: row as u32,
                };
                (set.arrival(row), event)
            });
            events.extend(found);
        }
        if types.len() > 1 {
            events.sort_unstable_by_key(|(arrival, _)| *arrival);
        }
        events.into_iter().map(|(_, event)| event)
    }

    fn event(&self, event: EventAt, field: &EventField) -> Datum<'_> {
        let event_type = self.world.types.get(event.event_type);
        let Some(set) = self.block.and_then(|block| block.set(event.event_type)) else {
            return Datum::Missing;
        };
        let row = event.row as usize;
        match field {
            EventField::Type => {
                let name = self.world.types.name(event.event_type);
                name.map_or(Datum::Missing, |name| Datum::Text(Cow::Borrowed(name)))
            }
            EventField::Time => Datum::Time(Timestamp::from_micros(set.times().get(row))),
            EventField::Property(names) => {
                let path = event_type.properties.find(names);
                path.map_or(Datum::Missing, |path| {
                    let column = set.property(path);
                    let cell = column.map_or(Cell::MISSING, |column| column.get(row));
                    datum(event_type.properties.pool(path), cell)
                })
            }
        }
    }
}

/// A cell as evaluation sees it.
pub fn datum(pool: &Pool, cell: Cell) -> Datum<'_> {
    match cell.open() {
        Open::Missing => Datum::Missing,
        Open::Bool(value) => Datum::Bool(value),
        Open::Number(number) => Datum::Number(number),
        Open::Text(code) => Datum::Text(Cow::Borrowed(pool.text(code))),
        Open::List(code) => Datum::List(
            pool.list(code)
                .iter()
                .map(|item| value(pool, *item))
                .collect(),
        ),
        Open::Object => Datum::Object,
    }
}

fn value(pool: &Pool, cell: Cell) -> Value {
    match cell.open() {
        Open::Missing | Open::List(_) => Value::Null,
        Open::Bool(value) => Value::Bool(value),
        Open::Number(number) => Value::Float(number),
        Open::Text(code) => Value::Text(pool.text(code).to_owned()),
        Open::Object => Value::Object(crate::value::Object::new()),
    }
}
