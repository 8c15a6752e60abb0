//! Folds the log into the read models, a batch at a time, each with its checkpoint in one
//! transaction. Any number of processes may run this: the checkpoint decides who was first.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kurier_core::event::{Kind, Position, Recorded};
use kurier_core::projection::{
    Contacts, Journeys, Loaded, Messages, Projection, Segments, Templates,
};
use kurier_store::{Applied, Batch, Error, Result, Store};
use tokio::sync::{Notify, watch};

use super::erase::{carry_out, tell_again};
use crate::cache::Changes;
use crate::http::Pressure;
use crate::metrics as names;

/// On SQLite a batch has the writer to itself while it is written: whoever waits for it is not
/// to wait long.
const BATCH_MAX: usize = 500;
/// Another process may append without telling us.
const LOOK_EVERY: Duration = Duration::from_millis(200);
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// While there is much to take in, to decide or to deliver, folding contacts rests this many times as long as it worked: what was
/// accepted is durable already, and the clients are waiting. Members are few and eagerly
/// awaited: folding them rests only for a moment.
const CONTACTS_REST: u32 = 9;
const MEMBERS_REST: u32 = 0;
const REST_MAX: Duration = Duration::from_millis(1_000);
/// And never less: many small batches would cost more than a few larger ones.
const REST_MIN: Duration = Duration::from_millis(10);

pub struct Projector {
    store: Store,
    pressure: Arc<Pressure>,
    projection: &'static dyn Projection,
    erases: bool,
    rest: u32,
    reached: watch::Sender<Position>,
    wake: Notify,
    /// Who remembers contacts, and must know what changes them.
    changes: Option<Arc<Changes>>,
}

impl Projector {
    /// Folds contacts; and what an erasure asks of log and queue is done on the way.
    pub fn of_contacts(store: Store, pressure: Arc<Pressure>) -> Self {
        Self {
            erases: true,
            rest: CONTACTS_REST,
            ..Self::new(store, pressure, &Contacts)
        }
    }

    pub fn of_segments(store: Store, pressure: Arc<Pressure>) -> Self {
        Self::new(store, pressure, &Segments)
    }

    pub fn of_templates(store: Store, pressure: Arc<Pressure>) -> Self {
        Self::new(store, pressure, &Templates)
    }

    pub fn of_messages(store: Store, pressure: Arc<Pressure>) -> Self {
        Self {
            rest: CONTACTS_REST,
            ..Self::new(store, pressure, &Messages)
        }
    }

    pub fn of_journeys(store: Store, pressure: Arc<Pressure>) -> Self {
        Self {
            rest: CONTACTS_REST,
            ..Self::new(store, pressure, &Journeys)
        }
    }

    fn new(store: Store, pressure: Arc<Pressure>, projection: &'static dyn Projection) -> Self {
        let reached = watch::Sender::new(Position(0));
        Self {
            store,
            pressure,
            projection,
            erases: false,
            rest: MEMBERS_REST,
            reached,
            wake: Notify::new(),
            changes: None,
        }
    }

    /// Tells this of every change.
    #[must_use]
    pub fn telling(self, changes: Arc<Changes>) -> Self {
        Self {
            changes: Some(changes),
            ..self
        }
    }

    pub fn name(&self) -> &'static str {
        self.projection.name()
    }

    /// How far this process knows the read models to have come.
    pub fn position(&self) -> Position {
        *self.reached.borrow()
    }

    /// Says that there is something to fold.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// Runs until the task is dropped.
    pub async fn run(&self) {
        loop {
            let began = Instant::now();
            let wait = match self.step().await {
                Ok(0) => LOOK_EVERY,
                Ok(_) if self.pressure.is_busy() || self.pressure.is_working() => {
                    (began.elapsed() * self.rest).clamp(REST_MIN, REST_MAX)
                }
                Ok(_) => continue,
                Err(error) => {
                    tracing::error!(projection = self.name(), %error, "folding failed, will try again");
                    RETRY_AFTER
                }
            };
            // A wake while resting is no reason to end the rest early; it is kept for later.
            let resting = wait != LOOK_EVERY;
            if resting {
                tokio::time::sleep(wait).await;
            } else {
                let _ = tokio::time::timeout(wait, self.wake.notified()).await;
            }
        }
    }

    /// Folds until nothing is left: for commands that run without a server.
    pub async fn drain(&self) -> Result<()> {
        while self.step().await? > 0 {}
        Ok(())
    }

    /// Waits until the read models include `position`; false if that takes longer than
    /// `patience`.
    pub async fn reach(&self, position: Position, patience: Duration) -> bool {
        self.wake();
        let mut reached = self.reached.subscribe();
        let waiting = reached.wait_for(|reached| *reached >= position);
        tokio::time::timeout(patience, waiting).await.is_ok()
    }

    /// Folds one batch; answers how many events it held.
    pub async fn step(&self) -> Result<usize> {
        let from = self.store.views.checkpoint(self.name()).await?;
        self.reached
            .send_if_modified(|reached| std::mem::replace(reached, (*reached).max(from)) < from);
        if let Some(changes) = &self.changes {
            changes.reach(from).await;
        }
        let events = self.store.log.read(from, BATCH_MAX).await?;
        let Some(last) = events.last() else {
            return Ok(0);
        };
        let to = last.position;
        for recorded in events
            .iter()
            .filter(|r| self.erases && r.event.kind == Kind::ContactErased)
        {
            carry_out(&self.store, recorded).await?;
        }
        let loaded = self.load(&events).await?;
        let folded = self.projection.fold(loaded, &events);
        let folded = folded.map_err(|e| Error::Damaged(e.to_string()))?;
        for (position, reason) in &folded.poison {
            tracing::error!(projection = self.name(), %position, reason, "an event was set aside");
        }
        tell_again(&self.store, &events, &folded.belated).await?;
        let batch = Batch {
            projection: self.name(),
            from,
            to,
            folded,
        };
        if self.apply(batch).await? == Applied::Done {
            metrics::counter!(names::PROJECTION_EVENTS, "projection" => self.name())
                .increment(events.len() as u64);
            self.reached
                .send_if_modified(|reached| std::mem::replace(reached, (*reached).max(to)) < to);
        }
        Ok(events.len())
    }

    /// Writes a batch; what is remembered of whom it changes follows before anyone can ask.
    async fn apply(&self, batch: Batch) -> Result<Applied> {
        let Some(changes) = &self.changes else {
            return self.store.views.apply(batch).await;
        };
        let (from, to) = (batch.from, batch.to);
        let _turn = changes.turn().await;
        changes.catch_up(from).await;
        let touched = changes.touched(&batch.folded.changes);
        let applied = self.store.views.apply(batch).await?;
        if applied == Applied::Done {
            changes.wrote(from, to, touched).await;
        }
        Ok(applied)
    }

    /// The rows the batch needs, and those that they point to.
    async fn load(&self, events: &[Recorded]) -> Result<Vec<Loaded>> {
        let mut loaded = self.store.views.load(self.projection.needs(events)).await?;
        let mut newest = loaded.len();
        while newest > 0 {
            let needs = self.projection.follows(&loaded[loaded.len() - newest..]);
            let needs: Vec<_> = needs
                .into_iter()
                .filter(|need| !need.keys.is_empty())
                .collect();
            let followed = if needs.is_empty() {
                Vec::new()
            } else {
                self.store.views.load(needs).await?
            };
            newest = followed.len();
            loaded.extend(followed);
        }
        Ok(loaded)
    }
}
