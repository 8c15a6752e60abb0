//! What is true of entities, as keys and values.

use kurier_core::edge::{Module, Standing};
use kurier_core::event::Position;
use kurier_core::id::WorkspaceId;
use kurier_core::keys::{Entry, Key, Refused, Tenant};
use kurier_store::edge::{EdgeBatch, EdgeHint, EdgeIndex, EdgeMode, EdgeWrite};
use kurier_store::kv::Command;

use super::steps::{Standings, Touched};
use super::{Edge, Of, Result};

/// An entity as its keys name it.
pub(super) struct Named {
    tenant: Tenant,
    id: String,
}

impl Named {
    pub(super) fn of((workspace, id): Of) -> Self {
        Self {
            tenant: workspace.into(),
            id: id.to_string(),
        }
    }
}

impl<M: Module> Edge<M> {
    pub(super) fn entry_key(
        &self,
        Named { tenant, id }: &Named,
    ) -> std::result::Result<Key<Entry<M::Value>>, Refused> {
        let lifetime = M::lifetime(&self.settings.ttls);
        M::NAMESPACE.entry(tenant, id, lifetime)
    }

    pub(super) fn hint_key(
        &self,
        Named { tenant, id }: &Named,
    ) -> std::result::Result<Key<Position>, Refused> {
        M::NAMESPACE.version_hint(tenant, id, &self.settings.ttls)
    }

    pub(super) fn generation(&self, workspace: WorkspaceId) -> String {
        M::NAMESPACE.generation(&workspace.into()).into_text()
    }

    /// A batch for the script.
    pub(super) fn batch(
        &self,
        workspace: WorkspaceId,
        mode: EdgeMode,
        writes: Vec<EdgeWrite>,
    ) -> EdgeBatch {
        let ttls = &self.settings.ttls;
        EdgeBatch {
            generation: self.generation(workspace),
            mode,
            hint_ttl_ms: ttls.version_hint.ttl_ms(),
            dedup_ttl_ms: ttls.dedup.ttl_ms(),
            writes,
        }
    }

    /// The writes that make the edge say what is true.
    pub(super) async fn keyed(
        &self,
        touched: &Touched,
        standings: &Standings<M>,
        to: Position,
    ) -> Result<Vec<EdgeWrite>> {
        let held = self.held(touched).await?;
        let mut writes = Vec::with_capacity(touched.len());
        for ((of, events), held) in touched.iter().zip(held) {
            let named = Named::of(*of);
            let mut write = self.write_at(&named, standings.get(of), held.as_ref(), Some(to))?;
            let upto = events.last().copied().unwrap_or_default();
            // Of what is gone, that it is gone is as old as the event that says so.
            if write.value.is_none() {
                write.revision = write.revision.max(upto.0);
            }
            write.hint = Some(EdgeHint {
                revision: upto.0,
                renew: true,
                key: self.hint_key(&named)?.into_text(),
            });
            self.deduplicate(&mut write, &named, events)?;
            writes.push(write);
        }
        Ok(writes)
    }

    fn deduplicate(&self, write: &mut EdgeWrite, of: &Named, events: &[Position]) -> Result<()> {
        for event in events {
            let key = M::NAMESPACE.dedup(&of.tenant, &of.id, *event, &self.settings.ttls)?;
            write.dedups.push(key.into_text());
        }
        Ok(())
    }

    /// What stands at the edge now: from which indexes to take it. Modules without any need not
    /// look.
    pub(super) async fn held(&self, touched: &Touched) -> Result<Vec<Option<Entry<M::Value>>>> {
        if !Self::is_whole() {
            return Ok(touched.iter().map(|_| None).collect());
        }
        let keys = touched.keys().map(|of| self.entry_key(&Named::of(*of)));
        let keys = keys.collect::<std::result::Result<Vec<_>, _>>()?;
        let asked = keys.iter().map(|key| Command::Get {
            key: key.text().to_owned(),
        });
        let replies = self.keyspace.run(asked.collect()).await?;
        let read = keys.iter().zip(replies).map(|(key, reply)| {
            let bytes = reply.value()?;
            Ok(bytes.and_then(|bytes| key.decode(&bytes)))
        });
        read.collect()
    }

    /// What is to stand at the edge, without hint and deduplication.
    pub(super) fn write_of(
        &self,
        of: &Named,
        standing: Option<&Standing<M::Value>>,
        held: Option<&Entry<M::Value>>,
    ) -> Result<EdgeWrite> {
        self.write_at(of, standing, held, None)
    }

    /// The same, with up to where the read model was folded when it was read. A row that was
    /// changed by an event includes all that came before.
    pub(super) fn write_at(
        &self,
        of: &Named,
        standing: Option<&Standing<M::Value>>,
        held: Option<&Entry<M::Value>>,
        folded: Option<Position>,
    ) -> Result<EdgeWrite> {
        let key = self.entry_key(of)?;
        let as_of = |revision: Position| Some(folded.filter(|_| !Self::is_whole())?.max(revision));
        let (revision, entry, ttl_ms) = match standing {
            Some(Standing::Live { revision, value }) => {
                let entry = Entry {
                    revision: *revision,
                    as_of: as_of(*revision),
                    value: Some(value),
                };
                (*revision, Some(entry), key.ttl_ms())
            }
            Some(Standing::Deleted { revision, at }) => {
                let (entry, ttl_ms) = self.tombstone(*revision, at.as_millis());
                (*revision, entry, ttl_ms)
            }
            Some(Standing::Moved { .. } | Standing::Gone) | None => (Position(0), None, None),
        };
        let now = entry.as_ref().and_then(|entry| entry.value);
        let before = held.and_then(|held| held.value.as_ref());
        let enter = self.indexes(&of.tenant, now)?;
        let mut leave = self.indexes(&of.tenant, before)?;
        leave.retain(|index| !enter.contains(index));
        Ok(EdgeWrite {
            as_of: entry.as_ref().and_then(|entry| Some(entry.as_of?.0)),
            value: entry.map(|entry| key.encode_entry(&entry)),
            entry: key.into_text(),
            ttl_ms,
            revision: revision.0,
            seen: held.map(|held| held.revision.0),
            hint: None,
            dedups: Vec::new(),
            member: of.id.clone(),
            leave,
            enter,
        })
    }

    /// That it was deleted is told for as long as is left of its time, or for ever.
    fn tombstone<'v>(
        &self,
        revision: Position,
        at_ms: i64,
    ) -> (Option<Entry<&'v M::Value>>, Option<u64>) {
        let entry = Entry {
            revision,
            as_of: None,
            value: None,
        };
        let Some(ttl_ms) = self.settings.ttls.delete.ttl_ms() else {
            return (Some(entry), None);
        };
        let age_ms = u64::try_from((self.clock)().as_millis() - at_ms).unwrap_or(0);
        match ttl_ms.saturating_sub(age_ms) {
            0 => (None, None),
            left_ms => (Some(entry), Some(left_ms)),
        }
    }

    pub(super) fn indexes(
        &self,
        tenant: &Tenant,
        value: Option<&M::Value>,
    ) -> Result<Vec<EdgeIndex>> {
        let (Some(value), true) = (value, Self::is_whole()) else {
            return Ok(Vec::new());
        };
        let mut indexes = vec![self.index(tenant, None)?];
        for (name, of) in M::indexed(value) {
            indexes.push(self.index(tenant, Some((name, &of)))?);
        }
        Ok(indexes)
    }

    /// The list of all, or an index of it.
    pub(super) fn index(
        &self,
        tenant: &Tenant,
        by: Option<(&'static str, &str)>,
    ) -> std::result::Result<EdgeIndex, Refused> {
        let key = match by {
            None => M::NAMESPACE.list(tenant),
            Some((name, value)) => M::NAMESPACE.index(tenant, name, value)?,
        };
        Ok(EdgeIndex {
            field: key.field().to_owned(),
            key: key.into_text(),
        })
    }
}
