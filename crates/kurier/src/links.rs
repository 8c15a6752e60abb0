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

    /// Whether the world comes here over TLS, as far as was said.
    pub fn is_encrypted(&self) -> bool {
        let url = self.public_url.as_deref();
        url.is_some_and(|url| url.starts_with("https://"))
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

#[cfg(test)]
mod tests {
    use kurier_core::id::{IdentityKey, WorkspaceId};
    use kurier_core::message::Sealed;
    use kurier_core::time::Timestamp;

    use super::*;

    #[test]
    fn a_link_needs_an_address_the_world_knows() {
        let workspace = Workspace {
            id: WorkspaceId::from_bytes([1; 16]),
            name: "w".into(),
            key: IdentityKey::new([1; 32]),
            created_at: Timestamp::default(),
        };
        let message = MessageId::from_bytes([2; 16]);
        let address = Address::guessed("ann@x.de").expect("an address");
        let topic = "News".parse().expect("a topic");
        let link = |links: Links| links.unsubscribe(&workspace, message, &address, &topic);
        assert_eq!(link(Links::default()), None);
        let link = link(Links::new(Some("https://x.de/kurier/".into()))).expect("a link");
        let token = link.strip_prefix("https://x.de/kurier/unsubscribe/");
        let sealed = Sealed::read(token.expect("behind the address")).expect("a token");
        let said = sealed.open(&workspace.key).expect("ours");
        assert_eq!(
            (said.address, said.message),
            (address.key(&workspace.key), message)
        );
        assert_eq!((said.workspace, said.topic), (workspace.id, topic.clone()));
    }
}
