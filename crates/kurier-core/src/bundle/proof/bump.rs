//! BUMP (BRC-74): Merkle paths of one or more transactions of a block, as bytes. There is
//! one way to write a proof, so its hash names it.

use super::super::bytes::put_varint;
use super::super::hash::Hash256;
use super::climb::climb;
use super::fault::Fault;
use super::read::Form;

/// A block of so many levels would have four billion transactions.
pub const TREE_HEIGHT_MAX: u8 = 32;
pub const BUMP_BYTES_MAX: usize = 64 * 1024;

/// Merkle paths. What can be seen from one leaf alone holds of every one; whether the
/// paths lead anywhere is what [`Bump::root`] says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bump {
    pub(super) height: u32,
    pub(super) leaves: Vec<Leaf>,
    /// Where each level ends in `leaves`, the lowest level first.
    pub(super) ends: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf {
    pub offset: u64,
    pub mark: Mark,
    /// Nothing for a duplicate.
    pub hash: Hash256,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    Sibling,
    /// The same as the node to its left, because the level has an odd number of nodes.
    Duplicate,
    /// A transaction that is proven.
    Txid,
}

impl Mark {
    pub(super) fn of(flag: u8) -> Result<Self, Fault> {
        match flag {
            0 => Ok(Self::Sibling),
            1 => Ok(Self::Duplicate),
            2 => Ok(Self::Txid),
            _ => Err(Fault::Flag(flag)),
        }
    }

    fn flag(self) -> u8 {
        match self {
            Self::Sibling => 0,
            Self::Duplicate => 1,
            Self::Txid => 2,
        }
    }
}

impl Bump {
    /// The path of one transaction, from its siblings, the lowest first; none where the
    /// level is odd and the transaction's branch is its end.
    pub fn of_path(
        height: u32,
        index: u64,
        txid: Hash256,
        siblings: &[Option<Hash256>],
    ) -> Result<Self, Fault> {
        let levels = siblings.len().max(1);
        if levels > usize::from(TREE_HEIGHT_MAX) {
            return Err(Fault::TreeHeight(levels.min(255) as u8));
        }
        if index >> siblings.len() != 0 {
            return Err(Fault::Offset);
        }
        let own = leaf(index, Mark::Txid, txid);
        let mut bump = Self {
            height,
            leaves: vec![own],
            ends: vec![1],
        };
        for (level, sibling) in siblings.iter().enumerate() {
            bump.put_sibling(level, (index >> level) ^ 1, *sibling)?;
        }
        Ok(bump)
    }

    fn put_sibling(
        &mut self,
        level: usize,
        offset: u64,
        hash: Option<Hash256>,
    ) -> Result<(), Fault> {
        let sibling = match hash {
            Some(hash) => leaf(offset, Mark::Sibling, hash),
            None if !offset.is_multiple_of(2) => leaf(offset, Mark::Duplicate, Hash256::default()),
            None => return Err(Fault::DuplicateLeft),
        };
        match level {
            0 if offset.is_multiple_of(2) => self.leaves.insert(0, sibling),
            _ => self.leaves.push(sibling),
        }
        self.ends.truncate(level);
        self.ends.push(self.leaves.len() as u32);
        Ok(())
    }

    pub fn height(&self) -> u32 {
        self.height
    }

    pub fn levels(&self) -> usize {
        self.ends.len()
    }

    /// The leaves of a level; none for a level that is not there.
    pub fn level(&self, level: usize) -> &[Leaf] {
        let start = match level.checked_sub(1) {
            Some(below) => self.ends.get(below).copied().unwrap_or_default(),
            None => 0,
        };
        let end = self.ends.get(level).copied().unwrap_or(start);
        &self.leaves[start as usize..end as usize]
    }

    /// The transactions that are proven.
    pub fn txids(&self) -> impl Iterator<Item = Hash256> + '_ {
        let marked = self.level(0).iter().filter(|leaf| leaf.mark == Mark::Txid);
        marked.map(|leaf| leaf.hash)
    }

    /// The root to which all marked transactions lead, with nothing left over.
    pub fn root(&self) -> Result<Hash256, Fault> {
        climb(self, Form::Ours, |_, _| ())
    }

    /// The path of one of its transactions alone.
    pub fn only(&self, txid: &Hash256) -> Result<Self, Fault> {
        let mut found = self.level(0).iter();
        let found = found.find(|leaf| leaf.mark == Mark::Txid && leaf.hash == *txid);
        let index = found.ok_or(Fault::OtherMarked)?.offset;
        let mut siblings = Vec::new();
        climb(self, Form::Ours, |level, [left, right]| {
            if left.0 >> 1 == index >> (level + 1) {
                let (own, other) = match (index >> level) & 1 {
                    0 => (left, right),
                    _ => (right, left),
                };
                siblings.push((own.1 != other.1).then_some(other.1));
            }
        })?;
        Self::of_path(self.height, index, *txid, &siblings)
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(8 + self.leaves.len() * 38);
        put_varint(&mut out, u64::from(self.height));
        out.push(self.ends.len() as u8);
        for level in 0..self.ends.len() {
            let leaves = self.level(level);
            put_varint(&mut out, leaves.len() as u64);
            leaves.iter().for_each(|leaf| put_leaf(&mut out, leaf));
        }
        out
    }
}

pub(super) fn leaf(offset: u64, mark: Mark, hash: Hash256) -> Leaf {
    Leaf { offset, mark, hash }
}

fn put_leaf(out: &mut Vec<u8>, leaf: &Leaf) {
    put_varint(out, leaf.offset);
    out.push(leaf.mark.flag());
    if leaf.mark != Mark::Duplicate {
        out.extend(leaf.hash.0);
    }
}
