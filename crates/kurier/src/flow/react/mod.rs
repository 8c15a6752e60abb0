//! Reacts to the log: folds it into the engines and appends what they decide (who crossed
//! which segment's border, who moved on in which journey), with the checkpoint and with the
//! queue's rows, in one transaction. One process leads, by a lease; the others
//! follow up to its checkpoint and take over from there when it is gone.

mod end;
mod keep;
mod look;
mod measure;
#[cfg(test)]
mod tests;
mod time;

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use kurier_core::engine::{Decision, Engine, Engines, Tide, decide};
use kurier_core::event::{Event, Kind, Position, Recorded};
use kurier_core::realm::Role;
use kurier_core::time::Timestamp;
use kurier_store::{Reacted, Reaction, Result, Store};
use tokio::sync::{Mutex, Notify, watch};
use uuid::Uuid;

use super::aside::aside;
use crate::clock::{self, Clock};
use crate::http::Pressure;

pub use keep::Keeping;
pub use measure::Measure;
use time::SETTLING_MICROS;

/// The reactor's name: of its checkpoint and of its lease. One set holds all lanes today.
const NAME: &str = "react:lanes-0-63";
const BATCH_MAX: usize = 2_000;
/// So many events are committed at once.
const EVENTS_MAX: usize = 5_000;
/// Who does not renew for this long has lost the lease.
const LEASE_TERM: Duration = Duration::from_secs(8);
const LEASE_RENEWAL: Duration = Duration::from_secs(2);
/// Who has none tries this often.
const LEASE_TRIAL: Duration = Duration::from_millis(500);
/// Giving it up is not worth waiting for: it ends by itself.
const RELEASE_LIMIT: Duration = Duration::from_secs(1);
const LOOK_EVERY: Duration = Duration::from_millis(200);
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// Where nothing was decided, the checkpoint moves at least this often: doing such a stretch
/// again decides nothing again.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(1);
const CHECKPOINT_EVENTS: i64 = 10_000;
/// So many events, read and decided, are much for one turn.
const MUCH: usize = 1_000;
/// While ingest is busy, a few larger turns cost less than many small ones.
const REST: Duration = Duration::from_millis(10);

pub struct Reactor {
    store: Store,
    clock: Clock,
    pressure: Arc<Pressure>,
    holder: Uuid,
    /// Without it there are no snapshots: a start folds the whole log.
    keeping: Option<Keeping>,
    engines: Arc<RwLock<Engines>>,
    state: Mutex<State>,
    reached: watch::Sender<Position>,
    measured: std::sync::Mutex<Measure>,
    wake: Notify,
    news: Notify,
}

/// Where this process stands, touched by its one loop only.
#[derive(Default)]
struct State {
    /// How far the engines have folded.
    position: Position,
    /// Where the checkpoint stands; up to `position` nothing was decided.
    committed: Position,
    committed_at: Option<Instant>,
    fence: Option<i64>,
    renewed: Option<Instant>,
    /// Decided, but not known to be committed.
    pending: VecDeque<Decision>,
    /// The last erasure that was folded, while snapshots may still tell what it erased.
    erased: Option<Position>,
    snapshot: keep::Progress,
}

impl State {
    fn is_checkpoint_due(&self, to: Position) -> bool {
        let behind = to.0 - self.committed.0;
        let is_late = self
            .committed_at
            .is_none_or(|at| at.elapsed() >= CHECKPOINT_EVERY);
        behind >= CHECKPOINT_EVENTS || (behind > 0 && is_late)
    }

    fn note_erasures(&mut self, batch: &[Recorded]) {
        let mut newest = batch.iter().rev();
        let erasure = newest.find(|r| r.event.kind == Kind::ContactErased);
        self.erased = erasure.map(|r| r.position).or(self.erased);
    }
}

impl Reactor {
    pub fn new(store: Store, pressure: Arc<Pressure>, keeping: Option<Keeping>) -> Self {
        Self {
            store,
            clock: Clock::default(),
            pressure,
            holder: Uuid::from_bytes(clock::random()),
            keeping,
            engines: Arc::default(),
            state: Mutex::default(),
            reached: watch::Sender::new(Position(0)),
            measured: std::sync::Mutex::default(),
            wake: Notify::new(),
            news: Notify::new(),
        }
    }

    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// The engines as they are now; hold this only for as long as a look takes.
    pub fn engines(&self) -> RwLockReadGuard<'_, Engines> {
        self.engines.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn engines_mut(&self) -> RwLockWriteGuard<'_, Engines> {
        self.engines.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// How far this process has reacted, or followed.
    pub fn position(&self) -> Position {
        *self.reached.borrow()
    }

    /// Waits until everything up to `position` was reacted to.
    pub async fn reach(&self, position: Position, patience: Duration) -> bool {
        self.wake();
        let mut reached = self.reached.subscribe();
        let waiting = reached.wait_for(|reached| *reached >= position);
        tokio::time::timeout(patience, waiting).await.is_ok()
    }

    /// Tells whenever more was reacted to.
    pub fn subscribe(&self) -> watch::Receiver<Position> {
        self.reached.subscribe()
    }

    /// Waits until something was decided, or came by that no client sent, such as a message that
    /// went out: for the one who passes it on.
    pub async fn has_news(&self) {
        self.news.notified().await;
    }

    fn tell(&self, batch: &[Recorded]) {
        if batch.iter().any(|it| !it.event.kind.is_from_client()) {
            self.news.notify_one();
        }
    }

    /// Runs until the task is dropped.
    pub async fn run(self: Arc<Self>) {
        loop {
            let wait = match self.turn().await {
                Ok(wait) => wait,
                Err(error) => {
                    tracing::error!(%error, "reacting failed, will try again");
                    RETRY_AFTER
                }
            };
            if self.pressure.is_busy() {
                tokio::time::sleep(REST).await;
            } else {
                let _ = tokio::time::timeout(wait, self.wake.notified()).await;
            }
        }
    }

    /// One turn of the loop; answers how long there is nothing to do.
    async fn turn(&self) -> Result<Duration> {
        Ok(if self.step().await? {
            Duration::ZERO
        } else {
            self.until_due().min(LOOK_EVERY)
        })
    }

    /// Reacts until there is nothing left to react to, as of now.
    pub async fn drain(&self) -> Result<()> {
        while self.step().await? {}
        Ok(())
    }

    /// Reads and reacts once; false if there was nothing.
    async fn step(&self) -> Result<bool> {
        let mut state = self.state.lock().await;
        self.restore(&mut state).await?;
        self.renew(&mut state).await?;
        let worked = match state.fence {
            Some(fence) => self.lead(&mut state, fence).await?,
            None => self.follow(&mut state).await?,
        };
        // Who asked for an erasure waits for what is reached: snapshots must be clean by then.
        self.discard_erased(&mut state).await?;
        self.say_reached(state.position);
        self.keep_sometimes(&mut state).await?;
        Ok(worked)
    }

    async fn renew(&self, state: &mut State) -> Result<()> {
        let every = match state.fence {
            Some(_) => LEASE_RENEWAL,
            None => LEASE_TRIAL,
        };
        if state.renewed.is_some_and(|at| at.elapsed() < every) {
            return Ok(());
        }
        let before = Instant::now();
        let fence = self
            .store
            .reactions
            .lease(NAME, self.holder, LEASE_TERM)
            .await?;
        state.renewed = Some(before);
        if fence.is_some() && fence != state.fence {
            self.take_over(state).await?;
            tracing::info!(fence, position = state.position.0, "reacting to the log");
        }
        if fence.is_none() && state.fence.is_some() {
            tracing::warn!("another process reacts to the log now");
            self.forget(state);
        }
        state.fence = fence;
        Ok(())
    }

    /// Begins to lead: from the checkpoint, with what was decided up to it.
    async fn take_over(&self, state: &mut State) -> Result<()> {
        if !state.pending.is_empty() {
            // Decisions that were not committed are in the engines already: they begin anew.
            self.forget(state);
        }
        self.restore(state).await?;
        while self.follow(state).await? {}
        state.committed = state.position;
        let mut after = state.position;
        loop {
            let batch = self.store.log.read(after, BATCH_MAX).await?;
            let Some(last) = batch.last() else {
                break;
            };
            after = last.position;
            self.each_engine(&batch, |engine, recorded| engine.recall(recorded));
        }
        self.engines_mut().values_mut().for_each(Engine::doubt);
        Ok(())
    }

    fn forget(&self, state: &mut State) {
        self.engines_mut().clear();
        state.position = Position(0);
        state.committed = Position(0);
        state.pending.clear();
        state.snapshot.is_restored = false;
    }

    fn each_engine(&self, batch: &[Recorded], mut act: impl FnMut(&mut Engine, &Recorded)) {
        let mut engines = self.engines_mut();
        for recorded in batch {
            act(engines.entry(recorded.workspace).or_default(), recorded);
        }
    }

    /// Folds a batch up to the leader's checkpoint; false if there was nothing.
    async fn follow(&self, state: &mut State) -> Result<bool> {
        let checkpoint = self.store.views.checkpoint(NAME).await?;
        if checkpoint <= state.position {
            return Ok(false);
        }
        let mut batch = self.store.log.read(state.position, BATCH_MAX).await?;
        batch.retain(|recorded| recorded.position <= checkpoint);
        let Some(last) = batch.last() else {
            return Ok(false);
        };
        state.position = last.position;
        state.note_erasures(&batch);
        self.each_engine(&batch, |engine, recorded| {
            drop(engine.fold(recorded, Role::Follow))
        });
        self.tell(&batch);
        Ok(true)
    }

    /// Folds a batch, lets time pass, and commits what was decided; false if nothing was.
    async fn lead(&self, state: &mut State, fence: i64) -> Result<bool> {
        if state.pending.is_empty() {
            let batch = self.store.log.read(state.position, BATCH_MAX).await?;
            self.tell(&batch);
            let decided = self.decide(state.position, &batch);
            let events = decided.iter().map(|decision| decision.events.len());
            let work = batch.len() + events.sum::<usize>();
            if work >= MUCH {
                self.pressure.note_much();
            }
            state.note_erasures(&batch);
            let to = decided.back().map_or(state.position, |last| last.to);
            let is_idle = decided.iter().all(|decision| decision.events.is_empty());
            if is_idle && !state.is_checkpoint_due(to) {
                return Ok(std::mem::replace(&mut state.position, to) != to);
            }
            state.pending = decided;
        }
        self.commit(state, fence).await
    }

    fn decide(&self, from: Position, batch: &[Recorded]) -> VecDeque<Decision> {
        let now = self.clock.now();
        let tide = Tide {
            now,
            settled: now.shifted(-SETTLING_MICROS),
            is_behind: batch.len() == BATCH_MAX,
        };
        let decided = aside(batch.len(), || {
            decide(&mut self.engines_mut(), (from, batch), tide, EVENTS_MAX)
        });
        let recorded = |decision: Decision| Decision {
            events: decision
                .events
                .into_iter()
                .map(|(workspace, event)| (workspace, recorded_now(event, now)))
                .collect(),
            ..decision
        };
        decided.into_iter().map(recorded).collect()
    }

    async fn commit(&self, state: &mut State, fence: i64) -> Result<bool> {
        while let Some(decision) = state.pending.front() {
            match self.commit_one(state.committed, decision, fence).await? {
                Reacted::Done => {
                    state.committed = decision.to;
                    measure::count(decision);
                    if !decision.events.is_empty() {
                        self.news.notify_one();
                    }
                }
                Reacted::Overtaken => {
                    tracing::warn!("a reaction was overtaken; beginning anew");
                    self.forget(state);
                    state.fence = None;
                    state.renewed = None;
                    return Ok(true);
                }
            }
            state.position = state.committed;
            state.pending.pop_front();
        }
        state.committed_at = Some(Instant::now());
        Ok(true)
    }

    /// A large decision has one cause alone and is committed in parts; only the last moves the
    /// checkpoint.
    async fn commit_one(&self, from: Position, decision: &Decision, fence: i64) -> Result<Reacted> {
        let mut parts = decision.parts(EVENTS_MAX).peekable();
        loop {
            let events = parts.next().map(<[_]>::to_vec).unwrap_or_default();
            let is_last = parts.peek().is_none();
            let reaction = Reaction {
                reactor: NAME,
                fence,
                from,
                to: if is_last { decision.to } else { from },
                events,
            };
            let reacted = self.store.reactions.react(reaction).await?;
            if is_last || reacted == Reacted::Overtaken {
                return Ok(reacted);
            }
        }
    }

    fn say_reached(&self, position: Position) {
        self.reached
            .send_if_modified(|reached| std::mem::replace(reached, position) != position);
    }
}

/// A decision is recorded when it is written, whenever its cause was.
fn recorded_now(event: Event, now: Timestamp) -> Event {
    Event {
        recorded_at: now,
        ..event
    }
}
