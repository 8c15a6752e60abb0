//! Folding the log into a draft, and the draft into shadow tables.

use std::sync::Arc;

use kurier_core::event::{Position, Recorded};
use kurier_core::projection::{Draft, Folded, Loaded, Need, Projection, Repeat, Writes};
use kurier_store::{Error, Result, SetAside, Store};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::work::{Stage, Work};
use super::{LEASE, TERM};
use crate::flow::fold::fold;
use crate::flow::project::key;

/// How much is folded at once. Whatever it is, the rows come out the same.
#[derive(Debug, Clone, Copy)]
pub struct Portion {
    /// Rows are looked up once for each batch of so many events that changes them.
    pub events: usize,
    /// What a draft may take before its rows are written out.
    pub bytes_max: usize,
}

impl Default for Portion {
    fn default() -> Self {
        Self {
            events: 50_000,
            bytes_max: 256 << 20,
        }
    }
}

pub struct Build<'a> {
    store: &'a Store,
    projection: &'static dyn Projection,
    work: &'a watch::Sender<Work>,
    holder: Uuid,
    events_max: usize,
    draft: Draft,
    position: Position,
    set_aside: Vec<SetAside>,
}

impl<'a> Build<'a> {
    pub async fn open(
        store: &'a Store,
        projection: &'static dyn Projection,
        work: &'a watch::Sender<Work>,
        (holder, portion): (Uuid, Portion),
    ) -> Result<Self> {
        store.projections.open_shadow(projection).await?;
        Ok(Self {
            store,
            projection,
            work,
            holder,
            events_max: portion.events,
            draft: Draft::new(projection.tables(), portion.bytes_max),
            position: Position(0),
            set_aside: Vec::new(),
        })
    }

    pub const fn projection(&self) -> &'static dyn Projection {
        self.projection
    }

    pub const fn position(&self) -> Position {
        self.position
    }

    pub fn set_aside(&self) -> Vec<SetAside> {
        self.set_aside.clone()
    }

    /// Folds up to and with the event at `to`. The next events are read while these are folded.
    pub async fn fold_to(&mut self, to: Position) -> Result<()> {
        self.work.send_modify(|work| {
            work.stage = Stage::Folding;
            work.of = to.0;
        });
        let mut reading = self.read(self.position, to);
        while self.position < to {
            let events = reading
                .await
                .map_err(|e| Error::Unavailable(e.to_string()))??;
            let Some(last) = events.last().map(|last| last.position) else {
                return Err(Error::Damaged(format!("the log ends before {to}")));
            };
            reading = self.read(last, to);
            self.fold(events).await?;
            self.position = last;
            self.work.send_modify(|work| work.done = last.0);
            self.keep_turn().await?;
        }
        Ok(())
    }

    fn read(&self, after: Position, to: Position) -> JoinHandle<Result<Vec<Recorded>>> {
        let log = self.store.log.clone();
        let count = usize::try_from(to.0 - after.0).unwrap_or(0);
        let count = count.min(self.events_max);
        tokio::spawn(async move { log.read(after, count).await })
    }

    async fn keep_turn(&self) -> Result<()> {
        let kept = self.store.reactions.lease(LEASE, self.holder, TERM).await?;
        let lost = "another process took over, because this one was silent for too long";
        kept.map(|_| ()).ok_or_else(|| Error::Busy(lost.into()))
    }

    async fn fold(&mut self, events: Vec<Recorded>) -> Result<()> {
        let projection = self.projection;
        let mut events = events;
        events.retain(|recorded| projection.folds(recorded.event.kind));
        let events = Arc::new(events);
        if projection.repeat() == Repeat::Remembered {
            let keys = events.iter().map(key).collect();
            let processed = self.store.projections.process_shadow(projection, keys);
            processed.await?;
        }
        let loaded = self.load(&events).await?;
        let folded = fold_aside(projection, loaded, events).await?;
        let aside = folded.poison.into_iter();
        let aside = aside.map(|(position, reason)| SetAside { position, reason });
        self.set_aside.extend(aside);
        let writes = self.draft.apply(folded.changes);
        self.store.projections.write_shadow(writes).await
    }

    /// The rows the batch needs, and those that they point to.
    async fn load(&mut self, events: &[Recorded]) -> Result<Vec<Loaded>> {
        let mut newest = self.find(self.projection.needs(events)).await?;
        let mut loaded = Vec::new();
        while newest.iter().any(|loaded| !loaded.rows.is_empty()) {
            let needs = self.projection.follows(&newest);
            loaded.append(&mut newest);
            newest = self.find(needs).await?;
        }
        loaded.append(&mut newest);
        Ok(loaded)
    }

    async fn find(&mut self, needs: Vec<Need>) -> Result<Vec<Loaded>> {
        let asked = self.draft.unknown(&needs);
        if !asked.is_empty() {
            let held = self.store.projections.load_shadow(asked.clone()).await?;
            self.draft.know(&asked, held);
        }
        Ok(self.draft.load(&needs))
    }

    /// Brings all rows into the shadow tables.
    pub async fn write(&mut self) -> Result<()> {
        self.work.send_modify(|work| work.stage = Stage::Writing);
        for (writes, is_whole) in self.draft.finish() {
            self.put(writes, is_whole).await?;
            self.keep_turn().await?;
        }
        Ok(())
    }

    async fn put(&self, writes: Writes, is_whole: bool) -> Result<()> {
        let shadow = &self.store.projections;
        if is_whole {
            return shadow.fill_shadow(writes).await;
        }
        shadow.write_shadow(vec![writes]).await
    }
}

/// Folding much takes a while: a thread that may be busy does it.
async fn fold_aside(
    projection: &'static dyn Projection,
    loaded: Vec<Loaded>,
    events: Arc<Vec<Recorded>>,
) -> Result<Folded> {
    let folding = tokio::task::spawn_blocking(move || fold(projection, loaded, &events));
    folding
        .await
        .map_err(|e| Error::Unavailable(e.to_string()))?
}
