//! The end of the log in memory: what this process appended last. The flows follow right
//! behind ingest, so most of what they read is still here and costs no query. What is missing
//! here (older, or appended by another process) is read from the log itself; positions are
//! gapless, so what is missing shows.

mod end;
mod ring;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use kurier_core::event::{Event, Kind, Position, Recorded};
use kurier_core::id::ContactId;
use kurier_core::time::Timestamp;

use crate::log::{Appended, Log, Scrub};
use crate::{Result, Scope};
pub use end::End;

/// The end of a log. Who appends keeps a group here once it is durable, before its callers are
/// told: what somebody knows of is found here.
#[derive(Default)]
pub struct Tail(Mutex<End>);

impl Tail {
    pub fn open(&self) -> MutexGuard<'_, End> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A log that remembers its end.
pub struct Tailed<L: ?Sized> {
    tail: Arc<Tail>,
    log: Arc<L>,
}

impl<L: Log + ?Sized> Tailed<L> {
    /// `tail` is where the log keeps what it appends.
    pub const fn new(log: Arc<L>, tail: Arc<Tail>) -> Self {
        Self { tail, log }
    }
}

#[async_trait]
impl<L: Log + ?Sized> Log for Tailed<L> {
    async fn append(&self, scope: Scope, events: Vec<Event>) -> Result<Vec<Appended>> {
        self.log.append(scope, events).await
    }

    async fn read(&self, after: Position, max: usize) -> Result<Vec<Recorded>> {
        let (mut events, is_whole) = self.tail.open().run(after, max);
        if is_whole {
            return Ok(events);
        }
        let after = events.last().map_or(after, |last| last.position);
        events.extend(self.log.read(after, max - events.len()).await?);
        Ok(events)
    }

    fn skip(&self, after: Position, folds: &(dyn Fn(Kind) -> bool + Sync)) -> Position {
        self.tail.open().skip(after, folds)
    }

    async fn without(&self, after: Position, max: usize, kinds: &[Kind]) -> Result<Position> {
        self.log.without(after, max, kinds).await
    }

    fn newest(&self) -> Option<Position> {
        Some(self.tail.open().newest).filter(|newest| newest.0 > 0)
    }

    async fn head(&self) -> Result<Position> {
        self.log.head().await
    }

    async fn positions(
        &self,
        scope: Scope,
        contacts: &[ContactId],
        between: (Position, Position),
    ) -> Result<Vec<Position>> {
        self.log.positions(scope, contacts, between).await
    }

    async fn tombstone(&self, scope: Scope, positions: &[Position]) -> Result<u64> {
        let buried = self.log.tombstone(scope, positions).await?;
        self.tail.open().forget(positions);
        Ok(buried)
    }

    async fn scrub(&self, how: Scrub) -> Result<()> {
        self.log.scrub(how).await
    }

    async fn maintain(&self, now: Timestamp) -> Result<()> {
        self.log.maintain(now).await
    }

    async fn archive(&self, before: Timestamp) -> Result<Vec<String>> {
        self.log.archive(before).await
    }
}
