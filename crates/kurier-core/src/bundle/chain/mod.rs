//! Headers, and which branch of them is the chain: the one with the most work, the first
//! seen of equals.

mod accept;
mod branch;
mod difficulty;
mod header;
mod index;
mod node;
mod orphans;
mod profile;
mod refusal;
mod start;
pub mod target;
mod tree;
mod u256;

pub use accept::{Accepted, TipChange};
pub use header::{HEADER_BYTES, Header, proven_work};
pub use profile::Chain;
pub use refusal::{Refusal, RefusedAt};
pub use start::Checkpoint;
pub use tree::{Tip, Tree};
pub use u256::U256;
