//! Folds the log into the read models, a batch at a time, each with its checkpoint in one
//! transaction. Any number of processes may run this: the checkpoint decides who was first.

mod each;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use kurier_core::event::{Kind, Position, Recorded};
use kurier_core::id::{EventId, WorkspaceId};
use kurier_core::projection::{Folded, Loaded, Projection, Repeat};
use kurier_store::{Applied, Batch, Error, Result, Store};
use tokio::sync::{Notify, watch};

use super::ahead::Ahead;
use super::aside::aside;
use super::concern::Concern;
use super::erase::{carry_out, tell_again};
use super::fold::fold;
use super::lookout::Lookout;
use super::pace::{Pace, Turns, batch_max, is_awaited};
use super::rate::Rate;
use crate::cache::Changes;
use crate::clock;
use crate::fault;
use crate::http::Pressure;
use crate::metrics as names;

/// So many events that change nothing may be passed before the checkpoint is moved.
const PASSED_MAX: i64 = 20_000;
/// Another process may append without telling us.
pub const LOOK_EVERY: Duration = Duration::from_millis(200);
const NOTHING: Duration = Duration::ZERO;
const RETRY_AFTER: Duration = Duration::from_secs(1);

pub struct Projector {
    store: Store,
    pressure: Arc<Pressure>,
    projection: &'static dyn Projection,
    concern: Concern,
    erases: bool,
    pace: Pace,
    reached: watch::Sender<Position>,
    wake: Notify,
    /// Whether the last step failed, as the database was told.
    is_failing: AtomicBool,
    /// From this checkpoint on nothing changed up to the other position.
    passed: Mutex<(Position, Position)>,
    ahead: Ahead,
    rate: Rate,
    /// Who remembers contacts, and must know what changes them.
    changes: Option<Arc<Changes>>,
}

impl Projector {
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

    /// What of the log concerns it, and so whoever follows it.
    pub fn concern(&self) -> Concern {
        self.concern.clone()
    }

    /// How far this process knows the read models to have come.
    pub fn position(&self) -> Position {
        *self.reached.borrow()
    }

    /// How many events a second it folds, or another process does.
    pub fn rate(&self) -> f64 {
        self.rate.per_second(Instant::now(), self.position())
    }

    /// For those who follow it.
    pub fn subscribe(&self) -> watch::Receiver<Position> {
        self.reached.subscribe()
    }

    /// Says that there is something to fold.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// Runs until the task is dropped.
    pub async fn run(&self) {
        let mut lookout = Lookout::default();
        let mut turns = Turns::default();
        loop {
            if self.is_spared(&mut lookout) && !self.is_woken(self.pace.rest(NOTHING)).await {
                continue;
            }
            let began = Instant::now();
            let step = self.step().await;
            lookout.looked(began, self.position());
            self.note(step.as_ref().err()).await;
            let wait = match step {
                Ok(folded) if is_awaited(&self.pressure) => {
                    let newest = self.store.log.newest().unwrap_or_default();
                    self.pace.rest_after(&turns.note(began, folded, newest))
                }
                Ok(0) => LOOK_EVERY,
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
                self.is_woken(wait).await;
            }
        }
    }

    /// Whether a look can be spared while clients are waiting.
    fn is_spared(&self, lookout: &mut Lookout) -> bool {
        let folds = |kind| self.projection.folds(kind);
        is_awaited(&self.pressure) && lookout.sees_nothing(self.store.log.as_ref(), &folds)
    }

    /// Whether somebody says within this time that there is something to fold.
    async fn is_woken(&self, within: Duration) -> bool {
        let woken = tokio::time::timeout(within, self.wake.notified());
        woken.await.is_ok()
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

    /// Says what stops this projection, once, and that it goes on again.
    async fn note(&self, error: Option<&Error>) {
        if self.is_failing.swap(error.is_some(), Ordering::Relaxed) == error.is_some() {
            return;
        }
        let failure = error.map(|error| (clock::now(), error.to_string()));
        let noted = self
            .store
            .projections
            .note_failure(self.name(), failure)
            .await;
        // Where the database cannot be reached it cannot be told either.
        if let Err(error) = noted {
            tracing::debug!(projection = self.name(), %error, "a failure was not noted");
            self.is_failing.store(false, Ordering::Relaxed);
        }
    }

    /// Folds one batch; answers how many events it held.
    pub async fn step(&self) -> Result<usize> {
        let progress = self.store.projections.progress(self.name()).await?;
        let from = progress.position;
        self.has_reached(from);
        self.rate.note(Instant::now(), self.position());
        if progress.is_paused {
            return Ok(0);
        }
        if let Some(changes) = &self.changes {
            changes.reach(from).await;
        }
        let after = self.pass_over(from).await?;
        let (max, reads_ahead) = batch_max(&self.pressure);
        let events = self.ahead.read(after, max).await?;
        let Some(last) = events.last() else {
            self.keep_passed(from, after).await?;
            return Ok(0);
        };
        let to = last.position;
        if reads_ahead && !self.concern.is_seldom() {
            self.ahead.begin(&events, max);
        }
        fault::point(self.name(), "read");
        for recorded in events
            .iter()
            .filter(|r| self.erases && r.event.kind == Kind::ContactErased)
        {
            carry_out(&self.store, recorded).await?;
        }
        let folded = self.fold(&events).await?;
        for (position, reason) in &folded.poison {
            tracing::error!(projection = self.name(), %position, reason, "an event was set aside");
        }
        fault::point(self.name(), "folded");
        tell_again(&self.store, &events, &folded.belated).await?;
        if folded.is_empty() && to.0 - from.0 < PASSED_MAX {
            self.pass(from, to);
            self.has_reached(to);
        } else if self.apply(from, to, folded).await? == Applied::Done {
            fault::point(self.name(), "applied");
            self.has_reached(to);
        }
        let count = events.len() as u64;
        metrics::counter!(names::PROJECTION_EVENTS, "projection" => self.name()).increment(count);
        Ok(events.len())
    }

    async fn apply(&self, from: Position, to: Position, folded: Folded) -> Result<Applied> {
        self.write(Batch::new(self.projection, (from, to), folded))
            .await
    }

    fn has_reached(&self, to: Position) {
        self.reached
            .send_if_modified(|reached| std::mem::replace(reached, (*reached).max(to)) < to);
    }

    /// Events up to `to` changed nothing: with that alone no transaction is bothered.
    fn pass(&self, from: Position, to: Position) {
        *self.passed.lock().unwrap_or_else(PoisonError::into_inner) = (from, to);
    }

    /// Where to read on, if the checkpoint stands at `from`.
    fn passed_from(&self, from: Position) -> Position {
        let passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
        if passed.0 == from {
            passed.1.max(from)
        } else {
            from
        }
    }

    /// What does not concern this is not even read.
    async fn pass_over(&self, from: Position) -> Result<Position> {
        let after = self.passed_from(from);
        let to = self.concern.pass(self.store.log.as_ref(), after).await?;
        if to > after {
            self.pass(from, to);
            self.has_reached(to);
        }
        Ok(to)
    }

    /// At the end of the log there is time to note how far it was read, unless more comes all
    /// the time.
    async fn keep_passed(&self, from: Position, after: Position) -> Result<()> {
        let may_wait = is_awaited(&self.pressure) && after.0 - from.0 < PASSED_MAX;
        if after > from && !may_wait {
            self.apply(from, after, Folded::default()).await?;
        }
        Ok(())
    }

    async fn fold(&self, events: &[Recorded]) -> Result<Folded> {
        let fresh = match self.projection.repeat() {
            Repeat::Remembered => Some(self.fresh(events).await?),
            Repeat::Upsert | Repeat::EventRows => None,
        };
        let events = fresh.as_deref().unwrap_or(events);
        let loaded = self.load(events).await?;
        fault::point(self.name(), "loaded");
        let mut folded = aside(events.len(), || fold(self.projection, loaded, events))?;
        let counted = fresh.iter().flatten();
        folded.processed = counted.map(key).collect();
        Ok(folded)
    }

    /// Those of the events it folds that were not counted yet, each once.
    async fn fresh(&self, events: &[Recorded]) -> Result<Vec<Recorded>> {
        let folded = events
            .iter()
            .filter(|it| self.projection.folds(it.event.kind));
        let folded: Vec<&Recorded> = folded.collect();
        let keys: Vec<_> = folded.iter().map(|recorded| key(recorded)).collect();
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let mut seen = self.store.projections.processed(self.name(), &keys).await?;
        let fresh = folded.into_iter().filter(|it| seen.insert(key(it)));
        Ok(fresh.cloned().collect())
    }

    /// Writes a batch; what is remembered of whom it changes follows before anyone can ask.
    async fn write(&self, batch: Batch) -> Result<Applied> {
        let Some(changes) = &self.changes else {
            return self.store.views.apply(batch).await;
        };
        let (from, to) = batch.between();
        let _turn = changes.turn().await;
        changes.catch_up(from).await;
        let touched = changes.touched(batch.changes());
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

/// What an event is remembered by.
pub fn key(recorded: &Recorded) -> (WorkspaceId, EventId) {
    (recorded.workspace, recorded.event.id)
}
