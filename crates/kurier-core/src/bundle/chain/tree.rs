//! The tree of headers: how it begins, and what can be read of it.

use super::super::hash::Hash256;
use super::Chain;
use super::branch::Branch;
use super::difficulty::required_bits;
use super::header::{HEADER_BYTES, Header, proven_work};
use super::index::Index;
use super::node::Node;
use super::orphans::Orphans;
use super::refusal::{Refusal, RefusedAt};
use super::start::Checkpoint;
use super::u256::U256;

/// Two weeks of headers.
const ROOM: usize = 2_016;

/// All headers that were accepted, from the checkpoint on and a few before it.
#[derive(Debug, Clone)]
pub struct Tree {
    pub(super) chain: Chain,
    pub(super) nodes: Vec<Node>,
    pub(super) index: Index,
    /// The best branch by height, from `start` on.
    pub(super) active: Vec<u32>,
    pub(super) start: u32,
    /// What the first node follows.
    pub(super) before: Hash256,
    pub(super) checkpoint: u32,
    pub(super) orphans: Orphans,
    pub(super) denied: Vec<Hash256>,
}

/// The end of the best branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Tip {
    pub height: u32,
    pub hash: Hash256,
}

impl Tree {
    /// A tree that holds the checkpoint and the headers right before it, if there are any:
    /// a contiguous run of which the checkpoint is the last.
    pub fn begin(chain: Chain, checkpoint: Checkpoint, context: &[u8]) -> Result<Self, RefusedAt> {
        let headers = split(context)?;
        let refuse = |index, refusal| Err(RefusedAt { index, refusal });
        let behind = headers.len().saturating_sub(1) as u32;
        let (Some(first), Some(start)) = (headers.first(), checkpoint.height.checked_sub(behind))
        else {
            return refuse(0, Refusal::NotTheCheckpoint);
        };
        let mut tree = Self {
            chain,
            nodes: Vec::new(),
            index: Index::default(),
            active: Vec::new(),
            start,
            before: Header::of(first).prev,
            checkpoint: behind,
            orphans: Orphans::default(),
            denied: Vec::new(),
        };
        for (index, bytes) in headers.iter().enumerate() {
            let added = tree.add_context(bytes);
            added.map_err(|refusal| RefusedAt { index, refusal })?;
        }
        match tree.tip().hash == checkpoint.hash {
            true => Ok(tree.with_work(checkpoint.work)),
            false => refuse(behind as usize, Refusal::NotTheCheckpoint),
        }
    }

    /// A tree from the first block of a chain on.
    pub fn from_genesis(chain: Chain) -> Self {
        let genesis = chain.genesis().bytes();
        Self::begin(chain, Checkpoint::genesis(chain), &genesis)
            .expect("a chain's first block is its own checkpoint")
    }

    fn add_context(&mut self, bytes: &[u8; HEADER_BYTES]) -> Result<(), Refusal> {
        let (header, hash) = (Header::of(bytes), Hash256::of(bytes));
        let last = self.nodes.last();
        if header.prev != last.map_or(self.before, |node| node.hash) {
            return Err(Refusal::Unlinked);
        }
        let work = proven_work(self.chain, header.bits, &hash)?;
        let sum = last.map_or(Some(work), |last| last.work.checked_add(work));
        let sum = sum.ok_or(Refusal::WorkOverflow)?;
        let number = self.nodes.len() as u32;
        let height = self.start + number;
        if !self.chain.allows(height, &hash) {
            return Err(Refusal::OtherChain);
        }
        let node = Node::new(&header, hash, sum, (number.saturating_sub(1), height));
        self.push(node);
        self.active.push(number);
        Ok(())
    }

    pub(super) fn push(&mut self, node: Node) {
        if self.nodes.len() == self.nodes.capacity() {
            self.reserve(self.nodes.len() / 8);
        }
        self.nodes.push(node);
        self.index.add_last(&self.nodes);
    }

    /// Makes room for so many and some more. Doubling it, as lists do, would cost a whole
    /// chain's memory for the one header that no longer fits.
    pub(super) fn reserve(&mut self, count: usize) {
        if self.nodes.capacity() - self.nodes.len() > count {
            return;
        }
        self.nodes.reserve_exact(count + ROOM);
        self.index.reserve(&self.nodes, self.nodes.capacity());
    }

    /// Shifts the work of all, so that the checkpoint's is what is known of it. Where less is
    /// known than the headers before it show, theirs stands.
    fn with_work(mut self, work: U256) -> Self {
        let own = self.nodes[self.checkpoint as usize].work;
        if work > own {
            let more = work.wrapping_sub(own);
            for node in &mut self.nodes {
                node.work = node.work.checked_add(more).unwrap_or(node.work);
            }
        }
        self
    }

    /// Headers that are refused by name, whatever their work.
    #[must_use]
    pub fn denying(mut self, denied: Vec<Hash256>) -> Self {
        self.denied = denied;
        self
    }
}

/// What can be read of it.
impl Tree {
    pub fn chain(&self) -> Chain {
        self.chain
    }

    pub fn tip(&self) -> Tip {
        let node = &self.nodes[self.tip_number() as usize];
        Tip {
            height: node.height,
            hash: node.hash,
        }
    }

    /// Of the best branch, since the chain began if the checkpoint's was known.
    pub fn work(&self) -> U256 {
        self.nodes[self.tip_number() as usize].work
    }

    /// The lowest height at which the tree knows the best branch.
    pub fn start(&self) -> u32 {
        self.start
    }

    /// How many headers it holds, on all branches.
    pub fn headers(&self) -> usize {
        self.nodes.len()
    }

    /// Whether a header is known, on whatever branch; and its height.
    pub fn height_of(&self, hash: &Hash256) -> Option<u32> {
        self.find(hash).map(|at| self.nodes[at as usize].height)
    }

    pub fn header(&self, hash: &Hash256) -> Option<Header> {
        self.find(hash).map(|at| self.header_of(at))
    }

    /// The header of the best branch at a height.
    pub fn best_at(&self, height: u32) -> Option<Header> {
        self.active_at(height).map(|at| self.header_of(at))
    }

    pub fn best_hash_at(&self, height: u32) -> Option<Hash256> {
        self.active_at(height)
            .map(|at| self.nodes[at as usize].hash)
    }

    /// The bits that the header after the tip must have.
    pub fn next_bits(&self) -> Result<u32, Refusal> {
        let branch = Branch {
            tree: self,
            last: self.tip_number(),
        };
        required_bits(self.chain, &branch)
    }

    /// Hashes of headers that are to be asked for: someone's predecessor is missing.
    pub fn wanted(&self) -> Vec<Hash256> {
        self.orphans.wanted()
    }

    pub fn orphans(&self) -> usize {
        self.orphans.len()
    }

    fn header_of(&self, number: u32) -> Header {
        let node = &self.nodes[number as usize];
        let prev = match number {
            0 => self.before,
            _ => self.nodes[node.parent as usize].hash,
        };
        node.header(prev)
    }

    pub(super) fn find(&self, hash: &Hash256) -> Option<u32> {
        self.index.find(&self.nodes, hash)
    }

    pub(super) fn tip_number(&self) -> u32 {
        *self.active.last().expect("a tree holds its checkpoint")
    }

    pub(super) fn active_at(&self, height: u32) -> Option<u32> {
        let at = height.checked_sub(self.start)? as usize;
        self.active.get(at).copied()
    }

    pub(super) fn is_active(&self, number: u32) -> bool {
        self.active_at(self.nodes[number as usize].height) == Some(number)
    }

    /// The ancestor of a node at a height: down its branch to the best one, and from there
    /// at once.
    pub(super) fn ancestor(&self, number: u32, height: u32) -> Option<u32> {
        let mut at = number;
        if height < self.start || height > self.nodes[at as usize].height {
            return None;
        }
        while self.nodes[at as usize].height > height {
            if self.is_active(at) {
                return self.active_at(height);
            }
            at = self.nodes[at as usize].parent;
        }
        Some(at)
    }
}

pub(super) fn split(headers: &[u8]) -> Result<&[[u8; HEADER_BYTES]], RefusedAt> {
    let (whole, rest) = headers.as_chunks::<HEADER_BYTES>();
    match rest {
        [] => Ok(whole),
        _ => Err(RefusedAt {
            index: whole.len(),
            refusal: Refusal::Size,
        }),
    }
}
