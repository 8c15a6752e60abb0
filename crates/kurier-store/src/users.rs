//! Who may sign in, and who is. Users are written with the event that says so, as keys are;
//! sessions are no history: they come and go beside the log.

use std::fmt;
use std::str::FromStr;

use async_trait::async_trait;
use kurier_core::event::Event;
use kurier_core::id::UserId;
use kurier_core::time::Timestamp;

use crate::{Result, Scope, Scopes, Workspace};

/// What somebody may do who signed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Everything.
    Owner,
    /// Everything but users, keys, settings and erasing.
    Editor,
    /// Looking.
    Viewer,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a role; there are owner, editor and viewer")]
pub struct UnknownRole(String);

impl FromStr for Role {
    type Err = UnknownRole;

    fn from_str(text: &str) -> Result<Self, UnknownRole> {
        match text {
            "owner" => Ok(Self::Owner),
            "editor" => Ok(Self::Editor),
            "viewer" => Ok(Self::Viewer),
            other => Err(UnknownRole(other.to_owned())),
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Role {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Editor => "editor",
            Self::Viewer => "viewer",
        }
    }

    /// The scopes a key would need for the same.
    pub const fn scopes(self) -> Scopes {
        let admin = matches!(self, Self::Owner | Self::Editor);
        Scopes {
            ingest: admin,
            read: true,
            admin,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub id: UserId,
    /// In small letters; no two users anywhere have the same.
    pub email: String,
    pub name: String,
    pub role: Role,
    pub created_at: Timestamp,
}

#[derive(Clone)]
pub struct NewUser {
    pub user: User,
    /// The password's hash, in the form that says how it was made.
    pub password: String,
}

/// What is to be different of a user; the rest stays.
#[derive(Clone, Default)]
pub struct UserEdit {
    pub name: Option<String>,
    pub role: Option<Role>,
    /// Another hash: whoever is signed in with the old password no longer is.
    pub password: Option<String>,
}

/// What became of changing or deleting a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edited {
    Done,
    /// There is no such user.
    Unknown,
    /// Nobody would be left who may do everything.
    LastOwner,
}

#[derive(Debug, Clone, Copy)]
pub struct NewSession {
    /// SHA-256 of what the cookie holds.
    pub hash: [u8; 32],
    pub user: UserId,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}

/// A session with whose it is.
#[derive(Debug, Clone)]
pub struct SignedIn {
    pub workspace: Workspace,
    pub user: User,
    pub expires_at: Timestamp,
}

#[async_trait]
pub trait Users: Send + Sync {
    /// Whether anybody can sign in, to whatever workspace.
    async fn has_users(&self) -> Result<bool>;

    /// All users, by e-mail address.
    async fn users(&self, scope: Scope) -> Result<Vec<User>>;

    async fn user(&self, scope: Scope, id: UserId) -> Result<Option<User>>;

    /// The user of an e-mail address in whatever workspace, with the password's hash.
    async fn find_user(&self, email: &str) -> Result<Option<(Scope, NewUser)>>;

    /// Makes a user. [`crate::Error::Taken`] if the address is.
    async fn create_user(&self, scope: Scope, user: NewUser, event: Event) -> Result<()>;

    /// Makes the first user; false if there is one in the workspace already.
    async fn create_first_user(&self, scope: Scope, user: NewUser, event: Event) -> Result<bool>;

    async fn edit_user(
        &self,
        scope: Scope,
        id: UserId,
        edit: UserEdit,
        event: Event,
    ) -> Result<Edited>;

    /// Deletes a user; their sessions end.
    async fn delete_user(&self, scope: Scope, id: UserId, event: Event) -> Result<Edited>;

    async fn begin_session(&self, scope: Scope, session: NewSession) -> Result<()>;

    /// The session behind a hash, if it has not ended by `now`.
    async fn find_session(&self, hash: [u8; 32], now: Timestamp) -> Result<Option<SignedIn>>;

    /// Lets a session end later.
    async fn extend_session(&self, hash: [u8; 32], expires_at: Timestamp) -> Result<()>;

    /// Ends a session; false if there is none.
    async fn end_session(&self, hash: [u8; 32]) -> Result<bool>;

    /// Forgets the sessions that ended before `now`; says how many those were.
    async fn prune_sessions(&self, now: Timestamp) -> Result<u64>;
}
