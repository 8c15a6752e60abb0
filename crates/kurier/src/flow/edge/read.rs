//! Reading from the edge. Whoever gets no answer asks the store: that is slower, and never
//! wrong. An answer is given only if nothing is pending that could change it.

use std::collections::HashMap;

use kurier_core::edge::Module;
use kurier_core::event::Position;
use kurier_core::id::WorkspaceId;
use kurier_core::keys::Entry;
use kurier_store::Scope;
use kurier_store::edge::AT;
use kurier_store::kv::{Command, Reply};
use uuid::Uuid;

use super::heal::position;
use super::keyed::Named;
use super::{Edge, Of};
use crate::cache::patient;
use crate::metrics as names;

/// Why the edge gives no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Miss {
    /// It does not have it.
    Absent,
    /// Something is pending.
    Behind,
    /// The keyspace does not answer.
    Failed,
}

impl Miss {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Behind => "behind",
            Self::Failed => "failed",
        }
    }
}

impl<M: Module> Edge<M> {
    /// An entity as it is now, if the edge knows: with a value, or that it was deleted.
    pub async fn get(&self, scope: Scope, id: Uuid) -> Option<Entry<M::Value>> {
        let found = self.get_all(scope, &[id]).await;
        found.into_values().next()
    }

    /// Those of these entities that the edge knows.
    pub async fn get_all(&self, scope: Scope, ids: &[Uuid]) -> HashMap<Uuid, Entry<M::Value>> {
        let current = ids.iter().filter(|id| self.is_current((scope.0, **id)));
        let current: Vec<Uuid> = current.copied().collect();
        self.count_reads(Miss::Behind.as_str(), ids.len() - current.len());
        let found = self.ask_marked(scope, &current).await;
        // What arrived meanwhile may have changed them.
        let found: HashMap<_, _> = match found {
            Ok(found) => {
                let still = |id: &Uuid| self.is_current((scope.0, *id));
                found.into_iter().filter(|(id, _)| still(id)).collect()
            }
            Err(miss) => {
                self.count_reads(miss.as_str(), current.len());
                return HashMap::new();
            }
        };
        self.count_reads("hit", found.len());
        self.count_reads(Miss::Absent.as_str(), current.len() - found.len());
        found
    }

    /// As [`Self::ask_entries`]; of a module whose tenants are whole only if this one is.
    async fn ask_marked(
        &self,
        scope: Scope,
        ids: &[Uuid],
    ) -> std::result::Result<HashMap<Uuid, Entry<M::Value>>, Miss> {
        if Self::is_whole() && !ids.is_empty() {
            let (key, field) = (self.generation(scope.0), AT.to_owned());
            let mark = self.ask(vec![Command::HashGet { key, field }]).await?.pop();
            let mark = mark.and_then(|reply| reply.value().ok()).flatten();
            self.check_mark(scope.0, position(mark.as_deref()))?;
        }
        self.ask_entries(scope, ids).await
    }

    /// A tenant that is not there as far as it should be is put back.
    fn check_mark(
        &self,
        workspace: WorkspaceId,
        at: Option<Position>,
    ) -> std::result::Result<(), Miss> {
        if at.is_some_and(|at| at >= self.needed(workspace)) {
            return Ok(());
        }
        self.lose(workspace, None);
        Err(Miss::Absent)
    }

    /// All entities of a tenant that are in use, or those in an index, if the edge knows.
    pub async fn list(
        &self,
        scope: Scope,
        by: Option<(&'static str, &str)>,
    ) -> Option<Vec<M::Value>> {
        let listed = self.try_list(scope, by).await;
        let result = listed.as_ref().map_or_else(|miss| miss.as_str(), |_| "hit");
        self.count_reads(result, 1);
        listed.ok()
    }

    async fn try_list(
        &self,
        scope: Scope,
        by: Option<(&'static str, &str)>,
    ) -> std::result::Result<Vec<M::Value>, Miss> {
        if !self.is_current_tenant(scope.0) {
            return Err(Miss::Behind);
        }
        let index = self.index(&scope.0.into(), by).map_err(|_| Miss::Absent)?;
        let asked = vec![
            Command::HashGetAll {
                key: self.generation(scope.0),
            },
            Command::SetMembers {
                key: index.key.clone(),
            },
        ];
        let mut replies = self.ask(asked).await?.into_iter();
        let counts = fields(replies.next())?;
        let members = members(replies.next())?;
        self.check_mark(scope.0, counts.get(AT).copied().map(Position))?;
        let count = counts.get(&index.field).copied().unwrap_or(0);
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let found = self.ask_entries(scope, &members).await?;
        let listed: Vec<M::Value> = found.into_values().filter_map(|it| it.value).collect();
        let is_in = |value: &M::Value| {
            by.is_none_or(|(name, of)| M::indexed(value).contains(&(name, of.to_owned())))
        };
        if !self.is_current_tenant(scope.0) {
            return Err(Miss::Behind);
        }
        if members.len() != count || listed.len() != count || !listed.iter().all(is_in) {
            self.lose(scope.0, Some(index.key));
            return Err(Miss::Absent);
        }
        Ok(listed)
    }

    /// Whether the read model says nothing of it that was not projected, as far as this process
    /// knows.
    fn is_current(&self, of: Of) -> bool {
        let folded = self.projector.position();
        let state = self.state();
        let is_known = state.applied.is_some() && folded <= state.scanned;
        is_known && !state.pending.contains(&of)
    }

    fn is_current_tenant(&self, workspace: WorkspaceId) -> bool {
        let folded = self.projector.position();
        let state = self.state();
        let is_known = state.applied.is_some() && folded <= state.scanned;
        is_known && !state.pending.iter().any(|of| of.0 == workspace)
    }

    pub(super) async fn ask_entries(
        &self,
        scope: Scope,
        ids: &[Uuid],
    ) -> std::result::Result<HashMap<Uuid, Entry<M::Value>>, Miss> {
        let keys = ids
            .iter()
            .map(|id| self.entry_key(&Named::of((scope.0, *id))));
        let keys = keys.collect::<std::result::Result<Vec<_>, _>>();
        let keys = keys.map_err(|_| Miss::Absent)?;
        let asked = keys.iter().map(|key| Command::Get {
            key: key.text().to_owned(),
        });
        let replies = self.ask(asked.collect()).await?;
        let read = ids.iter().zip(&keys).zip(replies);
        let read = read.filter_map(|((id, key), reply)| {
            let bytes = reply.value().ok()??;
            Some((*id, key.decode(&bytes)?))
        });
        Ok(read.collect())
    }

    async fn ask(&self, commands: Vec<Command>) -> std::result::Result<Vec<Reply>, Miss> {
        if commands.is_empty() {
            return Ok(Vec::new());
        }
        if self.is_resting() {
            return Err(Miss::Failed);
        }
        let asked = patient(self.keyspace.run(commands)).await;
        asked.map_err(|_| Miss::Failed)
    }

    pub(super) fn count_reads(&self, result: &'static str, by: usize) {
        let module = M::NAMESPACE.module();
        metrics::counter!(names::EDGE_READS, "module" => module, "result" => result)
            .increment(by as u64);
    }
}

fn fields(reply: Option<Reply>) -> std::result::Result<HashMap<String, i64>, Miss> {
    let fields = reply.and_then(|reply| reply.fields().ok());
    let fields = fields.ok_or(Miss::Failed)?;
    let read = fields.into_iter().filter_map(|(field, bytes)| {
        let count = std::str::from_utf8(&bytes).ok()?.parse().ok()?;
        Some((field, count))
    });
    Ok(read.collect())
}

fn members(reply: Option<Reply>) -> std::result::Result<Vec<Uuid>, Miss> {
    let members = reply.and_then(|reply| reply.members().ok());
    let members = members.ok_or(Miss::Failed)?;
    let read = members.iter().map(|member| {
        let text = std::str::from_utf8(member).ok();
        text.and_then(|text| text.parse().ok()).ok_or(Miss::Absent)
    });
    read.collect()
}
