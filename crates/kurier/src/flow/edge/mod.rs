//! The edge: what read models say, in the keyspace, where it is read quickly. Nothing is true
//! only there: it follows the read model, one step behind, and may be emptied at any time.
//!
//! A step does what the key architecture asks for, in this order:
//! 1. events arrive ([`step`](Edge::step) reads the log up to where the read model has come);
//! 2. version hints are asked (`steps`);
//! 3. what they know is skipped;
//! 4. deduplication keys are asked, and
//! 5. the entities are written, and
//! 6. the hints renewed: these three by one script for each tenant ([`kurier_store::edge`]).
//!
//! Then the checkpoint is told to Redis, for operators, and to the store, where it counts. A
//! crash anywhere leads to the same events being seen again, and that to nothing.

mod heal;
mod keep;
mod keyed;
mod read;
mod steps;
mod warm;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use kurier_core::edge::{Kept, Module};
use kurier_core::event::Position;
use kurier_core::id::WorkspaceId;
use kurier_core::keys::{self, Ttls};
use kurier_core::time::Timestamp;
use kurier_store::Store;
use kurier_store::kv::{self, Kv};
use tokio::sync::{Notify, watch};
use uuid::Uuid;

use super::Projector;
use super::concern::Concern;
use crate::fault;
use crate::metrics as names;
use steps::Gathered;

/// So many events are a step at most.
const BATCH_MAX: usize = 1_000;
/// How often to look whether the read model has come on, or a tenant has been lost.
const LOOK_EVERY: Duration = Duration::from_millis(200);
const TENANTS_EVERY: Duration = Duration::from_secs(2);
/// A keyspace that does not answer is left alone, longer each time.
const REST_MIN: Duration = Duration::from_millis(100);
const REST_MAX: Duration = Duration::from_secs(5);

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Store(#[from] kurier_store::Error),
    #[error(transparent)]
    Keyspace(#[from] kv::Error),
    #[error(transparent)]
    Key(#[from] keys::Refused),
    #[error("a row of {0} cannot be read")]
    Row(&'static str),
    #[error("{0} entities kept changing while they were written")]
    Restless(usize),
    #[error(
        "[content]: keys = \"bare\" is for one workspace, and there are {0}: their keys would stand \
         in each other's places. Say keys = \"tenant\""
    )]
    Shared(usize),
}

pub type Result<T> = std::result::Result<T, Error>;

/// How an environment has its edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeSettings {
    pub environment: String,
    pub ttls: Ttls,
}

/// One module's edge.
pub struct Edge<M: Module> {
    store: Store,
    keyspace: Arc<dyn Kv>,
    projector: Followed,
    settings: EdgeSettings,
    clock: fn() -> Timestamp,
    state: Mutex<State<M>>,
    reached: watch::Sender<Position>,
    wake: Notify,
    module: PhantomData<fn() -> M>,
}

/// Who folds the read model that the module follows, and how far this process knows it to be.
struct Followed {
    name: &'static str,
    concern: Concern,
    folded: watch::Receiver<Position>,
}

impl Followed {
    const fn name(&self) -> &'static str {
        self.name
    }

    fn position(&self) -> Position {
        *self.folded.borrow()
    }
}

/// What this process knows of the edge.
struct State<M: Module> {
    /// Up to here it is projected; nothing is known before the first look.
    applied: Option<Position>,
    /// And up to here it is known what is to be projected: what is pending.
    scanned: Position,
    pending: HashSet<(WorkspaceId, Uuid)>,
    /// The checkpoint of record, as this process last wrote it.
    kept: Position,
    /// Whether something was projected since.
    owes: bool,
    /// Up to where each tenant must be at the edge, as far as this process has seen events.
    needed: HashMap<WorkspaceId, Position>,
    has_looked: bool,
    /// Tenants of which something is missing, and indexes that hold what they should not.
    lost: BTreeSet<WorkspaceId>,
    stray: BTreeSet<String>,
    /// Nobody reads from a keyspace that did not answer, until then.
    rests_until: Option<Instant>,
    /// Whether hints are worth asking before anything is loaded: not where events are new.
    asks_hints: bool,
    /// The step after the last one, if there was time to gather it.
    ready: Option<Gathered<M>>,
}

// Derived, this would ask for a default of the module, too.
impl<M: Module> Default for State<M> {
    fn default() -> Self {
        Self {
            applied: None,
            scanned: Position(0),
            pending: HashSet::new(),
            kept: Position(0),
            owes: false,
            needed: HashMap::new(),
            has_looked: false,
            lost: BTreeSet::new(),
            stray: BTreeSet::new(),
            rests_until: None,
            asks_hints: true,
            ready: None,
        }
    }
}

impl<M: Module> Edge<M> {
    pub fn new(
        store: Store,
        keyspace: Arc<dyn Kv>,
        projector: &Projector,
        settings: EdgeSettings,
        clock: fn() -> Timestamp,
    ) -> Self {
        Self {
            store,
            keyspace,
            projector: Followed {
                name: projector.name(),
                concern: projector.concern(),
                folded: projector.subscribe(),
            },
            settings,
            clock,
            state: Mutex::default(),
            reached: watch::Sender::new(Position(0)),
            wake: Notify::new(),
            module: PhantomData,
        }
    }

    fn state(&self) -> MutexGuard<'_, State<M>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Under this name the checkpoint of record is kept.
    pub fn name() -> String {
        format!("edge:{}", M::NAMESPACE.module())
    }

    /// Up to where this process knows the edge to be projected.
    pub fn position(&self) -> Position {
        *self.reached.borrow()
    }

    /// Waits until the edge includes `position`; false if that takes longer than `patience`, and
    /// at once while the keyspace does not answer.
    pub async fn reach(&self, position: Position, patience: Duration) -> bool {
        if self.is_resting() {
            return false;
        }
        self.wake.notify_one();
        let mut reached = self.reached.subscribe();
        let waiting = reached.wait_for(|reached| *reached >= position);
        tokio::time::timeout(patience, waiting).await.is_ok()
    }

    /// Says that there is something to project.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// Runs until the task is dropped.
    pub async fn run(&self) {
        let mut rest = REST_MIN;
        let mut looked: Option<Instant> = None;
        loop {
            let is_due = looked.is_none_or(|at| at.elapsed() > TENANTS_EVERY);
            let taken = self.turn(is_due).await;
            if let Err(error) = taken {
                self.failed(&error, rest);
                tokio::time::sleep(rest).await;
                rest = (rest * 2).min(REST_MAX);
                continue;
            }
            rest = REST_MIN;
            looked = if is_due { Some(Instant::now()) } else { looked };
            if taken.is_ok_and(|events| events == 0) {
                let _ = tokio::time::timeout(LOOK_EVERY, self.wake.notified()).await;
            }
        }
    }

    /// Heals what was lost and takes one step; answers how many events it took.
    async fn turn(&self, looks: bool) -> Result<usize> {
        if looks {
            self.look().await?;
        }
        self.heal_lost().await?;
        self.step().await
    }

    /// Until nothing is left to do: for tests, and for commands that run without a server.
    pub async fn drain(&self) -> Result<()> {
        self.look().await?;
        while self.turn(false).await? > 0 {}
        Ok(())
    }

    /// Only speed is lost while the edge stands still.
    fn failed(&self, error: &Error, rest: Duration) {
        let module = M::NAMESPACE.module();
        metrics::counter!(names::EDGE_FAULTS, "module" => module).increment(1);
        if rest == REST_MIN {
            // Once for each time that it stands still.
            tracing::warn!(module, %error, "the edge stands still, will try again");
        }
        self.state().rests_until = Some(Instant::now() + rest);
    }

    fn is_resting(&self) -> bool {
        let until = self.state().rests_until;
        until.is_some_and(|until| Instant::now() < until)
    }

    /// A place where tests end the process, as `notification.slack.written`.
    fn fault_point(step: &str) {
        fault::point(M::NAMESPACE.module(), step);
    }

    const fn is_whole() -> bool {
        matches!(M::KEPT, Kept::Whole)
    }

    fn count(&self, name: &'static str, by: u64) {
        metrics::counter!(name, "module" => M::NAMESPACE.module()).increment(by);
    }
}

/// Whose entity.
type Of = (WorkspaceId, Uuid);
