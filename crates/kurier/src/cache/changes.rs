//! Which contacts changed when, as far as this process knows without a gap.
//!
//! Whoever folds a batch knows whom it changed, remembers it here and tells the other processes
//! through Redis. A stretch that nobody told of is a gap: then everything remembered before its
//! end is worth nothing any more, whatever it was.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kurier_core::event::Position;
use kurier_core::id::{ContactId, WorkspaceId};
use kurier_core::keys::changes::{self, Changed};
use kurier_core::keys::{Ttls, cache};
use kurier_core::projection::{CONTACT, Cell, Change, Row};
use kurier_store::{Result, Store};
use tokio::sync;

use super::remote::{Remote, Told};
use super::row;
use super::shelf::{Kept, Shelf, What};

/// More than this is not known of single contacts: it is taken as a gap instead.
const CONTACTS_MAX: usize = 500_000;

pub type Who = (WorkspaceId, ContactId);

pub struct Changes {
    store: Store,
    shelf: Arc<Shelf>,
    remote: Option<Remote>,
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
}

/// Whom a batch changes. Rows are there of those that are remembered here, and of those that are
/// no longer what they were: nothing may be left of an erased contact.
#[derive(Debug, Default)]
pub struct Touched {
    rows: Vec<(Who, Row)>,
    others: Vec<Who>,
}

impl Touched {
    fn add(&mut self, who: Option<Who>, row: impl FnOnce(Who) -> Option<Row>) {
        let Some(who) = who else { return };
        match row(who) {
            Some(row) => self.rows.push((who, row)),
            None => self.others.push(who),
        }
    }
}

fn who(cells: &[Cell]) -> Option<Who> {
    let id = |at: usize| cells.get(at)?.as_id();
    Some((WorkspaceId::from_uuid(id(0)?), ContactId::from_uuid(id(1)?)))
}

impl Changes {
    pub fn new(store: Store, shelf: Arc<Shelf>, remote: Option<Remote>, ttls: Ttls) -> Self {
        Self {
            store,
            shelf,
            remote,
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
        for change in changes {
            match change {
                Change::Put(table, row) if table.name == CONTACT.name => {
                    touched.add(who(row), |who| {
                        self.is_wanted(who, row).then(|| row.clone())
                    });
                }
                // An empty row says that there is none.
                Change::Drop(table, cells) if table.name == CONTACT.name => {
                    touched.add(who(cells), |_| Some(Row::new()));
                }
                _ => {}
            }
        }
        touched
    }

    fn is_wanted(&self, who: Who, row: &Row) -> bool {
        let is_live = row.get(2).and_then(Cell::as_text) == Some("live");
        !is_live || self.shelf.has(&self.key(who))
    }

    /// Held while a batch is written.
    pub async fn turn(&self) -> sync::MutexGuard<'_, ()> {
        self.turn.lock().await
    }

    /// Whether what was read at `at` is still true at `asked`, which was reached.
    pub(super) fn holds(&self, who: Who, at: Position, asked: Position) -> bool {
        let known = self.known();
        let is_covered = at >= known.since && asked <= known.until;
        let last = known.last.get(&who).copied().unwrap_or_default();
        at >= asked || is_covered && last <= at
    }

    /// A batch was written by this process. What is remembered of whom it changed follows at
    /// once, here and in Redis; then the other processes are told.
    pub async fn wrote(&self, from: Position, to: Position, touched: Touched) {
        let mut all = touched.others;
        all.extend(touched.rows.iter().map(|(who, _)| *who));
        self.learn(from, to, &all);
        for (who, row) in touched.rows.iter().filter(|(_, row)| !row.is_empty()) {
            self.shelf.put(self.key(*who), self.kept(to, row.clone()));
        }
        let Some(remote) = &self.remote else { return };
        let told = touched.rows.iter();
        let told = told.map(|(who, row)| self.told(*who, to, row)).collect();
        remote.put(told).await;
        let contacts = all.iter().map(bytes).collect();
        self.tell(remote, from, Changed { to, contacts }).await;
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
                    self.learn(until, changed.to, &all);
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
    fn learn(&self, from: Position, to: Position, all: &[Who]) {
        for who in all {
            self.shelf.remove(&self.key(*who));
        }
        let is_gap = self.known().until != from;
        if is_gap || self.known().last.len() + all.len() > CONTACTS_MAX {
            return self.forget(to);
        }
        let mut known = self.known();
        known.until = to;
        known.last.extend(all.iter().map(|who| (*who, to)));
    }

    /// What came before is no longer known.
    fn forget(&self, until: Position) {
        self.shelf.clear();
        *self.known() = Known {
            since: until,
            until,
            last: HashMap::new(),
        };
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

    pub(super) fn kept(&self, at: Position, row: Row) -> Kept {
        Kept {
            at,
            what: What::Contact(Arc::new(row)),
            lives: super::contacts::lives(&self.ttls),
        }
    }

    pub(super) fn told(&self, who: Who, at: Position, row: &Row) -> Told {
        let lives = super::contacts::lives(&self.ttls);
        Told {
            key: self.key(who),
            at,
            bytes: row::encode(row),
            ttl_ms: u64::try_from(lives.as_millis()).unwrap_or(u64::MAX),
        }
    }
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
