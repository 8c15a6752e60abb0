//! A journey over what has happened: a simulation that reads the log, and changes nothing.

use kurier_core::event::{Kind, Position};
use kurier_core::id::{IdentityKey, JourneyId};
use kurier_core::journey::Simulation;
use kurier_core::time::Timestamp;
use kurier_core::value::Value;
use kurier_store::{Result, Scope, Store};

/// How long a journey goes on after the last event, if it does not say.
const AFTER_DAYS: i64 = 400;
const DAY_MICROS: i64 = 86_400_000_000;
const BATCH_MAX: usize = 5_000;

/// A definition that is published when its time comes.
pub struct Rehearsal {
    pub simulation: Simulation,
    journey: JourneyId,
    document: Option<Value>,
    /// The journey is published then, what came before is history; with the first event if not said.
    pub from: Option<Timestamp>,
    /// It ends then; long after the last event if not said.
    pub to: Option<Timestamp>,
    last: Timestamp,
}

impl Rehearsal {
    pub fn new(key: IdentityKey, journey: JourneyId, document: Value) -> Self {
        Self {
            simulation: Simulation::new(key),
            journey,
            document: Some(document),
            from: None,
            to: None,
            last: Timestamp::default(),
        }
    }

    /// Begins with the first event, or when the journey is published if that is earlier.
    pub fn begin(&mut self, first: Option<Timestamp>) {
        self.last = first.unwrap_or_default();
        let from = *self.from.get_or_insert(self.last);
        self.simulation.pass_to(self.last.min(from));
    }

    /// Whether an event at this instant is still to be taken in; the journey is published
    /// before it, if it is time.
    pub fn comes_to(&mut self, at: Timestamp) -> bool {
        if self.to.is_some_and(|to| at > to) {
            return false;
        }
        if self.from.is_none_or(|from| at >= from) {
            self.publish();
        }
        self.last = at;
        true
    }

    /// Takes in what the log has of a workspace behind a position, with its segments as they
    /// are now; `told` how far it is.
    pub async fn replay(
        &mut self,
        store: &Store,
        scope: Scope,
        mut after: Position,
        mut told: impl FnMut(Position),
    ) -> Result<()> {
        let (head, mut is_begun) = (store.log.head().await?, false);
        while after < head {
            let batch = store.log.read(after, BATCH_MAX).await?;
            let Some(last) = batch.last() else { break };
            after = last.position;
            told(after);
            for recorded in batch.iter().filter(|it| it.workspace == scope.0) {
                let at = recorded.event.recorded_at;
                if !std::mem::replace(&mut is_begun, true) {
                    self.begin(Some(at));
                    for segment in store.segments.segments(scope).await? {
                        self.simulation.define(&segment.definition);
                    }
                }
                if is_of_history(recorded.event.kind) && self.comes_to(at) {
                    self.simulation.replay(recorded);
                }
            }
            // Folding is work: others have their turn.
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    fn publish(&mut self) {
        if let Some(document) = self.document.take() {
            self.simulation.pass_to(self.from.unwrap_or(self.last));
            self.simulation.publish(self.journey, 1, document);
        }
    }

    /// Lets the rest of the time pass.
    pub fn finish(mut self) -> Simulation {
        self.publish();
        let end = self.last.shifted(AFTER_DAYS * DAY_MICROS);
        self.simulation.pass_to(self.to.unwrap_or(end));
        self.simulation
    }
}

/// Segments are taken as they are now, whatever they were then.
const fn is_of_history(kind: Kind) -> bool {
    use Kind::{SegmentChanged, SegmentCreated, SegmentDeleted};
    !matches!(kind, SegmentCreated | SegmentChanged | SegmentDeleted)
}
