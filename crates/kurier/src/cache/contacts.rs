//! Contacts by id: from this process, else from Redis, else from the store, each asked once for
//! all that is missing.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;

use kurier_core::contact::{Contact, Standing};
use kurier_core::edge::ContactProfile;
use kurier_core::event::Position;
use kurier_core::id::ContactId;
use kurier_core::keys::Ttls;
use kurier_core::projection::{
    CONTACT, Contacts as Projection, Need, Projection as _, contact_standing,
};
use kurier_store::{Error, Result, Scope, Store};
use tokio::sync::Mutex;

use super::changes::{Changes, Who};
use super::shelf::{Shelf, What};
use super::{Freshness, Level, Tally};
use crate::flow::edge::Edge;

/// Merges may be chained; nobody is merged this often.
const HOPS_MAX: usize = 1_000;
/// So many misses may be looked up at once; who misses the same waits for the first.
const LANES: usize = 64;
pub struct Contacts {
    store: Store,
    changes: Arc<Changes>,
    shelf: Arc<Shelf>,
    edge: Option<Arc<Edge<ContactProfile>>>,
    tally: Tally,
    lanes: Vec<Mutex<()>>,
    hasher: RandomState,
}

pub(super) fn lives(ttls: &Ttls) -> Option<Duration> {
    ttls.contact.ttl_ms().map(Duration::from_millis)
}

impl Contacts {
    pub fn new(
        store: Store,
        changes: Arc<Changes>,
        shelf: Arc<Shelf>,
        edge: Option<Arc<Edge<ContactProfile>>>,
    ) -> Self {
        Self {
            store,
            changes,
            shelf,
            edge,
            tally: Tally::new("contact"),
            lanes: (0..LANES).map(|_| Mutex::default()).collect(),
            hasher: RandomState::new(),
        }
    }

    /// Hits and misses so far.
    pub const fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Where a contact is remembered in this process.
    pub fn key(&self, scope: Scope, id: ContactId) -> String {
        self.changes.key((scope.0, id))
    }

    /// The live contact at an id, or the one it has become part of.
    pub async fn live_one(
        &self,
        scope: Scope,
        id: ContactId,
        asked: Freshness,
    ) -> Result<Option<Contact>> {
        Ok(self.live(scope, &[id], asked).await?.remove(&id))
    }

    /// The live contacts at these ids, or those they have become part of, by the id asked for.
    pub async fn live(
        &self,
        scope: Scope,
        ids: &[ContactId],
        asked: Freshness,
    ) -> Result<HashMap<ContactId, Contact>> {
        let asked = self.position(asked).await?;
        // Which ids lead to an id that is still to be looked at.
        let mut askers: HashMap<ContactId, Vec<ContactId>> =
            ids.iter().map(|id| (*id, vec![*id])).collect();
        let mut found = HashMap::new();
        for _ in 0..HOPS_MAX {
            if askers.is_empty() {
                break;
            }
            let looked_at: Vec<ContactId> = askers.keys().copied().collect();
            let mut next: HashMap<ContactId, Vec<ContactId>> = HashMap::new();
            for (id, standing) in self.standings(scope, looked_at, asked).await? {
                let led_here = askers.remove(&id).unwrap_or_default();
                match standing.as_ref() {
                    Standing::Live(contact) => {
                        found.extend(led_here.into_iter().map(|id| (id, (**contact).clone())));
                    }
                    Standing::Merged { into } => next.entry(*into).or_default().extend(led_here),
                    Standing::Erased { .. } => {}
                }
            }
            askers = next;
        }
        Ok(found)
    }

    /// Where the read model stands now, or where the reader says.
    async fn position(&self, asked: Freshness) -> Result<Position> {
        if let Freshness::AtLeast(position) = asked
            && self.changes.knows(position)
        {
            return Ok(position);
        }
        let now = self.store.views.checkpoint(Projection.name()).await?;
        self.changes.reach(now).await;
        match asked {
            Freshness::Now => Ok(now),
            Freshness::AtLeast(position) if position <= now => Ok(position),
            Freshness::AtLeast(position) => Err(Error::Unavailable(format!(
                "contacts are folded up to {now}, not yet to {position}"
            ))),
        }
    }

    /// What there is at these ids, as new as asked.
    async fn standings(
        &self,
        scope: Scope,
        ids: Vec<ContactId>,
        asked: Position,
    ) -> Result<Vec<Found>> {
        let mut found = Vec::with_capacity(ids.len());
        let missing = self.on_shelf(scope, ids, asked, &mut found);
        let Some(first) = missing.first() else {
            return Ok(found);
        };
        let lane = usize::try_from(self.hasher.hash_one(first) % LANES as u64).unwrap_or(0);
        let _alone = self.lanes[lane].lock().await;
        // Someone may have looked while this waited.
        let missing = self.on_shelf(scope, missing, asked, &mut found);
        let missing = self.at_edge(scope, missing, asked, &mut found).await;
        self.in_store(scope, missing, &mut found).await?;
        Ok(found)
    }

    fn on_shelf(
        &self,
        scope: Scope,
        ids: Vec<ContactId>,
        asked: Position,
        found: &mut Vec<Found>,
    ) -> Vec<ContactId> {
        let before = found.len();
        let mut missing = Vec::new();
        for id in ids {
            let who: Who = (scope.0, id);
            let kept = self.shelf.get(&self.changes.key(who));
            match kept.map(|kept| (kept.at, kept.what)) {
                Some((at, What::Contact(standing))) if self.changes.holds(who, at, asked) => {
                    found.push((id, standing));
                }
                _ => missing.push(id),
            }
        }
        self.tally.count(Level::L1, found.len() - before);
        missing
    }

    /// Live ones only. The edge may have lost what it was told: what it says counts by the position
    /// it was read at.
    async fn at_edge(
        &self,
        scope: Scope,
        ids: Vec<ContactId>,
        asked: Position,
        found: &mut Vec<Found>,
    ) -> Vec<ContactId> {
        let Some(edge) = self.edge.as_ref().filter(|_| !ids.is_empty()) else {
            return ids;
        };
        let wanted: Vec<_> = ids.iter().map(|id| id.as_uuid()).collect();
        let mut held = edge.dated(scope, &wanted).await;
        let before = found.len();
        let mut missing = Vec::new();
        for id in ids {
            let who: Who = (scope.0, id);
            let held = held.remove(&id.as_uuid());
            match held.filter(|(at, _)| self.changes.holds(who, *at, asked)) {
                Some((at, contact)) => found.push((id, self.keep(who, at, live(contact)))),
                None => missing.push(id),
            }
        }
        self.tally.count(Level::L2, found.len() - before);
        missing
    }

    async fn in_store(
        &self,
        scope: Scope,
        ids: Vec<ContactId>,
        found: &mut Vec<Found>,
    ) -> Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        // Read before the rows: they include at least this.
        let at = self.store.views.checkpoint(Projection.name()).await?;
        let keys = ids.iter().map(|id| vec![scope.0.into(), (*id).into()]);
        let need = Need::new(&CONTACT, keys.collect());
        let loaded = self.store.views.load(vec![need]).await?;
        let mut offered = Vec::new();
        for row in loaded.iter().flat_map(|loaded| &loaded.rows) {
            let (_, id, standing) = contact_standing(row).ok_or_else(unreadable)?;
            if let Standing::Live(contact) = &standing {
                offered.push((id.as_uuid(), contact.revision, (**contact).clone()));
            }
            found.push((id, self.keep((scope.0, id), at, standing)));
        }
        self.tally.count(Level::Store, ids.len());
        if let Some(edge) = &self.edge {
            edge.offer(scope, at, offered).await;
        }
        Ok(())
    }

    fn keep(&self, who: Who, at: Position, standing: Standing) -> Arc<Standing> {
        let standing = Arc::new(standing);
        self.changes.keep(who, at, standing.clone());
        standing
    }
}

type Found = (ContactId, Arc<Standing>);

fn live(contact: Contact) -> Standing {
    Standing::Live(Box::new(contact))
}

fn unreadable() -> Error {
    Error::Damaged("a contact's row cannot be read".into())
}
