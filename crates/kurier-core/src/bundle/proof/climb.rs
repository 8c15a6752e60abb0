//! From the marked leaves of a BUMP up to its root, using every leaf and needing no other.
//!
//! Libraries accept proofs of places that a block does not have, because they follow one
//! path and look at nothing beside it. Here all paths climb together, a level at a time, and
//! each pair of nodes is looked at once.

use super::super::hash::Hash256;
use super::bump::{Bump, Leaf, Mark};
use super::fault::Fault;
use super::read::Form;

/// An offset within its level, and the hash there.
pub(super) type Place = (u64, Hash256);

/// The root; `seen` is told the pairs of each level.
pub(super) fn climb(
    bump: &Bump,
    form: Form,
    mut seen: impl FnMut(usize, [Place; 2]),
) -> Result<Hash256, Fault> {
    let marked = bump.level(0).iter().filter(|leaf| leaf.mark == Mark::Txid);
    let mut places: Vec<Place> = marked.map(|leaf| (leaf.offset, leaf.hash)).collect();
    if places.is_empty() {
        return Err(Fault::NoneMarked);
    }
    if let [alone] = bump.level(0) {
        return lone(bump, alone);
    }
    let mut end = None;
    for level in 0..bump.levels() {
        let mut pairs = Pairs {
            leaves: bump.level(level),
            lowest: level == 0,
            form,
            end,
        };
        places = pairs.join(&places, |pair| seen(level, pair))?;
        end = pairs.end.map(|end| end.div_ceil(2));
        // One node is the root already: it is not paired with itself.
        if level + 1 == bump.levels() && pairs.end == Some(1) {
            return Err(Fault::Phantom);
        }
    }
    match places[..] {
        [(0, root)] => Ok(root),
        _ => Err(Fault::Contradiction),
    }
}

/// A block of one transaction has it as its root.
fn lone(bump: &Bump, leaf: &Leaf) -> Result<Hash256, Fault> {
    match (bump.levels(), leaf.offset) {
        (1, 0) => Ok(leaf.hash),
        (1, _) => Err(Fault::LoneLeaf),
        _ => Err(Fault::MissingSibling),
    }
}

/// One level of the climb.
struct Pairs<'a> {
    leaves: &'a [Leaf],
    lowest: bool,
    form: Form,
    /// How many nodes the level has, where a duplicate told.
    end: Option<u64>,
}

impl Pairs<'_> {
    /// The level above, from the places that are known in this one.
    fn join(
        &mut self,
        mut places: &[Place],
        mut seen: impl FnMut([Place; 2]),
    ) -> Result<Vec<Place>, Fault> {
        let mut above = Vec::with_capacity(places.len());
        while let Some(&(first, _)) = places.first() {
            let pair = first >> 1;
            let known = take_pair(&mut places, pair, |place| place.0);
            let given = take_pair(&mut self.leaves, pair, |leaf| leaf.offset);
            if given.first().is_some_and(|leaf| leaf.offset >> 1 < pair) {
                return Err(Fault::Unused);
            }
            let (left, right) = self.complete(pair, known, given)?;
            seen([(pair << 1, left), (pair << 1 | 1, right)]);
            above.push((pair, Hash256::of_pair(&left, &right)));
        }
        match self.leaves {
            [] => Ok(above),
            _ => Err(Fault::Unused),
        }
    }

    fn complete(
        &mut self,
        pair: u64,
        known: &[Place],
        given: &[Leaf],
    ) -> Result<(Hash256, Hash256), Fault> {
        let (left, right) = (pair << 1, pair << 1 | 1);
        let reached = |offset| {
            known
                .iter()
                .find(|place| place.0 == offset)
                .map(|place| place.1)
        };
        let stated = |offset| given.iter().find(|leaf| leaf.offset == offset);
        match (reached(left), reached(right)) {
            (Some(l), Some(r)) => {
                self.agree(given, known)?;
                self.distinct(right, l, r, Fault::RightEqualsLeft)
            }
            (Some(l), None) => {
                self.unstated(stated(left))?;
                self.with_right(right, l, stated(right))
            }
            (None, Some(r)) => {
                self.unstated(stated(right))?;
                let l = stated(left).ok_or(Fault::MissingSibling)?.hash;
                self.distinct(right, l, r, Fault::LeftEqualsWorking)
            }
            (None, None) => Err(Fault::Unused),
        }
    }

    /// What is both stated and reached from below must be the same.
    fn agree(&self, given: &[Leaf], known: &[Place]) -> Result<(), Fault> {
        let same = given
            .iter()
            .all(|leaf| leaf.mark != Mark::Duplicate && known.contains(&(leaf.offset, leaf.hash)));
        match same {
            true => Ok(()),
            false => Err(Fault::Contradiction),
        }
    }

    /// A hash that is reached from below is of no use to anyone else but its sibling, and
    /// that is not on anyone's way here. In the lowest level it is the transaction itself.
    fn unstated(&self, leaf: Option<&Leaf>) -> Result<(), Fault> {
        match leaf {
            Some(_) if !self.lowest => Err(Fault::Unused),
            _ => Ok(()),
        }
    }

    fn with_right(
        &mut self,
        right: u64,
        left_hash: Hash256,
        stated: Option<&Leaf>,
    ) -> Result<(Hash256, Hash256), Fault> {
        let leaf = stated.ok_or(Fault::MissingSibling)?;
        let written_out = self.form == Form::Foreign && leaf.hash == left_hash;
        if leaf.mark != Mark::Duplicate && !written_out {
            return self.distinct(right, left_hash, leaf.hash, Fault::RightEqualsLeft);
        }
        match self.end {
            Some(end) if end != right => Err(Fault::Phantom),
            _ => {
                self.end = Some(right);
                Ok((left_hash, left_hash))
            }
        }
    }

    /// Two nodes side by side differ, and both are within the level.
    fn distinct(
        &self,
        right: u64,
        left_hash: Hash256,
        right_hash: Hash256,
        fault: Fault,
    ) -> Result<(Hash256, Hash256), Fault> {
        if left_hash == right_hash {
            return Err(fault);
        }
        match self.end {
            Some(end) if right >= end => Err(Fault::Phantom),
            _ => Ok((left_hash, right_hash)),
        }
    }
}

/// Takes from the front what belongs to a pair or to one before it.
fn take_pair<'a, T>(all: &mut &'a [T], pair: u64, offset: impl Fn(&T) -> u64) -> &'a [T] {
    let count = all
        .iter()
        .take_while(|item| offset(item) >> 1 <= pair)
        .count();
    let (taken, rest) = all.split_at(count);
    *all = rest;
    taken
}
