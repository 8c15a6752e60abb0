//! Where a tree begins: a block that is taken for granted, and what came right before it.

use super::super::hash::Hash256;
use super::Chain;
use super::difficulty;
use super::header::{HEADER_BYTES, Header};
use super::refusal::{Refusal, RefusedAt};
use super::tree::Tree;
use super::u256::U256;

/// A block that is known by other means to be in the chain. Nothing forks off below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checkpoint {
    pub height: u32,
    pub hash: Hash256,
    /// Of the chain up to it; only differences count, so zero will do.
    pub work: U256,
}

impl Checkpoint {
    pub fn genesis(chain: Chain) -> Self {
        let genesis = chain.genesis();
        let target = super::target::expand(genesis.bits);
        Self {
            height: 0,
            hash: genesis.hash(),
            work: target.map(super::target::work).unwrap_or_default(),
        }
    }

    /// So many headers, from a height on, are needed to begin with them.
    pub fn needs(chain: Chain, start: u32) -> u32 {
        difficulty::context(chain, start)
    }

    /// The first block of a run of headers to which the rules of difficulty can be applied
    /// onwards; whoever uses it trusts the headers up to it.
    pub fn within(chain: Chain, start: u32, headers: &[u8]) -> Result<Self, Refusal> {
        let last = difficulty::context(chain, start) as usize - 1;
        let bytes = headers.chunks_exact(HEADER_BYTES).nth(last);
        let header = Header::parse(bytes.ok_or(Refusal::ContextMissing)?)?;
        Ok(Self {
            height: start + last as u32,
            hash: header.hash(),
            work: U256::ZERO,
        })
    }
}

impl Tree {
    /// A tree from a contiguous run of headers, of which the first has height `start` and
    /// one is the checkpoint. Those up to it are believed because they lead to it; all that
    /// follow are checked. `now` is in seconds since 1970.
    pub fn read(
        chain: Chain,
        checkpoint: Checkpoint,
        start: u32,
        headers: &[u8],
        now: i64,
    ) -> Result<Self, RefusedAt> {
        let missing = RefusedAt {
            index: 0,
            refusal: Refusal::NotTheCheckpoint,
        };
        let context = checkpoint.height.checked_sub(start).ok_or(missing)? as usize + 1;
        let context = context.saturating_mul(HEADER_BYTES);
        let (before, after) = headers.split_at_checked(context).ok_or(missing)?;
        let mut tree = Self::begin(chain, checkpoint, before)?;
        tree.extend(after, now).map_err(|refused| RefusedAt {
            index: refused.index + context / HEADER_BYTES,
            ..refused
        })?;
        Ok(tree)
    }
}
