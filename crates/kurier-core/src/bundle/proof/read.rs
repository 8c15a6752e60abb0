//! Reading a BUMP: whatever can be seen from a leaf, or from a level, alone.

use super::super::bytes::Reader;
use super::super::hash::Hash256;
use super::bump::{BUMP_BYTES_MAX, Bump, Leaf, Mark, TREE_HEIGHT_MAX, leaf};
use super::climb::climb;
use super::fault::Fault;

/// An offset, a flag and, unless it is a duplicate, a hash.
const LEAF_BYTES_MIN: usize = 2;

/// Whose proof it is. Ours has one form: leaves ascend, duplicates are said to be some.
/// Real wallets write leaves in any order and duplicates out; theirs is put into our form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Ours,
    Foreign,
}

impl Bump {
    /// Reads a proof that is all there is.
    pub fn parse(bytes: &[u8]) -> Result<Self, Fault> {
        Self::parse_as(bytes, Form::Ours)
    }

    /// Reads a proof as wallets hand it over and gives it the form of ours; it leads to a
    /// root.
    pub fn import(bytes: &[u8]) -> Result<Self, Fault> {
        Self::parse_as(bytes, Form::Foreign)
    }

    fn parse_as(bytes: &[u8], form: Form) -> Result<Self, Fault> {
        let mut reader = Reader::new(bytes);
        let bump = Self::read(&mut reader, form)?;
        match reader.left() {
            0 => Ok(bump),
            _ => Err(Fault::Trailing),
        }
    }

    pub fn parse_hex(text: &str) -> Result<Self, Fault> {
        if text.len() > BUMP_BYTES_MAX * 2 {
            return Err(Fault::TooLarge);
        }
        Self::parse(&hex::decode(text).map_err(|_| Fault::Unreadable)?)
    }

    /// Reads a proof that others follow.
    pub(super) fn read(reader: &mut Reader<'_>, form: Form) -> Result<Self, Fault> {
        // So much may be left at least: what is longer is not read to its end.
        let floor = reader.left().saturating_sub(BUMP_BYTES_MAX);
        let height = u32::try_from(reader.varint()?).map_err(|_| Fault::BlockHeight)?;
        let levels = reader.byte()?;
        if !(1..=TREE_HEIGHT_MAX).contains(&levels) {
            return Err(Fault::TreeHeight(levels));
        }
        let mut bump = Self {
            height,
            leaves: Vec::new(),
            ends: Vec::with_capacity(usize::from(levels)),
        };
        for level in 0..levels {
            bump.read_level(reader, form, floor)?;
            bump.check_level(levels, level)?;
        }
        match form {
            Form::Ours => Ok(bump),
            Form::Foreign => bump.with_duplicates_named(),
        }
    }

    fn with_duplicates_named(mut self) -> Result<Self, Fault> {
        let mut equal = Vec::new();
        climb(&self, Form::Foreign, |level, [left, right]| {
            if left.1 == right.1 {
                equal.push((level, right.0));
            }
        })?;
        for (level, offset) in equal {
            let start = self.leaves.len() - self.leaves_from(level);
            let found = self.leaves[start..]
                .iter_mut()
                .find(|leaf| leaf.offset == offset);
            if let Some(found) = found {
                *found = leaf(offset, Mark::Duplicate, Hash256::default());
            }
        }
        self.root().map(|_| self)
    }

    /// How many leaves there are in a level and above.
    fn leaves_from(&self, level: usize) -> usize {
        (level..self.levels())
            .map(|level| self.level(level).len())
            .sum()
    }

    fn read_level(
        &mut self,
        reader: &mut Reader<'_>,
        form: Form,
        floor: usize,
    ) -> Result<(), Fault> {
        let count = reader.count(LEAF_BYTES_MIN)?;
        let first = self.leaves.len();
        for _ in 0..count {
            let leaf = read_leaf(reader)?;
            if reader.left() < floor {
                return Err(Fault::TooLarge);
            }
            // There is one to a level, and it is the one leaf that takes less room to write
            // than to keep.
            let twice = leaf.mark == Mark::Duplicate
                && self.leaves[first..]
                    .iter()
                    .any(|leaf| leaf.mark == Mark::Duplicate);
            if twice {
                return Err(Fault::Phantom);
            }
            self.leaves.push(leaf);
        }
        if form == Form::Foreign {
            self.leaves[first..].sort_by_key(|leaf| leaf.offset);
        }
        self.ends.push(self.leaves.len() as u32);
        Ok(())
    }

    fn check_level(&self, levels: u8, level: u8) -> Result<(), Fault> {
        let leaves = self.level(usize::from(level));
        if leaves.is_empty() && level == 0 {
            return Err(Fault::Empty);
        }
        if leaves.windows(2).any(|two| two[0].offset >= two[1].offset) {
            return Err(Fault::Order);
        }
        if leaves
            .last()
            .is_some_and(|leaf| leaf.offset >> (levels - level) != 0)
        {
            return Err(Fault::Offset);
        }
        leaves.iter().try_for_each(|leaf| check_mark(leaf, level))
    }
}

fn read_leaf(reader: &mut Reader<'_>) -> Result<Leaf, Fault> {
    let offset = reader.varint()?;
    let mark = Mark::of(reader.byte()?)?;
    let hash = match mark {
        Mark::Duplicate => Hash256::default(),
        Mark::Sibling | Mark::Txid => Hash256(reader.array()?),
    };
    Ok(leaf(offset, mark, hash))
}

fn check_mark(leaf: &Leaf, level: u8) -> Result<(), Fault> {
    match leaf.mark {
        Mark::Duplicate if leaf.offset.is_multiple_of(2) => Err(Fault::DuplicateLeft),
        Mark::Txid if level > 0 => Err(Fault::MarkedInside),
        _ => Ok(()),
    }
}
