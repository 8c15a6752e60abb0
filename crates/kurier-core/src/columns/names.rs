//! What there is to name in an expression: attributes and events as they were seen, with the
//! types of their values.

use std::collections::BTreeSet;

use super::World;
use super::cell::{Cell, Open};
use super::column::Column;
use super::pool::Pool;
use super::schema::Paths;

/// So many values of a column are looked at: what comes later is hardly of another type.
const LOOKED_AT_MAX: usize = 200;

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Type {
    Bool,
    Number,
    Text,
    /// A text that is an instant.
    Time,
    List,
    Object,
}

impl Type {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Number => "number",
            Self::Text => "text",
            Self::Time => "time",
            Self::List => "list",
            Self::Object => "object",
        }
    }

    fn of(cell: Cell, pool: &Pool) -> Option<Self> {
        match cell.open() {
            Open::Missing => None,
            Open::Bool(_) => Some(Self::Bool),
            Open::Number(_) => Some(Self::Number),
            Open::Text(code) if pool.time(code).is_some() => Some(Self::Time),
            Open::Text(_) => Some(Self::Text),
            Open::List(_) => Some(Self::List),
            Open::Object => Some(Self::Object),
        }
    }
}

/// A path, and what stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Names joined by dots.
    pub path: String,
    pub types: BTreeSet<Type>,
}

/// A type of event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedEvent {
    pub name: String,
    pub count: usize,
    pub properties: Vec<Named>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    pub attributes: Vec<Named>,
    pub events: Vec<NamedEvent>,
}

impl World {
    /// All names under which something stands, each list in the order of the alphabet.
    pub fn names(&self) -> Names {
        let attributes = named(&self.attributes, |path| {
            self.blocks.iter().filter_map(move |b| b.attributes(path))
        });
        let numbers = 0..self.types.len() as u32;
        let mut events: Vec<NamedEvent> = numbers.filter_map(|it| self.named_event(it)).collect();
        events.sort_by(|a, b| a.name.cmp(&b.name));
        Names { attributes, events }
    }

    fn named_event(&self, number: u32) -> Option<NamedEvent> {
        let name = self.types.name(number)?.to_string();
        let sets = || self.blocks.iter().filter_map(|block| block.set(number));
        let count = sets().map(|set| set.len()).sum();
        let properties = &self.types.get(number).properties;
        let columns = |path| sets().filter_map(move |set| set.property(path));
        let event = || NamedEvent {
            name,
            count,
            properties: named(properties, columns),
        };
        (count > 0).then(event)
    }
}

fn named<'a, C: Iterator<Item = &'a Column>>(
    paths: &Paths,
    columns: impl Fn(u32) -> C,
) -> Vec<Named> {
    let each = (0..paths.len() as u32).filter_map(|path| {
        let cells = columns(path).flat_map(|column| (0..column.len()).map(|row| column.get(row)));
        let types = cells.filter_map(|cell| Type::of(cell, paths.pool(path)));
        let types: BTreeSet<Type> = types.take(LOOKED_AT_MAX).collect();
        let path = full_path(paths, path);
        (!types.is_empty()).then_some(Named { path, types })
    });
    let mut all: Vec<Named> = each.collect();
    all.sort_by(|a, b| a.path.cmp(&b.path));
    all
}

fn full_path(paths: &Paths, path: u32) -> String {
    let node = &paths.nodes()[path as usize];
    match node.parent {
        Some(parent) => format!("{}.{}", full_path(paths, parent), node.name),
        None => node.name.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accept::{Reception, accept};
    use crate::event::{Position, Recorded};
    use crate::id::{EventId, IdentityKey, WorkspaceId};
    use crate::time::Timestamp;

    fn world(said: &[&str]) -> World {
        let key = IdentityKey::new([1; 32]);
        let mut world = World::new();
        for (number, raw) in said.iter().enumerate() {
            let reception = Reception {
                key: &key,
                received_at: Timestamp::from_micros(number as i64),
                sent_at: None,
                kind: None,
                fresh_id: &|| EventId::of_message(&number.to_string()),
            };
            world.fold(&Recorded {
                position: Position(number as i64 + 1),
                workspace: WorkspaceId::new(Timestamp::default(), [1; 10]),
                event: accept(raw, &reception).expect("acceptable").into(),
            });
        }
        world
    }

    fn shown(named: &[Named]) -> Vec<String> {
        let show = |it: &Named| {
            let types: Vec<_> = it.types.iter().map(|it| it.as_str()).collect();
            format!("{}: {}", it.path, types.join(" "))
        };
        named.iter().map(show).collect()
    }

    #[test]
    fn names_come_with_the_types_of_their_values() {
        let world = world(&[
            r#"{"type":"identify","userId":"a","traits":{"plan":"pro","age":7,"address":{"city":"Ulm"}}}"#,
            r#"{"type":"identify","userId":"b","traits":{"plan":3,"since":"2026-01-31T00:00:00Z","tags":["x"]}}"#,
            r#"{"type":"track","userId":"a","event":"Order","properties":{"total":1.5,"gift":true}}"#,
            r#"{"type":"track","userId":"b","event":"Order"}"#,
        ]);
        let names = world.names();
        assert_eq!(
            shown(&names.attributes),
            [
                "address: object",
                "address.city: text",
                "age: number",
                "plan: number text",
                "since: time",
                "tags: list"
            ]
        );
        let order = names.events.iter().find(|it| it.name == "Order");
        let order = order.expect("seen");
        assert_eq!(order.count, 2);
        assert_eq!(shown(&order.properties), ["gift: bool", "total: number"]);
    }

    #[test]
    fn an_empty_world_has_no_names() {
        assert_eq!(World::new().names(), Names::default());
    }
}
