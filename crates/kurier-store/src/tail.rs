//! The end of the log in memory: what this process appended last. The flows follow right
//! behind ingest, so most of what they read is still here and costs no query. What is missing
//! here (older, or appended by another process) is read from the log itself; positions are
//! gapless, so what is missing shows.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use kurier_core::event::{Event, Kind, Position, Recorded};
use kurier_core::id::ContactId;
use kurier_core::time::Timestamp;

use crate::log::{Appended, Log, Scrub};
use crate::{Result, Scope};

const BYTES_MAX: usize = 8 * 1024 * 1024;
/// What an event takes beside its payload.
const EVENT_BYTES: usize = 160;

/// A log that remembers its end.
pub struct Tailed<L: ?Sized> {
    tail: Mutex<Tail>,
    log: Arc<L>,
}

#[derive(Default)]
struct Tail {
    events: BTreeMap<Position, Recorded>,
    /// The last position this process has ever kept here.
    newest: Position,
    bytes: usize,
}

impl<L: Log + ?Sized> Tailed<L> {
    pub fn new(log: Arc<L>) -> Self {
        Self {
            tail: Mutex::default(),
            log,
        }
    }

    fn tail(&self) -> MutexGuard<'_, Tail> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl<L: Log + ?Sized> Log for Tailed<L> {
    async fn append(&self, scope: Scope, events: Vec<Event>) -> Result<Vec<Appended>> {
        let kept = events.clone();
        let appended = self.log.append(scope, events).await?;
        self.tail().keep(scope, kept, &appended);
        Ok(appended)
    }

    async fn read(&self, after: Position, max: usize) -> Result<Vec<Recorded>> {
        let (mut events, is_whole) = self.tail().run(after, max);
        if is_whole {
            return Ok(events);
        }
        let after = events.last().map_or(after, |last| last.position);
        events.extend(self.log.read(after, max - events.len()).await?);
        Ok(events)
    }

    fn skip(&self, after: Position, folds: &(dyn Fn(Kind) -> bool + Sync)) -> Position {
        self.tail().skip(after, folds)
    }

    async fn without(&self, after: Position, max: usize, kinds: &[Kind]) -> Result<Position> {
        self.log.without(after, max, kinds).await
    }

    fn newest(&self) -> Option<Position> {
        Some(self.tail().newest).filter(|newest| newest.0 > 0)
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
        self.tail().forget(positions);
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

impl Tail {
    fn keep(&mut self, scope: Scope, events: Vec<Event>, appended: &[Appended]) {
        for (event, appended) in events.into_iter().zip(appended) {
            let Appended::At(position) = *appended else {
                continue;
            };
            self.bytes += EVENT_BYTES + event.payload.len();
            let recorded = Recorded {
                position,
                workspace: scope.0,
                event,
            };
            self.newest = self.newest.max(position);
            self.events.insert(position, recorded);
        }
        while self.bytes > BYTES_MAX
            && let Some((_, oldest)) = self.events.pop_first()
        {
            self.bytes -= EVENT_BYTES + oldest.event.payload.len();
        }
    }

    /// The events after a position without a gap, and whether that is all this knows: more is
    /// then not to be had, or not wanted.
    fn run(&self, after: Position, max: usize) -> (Vec<Recorded>, bool) {
        let mut run = Vec::new();
        for (position, recorded) in self.events.range(Position(after.0 + 1)..) {
            if run.len() == max {
                return (run, true);
            }
            if position.0 != after.0 + 1 + run.len() as i64 {
                return (run, false);
            }
            run.push(recorded.clone());
        }
        let is_whole = run.last().is_some_and(|last| last.position >= self.newest);
        (run, is_whole)
    }

    /// The last position of the run after another in which nothing is of a kind that `folds`.
    fn skip(&self, after: Position, folds: &(dyn Fn(Kind) -> bool + Sync)) -> Position {
        let mut at = after;
        for (position, recorded) in self.events.range(Position(after.0 + 1)..) {
            if position.0 != at.0 + 1 || folds(recorded.event.kind) {
                break;
            }
            at = *position;
        }
        at
    }

    fn forget(&mut self, positions: &[Position]) {
        for position in positions {
            if let Some(recorded) = self.events.remove(position) {
                self.bytes -= EVENT_BYTES + recorded.event.payload.len();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use kurier_core::id::{EventId, WorkspaceId};
    use uuid::Uuid;

    use super::*;

    fn event(payload: String) -> Event {
        Event {
            id: EventId::of_message(&payload),
            kind: Kind::Track,
            contact: None,
            occurred_at: Timestamp::from_micros(0),
            recorded_at: Timestamp::from_micros(0),
            payload,
        }
    }

    fn tail_of(positions: &[i64]) -> Tail {
        let mut tail = Tail::default();
        for position in positions {
            let events = vec![event(format!("{{\"at\":{position}}}"))];
            let scope = Scope(WorkspaceId::from_uuid(Uuid::nil()));
            tail.keep(scope, events, &[Appended::At(Position(*position))]);
        }
        tail
    }

    fn run(tail: &Tail, after: i64, max: usize) -> (Vec<i64>, bool) {
        let (run, is_whole) = tail.run(Position(after), max);
        (run.iter().map(|r| r.position.0).collect(), is_whole)
    }

    #[test]
    fn a_run_ends_at_a_gap_and_says_so() {
        let tail = tail_of(&[4, 6, 5, 9]);
        assert_eq!(run(&tail, 3, 10), (vec![4, 5, 6], false));
        assert_eq!(run(&tail, 8, 10), (vec![9], true));
        assert_eq!(run(&tail, 4, 2), (vec![5, 6], true));
        assert_eq!(run(&tail, 3, 2), (vec![4, 5], true));
    }

    #[test]
    fn what_is_not_here_is_for_the_log_to_say() {
        let tail = tail_of(&[4]);
        assert_eq!(run(&tail, 4, 10), (vec![], false));
        assert_eq!(run(&tail, 1, 10), (vec![], false));
        assert_eq!(run(&Tail::default(), 0, 10), (vec![], false));
    }

    #[test]
    fn what_concerns_nobody_is_skipped_up_to_a_gap_or_to_what_does() {
        let mut tail = tail_of(&[4, 5, 6, 9]);
        assert_eq!(tail.skip(Position(3), &|_| false), Position(6));
        assert_eq!(tail.skip(Position(3), &|_| true), Position(3));
        assert_eq!(tail.skip(Position(1), &|_| false), Position(1));
        let concerning = Event {
            kind: Kind::Identify,
            ..event("{}".to_owned())
        };
        let scope = Scope(WorkspaceId::from_uuid(Uuid::nil()));
        tail.keep(scope, vec![concerning], &[Appended::At(Position(6))]);
        let identifies = |kind| kind == Kind::Identify;
        assert_eq!(tail.skip(Position(3), &identifies), Position(5));
        assert_eq!(tail.skip(Position(5), &identifies), Position(5));
    }

    #[test]
    fn what_was_forgotten_at_the_end_is_missed() {
        let mut tail = tail_of(&[1, 2]);
        tail.forget(&[Position(2)]);
        assert_eq!(run(&tail, 0, 10), (vec![1], false));
    }

    #[test]
    fn it_stays_small_and_forgets_what_is_buried() {
        let mut tail = tail_of(&(1..=60_000).collect::<Vec<_>>());
        assert!(tail.bytes <= BYTES_MAX && tail.events.len() > 1_000);
        tail.forget(&(1..=60_000).map(Position).collect::<Vec<_>>());
        assert_eq!((tail.bytes, tail.events.len()), (0, 0));
    }
}
