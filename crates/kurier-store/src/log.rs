//! The log: everything that ever changed anything, in one order.

use async_trait::async_trait;
use kurier_core::event::{Event, Kind, Position, Recorded};
use kurier_core::id::ContactId;
use kurier_core::time::Timestamp;

use crate::{Result, Scope};

/// What became of one appended event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    At(Position),
    /// An event of that id is there already; this one was dropped.
    Duplicate,
}

/// How much a scrub may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scrub {
    /// What is quick: a large SQLite file keeps stray copies of rows in unused parts of pages.
    Quick,
    /// All of it, however long it takes.
    Whole,
}

/// Behind so many bytes of payloads a reading ends.
pub(crate) const READ_BYTES_MAX: usize = 32 * 1024 * 1024;

#[async_trait]
pub trait Log: Send + Sync {
    /// Appends in order; the answer means durable. Positions are gapless and in commit order.
    async fn append(&self, scope: Scope, events: Vec<Event>) -> Result<Vec<Appended>>;

    /// The events after a position, of all workspaces: for the flows, which fold everything.
    /// Fewer than `max` where they are large: a reader takes a bounded amount of memory.
    async fn read(&self, after: Position, max: usize) -> Result<Vec<Recorded>>;

    /// The position up to which nothing comes that is of a kind somebody `folds`, as far as is
    /// known without asking the database.
    fn skip(&self, after: Position, _folds: &(dyn Fn(Kind) -> bool + Sync)) -> Position {
        after
    }

    /// The position up to which nothing comes that is of one of these kinds, at most `max` further
    /// on: who folds what is seldom need not read the rest.
    async fn without(&self, after: Position, max: usize, kinds: &[Kind]) -> Result<Position>;

    /// The last position that is known without asking the database, if there is one. Another
    /// process may have appended more.
    fn newest(&self) -> Option<Position> {
        None
    }

    /// The last position; 0 when nothing was appended yet.
    async fn head(&self) -> Result<Position>;

    /// Where the events of these contacts stand, after one position and before another; not
    /// those that say of which segments they are, which tell nothing else.
    async fn positions(
        &self,
        scope: Scope,
        contacts: &[ContactId],
        between: (Position, Position),
    ) -> Result<Vec<Position>>;

    /// Turns payloads into tombstones in place. Done twice, it changes nothing more. What was
    /// said of addresses stays: it holds hashes, and is what keeps them from being written to.
    async fn tombstone(&self, scope: Scope, positions: &[Position]) -> Result<u64>;

    /// Gives back the room of what was erased: on SQLite no file holds it any more, on
    /// PostgreSQL no query or dump can reach it (its files are overwritten in time).
    async fn scrub(&self, how: Scrub) -> Result<()>;

    /// Prepares the months to come. Called at start and now and then.
    async fn maintain(&self, now: Timestamp) -> Result<()>;

    /// Moves whole months before `before` into the archive, which `read` still reads.
    /// Answers the months moved.
    async fn archive(&self, before: Timestamp) -> Result<Vec<String>>;
}
