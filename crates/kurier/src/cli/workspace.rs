//! Which workspace a command means.

use anyhow::{Context as _, bail};
use clap::Args;
use kurier_store::{Store, Workspace};

#[derive(Debug, Clone, Args)]
pub struct WorkspaceArgs {
    /// The workspace, by name
    #[arg(
        long,
        value_name = "NAME",
        env = "KURIER_WORKSPACE",
        default_value = "default",
        global = true
    )]
    pub workspace: String,
}

impl WorkspaceArgs {
    pub async fn find(&self, store: &Store) -> anyhow::Result<Workspace> {
        let all = store.access.workspaces().await?;
        if all.is_empty() {
            bail!("there is no workspace yet: `kurier serve` makes one at its first start");
        }
        let names: Vec<String> = all.iter().map(|workspace| workspace.name.clone()).collect();
        let found = all
            .into_iter()
            .find(|workspace| workspace.name == self.workspace);
        found.with_context(|| {
            format!(
                "there is no workspace `{}`; there are: {}",
                self.workspace,
                names.join(", ")
            )
        })
    }
}
