//! What is remembered so that the store need not be asked: first in this process (L1), then in
//! Redis where there is one (L2), then the store. It is never older than asked: what is remembered
//! carries the position it was read at, and counts only while nothing has changed it since.
//!
//! Reading order: [`Shelf`] is L1; L2 is the [edge](crate::flow::edge) for contacts and [`Remote`]
//! for the rest; [`Changes`] knows what changed when, [`Contacts`], [`Recent`] events and
//! [`Documents`] are what is remembered, [`Measured`] counts what the keyspace does.

mod changes;
mod contacts;
mod documents;
mod measured;
mod recent;
mod remote;
mod shelf;
mod tally;
#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
mod tests;
mod weight;

use kurier_core::event::Position;

pub use changes::Changes;
pub use contacts::Contacts;
pub use documents::Documents;
pub use measured::Measured;
pub use recent::{RECENT_MAX, Recent};
pub use remote::{Remote, patient};
pub use shelf::Shelf;
pub use tally::{Level, Tally};

/// How new it must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// As new as the read model is.
    Now,
    /// It includes at least the event at this position.
    AtLeast(Position),
}
