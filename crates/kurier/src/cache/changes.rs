//! Which contacts changed when, as far as this process knows without a gap.
//!
//! Whoever folds a batch knows whom it changed, remembers it here and tells the other processes
//! through Redis. A stretch that nobody told of is a gap: then everything remembered before its
//! end is worth nothing any more, whatever it was.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kurier_core::contact::Standing;
use kurier_core::edge::ContactProfile;
use kurier_core::event::Position;
use kurier_core::id::{ContactId, WorkspaceId};
use kurier_core::keys::changes::{self, Changed};
use kurier_core::keys::{Ttls, cache};
use kurier_core::projection::{CONTACT, Cell, Change, Row, TIMELINE, contact_standing};
use kurier_store::{Result, Scope, Store};
use tokio::sync;

use super::remote::{Remote, patient};
use super::shelf::{Kept, Shelf, What};
use crate::flow::edge::Edge;

/// More than this is not known of single contacts: it is taken as a gap instead.
const CONTACTS_MAX: usize = 500_000;

pub type Who = (WorkspaceId, ContactId);

pub struct Changes {
    store: Store,
    shelf: Arc<Shelf>,
    remote: Option<Remote>,
    edge: Option<Arc<Edge<ContactProfile>>>,
    ttls: Ttls,
    known: Mutex<Known>,
    /// Held while a batch is written and until it is known here: who comes between waits.
    turn: sync::Mutex<()>,
    /// Known once there is a workspace.
    installation: sync::OnceCell<WorkspaceId>,
}

/// Everything that changed after `since` and up to `until`.
#[derive(Default)]
struct Known {
    since: Position,
    until: Position,
    last: HashMap<Who, Position>,
    /// Of whom only the timeline changed.
    timelines: HashMap<Who, Position>,
}

/// Whom a batch changes.
#[derive(Debug, Default)]
pub struct Touched {
    all: Vec<Who>,
    /// Of whom nothing but the timeline changes.
    timelines: Vec<Who>,
    /// What is to be remembered of those that are remembered here.
    kept: Vec<(Who, Arc<Standing>)>,
    /// Of these nothing may be left.
    gone: Vec<Who>,
}

fn who(cells: &[Cell]) -> Option<Who> {
    let id = |at: usize| cells.get(at)?.as_id();
    Some((WorkspaceId::from_uuid(id(0)?), ContactId::from_uuid(id(1)?)))
}

impl Known {
    fn covers(&self, at: Position, asked: Position) -> bool {
        at >= self.since && asked <= self.until
    }

    fn count(&self) -> usize {
        self.last.len() + self.timelines.len()
    }
}

fn last_of(all: &HashMap<Who, Position>, who: Who) -> Position {
    all.get(&who).copied().unwrap_or_default()
}

impl Changes {
    pub fn new(
        store: Store,
        shelf: Arc<Shelf>,
        remote: Option<Remote>,
        edge: Option<Arc<Edge<ContactProfile>>>,
        ttls: Ttls,
    ) -> Self {
        Self {
            store,
            shelf,
            remote,
            edge,
            ttls,
            known: Mutex::default(),
            turn: sync::Mutex::default(),
            installation: sync::OnceCell::new(),
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whom these change.
    pub fn touched(&self, changes: &[Change]) -> Touched {
        let mut touched = Touched::default();
        let mut listed = HashSet::new();
        for change in changes {
            if let Some((_, row)) = change.as_put().filter(|it| it.0.name == TIMELINE.name) {
                listed.extend(who(row));
            }
            if let Some((_, row)) = change.as_put().filter(|it| it.0.name == CONTACT.name) {
                self.put(who(row), row, &mut touched);
            }
            if let Some((_, cells)) = change.as_drop().filter(|it| it.0.name == CONTACT.name) {
                touched.all.extend(who(cells));
                touched.gone.extend(who(cells));
            }
        }
        for who in &touched.all {
            listed.remove(who);
        }
        touched.timelines.extend(listed);
        touched
    }

    fn put(&self, who: Option<Who>, row: &Row, touched: &mut Touched) {
        touched.all.extend(who);
        let wanted = who.filter(|who| !is_live(row) || self.shelf.has(&self.key(*who)));
        let read = || contact_standing(row).map(|(_, _, standing)| standing);
        let Some((who, standing)) = wanted.and_then(|who| Some((who, read()?))) else {
            return;
        };
        if let Standing::Erased { .. } = standing {
            touched.gone.push(who);
        }
        touched.kept.push((who, Arc::new(standing)));
    }

    /// Held while a batch is written.
    pub async fn turn(&self) -> sync::MutexGuard<'_, ()> {
        self.turn.lock().await
    }

    /// Whether what was read at `at` is still true at `asked`, which was reached.
    pub(super) fn holds(&self, who: Who, at: Position, asked: Position) -> bool {
        let known = self.known();
        at >= asked || known.covers(at, asked) && last_of(&known.last, who) <= at
    }

    /// The same for what was read of a timeline.
    pub(super) fn holds_events(&self, who: Who, at: Position, asked: Position) -> bool {
        let known = self.known();
        let last = last_of(&known.last, who).max(last_of(&known.timelines, who));
        last <= at && (at >= asked && at >= known.since || known.covers(at, asked))
    }

    /// A batch was written by this process. What is remembered here of whom it changed follows at
    /// once, and nothing is left of whom it erased, in Redis neither; then the other processes are
    /// told. What else it changed is brought to Redis by the edge.
    pub async fn wrote(&self, from: Position, to: Position, touched: Touched) {
        self.learn(from, to, (&touched.all, &touched.timelines));
        for (who, standing) in touched.kept {
            self.keep(who, to, standing);
        }
        if let Some(remote) = &self.remote {
            let gone = touched.gone.iter().map(|who| self.events_key(*who));
            remote.remove(gone.collect()).await;
        }
        if let Some(edge) = &self.edge {
            remove(edge, touched.gone, to).await;
            edge.wake();
        }
        let Some(remote) = &self.remote else { return };
        let changed = Changed {
            to,
            contacts: touched.all.iter().map(bytes).collect(),
            timelines: touched.timelines.iter().map(bytes).collect(),
        };
        self.tell(remote, from, changed).await;
    }

    async fn tell(&self, remote: &Remote, from: Position, changed: Changed) {
        if let Ok(Some(installation)) = self.installation().await {
            let key = changes::contacts(installation, from);
            let (ttl_ms, value) = (key.ttl_ms(), changed.encode());
            if let Err(error) = remote.set(key.into_text(), value, ttl_ms).await {
                tracing::debug!(%error, "the other processes are not told what changed");
            }
        }
    }

    /// Whether everything up to here is known.
    pub(super) fn knows(&self, asked: Position) -> bool {
        self.known().until >= asked
    }

    /// Learns what happened up to `asked`, which the store has reached.
    pub async fn reach(&self, asked: Position) {
        if self.knows(asked) {
            return;
        }
        let _turn = self.turn.lock().await;
        self.catch_up(asked).await;
    }

    /// The same for who holds the turn.
    pub async fn catch_up(&self, asked: Position) {
        loop {
            let until = self.known().until;
            if until >= asked {
                return;
            }
            match self.told_after(until).await {
                Some(changed) => {
                    let all: Vec<Who> = changed.contacts.iter().map(read).collect();
                    let timelines: Vec<Who> = changed.timelines.iter().map(read).collect();
                    self.learn(until, changed.to, (&all, &timelines));
                }
                None => self.forget(asked),
            }
        }
    }

    async fn told_after(&self, from: Position) -> Option<Changed> {
        let remote = self.remote.as_ref()?;
        let installation = self.installation().await.ok()??;
        let key = changes::contacts(installation, from).into_text();
        let bytes = remote.get(&[key]).await.pop()??;
        Changed::decode(&bytes).filter(|changed| changed.to > from)
    }

    /// Extends what is known; what does not follow on it begins anew.
    fn learn(&self, from: Position, to: Position, (all, timelines): (&[Who], &[Who])) {
        let is_gap = self.known().until != from;
        if is_gap || self.known().count() + all.len() + timelines.len() > CONTACTS_MAX {
            return self.forget(to);
        }
        {
            let mut known = self.known();
            known.until = to;
            known.last.extend(all.iter().map(|who| (*who, to)));
            let timelines = timelines.iter().map(|who| (*who, to));
            known.timelines.extend(timelines);
        }
        // Last, see `keep`.
        for who in all {
            self.shelf.remove(&self.key(*who));
        }
        for who in all.iter().chain(timelines) {
            self.shelf.remove(&self.events_key(*who));
        }
    }

    /// What came before is no longer known.
    fn forget(&self, until: Position) {
        *self.known() = Known {
            since: until,
            until,
            ..Known::default()
        };
        self.shelf.clear();
    }

    async fn installation(&self) -> Result<Option<WorkspaceId>> {
        if let Some(known) = self.installation.get() {
            return Ok(Some(*known));
        }
        let workspaces = self.store.access.workspaces().await?;
        let first = workspaces.into_iter().map(|workspace| workspace.id).min();
        Ok(first.inspect(|first| {
            // Someone else may have said the same meanwhile.
            let _ = self.installation.set(*first);
        }))
    }

    pub(super) fn key(&self, (workspace, id): Who) -> String {
        cache::contact::<Row>(workspace, id, &self.ttls).into_text()
    }

    fn events_key(&self, (workspace, id): Who) -> String {
        cache::recent_events::<Row>(workspace, id, &self.ttls).into_text()
    }

    /// Remembers what was read at `at`. Who read it may have been slow, and an erasure may have been
    /// learnt meanwhile: then nothing is to be left of it, so it is asked afterwards whether it is
    /// still true. Whoever learns notes it first and clears the shelf then: one of both takes it away.
    pub(super) fn keep(&self, who: Who, at: Position, standing: Arc<Standing>) {
        let kept = Kept {
            at,
            what: What::Contact(standing),
            lives: super::contacts::lives(&self.ttls),
        };
        let key = self.key(who);
        self.shelf.put(key.clone(), kept);
        if self.has_changed(who, at) {
            self.shelf.remove(&key);
        }
    }

    /// Whether something is known to have changed it after `at`, or may have.
    fn has_changed(&self, who: Who, at: Position) -> bool {
        let known = self.known();
        at < known.since || known.last.get(&who).is_some_and(|last| *last > at)
    }
}

/// Only speed is lost if it fails, and the edge is told again by its own flow; nobody believes what
/// it holds meanwhile.
async fn remove(edge: &Edge<ContactProfile>, gone: Vec<Who>, to: Position) {
    let mut by_workspace: HashMap<WorkspaceId, Vec<_>> = HashMap::new();
    for (workspace, id) in gone {
        let ids = by_workspace.entry(workspace).or_default();
        ids.push(id.as_uuid());
    }
    for (workspace, ids) in by_workspace {
        if let Err(error) = patient(edge.remove(Scope(workspace), &ids, to)).await {
            tracing::debug!(%error, "erased contacts are not gone from the edge yet");
        }
    }
}

fn is_live(row: &Row) -> bool {
    row.get(2).and_then(Cell::as_text) == Some("live")
}

fn bytes((workspace, id): &Who) -> [u8; 32] {
    let mut both = [0; 32];
    both[..16].copy_from_slice(workspace.as_uuid().as_bytes());
    both[16..].copy_from_slice(id.as_uuid().as_bytes());
    both
}

fn read(both: &[u8; 32]) -> Who {
    let half = |from: usize| {
        let mut half = [0; 16];
        half.copy_from_slice(&both[from..from + 16]);
        half
    };
    (
        WorkspaceId::from_bytes(half(0)),
        ContactId::from_bytes(half(16)),
    )
}
