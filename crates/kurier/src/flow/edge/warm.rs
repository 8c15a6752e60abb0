//! What is kept for a while: found with the position up to which it is true, offered by whoever had
//! to read it from the store, and taken away at once.

use std::collections::HashMap;

use kurier_core::edge::{Module, Standing};
use kurier_core::event::Position;
use kurier_store::Scope;
use kurier_store::edge::{EdgeHint, EdgeMode, EdgeWrite, project};
use uuid::Uuid;

use super::keyed::Named;
use super::read::Miss;
use super::{Edge, Result};
use crate::cache::patient;

impl<M: Module> Edge<M> {
    /// Those of these entities that are at the edge, each with the position up to which it includes
    /// every event. Whether something has changed it since is for the reader to know: a keyspace
    /// may have lost what it was told.
    pub async fn dated(&self, scope: Scope, ids: &[Uuid]) -> HashMap<Uuid, (Position, M::Value)> {
        let entries = match self.ask_entries(scope, ids).await {
            Ok(entries) => entries.into_iter(),
            Err(miss) => {
                self.count_reads(miss.as_str(), ids.len());
                return HashMap::new();
            }
        };
        let dated = entries.filter_map(|(id, entry)| Some((id, (entry.as_of?, entry.value?))));
        let found: HashMap<_, _> = dated.collect();
        self.count_reads("hit", found.len());
        self.count_reads(Miss::Absent.as_str(), ids.len() - found.len());
        found
    }

    /// Keeps what was read from the store, which was folded up to `folded` by then, for the next
    /// who asks; only speed is lost if this fails. The script leaves it out if the entity has come
    /// further meanwhile, or is gone, which its hint says.
    pub async fn offer(
        &self,
        scope: Scope,
        folded: Position,
        found: Vec<(Uuid, Position, M::Value)>,
    ) {
        if found.is_empty() || self.is_resting() {
            return;
        }
        let offered = patient(self.try_offer(scope, folded, found));
        if let Err(error) = offered.await {
            tracing::debug!(%error, "the edge took nothing");
        }
    }

    async fn try_offer(
        &self,
        scope: Scope,
        folded: Position,
        found: Vec<(Uuid, Position, M::Value)>,
    ) -> Result<()> {
        let mut writes = Vec::with_capacity(found.len());
        for (id, revision, value) in found {
            let of = Named::of((scope.0, id));
            let standing = Standing::Live { revision, value };
            let mut write = self.write_at(&of, Some(&standing), None, Some(folded))?;
            write.hint = Some(EdgeHint {
                revision: revision.max(folded).0,
                renew: false,
                key: self.hint_key(&of)?.into_text(),
            });
            writes.push(write);
        }
        self.write_warm(scope, writes).await
    }

    /// Removes entities at once, since an event at `position` says that they are gone. Nothing
    /// older brings them back.
    pub async fn remove(&self, scope: Scope, ids: &[Uuid], position: Position) -> Result<()> {
        let removals = ids
            .iter()
            .map(|id| self.removal(&Named::of((scope.0, *id)), position));
        let removals = removals.collect::<Result<Vec<_>>>()?;
        self.write_warm(scope, removals).await
    }

    fn removal(&self, of: &Named, position: Position) -> Result<EdgeWrite> {
        Ok(EdgeWrite {
            revision: position.0,
            hint: Some(EdgeHint {
                revision: position.0,
                renew: true,
                key: self.hint_key(of)?.into_text(),
            }),
            ..self.write_of(of, None, None)?
        })
    }

    async fn write_warm(&self, scope: Scope, writes: Vec<EdgeWrite>) -> Result<()> {
        let batch = self.batch(scope.0, EdgeMode::Warm, writes);
        project(self.keyspace.as_ref(), &batch.into()).await?;
        Ok(())
    }
}
