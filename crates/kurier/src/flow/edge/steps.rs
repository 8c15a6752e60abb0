//! A step: from events in the log to keys.

use std::collections::{BTreeMap, HashMap};

use kurier_core::edge::{Module, Standing, row_id};
use kurier_core::event::{Position, Recorded};
use kurier_core::id::WorkspaceId;
use kurier_core::projection::{Cell, Need};
use kurier_store::edge::{EdgeCall, EdgeMode, Projected, Written, project};
use kurier_store::kv::Command;

use super::keyed::Named;
use super::{BATCH_MAX, Edge, Error, Of, Result};
use crate::metrics as names;

/// Entities that change while they are written are looked at again so often.
const TRIES_MAX: usize = 20;
/// Merges may be chained; nobody is merged this often.
const HOPS_MAX: usize = 1_000;

/// What a step is about: for each entity the events that may have changed it.
struct Arrived {
    to: Position,
    events: usize,
    touched: Touched,
}

impl Arrived {
    /// One step that has nothing in it.
    const fn nothing(to: Position) -> Self {
        Self {
            to,
            events: 1,
            touched: Touched::new(),
        }
    }
}

/// A step that is ready to be written: what arrived, less what hints know to be there.
pub(super) struct Gathered<M: Module> {
    from: Position,
    to: Position,
    events: usize,
    /// All that the events touched, and the last of them each; and what is left of it for each
    /// tenant.
    touched: Vec<(Of, Position)>,
    by_tenant: BTreeMap<WorkspaceId, Part>,
    /// Whether hints were asked: else the script is the first to do so.
    asked: bool,
    standings: Standings<M>,
}

/// What of a step concerns one tenant.
struct Part {
    touched: Touched,
    /// What is to be written, where that does not depend on what stands there.
    drafted: Option<EdgeCall>,
}

pub(super) type Touched = BTreeMap<Of, Vec<Position>>;
pub(super) type Standings<M> = HashMap<Of, Standing<<M as Module>::Value>>;

impl<M: Module> Edge<M> {
    /// Projects one batch of events; answers how many they were. While much is left to do, the
    /// next batch is gathered while this one is written.
    pub async fn step(&self) -> Result<usize> {
        let from = match self.applied() {
            Some(applied) => applied,
            None => self.begin().await?,
        };
        let ready = self.state().ready.take();
        let gathered = match ready.filter(|ready| ready.from == from) {
            Some(ready) => Some(ready),
            None => self.gather(from).await?,
        };
        let Some(gathered) = gathered else {
            self.keep_owed().await?;
            return Ok(0);
        };
        let (events, to) = (gathered.events, gathered.to);
        if events < BATCH_MAX {
            self.perform(gathered).await?;
            self.keep_owed().await?;
            return Ok(events);
        }
        let (performed, next) = tokio::join!(self.perform(gathered), self.gather(to));
        performed?;
        self.state().ready = next?;
        Ok(events)
    }

    fn applied(&self) -> Option<Position> {
        self.state().applied
    }

    /// Steps 1 to 3: events arrive, hints are asked, and what is left is loaded. Nothing changes.
    async fn gather(&self, from: Position) -> Result<Option<Gathered<M>>> {
        let Some(arrived) = self.arrive(from).await? else {
            return Ok(None);
        };
        let last = |events: &Vec<Position>| events.last().copied().unwrap_or_default();
        let touched = arrived.touched.iter().map(|(of, it)| (*of, last(it)));
        let touched = touched.collect();
        Self::fault_point("arrived");
        let asked = self.state().asks_hints;
        let fresh = match asked {
            true => self.skip_hinted(arrived.touched).await?,
            false => arrived.touched,
        };
        Self::fault_point("hinted");
        let standings = match fresh.is_empty() {
            true => Standings::<M>::new(),
            false => self.load(&fresh).await?,
        };
        Self::fault_point("loaded");
        let fresh = followed(fresh, &standings);
        let by_tenant = self.parts(fresh, &standings, arrived.to).await?;
        Ok(Some(Gathered {
            from,
            to: arrived.to,
            events: arrived.events,
            touched,
            by_tenant,
            asked,
            standings,
        }))
    }

    /// What is left, tenant by tenant. What can be written down beforehand is.
    async fn parts(
        &self,
        fresh: Touched,
        standings: &Standings<M>,
        to: Position,
    ) -> Result<BTreeMap<WorkspaceId, Part>> {
        let mut by_tenant: BTreeMap<WorkspaceId, Touched> = BTreeMap::new();
        for (of, events) in fresh {
            by_tenant.entry(of.0).or_default().insert(of, events);
        }
        let mut parts = BTreeMap::new();
        for (workspace, touched) in by_tenant {
            let drafted = match Self::is_whole() {
                true => None,
                false => Some(self.call(workspace, &touched, standings, to).await?),
            };
            parts.insert(workspace, Part { touched, drafted });
        }
        Ok(parts)
    }

    /// Step 1: events arrive. Not those that the read model has not folded yet.
    async fn arrive(&self, from: Position) -> Result<Option<Arrived>> {
        let folded = self.store.views.checkpoint(self.projector.name()).await?;
        if folded <= from {
            return Ok(None);
        }
        let log = self.store.log.as_ref();
        let passed = self.projector.concern.pass(log, from).await?.min(folded);
        if passed > from {
            return Ok(Some(Arrived::nothing(passed)));
        }
        let mut events = log.read(from, BATCH_MAX).await?;
        events.retain(|recorded| recorded.position <= folded);
        let Some(last) = events.last() else {
            return Ok(None);
        };
        Ok(Some(Arrived {
            to: last.position,
            events: events.len(),
            touched: touched::<M>(&events),
        }))
    }

    async fn begin(&self) -> Result<Position> {
        let kept = self.store.views.checkpoint(&Self::name()).await?;
        let mut state = self.state();
        (state.applied, state.kept, state.scanned) = (Some(kept), kept, kept);
        drop(state);
        self.reached.send_replace(kept);
        Ok(kept)
    }

    /// Steps 2 and 3: what hints know to be projected is skipped, before anything is loaded. Where
    /// they know nothing, as is the rule with new events, only the script asks them.
    async fn skip_hinted(&self, touched: Touched) -> Result<Touched> {
        let keys = touched.keys().map(|of| self.hint_key(&Named::of(*of)));
        let keys = keys.collect::<std::result::Result<Vec<_>, _>>()?;
        let asked = keys.iter().map(|key| Command::Get {
            key: key.text().to_owned(),
        });
        let replies = self.keyspace.run(asked.collect()).await?;
        let mut fresh = Touched::new();
        let (total, mut hits) = (touched.len() as u64, 0);
        for (((of, events), key), reply) in touched.into_iter().zip(&keys).zip(replies) {
            let hint = reply.value()?.and_then(|bytes| key.decode(&bytes));
            if hint.is_some_and(|hint| Some(&hint) >= events.last()) {
                hits += 1;
            } else {
                fresh.insert(of, events);
            }
        }
        self.count_hints(total, hits);
        Ok(fresh)
    }

    fn count_hints(&self, total: u64, hits: u64) {
        self.count(names::EDGE_OPERATIONS, total);
        self.count(names::EDGE_HINT_HITS, hits);
        self.count(names::EDGE_HINT_MISSES, total - hits);
        self.state().asks_hints = hits > 0;
    }

    /// What the read model says of them, and of those that they have become part of.
    pub(super) async fn load(&self, touched: &Touched) -> Result<Standings<M>> {
        let mut found = Standings::<M>::new();
        let mut wanted: Vec<Of> = touched.keys().copied().collect();
        for _ in 0..HOPS_MAX {
            if wanted.is_empty() {
                break;
            }
            let keys = wanted.iter().map(|of| vec![of.0.into(), Cell::Id(of.1)]);
            let need = Need::new(M::TABLE, keys.collect());
            let loaded = self.store.views.load(vec![need]).await?;
            wanted.clear();
            for row in loaded.iter().flat_map(|loaded| &loaded.rows) {
                let read = row_id(row).zip(M::standing(row));
                let (of, standing) = read.ok_or(Error::Row(M::TABLE.name))?;
                if let Standing::Moved { into } = standing
                    && !found.contains_key(&(of.0, into))
                {
                    wanted.push((of.0, into));
                }
                found.insert(of, standing);
            }
        }
        Ok(found)
    }

    /// Steps 4 to 6, by one script for each tenant; and the checkpoint.
    async fn perform(&self, gathered: Gathered<M>) -> Result<()> {
        self.expect(&gathered);
        let Gathered {
            to,
            by_tenant,
            standings,
            touched,
            asked,
            ..
        } = gathered;
        for (workspace, part) in by_tenant {
            let written = self.write_tenant(workspace, part, &standings, to);
            let (total, hits) = written.await?;
            if !asked {
                self.count_hints(total, hits);
            }
        }
        self.settle(to, touched.is_empty()).await
    }

    /// Now all is known that a reader must not take for current while it is being written.
    fn expect(&self, gathered: &Gathered<M>) {
        let mut state = self.state();
        state.pending.extend(gathered.touched.iter().map(|it| it.0));
        let parts = gathered.by_tenant.values();
        let written = parts.flat_map(|part| part.touched.keys());
        state.pending.extend(written);
        state.scanned = gathered.to;
        if Self::is_whole() {
            for (of, last) in &gathered.touched {
                let needed = state.needed.entry(of.0).or_default();
                *needed = (*last).max(*needed);
            }
        }
    }

    /// Answers how many entities there were, and how many of them a hint knew.
    async fn write_tenant(
        &self,
        workspace: WorkspaceId,
        part: Part,
        standings: &Standings<M>,
        to: Position,
    ) -> Result<(u64, u64)> {
        let Part {
            mut touched,
            mut drafted,
        } = part;
        let (total, mut hinted) = (touched.len() as u64, 0);
        for _ in 0..TRIES_MAX {
            let call = match drafted.take() {
                Some(drafted) => drafted,
                None => self.call(workspace, &touched, standings, to).await?,
            };
            match project(self.keyspace.as_ref(), &call).await? {
                Projected::Done(written) => {
                    Self::fault_point("written");
                    self.count_written(&written);
                    let known = written.iter().filter(|it| **it == Written::Hinted);
                    hinted += known.count() as u64;
                    let mut each = written.into_iter();
                    touched.retain(|_, _| each.next() == Some(Written::Changed));
                }
                Projected::NotWhole | Projected::Newer => self.heal(workspace).await?,
            }
            if touched.is_empty() {
                return Ok((total, hinted));
            }
        }
        Err(Error::Restless(touched.len()))
    }

    /// What makes the edge say what is true of them.
    async fn call(
        &self,
        workspace: WorkspaceId,
        touched: &Touched,
        standings: &Standings<M>,
        to: Position,
    ) -> Result<EdgeCall> {
        let writes = self.keyed(touched, standings, to).await?;
        let mode = match Self::is_whole() {
            true => EdgeMode::Whole,
            false => EdgeMode::Warm,
        };
        Ok(self.batch(workspace, mode, writes).into())
    }

    fn count_written(&self, written: &[Written]) {
        let count = |wanted: &[Written]| {
            let found = written.iter().filter(|it| wanted.contains(it));
            found.count() as u64
        };
        self.count(names::EDGE_DEDUP_HITS, count(&[Written::Duplicate]));
        self.count(names::EDGE_DEDUP_MISSES, count(&[Written::Done]));
        self.count(names::EDGE_OLDER, count(&[Written::Older, Written::Hinted]));
    }
}

fn touched<M: Module>(events: &[Recorded]) -> Touched {
    let mut touched = Touched::new();
    for recorded in events {
        for id in M::touched(recorded) {
            let events = touched.entry((recorded.workspace, id)).or_default();
            if events.last() != Some(&recorded.position) {
                events.push(recorded.position);
            }
        }
    }
    touched
}

/// With those that they have become part of, which the same events may have changed.
fn followed<V>(fresh: Touched, standings: &HashMap<Of, Standing<V>>) -> Touched {
    let has_moved = |standing: &Standing<V>| matches!(standing, Standing::Moved { .. });
    if !standings.values().any(has_moved) {
        return fresh;
    }
    let mut all = fresh.clone();
    for (of, events) in fresh {
        let mut at = of;
        for _ in 0..HOPS_MAX {
            let Some(Standing::Moved { into }) = standings.get(&at) else {
                break;
            };
            at = (of.0, *into);
            let known = all.entry(at).or_default();
            known.extend(&events);
            known.sort_unstable();
            known.dedup();
        }
    }
    all
}
