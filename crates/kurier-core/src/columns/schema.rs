//! What there are columns for: paths of attributes, types of events, paths of their
//! properties. Numbers are given in the order of first sight and stay.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use super::cell::Cell;
use super::column::Column;
use super::limits::Room;
use super::pool::Pool;
use super::snapshot::{PathCodes, Recode, Sink, SnapshotError, Source};
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

    /// The number of a path, given now if it is new; none if there is no room for it.
    pub fn add(&mut self, parent: Option<u32>, name: &str, room: &mut Room) -> Option<u32> {
        let known = match parent {
            None => self.top(name),
            Some(parent) => self.child(parent, name),
        };
        if known.is_none() && self.len() >= room.max {
            room.unkept += 1;
            return None;
        }
        Some(known.unwrap_or_else(|| self.grow(parent, name)))
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
    pub fn cells(
        &mut self,
        path: u32,
        value: &Value,
        cells: &mut Vec<(u32, Cell)>,
        room: &mut Room,
    ) {
        let cell = self.pool_mut(path).cell(value);
        if !cell.is_missing() {
            cells.push((path, cell));
        }
        if let Value::Object(object) = value {
            self.object_cells(Some(path), object, cells, room);
        }
    }

    pub fn object_cells(
        &mut self,
        parent: Option<u32>,
        object: &Object,
        cells: &mut Vec<(u32, Cell)>,
        room: &mut Room,
    ) {
        let present = object.iter().filter(|(_, value)| **value != Value::Null);
        for (name, value) in present {
            if let Some(path) = self.add(parent, name, room) {
                self.cells(path, value, cells, room);
            }
        }
    }

    /// Writes the paths under which something stands, with their pools; `columns` are those of
    /// a path. Says how they are written.
    pub fn write<'a, C: Iterator<Item = &'a Column>>(
        &self,
        columns: impl Fn(u32) -> C,
        sink: &mut Sink<'_>,
    ) -> io::Result<PathCodes> {
        let codes = self.codes(columns);
        sink.number(codes.kept().count())?;
        for path in codes.kept() {
            let node = &self.nodes[path];
            sink.text(&node.name)?;
            let parent = node.parent.and_then(|parent| codes.number(parent as usize));
            sink.number(parent.map_or(0, |parent| parent + 1))?;
            node.pool.write(codes.recode(path), sink)?;
        }
        Ok(codes)
    }

    fn codes<'a, C: Iterator<Item = &'a Column>>(&self, columns: impl Fn(u32) -> C) -> PathCodes {
        let is_used = |path| columns(path).any(|column| !column.is_blank());
        let mut used: Vec<bool> = (0..self.len() as u32).map(is_used).collect();
        // A parent stands before its children.
        for (path, node) in self.nodes.iter().enumerate().rev() {
            if let Some(parent) = node.parent.filter(|_| used[path]) {
                used[parent as usize] = true;
            }
        }
        let recode = |path: usize| Recode::of(&self.nodes[path].pool, columns(path as u32));
        PathCodes::new(&used, recode)
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
