//! From a transaction to its block: the proof formats that are read, the one that is kept
//! (BUMP, BRC-74), and what must hold of it.

mod anchor;
mod beef;
mod bump;
mod climb;
mod fault;
mod merkle;
mod read;
mod tsc;
mod tx;
mod witness;

pub use anchor::{check_anchor, check_txid};
pub use beef::{BEEF_BYTES_MAX, Beef, Proven};
pub use bump::{BUMP_BYTES_MAX, Bump, Leaf, Mark, TREE_HEIGHT_MAX};
pub use fault::Fault;
pub use merkle::MerkleTree;
pub use tsc::{Target, Tsc};
pub use tx::{Script, TX_BYTES_MAX, Tx, committing_tx};
pub use witness::without_witnesses;
