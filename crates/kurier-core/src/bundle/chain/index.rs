//! From a hash to the number of its node: four bytes a place, at least half of them free.

use super::super::hash::Hash256;
use super::node::Node;

#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    /// The node's number plus one; zero is free.
    places: Vec<u32>,
    taken: usize,
}

impl Index {
    pub(super) fn find(&self, nodes: &[Node], hash: &Hash256) -> Option<u32> {
        if self.places.is_empty() {
            return None;
        }
        let mut place = self.home(hash);
        loop {
            let number = self.places[place].checked_sub(1)?;
            if nodes[number as usize].hash == *hash {
                return Some(number);
            }
            place = (place + 1) & (self.places.len() - 1);
        }
    }

    /// Adds the last of the nodes.
    pub(super) fn add_last(&mut self, nodes: &[Node]) {
        if nodes.len() * 2 > self.places.len() {
            self.reserve(nodes, nodes.len() * 2);
        }
        self.put(nodes, nodes.len() - 1);
    }

    /// Makes room for so many nodes.
    pub(super) fn reserve(&mut self, nodes: &[Node], count: usize) {
        let places = (count * 2).next_power_of_two();
        if places <= self.places.len() {
            return;
        }
        let known = self.taken;
        *self = Self {
            places: vec![0; places],
            taken: 0,
        };
        (0..known).for_each(|number| self.put(nodes, number));
    }

    fn put(&mut self, nodes: &[Node], number: usize) {
        let mut place = self.home(&nodes[number].hash);
        while self.places[place] != 0 {
            place = (place + 1) & (self.places.len() - 1);
        }
        self.places[place] = number as u32 + 1;
        self.taken += 1;
    }

    /// A hash is as random as the work in it: crowding a place takes that much of it. Its
    /// first bytes are the ones that are not forced to be zero.
    fn home(&self, hash: &Hash256) -> usize {
        let mut low = [0; 8];
        low.copy_from_slice(&hash.0[..8]);
        u64::from_le_bytes(low) as usize & (self.places.len() - 1)
    }
}
