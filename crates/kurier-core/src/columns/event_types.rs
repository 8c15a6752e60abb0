//! The types of events, each with the paths of its properties.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use super::column::Column;
use super::schema::Paths;
use super::snapshot::{Sink, SnapshotError, Source, TypeCodes};

#[derive(Debug, Clone)]
pub struct EventType {
    pub name: Arc<str>,
    pub properties: Paths,
}

#[derive(Debug, Default, Clone)]
pub struct EventTypes {
    numbers: HashMap<Arc<str>, u32>,
    types: Vec<EventType>,
    /// Where the events go whose type is beyond the limit. It has no name.
    rest: Option<u32>,
}

impl EventTypes {
    pub fn len(&self) -> usize {
        self.types.len()
    }

    pub fn find(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    pub fn get(&self, number: u32) -> &EventType {
        &self.types[number as usize]
    }

    pub fn get_mut(&mut self, number: u32) -> &mut EventType {
        &mut self.types[number as usize]
    }

    /// The name of a type, if it is known.
    pub fn name(&self, number: u32) -> Option<&Arc<str>> {
        (!self.is_rest(number)).then(|| &self.types[number as usize].name)
    }

    pub fn is_rest(&self, number: u32) -> bool {
        self.rest == Some(number)
    }

    /// The number of a type, given now if it is new; that of the rest if there are `max`.
    pub fn add(&mut self, name: &str, max: usize) -> u32 {
        if let Some(number) = self.find(name) {
            return number;
        }
        if self.numbers.len() < max {
            return self.grow(name);
        }
        match self.rest {
            Some(number) => number,
            None => self.grow_rest(),
        }
    }

    fn grow(&mut self, name: &str) -> u32 {
        let number = self.push(name.into());
        let name = self.types[number as usize].name.clone();
        self.numbers.insert(name, number);
        number
    }

    fn grow_rest(&mut self) -> u32 {
        let number = self.push("".into());
        self.rest = Some(number);
        number
    }

    fn push(&mut self, name: Arc<str>) -> u32 {
        let properties = Paths::default();
        self.types.push(EventType { name, properties });
        self.types.len() as u32 - 1
    }

    /// Writes the types of which there are events; `columns` are those of a type's property.
    pub fn write<'a, C: Iterator<Item = &'a Column>>(
        &self,
        is_used: impl Fn(u32) -> bool,
        columns: impl Fn(u32, u32) -> C,
        sink: &mut Sink<'_>,
    ) -> io::Result<TypeCodes> {
        let used: Vec<bool> = (0..self.len() as u32).map(is_used).collect();
        let mut codes = TypeCodes::new(&used);
        sink.number(used.iter().filter(|used| **used).count())?;
        for number in (0..self.len() as u32).filter(|number| used[*number as usize]) {
            let event_type = self.get(number);
            sink.number(usize::from(self.is_rest(number)))?;
            sink.text(&event_type.name)?;
            let columns = |path| columns(number, path);
            codes.push(number, event_type.properties.write(columns, sink)?);
        }
        Ok(codes)
    }

    pub fn read(source: &mut Source<'_>) -> Result<Self, SnapshotError> {
        let mut types = Self::default();
        for _ in 0..source.number()? {
            let is_rest = source.number()? != 0;
            let name = source.text()?;
            let number = match is_rest {
                true => types.grow_rest(),
                false => types.grow(&name),
            };
            types.get_mut(number).properties = Paths::read(source)?;
        }
        Ok(types)
    }

    pub fn iter(&self) -> impl Iterator<Item = &EventType> {
        self.types.iter()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut EventType> {
        self.types.iter_mut()
    }
}
