//! Many versions, one commitment: a tree as in RFC 6962. Leaves and nodes are hashed
//! differently and odd nodes are not doubled, so a proof is of one leaf at one place.

use serde::{Deserialize, Serialize};

use super::hash::Digest;

pub const BATCH_MAX: usize = 1 << 20;
const LEAF: &[u8] = &[0];
const NODE: &[u8] = &[1];

/// All levels, the hashed leaves first, the root last.
#[derive(Debug, Clone)]
pub struct Batch(Vec<Vec<Digest>>);

/// Where a leaf stands, and what it takes to get from it to the root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchPath {
    pub index: u32,
    pub size: u32,
    pub path: Vec<Digest>,
}

fn hash_leaf(leaf: &Digest) -> Digest {
    Digest::of_parts(&[LEAF, &leaf.0])
}

fn hash_node(left: &Digest, right: &Digest) -> Digest {
    Digest::of_parts(&[NODE, &left.0, &right.0])
}

impl Batch {
    /// None of no leaves, or of too many.
    pub fn new(leaves: &[Digest]) -> Option<Self> {
        if leaves.is_empty() || leaves.len() > BATCH_MAX {
            return None;
        }
        let mut levels: Vec<Vec<Digest>> = vec![leaves.iter().map(hash_leaf).collect()];
        while let Some(below) = levels.last().filter(|below| below.len() > 1) {
            let above = below.chunks(2).map(|pair| match pair {
                [left, right] => hash_node(left, right),
                // A node without a sibling goes up as it is.
                alone => alone[0],
            });
            let above = above.collect();
            levels.push(above);
        }
        Some(Self(levels))
    }

    pub fn root(&self) -> Digest {
        self.0.last().map_or(Digest::default(), |top| top[0])
    }

    pub fn path(&self, index: usize) -> Option<BatchPath> {
        let size = self.0[0].len();
        if index >= size {
            return None;
        }
        let sibling =
            |(level, nodes): (usize, &Vec<Digest>)| nodes.get((index >> level) ^ 1).copied();
        Some(BatchPath {
            index: index as u32,
            size: size as u32,
            path: self.0.iter().enumerate().filter_map(sibling).collect(),
        })
    }
}

impl BatchPath {
    /// The root that a leaf leads to; none if the path is not one of a leaf at its place in
    /// a tree of its size.
    pub fn root(&self, leaf: &Digest) -> Option<Digest> {
        if self.index >= self.size || self.size as usize > BATCH_MAX {
            return None;
        }
        let (mut at, mut last) = (self.index, self.size - 1);
        let mut node = hash_leaf(leaf);
        let mut siblings = self.path.iter();
        while last > 0 {
            // At the end of an odd level there is no sibling.
            if at & 1 == 1 {
                node = hash_node(siblings.next()?, &node);
            } else if at < last {
                node = hash_node(&node, siblings.next()?);
            }
            (at, last) = (at >> 1, last >> 1);
        }
        siblings.next().is_none().then_some(node)
    }
}
