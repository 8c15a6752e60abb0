//! The places of equal things in a list, to be taken one after the other.

use std::collections::HashMap;
use std::hash::Hash;

const NONE: u32 = u32::MAX;

/// The places of equal things, in order.
pub struct Queues<T> {
    first: HashMap<T, u32>,
    next: Vec<u32>,
}

impl<T: Eq + Hash> Queues<T> {
    pub fn new(things: impl DoubleEndedIterator<Item = T> + ExactSizeIterator) -> Self {
        let mut queues = Self {
            first: HashMap::with_capacity(things.len()),
            next: vec![NONE; things.len()],
        };
        for (at, thing) in things.enumerate().rev() {
            let at = place(at);
            let behind = queues.first.insert(thing, at);
            queues.next[at as usize] = behind.unwrap_or(NONE);
        }
        queues
    }

    /// The first of its places that was not taken yet.
    pub fn next(&mut self, thing: &T) -> Option<u32> {
        let first = self.first.get_mut(thing).filter(|first| **first != NONE)?;
        let taken = *first;
        *first = self.next[taken as usize];
        Some(taken)
    }
}

pub fn place(at: usize) -> u32 {
    u32::try_from(at).expect("a document has fewer than 4 billion nodes")
}
