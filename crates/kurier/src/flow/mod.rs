//! Loops over the log: read a batch, decide, commit.

mod deliver;
mod erase;
pub mod journey;
mod live;
mod maintain;
mod project;
mod react;
pub mod segment;
pub mod template;

pub use deliver::Deliverer;
pub use erase::{ErasureReport, erase, live_contact};
pub use live::live_contacts;
pub use maintain::maintain;
pub use project::Projector;
pub use react::{Keeping, Reactor};
