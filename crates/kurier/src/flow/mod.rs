//! Loops over the log: read a batch, decide, commit.

mod erase;
mod maintain;
mod project;
mod react;

pub use erase::{ErasureReport, erase, live_contact};
pub use maintain::maintain;
pub use project::Projector;
pub use react::{Keeping, Reactor};
