//! The newest events of a contact: from this process, else from Redis, else from the store.

use std::sync::Arc;
use std::time::Duration;

use kurier_core::contact::{Contact, Standing};
use kurier_core::event::{Event, Position, Recorded};
use kurier_core::id::{ContactId, EventId, WorkspaceId};
use kurier_core::keys::{Key, Ttls, cache};
use kurier_core::projection::{Contacts as Projection, Projection as _};
use kurier_core::time::Timestamp;
use kurier_store::{Result, Scope, Store, TimelinePage, TimelineQuery};
use serde::{Deserialize, Serialize};

use super::changes::{Changes, Who};
use super::remote::{Remote, Told};
use super::shelf::{Kept, Shelf, What};
use super::{Level, Tally};

/// So many are remembered of each: a page as it is asked for most.
pub const RECENT_MAX: usize = 50;

pub struct Recent {
    store: Store,
    changes: Arc<Changes>,
    shelf: Arc<Shelf>,
    remote: Option<Remote>,
    tally: Tally,
    ttls: Ttls,
}

/// Events as they stand in Redis.
#[derive(Serialize, Deserialize)]
struct Written {
    has_more: bool,
    events: Vec<WrittenEvent>,
}

#[derive(Serialize, Deserialize)]
struct WrittenEvent {
    position: i64,
    id: EventId,
    kind: String,
    contact: Option<ContactId>,
    occurred_at: i64,
    recorded_at: i64,
    payload: String,
}

impl Recent {
    pub fn new(
        store: Store,
        changes: Arc<Changes>,
        shelf: Arc<Shelf>,
        remote: Option<Remote>,
        ttls: Ttls,
    ) -> Self {
        Self {
            store,
            changes,
            shelf,
            remote,
            tally: Tally::new("events"),
            ttls,
        }
    }

    /// Hits and misses so far.
    pub const fn tally(&self) -> &Tally {
        &self.tally
    }

    fn key(&self, (workspace, contact): Who) -> Key<Written> {
        cache::recent_events(workspace, contact, &self.ttls)
    }

    /// The newest events of a contact, at most [`RECENT_MAX`], as new as the read model is.
    pub async fn page(
        &self,
        scope: Scope,
        contact: &Contact,
        limit: usize,
    ) -> Result<TimelinePage> {
        let (who, asked) = ((scope.0, contact.id), self.folded().await?);
        if let Some(page) = self.remembered(who, asked).await {
            return Ok(first(&page, limit));
        }
        self.tally.count(Level::Store, 1);
        match self.load(who).await? {
            Some(page) => Ok(first(&page, limit)),
            // It has become part of another since it was found.
            None => self.read(scope, contact, limit).await,
        }
    }

    /// Up to where the read model is folded; what it has changed is known then.
    async fn folded(&self) -> Result<Position> {
        let folded = self.store.views.checkpoint(Projection.name()).await?;
        self.changes.reach(folded).await;
        Ok(folded)
    }

    async fn remembered(&self, who: Who, asked: Position) -> Option<Arc<TimelinePage>> {
        let (key, is_true) = (self.key(who), |at| {
            self.changes.holds_events(who, at, asked)
        });
        let kept = self.shelf.get(key.text()).filter(|kept| is_true(kept.at));
        if let Some(What::Events(page)) = kept.map(|kept| kept.what) {
            self.tally.count(Level::L1, 1);
            return Some(page);
        }
        let keys = [key.text().to_owned()];
        let dated = self.remote.as_ref()?.get_dated(&keys).await.pop()??;
        let (at, bytes) = Some(dated).filter(|dated| is_true(dated.0))?;
        let page = Arc::new(read_back(who.0, key.decode(&bytes)?)?);
        self.tally.count(Level::L2, 1);
        self.keep(who, at, page.clone());
        Some(page)
    }

    /// From the store, and remembered; nothing if there is no such contact any more.
    async fn load(&self, who: Who) -> Result<Option<Arc<TimelinePage>>> {
        let (scope, at) = (Scope(who.0), self.folded().await?);
        // Read after the position, so that it is known by then who has become part of it.
        let standing = self.store.views.contact(scope, who.1).await?;
        let Some(Standing::Live(contact)) = standing else {
            return Ok(None);
        };
        let page = self.read(scope, &contact, RECENT_MAX).await?;
        self.remember(who, at, page).await.map(Some)
    }

    pub(super) async fn remember(
        &self,
        who: Who,
        at: Position,
        page: TimelinePage,
    ) -> Result<Arc<TimelinePage>> {
        let page = Arc::new(page);
        self.tell(who, at, &page).await?;
        // Afterwards: by now it is known what has changed.
        self.keep(who, at, page.clone());
        Ok(page)
    }

    async fn read(&self, scope: Scope, contact: &Contact, limit: usize) -> Result<TimelinePage> {
        let query = TimelineQuery {
            limit,
            ..TimelineQuery::default()
        };
        let views = &self.store.views;
        views.timeline(scope, &contact.ids(), &query).await
    }

    /// Whoever learns of a change notes it first and clears the shelf then, and this is asked
    /// afterwards: one of both takes away what is no longer true.
    fn keep(&self, who: Who, at: Position, page: Arc<TimelinePage>) {
        let key = self.key(who);
        let kept = Kept {
            at,
            what: What::Events(page),
            lives: key.ttl_ms().map(Duration::from_millis),
        };
        self.shelf.put(key.text().to_owned(), kept);
        if !self.changes.holds_events(who, at, at) {
            self.shelf.remove(key.text());
        }
    }

    /// Tells Redis. An erasure may have been written meanwhile, and what is in Redis removed
    /// before this was there: then this takes it away.
    async fn tell(&self, who: Who, at: Position, page: &TimelinePage) -> Result<()> {
        let Some(remote) = &self.remote else {
            return Ok(());
        };
        let key = self.key(who);
        let told = Told {
            key: key.text().to_owned(),
            at,
            bytes: key.encode(&written(page)),
            ttl_ms: key.ttl_ms(),
        };
        remote.put(vec![told]).await;
        let now = self.folded().await?;
        if !self.changes.holds_events(who, at, now) {
            remote.remove(vec![key.into_text()]).await;
        }
        Ok(())
    }
}

fn first(page: &TimelinePage, limit: usize) -> TimelinePage {
    let events = page.events.iter().take(limit);
    TimelinePage {
        events: events.cloned().collect(),
        has_more: page.has_more || page.events.len() > limit,
    }
}

fn written(page: &TimelinePage) -> Written {
    let events = page.events.iter().map(|it| WrittenEvent {
        position: it.position.0,
        id: it.event.id,
        kind: it.event.kind.as_str().to_owned(),
        contact: it.event.contact,
        occurred_at: it.event.occurred_at.as_micros(),
        recorded_at: it.event.recorded_at.as_micros(),
        payload: it.event.payload.clone(),
    });
    Written {
        has_more: page.has_more,
        events: events.collect(),
    }
}

/// Nothing if another version of Kurier wrote what this one does not know.
fn read_back(workspace: WorkspaceId, written: Written) -> Option<TimelinePage> {
    let read = |it: WrittenEvent| {
        let event = Event {
            id: it.id,
            kind: it.kind.parse().ok()?,
            contact: it.contact,
            occurred_at: Timestamp::from_micros(it.occurred_at),
            recorded_at: Timestamp::from_micros(it.recorded_at),
            payload: it.payload,
        };
        Some(Recorded {
            position: Position(it.position),
            workspace,
            event: event.into(),
        })
    };
    let events = written.events.into_iter().map(read);
    Some(TimelinePage {
        events: events.collect::<Option<_>>()?,
        has_more: written.has_more,
    })
}
