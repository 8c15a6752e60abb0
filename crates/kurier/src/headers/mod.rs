//! Block headers: where they come from, and which of them are believed. Every header is
//! checked when it arrives, also one from our own file; the branch with the most work is the
//! chain, whoever told of it.

mod backoff;
mod file;
mod range;
mod shared;
mod source;
mod sync;

pub use file::{HeaderFile, read_tree};
pub use shared::{Headers, Look, SourceReport};
pub use source::{Address, Setting};
