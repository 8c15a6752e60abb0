//! Reacts to the log: folds it into the realms and appends who crossed which segment's
//! border, with the checkpoint, in one transaction. One process leads, by a lease; the others
//! follow up to its checkpoint and take over from there when it is gone.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

use kurier_core::event::{Event, Position, Recorded};
use kurier_core::id::WorkspaceId;
use kurier_core::realm::{Realm, Role};
use kurier_core::time::Timestamp;
use kurier_store::{Reacted, Reaction, Result, Store};
use tokio::sync::{Mutex, Notify, watch};
use uuid::Uuid;

use crate::clock;
use crate::http::Pressure;

/// The reactor's name: of its checkpoint and of its lease. One set holds all lanes today.
const NAME: &str = "react:lanes-0-63";
const BATCH_MAX: usize = 2_000;
/// A reaction with more events is committed in parts; only the last moves the checkpoint.
const EVENTS_MAX: usize = 5_000;
/// Who does not renew for this long has lost the lease.
const LEASE_TERM: Duration = Duration::from_secs(8);
const LEASE_RENEWAL: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(200);
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// Where nothing was decided, the checkpoint moves at least this often: doing such a stretch
/// again decides nothing again.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(1);
const CHECKPOINT_EVENTS: i64 = 10_000;
/// While ingest is busy, a few larger turns cost less than many small ones.
const REST: Duration = Duration::from_millis(50);

pub type Realms = HashMap<WorkspaceId, Realm>;

pub struct Reactor {
    store: Store,
    pressure: Arc<Pressure>,
    holder: Uuid,
    realms: RwLock<Realms>,
    state: Mutex<State>,
    reached: watch::Sender<Position>,
    wake: Notify,
}

/// Where this process stands, touched by its one loop only.
#[derive(Default)]
struct State {
    /// How far the realms have folded.
    position: Position,
    /// Where the checkpoint stands; up to `position` nothing was decided.
    committed: Position,
    committed_at: Option<Instant>,
    fence: Option<i64>,
    renewed: Option<Instant>,
    /// Decided, but not known to be committed.
    pending: Option<Pending>,
}

struct Pending {
    to: Position,
    events: Vec<(WorkspaceId, Event)>,
}

impl State {
    fn is_checkpoint_due(&self, to: Position) -> bool {
        let behind = to.0 - self.committed.0;
        let is_late = self
            .committed_at
            .is_none_or(|at| at.elapsed() >= CHECKPOINT_EVERY);
        behind >= CHECKPOINT_EVENTS || (behind > 0 && is_late)
    }
}

impl Reactor {
    pub fn new(store: Store, pressure: Arc<Pressure>) -> Self {
        Self {
            store,
            pressure,
            holder: Uuid::from_bytes(clock::random()),
            realms: RwLock::default(),
            state: Mutex::default(),
            reached: watch::Sender::new(Position(0)),
            wake: Notify::new(),
        }
    }

    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// The realms as they are now; hold this only for as long as a look takes.
    pub fn realms(&self) -> RwLockReadGuard<'_, Realms> {
        self.realms.read().unwrap_or_else(PoisonError::into_inner)
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

    /// How far the log was reacted to, by whichever process.
    pub async fn committed(&self) -> Result<Position> {
        self.store.views.checkpoint(NAME).await
    }

    /// Whether another process reacts to the log. If none does, this one has the lease now.
    pub async fn is_led_elsewhere(&self) -> Result<bool> {
        let fence = self
            .store
            .reactions
            .lease(NAME, self.holder, LEASE_TERM)
            .await?;
        Ok(fence.is_none())
    }

    /// Gives the lease up, so that another process need not wait for its end.
    pub async fn stop(&self) {
        if let Err(error) = self.store.reactions.release(NAME, self.holder).await {
            tracing::warn!(%error, "the lease could not be given up");
        }
    }

    /// One turn of the loop; answers how long there is nothing to do.
    async fn turn(&self) -> Result<Duration> {
        let mut state = self.state.lock().await;
        self.renew(&mut state).await?;
        let worked = match state.fence {
            Some(fence) => self.lead(&mut state, fence).await?,
            None => self.follow(&mut state).await?,
        };
        Ok(if worked {
            Duration::ZERO
        } else {
            self.until_due().min(LOOK_EVERY)
        })
    }

    fn until_due(&self) -> Duration {
        let due = self.realms().values().map(Realm::due).min();
        let micros = due.map_or(i64::MAX, |due| due.micros_since(clock::now()));
        Duration::from_micros(u64::try_from(micros).unwrap_or(0))
    }

    async fn renew(&self, state: &mut State) -> Result<()> {
        if state.renewed.is_some_and(|at| at.elapsed() < LEASE_RENEWAL) {
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
            tracing::info!(fence, "reacting to the log");
            self.take_over(state).await?;
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
        self.forget_pending(state);
        while self.follow(state).await? {}
        state.committed = state.position;
        let mut after = state.position;
        loop {
            let batch = self.store.log.read(after, BATCH_MAX).await?;
            let Some(last) = batch.last() else {
                return Ok(());
            };
            after = last.position;
            self.each_realm(&batch, |realm, recorded| realm.recall(recorded));
        }
    }

    /// Decisions that were not committed are in the realms already: they begin anew.
    fn forget_pending(&self, state: &mut State) {
        if state.pending.is_some() {
            self.forget(state);
        }
    }

    fn forget(&self, state: &mut State) {
        self.realms
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
        state.position = Position(0);
        state.committed = Position(0);
        state.pending = None;
    }

    fn each_realm(&self, batch: &[Recorded], mut act: impl FnMut(&mut Realm, &Recorded)) {
        let mut realms = self.realms.write().unwrap_or_else(PoisonError::into_inner);
        for recorded in batch {
            act(realms.entry(recorded.workspace).or_default(), recorded);
        }
    }

    /// Folds a batch up to the leader's checkpoint; false if there was nothing.
    async fn follow(&self, state: &mut State) -> Result<bool> {
        let checkpoint = self.store.views.checkpoint(NAME).await?;
        if checkpoint <= state.position {
            self.say_reached(state.position);
            return Ok(false);
        }
        let mut batch = self.store.log.read(state.position, BATCH_MAX).await?;
        batch.retain(|recorded| recorded.position <= checkpoint);
        let Some(last) = batch.last() else {
            return Ok(false);
        };
        state.position = last.position;
        self.each_realm(&batch, |realm, recorded| {
            drop(realm.fold(recorded, Role::Follow))
        });
        self.say_reached(state.position);
        Ok(true)
    }

    /// Folds a batch, lets time pass, and commits what was decided; false if nothing was.
    async fn lead(&self, state: &mut State, fence: i64) -> Result<bool> {
        if state.pending.is_none() {
            let batch = self.store.log.read(state.position, BATCH_MAX).await?;
            let to = batch.last().map_or(state.position, |last| last.position);
            let events = self.decide(&batch);
            if events.is_empty() && !state.is_checkpoint_due(to) {
                let worked = to != state.position;
                state.position = to;
                self.say_reached(to);
                return Ok(worked);
            }
            state.pending = Some(Pending { to, events });
        }
        self.commit(state, fence).await
    }

    fn decide(&self, batch: &[Recorded]) -> Vec<(WorkspaceId, Event)> {
        let mut events = Vec::new();
        self.each_realm(batch, |realm, recorded| {
            let crossings = realm.fold(recorded, Role::Lead);
            events.extend(
                crossings
                    .into_iter()
                    .map(|event| (recorded.workspace, event)),
            );
        });
        let now = clock::now();
        let mut realms = self.realms.write().unwrap_or_else(PoisonError::into_inner);
        for (workspace, realm) in realms.iter_mut().filter(|(_, realm)| realm.due() <= now) {
            events.extend(realm.tick(now).into_iter().map(|event| (*workspace, event)));
        }
        events
            .into_iter()
            .map(|(workspace, event)| (workspace, recorded_now(event, now)))
            .collect()
    }

    async fn commit(&self, state: &mut State, fence: i64) -> Result<bool> {
        let Some(pending) = &state.pending else {
            return Ok(false);
        };
        let mut parts = pending.events.chunks(EVENTS_MAX).peekable();
        let mut reacted = Reacted::Done;
        loop {
            let events = parts.next().map(<[_]>::to_vec).unwrap_or_default();
            let is_last = parts.peek().is_none();
            let to = if is_last { pending.to } else { state.committed };
            let reaction = Reaction {
                reactor: NAME,
                fence,
                from: state.committed,
                to,
                events,
            };
            reacted = match reacted {
                Reacted::Done => self.store.reactions.react(reaction).await?,
                overtaken => overtaken,
            };
            if is_last {
                break;
            }
        }
        if reacted == Reacted::Overtaken {
            tracing::warn!("a reaction was overtaken; beginning anew");
            self.forget(state);
            state.fence = None;
            state.renewed = None;
            return Ok(true);
        }
        state.position = pending.to;
        state.committed = pending.to;
        state.committed_at = Some(Instant::now());
        state.pending = None;
        self.say_reached(state.position);
        Ok(true)
    }

    fn say_reached(&self, position: Position) {
        self.reached
            .send_if_modified(|reached| std::mem::replace(reached, position) != position);
    }

    /// Follows the whole log, reacting to nothing: for commands that only look.
    pub async fn look(&self) -> Result<()> {
        let mut state = self.state.lock().await;
        loop {
            let batch = self.store.log.read(state.position, BATCH_MAX).await?;
            let Some(last) = batch.last() else {
                return Ok(());
            };
            state.position = last.position;
            self.each_realm(&batch, |realm, recorded| {
                drop(realm.fold(recorded, Role::Follow))
            });
            self.say_reached(state.position);
        }
    }
}

/// A crossing is recorded when it is written, whenever its cause was.
fn recorded_now(event: Event, now: Timestamp) -> Event {
    Event {
        recorded_at: now,
        ..event
    }
}
