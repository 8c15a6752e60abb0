//! Links that lead from a message back to this Kurier.

use kurier_core::id::MessageId;
use kurier_core::message::{Address, Topic, Unsubscribe};
use kurier_store::Workspace;

/// Knows under which address the world reaches this Kurier, if it was told.
#[derive(Debug, Clone, Default)]
pub struct Links {
    public_url: Option<String>,
}

impl Links {
    pub fn new(public_url: Option<String>) -> Self {
        let bare = |url: String| url.trim_end_matches('/').to_owned();
        Self {
            public_url: public_url.map(bare),
        }
    }

    /// Where one POST unsubscribes the recipient of a message from its topic.
    pub fn unsubscribe(
        &self,
        workspace: &Workspace,
        message: MessageId,
        address: &Address,
        topic: &Topic,
    ) -> Option<String> {
        let public_url = self.public_url.as_deref()?;
        let said = Unsubscribe {
            workspace: workspace.id,
            kind: address.kind(),
            address: address.key(&workspace.key),
            message,
            topic: topic.clone(),
        };
        let token = said.seal(&workspace.key);
        Some(format!("{public_url}/unsubscribe/{token}"))
    }
}
