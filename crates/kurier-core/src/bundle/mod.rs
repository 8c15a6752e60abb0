//! Bundles: proof that a published version was known when a block was mined. From the
//! version's id to a commitment in a transaction, from the transaction to a block, from the
//! block to the branch of headers with the most work. Everything is verified, nothing is
//! believed, and how deep the block lies is never kept: it is asked anew of the headers.

mod batch;
mod bytes;
pub mod chain;
mod commitment;
mod envelope;
mod evidence;
mod gathered;
mod hash;
mod lineage;
mod mine;
pub mod proof;
mod report;
mod standing;
mod steps;
mod version;

pub use batch::{BATCH_MAX, Batch, BatchPath};
pub use commitment::{Commitment, leaf};
pub use envelope::{ENVELOPE_BYTES_MAX, Envelope, EnvelopeFault, Hex, Mined, TxPart};
pub use evidence::{Evidence, EvidenceFault, Known, Proving, Shown, Subject};
pub use gathered::{Entry, Gathered, Summary};
pub use hash::{Digest, Hash256, HexError};
pub use lineage::{DEPTH_MAX, LINEAGE_MAX, Lineage, Walk, capped_depth, walk};
pub use mine::{Block, mine, mine_block};
pub use report::{Given, Outcome, Report, Step, verify};
pub use standing::{Policy, PolicyFault, Standing, State, Whereabouts, standing};
pub use version::{Kind, PARENTS_MAX, Version, VersionFault};

#[cfg(test)]
mod tests;
