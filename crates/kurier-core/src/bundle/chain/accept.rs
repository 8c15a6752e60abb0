//! How headers get into the tree, and which branch is the best. Forks of any depth down to
//! the checkpoint are followed; equal work never changes the tip.

use super::super::hash::Hash256;
use super::branch::Branch;
use super::difficulty::required_bits;
use super::header::{HEADER_BYTES, Header, proven_work};
use super::node::Node;
use super::refusal::{Refusal, RefusedAt};
use super::tree::{Tip, Tree, split};

const AHEAD_SECONDS_MAX: i64 = 2 * 3_600;

/// What became of a header that was not refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accepted {
    /// It was there before.
    Known,
    /// Its predecessor is not known; it is kept for a while.
    Orphan,
    /// On a branch that has no more work than the best.
    Side,
    Tip(TipChange),
}

/// The best branch ends elsewhere than before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TipChange {
    pub old: Tip,
    pub new: Tip,
    /// Up to here nothing changed.
    pub common_height: u32,
    /// So many blocks are no longer in the best branch; more than none is a reorg.
    pub depth: u32,
}

impl Tree {
    /// Takes a header into the tree, or says why not. `now` is in seconds since 1970.
    pub fn accept(&mut self, bytes: &[u8], now: i64) -> Result<Accepted, Refusal> {
        let header = Header::parse(bytes)?;
        let hash = Hash256::of(bytes);
        if self.find(&hash).is_some() {
            return Ok(Accepted::Known);
        }
        let Some(parent) = self.find(&header.prev) else {
            return self.keep_orphan(header, hash);
        };
        let old = self.tip();
        self.attach(&header, hash, parent, now)?;
        self.attach_orphans(hash, now);
        Ok(match self.tip() == old {
            true => Accepted::Side,
            false => Accepted::Tip(self.change_from(old)),
        })
    }

    /// Takes a contiguous run of headers, each following the one before; how many were new.
    /// The first of them follows any header of the tree, or is one of it.
    pub fn extend(&mut self, headers: &[u8], now: i64) -> Result<usize, RefusedAt> {
        let headers = split(headers)?;
        self.reserve(headers.len());
        let known = self.nodes.len();
        let mut last = None;
        for (index, bytes) in headers.iter().enumerate() {
            let number = self.follow(bytes, last, now);
            last = Some(number.map_err(|refusal| RefusedAt { index, refusal })?);
        }
        Ok(self.nodes.len() - known)
    }

    fn follow(
        &mut self,
        bytes: &[u8; HEADER_BYTES],
        last: Option<u32>,
        now: i64,
    ) -> Result<u32, Refusal> {
        let (header, hash) = (Header::of(bytes), Hash256::of(bytes));
        let linked = last.is_none_or(|last| self.nodes[last as usize].hash == header.prev);
        if !linked {
            return Err(Refusal::Unlinked);
        }
        if let Some(known) = self.find(&hash) {
            return Ok(known);
        }
        let parent = last.or_else(|| self.find(&header.prev));
        let number = self.attach(&header, hash, parent.ok_or(Refusal::Unlinked)?, now)?;
        self.attach_orphans(hash, now);
        Ok(number)
    }

    /// A flood of orphans costs its sender at least the least work there is.
    fn keep_orphan(&mut self, header: Header, hash: Hash256) -> Result<Accepted, Refusal> {
        proven_work(self.chain, header.bits, &hash)?;
        if self.denied.contains(&hash) {
            return Err(Refusal::Denied);
        }
        self.orphans.keep(hash, header);
        Ok(Accepted::Orphan)
    }

    fn attach(
        &mut self,
        header: &Header,
        hash: Hash256,
        parent: u32,
        now: i64,
    ) -> Result<u32, Refusal> {
        let work = proven_work(self.chain, header.bits, &hash)?;
        if parent < self.checkpoint {
            return Err(Refusal::BelowCheckpoint);
        }
        self.check(header, &hash, parent, now)?;
        let above = &self.nodes[parent as usize];
        let sum = above.work.checked_add(work).ok_or(Refusal::WorkOverflow)?;
        let height = above.height.checked_add(1).ok_or(Refusal::WorkOverflow)?;
        let number = self.nodes.len() as u32;
        self.push(Node::new(header, hash, sum, (parent, height)));
        if sum > self.nodes[self.tip_number() as usize].work {
            self.activate(number);
        }
        Ok(number)
    }

    /// At which height a header stands or would stand, if that can be told; an error if it would
    /// be refused. Nothing changes.
    pub fn examine(&self, header: &Header, now: i64) -> Result<Option<u32>, Refusal> {
        let hash = header.hash();
        proven_work(self.chain, header.bits, &hash)?;
        if let Some(height) = self.height_of(&hash) {
            return Ok(Some(height));
        }
        let Some(parent) = self.find(&header.prev) else {
            return Ok(None);
        };
        if parent < self.checkpoint {
            return Err(Refusal::BelowCheckpoint);
        }
        self.check(header, &hash, parent, now)?;
        Ok(self.nodes[parent as usize].height.checked_add(1))
    }

    fn check(&self, header: &Header, hash: &Hash256, parent: u32, now: i64) -> Result<(), Refusal> {
        let branch = Branch {
            tree: self,
            last: parent,
        };
        let height = branch.height();
        if header.bits != required_bits(self.chain, &branch)? {
            return Err(Refusal::Difficulty);
        }
        let median = branch.median_time(height).ok_or(Refusal::ContextMissing)?;
        if header.time <= median {
            return Err(Refusal::TimeTooOld);
        }
        if i64::from(header.time) >= now.saturating_add(AHEAD_SECONDS_MAX) {
            return Err(Refusal::TimeTooNew);
        }
        if !self.chain.allows(height.saturating_add(1), hash) {
            return Err(Refusal::OtherChain);
        }
        match self.denied.contains(hash) {
            true => Err(Refusal::Denied),
            false => Ok(()),
        }
    }

    /// Makes the branch of a node the best one.
    fn activate(&mut self, number: u32) {
        let mut branch = Vec::new();
        let mut at = number;
        while !self.is_active(at) {
            branch.push(at);
            at = self.nodes[at as usize].parent;
        }
        let common = self.nodes[at as usize].height;
        self.active.truncate((common - self.start) as usize + 1);
        self.active.extend(branch.iter().rev());
    }

    fn attach_orphans(&mut self, parent: Hash256, now: i64) {
        if self.orphans.is_empty() {
            return;
        }
        let mut parents = vec![parent];
        while let Some(parent) = parents.pop() {
            let Some(number) = self.find(&parent) else {
                continue;
            };
            for (hash, header) in self.orphans.take_children(&parent) {
                // One that is refused now would have been refused in its turn as well.
                if self.attach(&header, hash, number, now).is_ok() {
                    parents.push(hash);
                }
            }
        }
    }

    fn change_from(&self, old: Tip) -> TipChange {
        let mut at = self.find(&old.hash).unwrap_or(self.checkpoint);
        while !self.is_active(at) {
            at = self.nodes[at as usize].parent;
        }
        let common_height = self.nodes[at as usize].height;
        TipChange {
            old,
            new: self.tip(),
            common_height,
            depth: old.height - common_height,
        }
    }
}
