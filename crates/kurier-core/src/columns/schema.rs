//! What there are columns for: paths of attributes, types of events, paths of their
//! properties. Numbers are given in the order of first sight and stay.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use super::cell::Cell;
use super::column::Column;
use super::pool::Pool;
use super::snapshot::{Recode, Sink, SnapshotError, Source};
use crate::value::{Object, Value};

/// The paths under which values were seen, as a tree; each has a number and a pool.
#[derive(Debug, Default, Clone)]
pub struct Paths {
    tops: HashMap<Arc<str>, u32>,
    nodes: Vec<PathNode>,
}

#[derive(Debug, Clone)]
pub struct PathNode {
    pub name: Arc<str>,
    pub parent: Option<u32>,
    children: HashMap<Arc<str>, u32>,
    pub pool: Pool,
}

impl Paths {
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn nodes(&self) -> &[PathNode] {
        &self.nodes
    }

    pub fn pool(&self, path: u32) -> &Pool {
        &self.nodes[path as usize].pool
    }

    pub fn pool_mut(&mut self, path: u32) -> &mut Pool {
        &mut self.nodes[path as usize].pool
    }

    pub fn name(&self, path: u32) -> &Arc<str> {
        &self.nodes[path as usize].name
    }

    /// The number of a path, if a value was ever seen under it.
    pub fn find(&self, names: &[String]) -> Option<u32> {
        let (first, rest) = names.split_first()?;
        rest.iter()
            .try_fold(self.top(first)?, |path, name| self.child(path, name))
    }

    pub fn top(&self, name: &str) -> Option<u32> {
        self.tops.get(name).copied()
    }

    fn child(&self, path: u32, name: &str) -> Option<u32> {
        self.nodes[path as usize].children.get(name).copied()
    }

    pub fn children(&self, path: u32) -> impl Iterator<Item = u32> + '_ {
        self.nodes[path as usize].children.values().copied()
    }

    /// The number of a path, given now if it is new.
    pub fn add(&mut self, parent: Option<u32>, name: &str) -> u32 {
        let known = match parent {
            None => self.top(name),
            Some(parent) => self.child(parent, name),
        };
        known.unwrap_or_else(|| self.grow(parent, name))
    }

    fn grow(&mut self, parent: Option<u32>, name: &str) -> u32 {
        let path = self.nodes.len() as u32;
        let name: Arc<str> = name.into();
        self.nodes.push(PathNode {
            name: name.clone(),
            parent,
            children: HashMap::new(),
            pool: Pool::default(),
        });
        match parent {
            None => self.tops.insert(name, path),
            Some(parent) => self.nodes[parent as usize].children.insert(name, path),
        };
        path
    }

    /// The cells of a value and of everything in it.
    pub fn cells(&mut self, path: u32, value: &Value, cells: &mut Vec<(u32, Cell)>) {
        let cell = self.pool_mut(path).cell(value);
        if !cell.is_missing() {
            cells.push((path, cell));
        }
        if let Value::Object(object) = value {
            self.object_cells(Some(path), object, cells);
        }
    }

    pub fn object_cells(
        &mut self,
        parent: Option<u32>,
        object: &Object,
        cells: &mut Vec<(u32, Cell)>,
    ) {
        for (name, value) in object {
            if *value != Value::Null {
                let path = self.add(parent, name);
                self.cells(path, value, cells);
            }
        }
    }

    /// Writes the paths with their pools; `columns` are those of a path. Says how their codes
    /// are written.
    pub fn write<'a, C: Iterator<Item = &'a Column>>(
        &self,
        columns: impl Fn(u32) -> C,
        sink: &mut Sink<'_>,
    ) -> io::Result<Vec<Recode>> {
        sink.number(self.len())?;
        let mut recodes = Vec::with_capacity(self.len());
        for (path, node) in self.nodes.iter().enumerate() {
            sink.text(&node.name)?;
            sink.number(node.parent.map_or(0, |parent| parent as usize + 1))?;
            let recode = Recode::of(&node.pool, columns(path as u32));
            node.pool.write(&recode, sink)?;
            recodes.push(recode);
        }
        Ok(recodes)
    }

    pub fn read(source: &mut Source<'_>) -> Result<Self, SnapshotError> {
        let mut paths = Self::default();
        for _ in 0..source.number()? {
            let (name, parent) = (source.text()?, source.number()?);
            if parent > paths.len() {
                return Err(SnapshotError::Damaged);
            }
            let path = paths.grow(parent.checked_sub(1).map(|parent| parent as u32), &name);
            *paths.pool_mut(path) = Pool::read(source)?;
        }
        Ok(paths)
    }

    pub fn bytes(&self) -> usize {
        let node = |node: &PathNode| {
            let children = node.children.capacity() * size_of::<(Arc<str>, u32)>();
            size_of::<PathNode>() + 2 * node.name.len() + children + node.pool.bytes()
        };
        self.nodes.iter().map(node).sum()
    }

    pub fn shrink(&mut self) {
        self.nodes.iter_mut().for_each(|node| node.pool.shrink());
    }
}

#[derive(Debug, Clone)]
pub struct EventType {
    pub name: Arc<str>,
    pub properties: Paths,
}

#[derive(Debug, Default, Clone)]
pub struct EventTypes {
    numbers: HashMap<Arc<str>, u32>,
    types: Vec<EventType>,
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

    pub fn add(&mut self, name: &str) -> u32 {
        if let Some(number) = self.find(name) {
            return number;
        }
        let number = self.types.len() as u32;
        let name: Arc<str> = name.into();
        self.numbers.insert(name.clone(), number);
        self.types.push(EventType {
            name,
            properties: Paths::default(),
        });
        number
    }

    /// `columns` are those of a type's property.
    pub fn write<'a, C: Iterator<Item = &'a Column>>(
        &self,
        columns: impl Fn(u32, u32) -> C,
        sink: &mut Sink<'_>,
    ) -> io::Result<Vec<Vec<Recode>>> {
        sink.number(self.len())?;
        let mut recodes = Vec::with_capacity(self.len());
        for (number, event_type) in self.types.iter().enumerate() {
            sink.text(&event_type.name)?;
            let columns = |path| columns(number as u32, path);
            recodes.push(event_type.properties.write(columns, sink)?);
        }
        Ok(recodes)
    }

    pub fn read(source: &mut Source<'_>) -> Result<Self, SnapshotError> {
        let mut types = Self::default();
        for _ in 0..source.number()? {
            let number = types.add(&source.text()?);
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
