//! What is projected from read models into the keyspace, to be read there quickly: the edge. A
//! module is a declaration: whose keys, which table, which events, what is indexed. How it gets
//! there, is read, healed and erased is the same for all of them.

mod contact_profile;
mod notification_slack;

pub use contact_profile::ContactProfile;
pub use notification_slack::NotificationSlack;

use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::event::{Position, Recorded};
use crate::id::WorkspaceId;
use crate::keys::{Lifetime, Namespace, Ttls};
use crate::projection::{Row, Table};
use crate::time::Timestamp;

pub trait Module: Send + Sync + 'static {
    /// What is kept of an entity.
    type Value: Serialize + DeserializeOwned + Clone + Send + Sync + 'static;

    const NAMESPACE: Namespace;

    /// Under which name its checkpoint stands.
    const GROUP: &'static str;

    /// The read model it follows. The first column is the workspace, the second the id.
    const TABLE: &'static Table;

    const KEPT: Kept;

    /// The entities that an event may have changed; one too many costs a look.
    fn touched(recorded: &Recorded) -> Vec<Uuid>;

    /// What a row says of its entity; `None` if it is not one that this version wrote.
    fn standing(row: &Row) -> Option<Standing<Self::Value>>;

    /// The indexes an entity stands in besides the list of all, and under which value.
    fn indexed(value: &Self::Value) -> Vec<(&'static str, String)>;

    /// How long an entity is kept.
    fn lifetime(ttls: &Ttls) -> Lifetime;
}

/// How much of a module is at the edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// All of a tenant's entities, which are few: lists are answered, and what is lost is put
    /// back.
    Whole,
    /// What was changed or read lately.
    Warm,
}

/// What is true of an entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing<V> {
    Live {
        revision: Position,
        value: V,
    },
    /// It was put away: for a while the edge says so.
    Deleted {
        revision: Position,
        at: Timestamp,
    },
    /// It is part of another one.
    Moved {
        into: Uuid,
    },
    /// Nothing is to be known of it any more.
    Gone,
}

/// Whose row it is.
pub fn row_id(row: &Row) -> Option<(WorkspaceId, Uuid)> {
    let workspace = WorkspaceId::from_uuid(row.first()?.as_id()?);
    Some((workspace, row.get(1)?.as_id()?))
}
