//! A block: so many contacts with consecutive numbers, their attributes and their events.
//! What is counted per contact of one block stays in the first cache level.

use std::io;

use super::cell::Cell;
use super::column::Column;
use super::set::EventSet;
use super::snapshot::{PathCodes, Sink, SnapshotError, Source, TypeCodes};

/// Small in tests, so that a few contacts fill several blocks.
pub const BLOCK_BITS: u32 = if cfg!(test) { 2 } else { 12 };
/// Contacts per block.
pub const BLOCK: usize = 1 << BLOCK_BITS;

#[derive(Debug, Clone, Default)]
pub struct Block {
    /// One bit per contact that is live.
    live: Vec<u64>,
    /// When each was created, in microseconds.
    created: Vec<i64>,
    user_ids: Option<Column>,
    /// By path number.
    attributes: Vec<Option<Column>>,
    /// By type number.
    sets: Vec<Option<Box<EventSet>>>,
}

/// Which block a contact is in, and where.
pub const fn place(number: u32) -> (usize, u16) {
    let slot = number & (BLOCK as u32 - 1);
    ((number >> BLOCK_BITS) as usize, slot as u16)
}

impl Block {
    pub fn is_live(&self, slot: u16) -> bool {
        let word = self.live.get(usize::from(slot) / 64);
        word.is_some_and(|word| word >> (slot % 64) & 1 == 1)
    }

    pub fn live(&self) -> &[u64] {
        &self.live
    }

    pub fn set_live(&mut self, slot: u16, is_live: bool) {
        let word = usize::from(slot) / 64;
        if self.live.len() <= word {
            self.live.resize(word + 1, 0);
        }
        let bit = 1 << (slot % 64);
        self.live[word] = (self.live[word] & !bit) | if is_live { bit } else { 0 };
    }

    pub fn created(&self) -> &[i64] {
        &self.created
    }

    pub fn set_created(&mut self, slot: u16, micros: i64) {
        let slot = usize::from(slot);
        while self.created.len() <= slot {
            super::column::push(&mut self.created, i64::MAX);
        }
        self.created[slot] = micros;
    }

    pub const fn user_ids(&self) -> Option<&Column> {
        self.user_ids.as_ref()
    }

    pub fn user_id(&self, slot: u16) -> Cell {
        read(self.user_ids.as_ref(), slot)
    }

    pub fn set_user_id(&mut self, slot: u16, cell: Cell) {
        write(&mut self.user_ids, slot, cell);
    }

    pub fn attributes(&self, path: u32) -> Option<&Column> {
        self.attributes.get(path as usize)?.as_ref()
    }

    pub fn attribute(&self, path: u32, slot: u16) -> Cell {
        read(self.attributes(path), slot)
    }

    pub fn set_attribute(&mut self, path: u32, slot: u16, cell: Cell) {
        let path = path as usize;
        if self.attributes.len() <= path {
            if cell.is_missing() {
                return;
            }
            self.attributes.resize_with(path + 1, || None);
        }
        write(&mut self.attributes[path], slot, cell);
    }

    pub fn set(&self, event_type: u32) -> Option<&EventSet> {
        self.sets.get(event_type as usize)?.as_deref()
    }

    pub fn set_mut(&mut self, event_type: u32) -> &mut EventSet {
        let event_type = event_type as usize;
        if self.sets.len() <= event_type {
            self.sets.resize_with(event_type + 1, || None);
        }
        self.sets[event_type].get_or_insert_default()
    }

    /// The types of which there are events here, with them.
    pub fn sets(&self) -> impl Iterator<Item = (u32, &EventSet)> {
        let all = self.sets.iter().enumerate();
        all.filter_map(|(number, set)| Some((number as u32, set.as_deref()?)))
    }

    pub fn seal(&mut self) {
        self.sets.iter_mut().flatten().for_each(|set| set.seal());
    }

    pub fn write(
        &self,
        user_ids: &PathCodes,
        attributes: &PathCodes,
        types: &TypeCodes,
        sink: &mut Sink<'_>,
    ) -> io::Result<()> {
        sink.values(&self.live)?;
        sink.values(&self.created)?;
        write_columns(std::slice::from_ref(&self.user_ids), user_ids, sink)?;
        write_columns(&self.attributes, attributes, sink)?;
        let sets = || self.sets().filter(|(_, set)| set.len() > 0);
        let sets = || sets().filter_map(|(number, set)| Some((types.get(number)?, set)));
        sink.number(sets().count())?;
        for ((number, paths), set) in sets() {
            sink.number(number)?;
            set.write(paths, sink)?;
        }
        Ok(())
    }

    pub fn read(source: &mut Source<'_>) -> Result<Self, SnapshotError> {
        let mut block = Self {
            live: source.values()?,
            created: source.values()?,
            user_ids: read_columns(source)?.pop().flatten(),
            attributes: read_columns(source)?,
            sets: Vec::new(),
        };
        for _ in 0..source.number()? {
            let number = u32::try_from(source.number()?).map_err(|_| SnapshotError::Damaged)?;
            *block.set_mut(number) = EventSet::read(source)?;
        }
        Ok(block)
    }

    pub fn bytes(&self) -> usize {
        let columns = self.attributes.iter().chain([&self.user_ids]).flatten();
        let sets = self.sets.iter().flatten().map(|set| set.bytes());
        size_of::<Self>()
            + self.live.capacity() * 8
            + self.created.capacity() * 8
            + self.attributes.capacity() * size_of::<Option<Column>>()
            + self.sets.capacity() * 8
            + columns.map(Column::bytes).sum::<usize>()
            + sets.sum::<usize>()
    }
}

/// Columns by number, of which some may not be there.
pub fn write_columns(
    columns: &[Option<Column>],
    paths: &PathCodes,
    sink: &mut Sink<'_>,
) -> io::Result<()> {
    let kept = || paths.kept().take_while(|path| *path < columns.len());
    sink.number(kept().count())?;
    for path in kept() {
        let column = &columns[path];
        sink.number(usize::from(column.is_some()))?;
        if let Some(column) = column {
            column.write(paths.recode(path), sink)?;
        }
    }
    Ok(())
}

pub fn read_columns(source: &mut Source<'_>) -> Result<Vec<Option<Column>>, SnapshotError> {
    let count = source.number()?;
    let column = |_| match source.number()? {
        0 => Ok(None),
        _ => Column::read(source).map(Some),
    };
    (0..count).map(column).collect()
}

fn read(column: Option<&Column>, slot: u16) -> Cell {
    column.map_or(Cell::MISSING, |column| column.get(usize::from(slot)))
}

fn write(column: &mut Option<Column>, slot: u16, cell: Cell) {
    if column.is_none() && cell.is_missing() {
        return;
    }
    column
        .get_or_insert_with(|| Column::for_cell(cell))
        .set(usize::from(slot), cell);
}
