//! The workspaces whose messages are delivered.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use kurier_core::id::WorkspaceId;
use kurier_store::{Error, Result, Store, Workspace};

/// Remembers workspaces: they never change, and none ever goes.
#[derive(Default)]
pub struct Workspaces(Mutex<HashMap<WorkspaceId, Workspace>>);

impl Workspaces {
    pub async fn find(&self, store: &Store, id: WorkspaceId) -> Result<Workspace> {
        if let Some(known) = self.known(id) {
            return Ok(known);
        }
        let all = store.access.workspaces().await?;
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.extend(all.into_iter().map(|workspace| (workspace.id, workspace)));
        let missing = || Error::Damaged(format!("messages of workspace {id}, which is not there"));
        known.get(&id).cloned().ok_or_else(missing)
    }

    fn known(&self, id: WorkspaceId) -> Option<Workspace> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&id).cloned()
    }
}
