//! How deep a block lies, and whether that is enough. Asked anew of the headers each time:
//! an answer is true of one tip only.

use serde::Serialize;

use super::chain::{Tip, Tree};
use super::hash::Hash256;

/// Where a transaction is, as far as is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whereabouts {
    Block {
        height: u32,
        hash: Hash256,
    },
    /// It is known not to be in a block yet.
    Unmined,
    /// Nothing is known.
    Pending,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Its block is in the best branch.
    Confirmed,
    /// Its block is not, and another one is in its place.
    OffChain,
    /// Our headers do not reach its block.
    UnknownHeader,
    /// It is in no block yet.
    Unmined,
    /// What is said about it does not hold.
    InvalidProof,
}

impl State {
    pub const ALL: [Self; 5] = [
        Self::Confirmed,
        Self::OffChain,
        Self::UnknownHeader,
        Self::Unmined,
        Self::InvalidProof,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::OffChain => "off_chain",
            Self::UnknownHeader => "unknown_header",
            Self::Unmined => "unmined",
            Self::InvalidProof => "invalid_proof",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// What one tip says about a block. The tip is the one it was asked of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Standing {
    pub state: State,
    /// Blocks from it to the tip, both counted; -1 off the chain, none while unknown.
    pub confs: Option<i64>,
    /// The block was replaced by another: what was built on it is to be built anew.
    pub reorg: bool,
    /// The headers are not what they should be, so the answer may soon be another.
    pub unstable: bool,
    pub tip: Option<Tip>,
}

/// What it takes to be ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    min_confs: u32,
    ready_when_unstable: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at least one confirmation is needed: with none, a block that was replaced would do")]
pub struct PolicyFault;

impl Policy {
    pub fn new(min_confs: u32, ready_when_unstable: bool) -> Result<Self, PolicyFault> {
        match min_confs {
            0 => Err(PolicyFault),
            _ => Ok(Self {
                min_confs,
                ready_when_unstable,
            }),
        }
    }

    pub fn min_confs(&self) -> u32 {
        self.min_confs
    }
}

impl Standing {
    fn of(state: State, confs: Option<i64>, tip: Option<Tip>) -> Self {
        Self {
            state,
            confs,
            reorg: state == State::OffChain,
            unstable: false,
            tip,
        }
    }

    /// What is said about it does not hold, so no headers are asked.
    pub fn invalid(tip: Option<Tip>) -> Self {
        Self::of(State::InvalidProof, None, tip)
    }

    /// There are no headers to ask.
    pub fn without_headers(whereabouts: Whereabouts) -> Self {
        match whereabouts {
            Whereabouts::Block { .. } => Self::of(State::UnknownHeader, None, None).shaken(true),
            elsewhere => unmined(elsewhere, None),
        }
    }

    /// The same, unstable if it was or if the headers are known to be old or disputed.
    #[must_use]
    pub fn shaken(mut self, unstable: bool) -> Self {
        self.unstable |= unstable;
        self
    }

    /// Whether the policy is met now.
    pub fn ready(&self, policy: &Policy) -> bool {
        let deep = self
            .confs
            .is_some_and(|confs| confs >= i64::from(policy.min_confs));
        let calm = !self.unstable || policy.ready_when_unstable;
        self.state == State::Confirmed && deep && calm
    }
}

/// What the tree's tip says about a transaction.
pub fn standing(tree: &Tree, whereabouts: Whereabouts) -> Standing {
    match whereabouts {
        Whereabouts::Block { height, hash } => of_block(tree, height, &hash),
        elsewhere => unmined(elsewhere, Some(tree.tip())),
    }
}

/// None is said only of what is known to be in no block; what is not known has no number.
fn unmined(whereabouts: Whereabouts, tip: Option<Tip>) -> Standing {
    let confs = (whereabouts == Whereabouts::Unmined).then_some(0);
    Standing::of(State::Unmined, confs, tip)
}

fn of_block(tree: &Tree, height: u32, hash: &Hash256) -> Standing {
    let tip = tree.tip();
    let depth = || i64::from(tip.height) - i64::from(height) + 1;
    let known = tree.height_of(hash).is_some();
    let (state, confs) = match tree.best_hash_at(height) {
        Some(best) if best == *hash => (State::Confirmed, Some(depth())),
        // Another block is there, or the block is known and elsewhere.
        Some(_) => (State::OffChain, Some(-1)),
        None if known => (State::OffChain, Some(-1)),
        None => (State::UnknownHeader, None),
    };
    // A block above our tip: it is we who are behind.
    let behind = state == State::UnknownHeader && height > tip.height;
    Standing::of(state, confs, Some(tip)).shaken(behind)
}
