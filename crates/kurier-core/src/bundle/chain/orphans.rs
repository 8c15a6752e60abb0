//! Headers whose predecessor is not known yet: a few, the newest.

use std::collections::VecDeque;

use super::super::hash::Hash256;
use super::header::Header;

const ORPHANS_MAX: usize = 1_000;

#[derive(Debug, Clone, Default)]
pub(super) struct Orphans(VecDeque<(Hash256, Header)>);

impl Orphans {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn keep(&mut self, hash: Hash256, header: Header) {
        if self.0.iter().any(|(known, _)| *known == hash) {
            return;
        }
        if self.0.len() == ORPHANS_MAX {
            self.0.pop_front();
        }
        self.0.push_back((hash, header));
    }

    /// Takes out those that follow a header, in the order in which they came.
    pub(super) fn take_children(&mut self, parent: &Hash256) -> Vec<(Hash256, Header)> {
        let all = std::mem::take(&mut self.0);
        let (children, rest) = all
            .into_iter()
            .partition::<Vec<_>, _>(|(_, header)| header.prev == *parent);
        self.0 = rest.into();
        children
    }

    /// The predecessors that are to be asked for.
    pub(super) fn wanted(&self) -> Vec<Hash256> {
        let mut wanted: Vec<Hash256> = self.0.iter().map(|(_, header)| header.prev).collect();
        wanted.retain(|prev| !self.0.iter().any(|(hash, _)| hash == prev));
        wanted.sort_unstable();
        wanted.dedup();
        wanted
    }
}
