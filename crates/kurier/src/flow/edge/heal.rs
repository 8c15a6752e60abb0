//! What was lost is put back. A module whose tenants are whole at the edge marks each of them;
//! the mark goes with everything else when the keyspace is emptied, and then the read model is
//! projected anew, whatever hints may say.

use kurier_core::edge::{Module, row_id};
use kurier_core::id::WorkspaceId;
use kurier_core::projection::Need;
use kurier_store::Scope;
use kurier_store::edge::{EdgeBatch, EdgeMode, Projected, project};
use kurier_store::kv::Command;

use super::{Edge, Error, Result};
use crate::metrics as names;

const TRIES_MAX: usize = 20;

impl<M: Module> Edge<M> {
    /// Finds the tenants that are not whole.
    pub(super) async fn look(&self) -> Result<()> {
        if !Self::is_whole() {
            return Ok(());
        }
        let workspaces = self.store.access.workspaces().await?;
        let marks = workspaces.iter().map(|workspace| Command::Exists {
            key: self.generation(workspace.id),
        });
        let marked = self.keyspace.run(marks.collect()).await?;
        for (workspace, reply) in workspaces.iter().zip(marked) {
            if !reply.flag()? {
                self.state().lost.insert(workspace.id);
            }
        }
        Ok(())
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
            if let Projected::Done(_) = project(self.keyspace.as_ref(), &batch).await? {
                self.count(names::EDGE_HEALED, 1);
                self.forget_stray(&batch);
                return Ok(());
            }
        }
        Err(Error::Restless(1))
    }

    async fn whole(&self, workspace: WorkspaceId) -> Result<EdgeBatch> {
        let mut writes = Vec::new();
        let mut clear = vec![self.index(workspace, None)?.key];
        for row in self.rows(Scope(workspace)).await? {
            let read = row_id(&row).zip(M::standing(&row));
            let (of, standing) = read.ok_or(Error::Row(M::TABLE.name))?;
            let write = self.write_of(of, Some(&standing), None)?;
            clear.extend(write.enter.iter().map(|index| index.key.clone()));
            writes.push(write);
        }
        let tenant = M::NAMESPACE.entries(&workspace.into());
        let stray = self.state().stray.clone();
        clear.extend(stray.into_iter().filter(|key| key.starts_with(&tenant)));
        clear.sort_unstable();
        clear.dedup();
        Ok(EdgeBatch {
            generation: self.generation(workspace),
            mode: EdgeMode::Rebuild { clear },
            writes,
        })
    }

    fn forget_stray(&self, batch: &EdgeBatch) {
        if let EdgeMode::Rebuild { clear } = &batch.mode {
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
