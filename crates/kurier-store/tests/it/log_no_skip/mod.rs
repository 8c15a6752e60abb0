//! Promise A1: a reader that polls sees every committed event once, in order, without gap,
//! whatever writers do meanwhile. And the proof that this test can fail: the usual way, a
//! serial number read with `WHERE seq > last`, loses events under the same workload.
//!
//! Writers pause for 0 to 3 ms inside and between their transactions. That is the workload
//! itself, not a wait for something to happen: readers poll and never sleep.

mod naive;
mod postgres;
mod sqlite;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use kurier_core::event::{Event, Kind, Position, Recorded};
use kurier_core::id::{EventId, WorkspaceId};
use kurier_core::time::Timestamp;
use kurier_store::{Appended, Scope, Store};
use tokio::task::JoinHandle;

use crate::contract::backend;
use crate::contract::dice::{self, Dice};

const WRITERS: u64 = 8;
const BATCHES: usize = 1_500;
const BATCHES_SLOW: usize = 30 * BATCHES;
const BATCH_MAX: u64 = 5;
const PAUSE_MS_MAX: u64 = 3;

fn now() -> Timestamp {
    "2026-03-15T12:00:00Z".parse().expect("a time")
}

fn scope() -> Scope {
    Scope(WorkspaceId::new(now(), [1; 10]))
}

fn event(name: &str) -> Event {
    Event {
        id: EventId::of_message(name),
        kind: Kind::Track,
        contact: None,
        occurred_at: now(),
        recorded_at: now(),
        payload: "{}".to_owned(),
    }
}

fn batch(dice: &mut Dice, name: &str) -> Vec<Event> {
    let size = 1 + dice.below(BATCH_MAX);
    (0..size).map(|n| event(&format!("{name} {n}"))).collect()
}

/// The jitter of a writer.
async fn pause(dice: &mut Dice) {
    let millis = dice.below(PAUSE_MS_MAX + 1);
    tokio::time::sleep(Duration::from_millis(millis)).await;
}

/// Work for all writers together: so many batches, then it is over.
struct Work {
    taken: AtomicUsize,
    batches: usize,
}

impl Work {
    fn of(batches: usize) -> Arc<Self> {
        Arc::new(Self {
            taken: AtomicUsize::new(0),
            batches,
        })
    }

    fn take(&self) -> Option<usize> {
        let taken = self.taken.fetch_add(1, Ordering::Relaxed);
        (taken < self.batches).then_some(taken)
    }
}

type Committed = Vec<EventId>;

/// Appends through the store, as the product does.
async fn append(store: Store, work: Arc<Work>, seed: u64) -> Committed {
    let mut dice = Dice::new(seed);
    let mut committed = Committed::new();
    while let Some(number) = work.take() {
        let events = batch(&mut dice, &format!("appended {number}"));
        let ids: Vec<EventId> = events.iter().map(|event| event.id).collect();
        let appended = store.log.append(scope(), events).await.expect("appended");
        assert!(appended.iter().all(|a| matches!(a, Appended::At(_))));
        committed.extend(ids);
        pause(&mut dice).await;
    }
    committed
}

/// Polls while writers write, and once more after the last of them is done.
async fn read(store: Store, done: Arc<AtomicUsize>, writers: usize) -> Vec<Recorded> {
    let mut seen: Vec<Recorded> = Vec::new();
    loop {
        let was_done = done.load(Ordering::SeqCst) == writers;
        let after = seen.last().map_or(Position(0), |last| last.position);
        let news = store.log.read(after, 50).await.expect("read");
        if was_done && news.is_empty() {
            return seen;
        }
        seen.extend(news);
        tokio::task::yield_now().await;
    }
}

/// Runs writers against a reader and compares what was committed with what was seen.
async fn race(reader: Store, writers: Vec<JoinHandle<Committed>>) {
    let (done, count) = (Arc::new(AtomicUsize::new(0)), writers.len());
    let reading = tokio::spawn(read(reader, done.clone(), count));
    let mut committed: HashSet<EventId> = HashSet::new();
    for writer in writers {
        for id in writer.await.expect("a writer to the end") {
            assert!(committed.insert(id), "{id} was committed twice");
        }
        done.fetch_add(1, Ordering::SeqCst);
    }
    let seen = reading.await.expect("a reader to the end");
    let gapless = seen.iter().zip(1..).all(|(r, n)| r.position.0 == n);
    assert!(
        gapless,
        "the reader saw a gap, or an order that is not the log's"
    );
    let ids: HashSet<EventId> = seen.iter().map(|recorded| recorded.event.id).collect();
    assert_eq!(ids.len(), seen.len(), "the reader saw an event twice");
    assert_eq!(ids, committed);
    assert!(committed.len() > BATCHES, "the load was too small");
}
