//! The world of one workspace in memory, itself a fold of the log: contacts and their events
//! as typed columns, in blocks of contacts. One contact's history is a slice of a block; a
//! segment over all contacts is a scan of just the columns it reads, block by block, on all
//! cores.
//!
//! To read it, begin with `block`, `set` and `column` (how things are kept), then `fold` (how
//! events change them), then `program`, `window` and `scan` (how a plan is decided).

mod ask;
mod bitmap;
mod block;
mod cell;
mod column;
mod decide;
mod event_types;
mod fact;
mod fold;
mod gather;
mod kernels;
mod limits;
mod names;
mod people;
mod pool;
mod program;
mod scan;
mod schema;
mod set;
mod snapshot;
mod subject;
mod times;
mod window;

pub use bitmap::Bitmap;
pub(crate) use fact::fact;
pub use fold::Touched;
pub use limits::{Limits, Unkept};
pub use names::{Named, NamedEvent, Names};
pub use scan::{Prepared, Scan};
pub use snapshot::SnapshotError;
pub(crate) use snapshot::{Sink, Source, read_head, write_head};
pub use subject::{ContactView, EventAt};

use std::sync::Arc;

use crate::event::Position;
use crate::id::ContactId;
use block::{Block, place};
use event_types::EventTypes;
use people::{People, Standing};
use pool::Pool;
use schema::Paths;

#[derive(Debug, Clone, Default)]
pub struct World {
    people: People,
    /// Shared with a copy of the world until either changes them: copying one is cheap.
    blocks: Vec<Arc<Block>>,
    attributes: Paths,
    types: EventTypes,
    user_ids: Pool,
    /// How many events arrived; the order in which one contact's events are told.
    arrivals: u32,
    /// Changes whenever a path or an event type is seen for the first time.
    shape: u64,
    position: Position,
    limits: Limits,
    unkept: Unkept,
}

impl World {
    pub fn new() -> Self {
        Self::default()
    }

    /// The same world, with other limits from now on.
    pub const fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How much was not kept because of the limits.
    pub const fn unkept(&self) -> Unkept {
        self.unkept
    }

    /// How many numbers contacts have; some may stand for nobody any more.
    pub fn len(&self) -> usize {
        self.people.numbers()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many contacts there are.
    pub const fn live(&self) -> usize {
        self.people.live()
    }

    /// Where the last event stands that was folded.
    pub const fn position(&self) -> Position {
        self.position
    }

    /// The number of the live contact that goes by this id now.
    pub fn number(&self, id: ContactId) -> Option<u32> {
        let root = self.people.root(self.people.find(id)?);
        self.is_live(root).then_some(root)
    }

    /// The number that belongs to just this id, whatever has become of it.
    pub fn number_of(&self, id: ContactId) -> Option<u32> {
        self.people.find(id)
    }

    /// The contact that a number became part of, if it did.
    pub fn part_of(&self, number: u32) -> Option<u32> {
        match self.people.standing(number) {
            Standing::Merged { into } => Some(into),
            _ => None,
        }
    }

    /// The number that belongs to just this id, given now if it is new.
    pub fn number_or_new(&mut self, id: ContactId) -> u32 {
        self.people.add(id)
    }

    pub fn contact_id(&self, number: u32) -> ContactId {
        self.people.id(number)
    }

    pub fn is_live(&self, number: u32) -> bool {
        self.people.standing(number) == Standing::Live
    }

    /// The numbers of all live contacts.
    pub fn contacts(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.len() as u32).filter(|number| self.is_live(*number))
    }

    /// One contact with its history, as the row evaluator sees it.
    pub fn subject(&self, number: u32) -> ContactView<'_> {
        ContactView::new(self, number)
    }

    /// How many events are kept.
    pub fn events(&self) -> usize {
        let sets = self.blocks.iter().flat_map(|block| block.sets());
        sets.map(|(_, set)| set.len()).sum()
    }

    /// Orders what came last in among the rest: scans are a little faster after it.
    pub fn seal(&mut self) {
        let blocks = self.blocks.iter_mut();
        blocks.for_each(|block| Arc::make_mut(block).seal());
    }

    /// Gives back memory that was reserved for growth.
    pub fn shrink(&mut self) {
        self.attributes.shrink();
        self.user_ids.shrink();
        let types = self.types.iter_mut();
        types.for_each(|event_type| event_type.properties.shrink());
    }

    /// How many bytes the world takes, by what it has reserved.
    pub fn bytes(&self) -> usize {
        let types = self.types.iter().map(|t| t.properties.bytes());
        self.people.bytes()
            + self.user_ids.bytes()
            + self.attributes.bytes()
            + types.sum::<usize>()
            + self.blocks.iter().map(|block| block.bytes()).sum::<usize>()
    }

    /// A block, made if it is new.
    fn block_mut(&mut self, number: u32) -> (&mut Block, u16) {
        let (block, slot) = place(number);
        if self.blocks.len() <= block {
            self.blocks.resize_with(block + 1, Arc::default);
        }
        (self.block_at(block), slot)
    }

    /// A block that is there, to be changed.
    fn block_at(&mut self, block: usize) -> &mut Block {
        Arc::make_mut(&mut self.blocks[block])
    }

    fn block(&self, number: u32) -> (Option<&Block>, u16) {
        let (block, slot) = place(number);
        (self.blocks.get(block).map(Arc::as_ref), slot)
    }
}

#[cfg(test)]
mod tests;
