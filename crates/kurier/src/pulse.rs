//! What happens right now: the last hour minute by minute, and each event as it comes. It is
//! counted from the end of the log while somebody looks; while nobody does, it costs nothing.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use kurier_core::event::{Kind, Position, Recorded};
use kurier_core::id::WorkspaceId;
use kurier_core::time::Timestamp;
use kurier_store::{Result, Scope, Store};
use tokio::sync::{Mutex, Semaphore, broadcast, watch};

pub const MINUTE_MICROS: i64 = 60 * 1_000_000;
/// So many minutes are shown, this one included.
pub const MINUTES: i64 = 60;
const BATCH_MAX: usize = 5_000;
/// What is further back is not counted: an hour of a busy log would take too long to read.
const LOOK_BACK: i64 = 100_000;
/// A listener that is further behind has missed something, and is told.
const NEWS_MAX: usize = 4_096;
/// So many may listen to one process.
const LISTENERS_MAX: usize = 200;

/// How much happened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// What clients sent.
    pub events: i64,
    /// Runs of journeys that began.
    pub entries: i64,
    /// Messages that a channel took.
    pub sends: i64,
    /// Messages that became dead letters.
    pub failures: i64,
}

impl Counts {
    pub fn add(&mut self, kind: Kind, times: i64) {
        match kind {
            Kind::JourneyEntered => self.entries += times,
            Kind::MessageSent => self.sends += times,
            Kind::MessageFailed => self.failures += times,
            kind if kind.is_from_client() => self.events += times,
            _ => {}
        }
    }
}

pub struct Pulse {
    store: Store,
    state: Mutex<State>,
    news: broadcast::Sender<Arc<Recorded>>,
    pub listeners: Arc<Semaphore>,
    stopping: watch::Sender<bool>,
}

#[derive(Default)]
struct State {
    position: Option<Position>,
    /// By the number of the minute since 1970.
    minutes: HashMap<WorkspaceId, BTreeMap<i64, Counts>>,
}

impl Pulse {
    pub fn new(store: Store) -> Self {
        Self {
            store,
            state: Mutex::default(),
            news: broadcast::Sender::new(NEWS_MAX),
            listeners: Arc::new(Semaphore::new(LISTENERS_MAX)),
            stopping: watch::Sender::new(false),
        }
    }

    /// Reads what was appended since the last time.
    pub async fn catch_up(&self, now: Timestamp) -> Result<()> {
        let mut state = self.state.lock().await;
        let head = self.store.log.head().await?;
        let earliest = Position((head.0 - LOOK_BACK).max(0));
        let mut position = state.position.unwrap_or(earliest).max(earliest);
        while position < head {
            let batch = self.store.log.read(position, BATCH_MAX).await?;
            let Some(last) = batch.last() else { break };
            position = last.position;
            state.count(&batch);
            self.tell(batch);
            state.position = Some(position);
        }
        state.position = Some(position);
        state.forget(now);
        Ok(())
    }

    /// The minutes of the last hour, the oldest first.
    pub async fn minutes(&self, scope: Scope, now: Timestamp) -> Vec<(Timestamp, Counts)> {
        let state = self.state.lock().await;
        let counted = state.minutes.get(&scope.0);
        let this = now.as_micros().div_euclid(MINUTE_MICROS);
        let minutes = (this - MINUTES + 1)..=this;
        let each = minutes.map(|minute| {
            let counts = counted.and_then(|counted| counted.get(&minute)).copied();
            let at = Timestamp::from_micros(minute * MINUTE_MICROS);
            (at, counts.unwrap_or_default())
        });
        each.collect()
    }

    /// Every event of a contact from now on, as [`Pulse::catch_up`] comes by it.
    pub fn listen(&self) -> broadcast::Receiver<Arc<Recorded>> {
        self.news.subscribe()
    }

    fn tell(&self, batch: Vec<Recorded>) {
        if self.news.receiver_count() == 0 {
            return;
        }
        for recorded in batch.into_iter().filter(|it| it.event.contact.is_some()) {
            // Nobody listens any more: then nobody misses it.
            let _ = self.news.send(Arc::new(recorded));
        }
    }

    /// Whoever listens is asked to go.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
    }

    pub fn stopping(&self) -> watch::Receiver<bool> {
        self.stopping.subscribe()
    }
}

impl State {
    fn count(&mut self, batch: &[Recorded]) {
        for recorded in batch {
            let at = recorded.event.recorded_at.as_micros();
            let minutes = self.minutes.entry(recorded.workspace).or_default();
            let counts = minutes.entry(at.div_euclid(MINUTE_MICROS)).or_default();
            counts.add(recorded.event.kind, 1);
        }
    }

    fn forget(&mut self, now: Timestamp) {
        let earliest = now.as_micros().div_euclid(MINUTE_MICROS) - MINUTES;
        for minutes in self.minutes.values_mut() {
            *minutes = minutes.split_off(&earliest);
        }
        self.minutes.retain(|_, minutes| !minutes.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use kurier_core::event::Event;
    use kurier_core::id::EventId;

    use super::*;

    fn recorded(kind: Kind, minute: i64) -> Recorded {
        let at = Timestamp::from_micros(minute * MINUTE_MICROS + 1);
        Recorded {
            position: Position(1),
            workspace: WorkspaceId::from_bytes([1; 16]),
            event: Event {
                id: EventId::of_message("e"),
                kind,
                contact: None,
                occurred_at: at,
                recorded_at: at,
                payload: "{}".to_owned(),
            }
            .into(),
        }
    }

    #[test]
    fn minutes_are_counted_by_what_happened_and_forgotten_after_an_hour() {
        let mut state = State::default();
        state.count(&[
            recorded(Kind::Track, 5),
            recorded(Kind::Track, 70),
            recorded(Kind::Page, 70),
            recorded(Kind::JourneyEntered, 70),
            recorded(Kind::MessageSent, 70),
            recorded(Kind::MessageFailed, 70),
            recorded(Kind::JourneyMoved, 70),
        ]);
        state.forget(Timestamp::from_micros(70 * MINUTE_MICROS));
        let minutes = &state.minutes[&WorkspaceId::from_bytes([1; 16])];
        let counts = Counts {
            events: 2,
            entries: 1,
            sends: 1,
            failures: 1,
        };
        assert_eq!(minutes.iter().collect::<Vec<_>>(), [(&70, &counts)]);
        state.forget(Timestamp::from_micros(1_000 * MINUTE_MICROS));
        assert!(state.minutes.is_empty());
    }
}
