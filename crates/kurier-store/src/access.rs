//! Who may come in: workspaces and their API keys. They are written together with the event
//! that says so, in one transaction, because they must hold before any projection ran.

use std::fmt;
use std::str::FromStr;

use async_trait::async_trait;
use kurier_core::event::Event;
use kurier_core::id::{ApiKeyId, IdentityKey, WorkspaceId};
use kurier_core::time::Timestamp;

use crate::{Result, Scope};

#[derive(Debug, Clone)]
pub struct Workspace {
    pub id: WorkspaceId,
    pub name: String,
    pub key: IdentityKey,
    pub created_at: Timestamp,
}

/// What a key may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scopes {
    pub ingest: bool,
    pub read: bool,
    pub admin: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a scope; there are ingest, read and admin")]
pub struct UnknownScope(String);

impl FromStr for Scopes {
    type Err = UnknownScope;

    fn from_str(text: &str) -> Result<Self, UnknownScope> {
        let mut scopes = Self::default();
        for word in text.split([' ', ',']).filter(|word| !word.is_empty()) {
            match word {
                "ingest" => scopes.ingest = true,
                "read" => scopes.read = true,
                "admin" => scopes.admin = true,
                other => return Err(UnknownScope(other.to_owned())),
            }
        }
        Ok(scopes)
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = [
            (self.ingest, "ingest"),
            (self.read, "read"),
            (self.admin, "admin"),
        ];
        let words: Vec<&str> = words
            .iter()
            .filter(|(on, _)| *on)
            .map(|(_, word)| *word)
            .collect();
        f.write_str(&words.join(" "))
    }
}

/// A key's public half. The secret half is known to its owner alone.
#[derive(Debug, Clone)]
pub struct ApiKey {
    pub id: ApiKeyId,
    pub name: String,
    pub scopes: Scopes,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

#[derive(Debug, Clone)]
pub struct NewApiKey {
    pub key: ApiKey,
    /// SHA-256 of the whole key.
    pub hash: [u8; 32],
}

#[async_trait]
pub trait Access: Send + Sync {
    /// Makes a workspace with its first keys. [`crate::Error::Taken`] if the name is.
    async fn create_workspace(
        &self,
        workspace: &Workspace,
        keys: Vec<NewApiKey>,
        events: Vec<Event>,
    ) -> Result<()>;

    async fn workspaces(&self) -> Result<Vec<Workspace>>;

    async fn workspace(&self, id: WorkspaceId) -> Result<Option<Workspace>>;

    /// The workspace and key behind a hash, if there is one that was not revoked.
    async fn find_key(&self, hash: [u8; 32]) -> Result<Option<(Workspace, ApiKey)>>;

    async fn create_key(&self, scope: Scope, key: NewApiKey, event: Event) -> Result<()>;

    async fn keys(&self, scope: Scope) -> Result<Vec<ApiKey>>;

    /// Revokes a key; false if there is no such key that could be revoked.
    async fn revoke_key(&self, scope: Scope, id: ApiKeyId, event: Event) -> Result<bool>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_words() {
        let scopes: Scopes = "admin, ingest".parse().expect("known words");
        assert_eq!(scopes.to_string(), "ingest admin");
        assert_eq!("write".parse::<Scopes>(), Err(UnknownScope("write".into())));
    }
}
