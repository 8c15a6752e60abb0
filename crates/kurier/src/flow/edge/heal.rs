//! What was lost is put back. A module whose tenants are whole at the edge marks each of them;
//! the mark goes with everything else when the keyspace is emptied, and then the read model is
//! projected anew, whatever hints may say.

use kurier_core::edge::{Module, Standing, row_id};
use kurier_core::event::Position;
use kurier_core::id::WorkspaceId;
use kurier_core::keys::{Key, Tenant};
use kurier_core::projection::Need;
use kurier_store::Scope;
use kurier_store::edge::{AT, EdgeBatch, EdgeMode, Projected, project};
use kurier_store::kv::{Command, KvExt as _};

use super::keyed::Named;
use super::steps::{Standings, Touched};
use super::{Edge, Error, Result};
use crate::metrics as names;

const TRIES_MAX: usize = 20;

impl<M: Module> Edge<M> {
    /// Finds the tenants that are not whole: whose mark is gone, or says less than this process
    /// knows, since a Redis that took another's place may have lost what that one had.
    pub(super) async fn look(&self) -> Result<()> {
        if !Self::is_whole() {
            return Ok(());
        }
        let workspaces = self.store.access.workspaces().await?;
        let marks = workspaces.iter().map(|workspace| Command::HashGet {
            key: self.generation(workspace.id),
            field: AT.to_owned(),
        });
        let marks = self.keyspace.run(marks.collect()).await?;
        let kept = self.store.views.checkpoint(&Self::name()).await?;
        let is_first = !std::mem::replace(&mut self.state().has_looked, true);
        for (workspace, reply) in workspaces.iter().zip(marks) {
            let at = position(reply.value()?.as_deref());
            let needed = match is_first {
                true => self.newest(Scope(workspace.id), kept).await?,
                false => self.needed(workspace.id),
            };
            if at.is_none_or(|at| at < needed) {
                self.state().lost.insert(workspace.id);
            }
        }
        Ok(())
    }

    /// The position of the last event that changed anything of a tenant, of those that were
    /// projected.
    async fn newest(&self, scope: Scope, kept: Position) -> Result<Position> {
        let rows = self.rows(scope).await?;
        let revisions = rows.iter().filter_map(|row| match M::standing(row)? {
            Standing::Live { revision, .. } | Standing::Deleted { revision, .. } => Some(revision),
            Standing::Moved { .. } | Standing::Gone => None,
        });
        let projected = revisions.filter(|revision| *revision <= kept);
        Ok(projected.max().unwrap_or_default())
    }

    /// Up to here the tenant must be there, as far as this process knows.
    pub(super) fn needed(&self, workspace: WorkspaceId) -> Position {
        let needed = self.state().needed.get(&workspace).copied();
        needed.unwrap_or_default()
    }

    /// Someone found that something is missing, or is where it should not be.
    pub(super) fn lose(&self, workspace: WorkspaceId, stray: Option<String>) {
        let mut state = self.state();
        state.lost.insert(workspace);
        state.stray.extend(stray);
        drop(state);
        self.wake.notify_one();
    }

    pub(super) async fn heal_lost(&self) -> Result<()> {
        loop {
            let lost = self.state().lost.first().copied();
            let Some(workspace) = lost else {
                return Ok(());
            };
            self.heal(workspace).await?;
            self.state().lost.remove(&workspace);
        }
    }

    /// Projects everything of a tenant anew, by one script: nobody sees it half done.
    pub async fn heal(&self, workspace: WorkspaceId) -> Result<()> {
        for _ in 0..TRIES_MAX {
            let batch = self.whole(workspace).await?;
            let mode = batch.mode.clone();
            if let Projected::Done(_) = project(self.keyspace.as_ref(), &batch.into()).await? {
                Self::fault_point("healed");
                self.count(names::EDGE_HEALED, 1);
                self.forget_stray(&mode);
                return Ok(());
            }
        }
        Err(Error::Restless(1))
    }

    async fn whole(&self, workspace: WorkspaceId) -> Result<EdgeBatch> {
        // Before the rows: they say at least this much.
        let at = self.store.views.checkpoint(self.projector.name()).await?;
        let mut touched = Touched::new();
        let mut standings = Standings::<M>::new();
        for row in self.rows(Scope(workspace)).await? {
            let read = row_id(&row).zip(M::standing(&row));
            let (of, standing) = read.ok_or(Error::Row(M::TABLE.name))?;
            touched.insert(of, Vec::new());
            standings.insert(of, standing);
        }
        let mut clear = self.counted(workspace).await?;
        let mut writes = Vec::new();
        for (of, held) in touched.keys().zip(self.held(&touched).await?) {
            let mut write = self.write_of(&Named::of(*of), standings.get(of), held.as_ref())?;
            let indexes = write.enter.iter().chain(&write.leave);
            clear.extend(indexes.map(|index| index.key.clone()));
            write.leave.clear();
            writes.push(write);
        }
        clear.sort_unstable();
        clear.dedup();
        let mode = EdgeMode::Rebuild { clear, at: at.0 };
        Ok(self.batch(workspace, mode, writes))
    }

    /// Every index of a tenant that is known of: those that its mark counts, and those that
    /// someone found to hold what they should not.
    async fn counted(&self, workspace: WorkspaceId) -> Result<Vec<String>> {
        let (tenant, key) = (Tenant::from(workspace), self.generation(workspace));
        let fields = self.keyspace.hash_get_all(&key).await?;
        let counted = fields.keys();
        let counted = counted.filter_map(|field| M::NAMESPACE.counted(&tenant, field));
        let mut indexes: Vec<String> = counted.map(Key::into_text).collect();
        indexes.push(self.index(&tenant, None)?.key);
        let begin = M::NAMESPACE.entries(&tenant);
        let stray = self.state().stray.clone();
        indexes.extend(stray.into_iter().filter(|key| key.starts_with(&begin)));
        Ok(indexes)
    }

    fn forget_stray(&self, healed: &EdgeMode) {
        if let EdgeMode::Rebuild { clear, .. } = healed {
            self.state().stray.retain(|key| !clear.contains(key));
        }
    }

    /// All rows of a tenant.
    pub(super) async fn rows(&self, scope: Scope) -> Result<Vec<kurier_core::projection::Row>> {
        let by_workspace = &M::TABLE.columns[..1];
        let need = Need::by(M::TABLE, by_workspace, vec![vec![scope.0.into()]]);
        let loaded = self.store.views.load(vec![need]).await?;
        Ok(loaded.into_iter().flat_map(|loaded| loaded.rows).collect())
    }
}

/// A position as a mark says it.
pub(super) fn position(text: Option<&[u8]>) -> Option<Position> {
    let text = std::str::from_utf8(text?).ok()?;
    text.parse().ok().map(Position)
}
