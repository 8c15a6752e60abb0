//! Events by position, side by side. Nearly all come in order and go in order: a tree would
//! look for the place of each.

use std::collections::VecDeque;

use kurier_core::event::{Position, Recorded};

/// A hole this large is not kept open.
const HOLE_MAX: i64 = 65_536;

#[derive(Default)]
pub struct Ring {
    /// The position of the first slot.
    first: i64,
    slots: VecDeque<Option<Recorded>>,
}

impl Ring {
    /// Whether a position is so far from the others that both cannot be kept.
    pub fn is_far(&self, position: Position) -> bool {
        let end = self.first + self.slots.len() as i64;
        let (before, behind) = (self.first - position.0, position.0 - end);
        !self.slots.is_empty() && before.max(behind) > HOLE_MAX
    }

    /// What stood at its position before. It must not be far.
    pub fn insert(&mut self, recorded: Recorded) -> Option<Recorded> {
        let position = recorded.position.0;
        if self.slots.is_empty() {
            self.first = position;
        }
        while position < self.first {
            self.slots.push_front(None);
            self.first -= 1;
        }
        let at = (position - self.first) as usize;
        if at >= self.slots.len() {
            self.slots.resize_with(at + 1, || None);
        }
        self.slots[at].replace(recorded)
    }

    fn at(&self, position: Position) -> Option<usize> {
        usize::try_from(position.0 - self.first).ok()
    }

    pub fn remove(&mut self, position: Position) -> Option<Recorded> {
        let at = self.at(position)?;
        self.slots.get_mut(at)?.take()
    }

    pub fn pop_first(&mut self) -> Option<Recorded> {
        while let Some(slot) = self.slots.pop_front() {
            self.first += 1;
            if slot.is_some() {
                return slot;
            }
        }
        None
    }

    /// From a position on, up to the first that is missing.
    pub fn from(&self, position: Position) -> impl Iterator<Item = &Recorded> {
        let at = self.at(position).unwrap_or(self.slots.len());
        let from = at.min(self.slots.len());
        self.slots.range(from..).map_while(Option::as_ref)
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.slots.iter().flatten().count()
    }
}
