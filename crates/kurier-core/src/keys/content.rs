//! The keys of content: the documented one of a node or a set behind its tenant, or by itself.

use serde::{Deserialize, Serialize};

use super::{CONTENT, Tenant};
use crate::id::DocumentId;

/// How the documented keys stand in the keyspace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// `content:v1:{TENANT}:para:refund_policy:001`
    #[default]
    Tenant,
    /// `para:refund_policy:001`: for one tenant that has a Redis to itself, which is no cluster.
    Bare,
}

impl Form {
    /// What stands before every documented key.
    pub fn prefix(self, tenant: &Tenant) -> String {
        match self {
            Self::Tenant => CONTENT.entries(tenant),
            Self::Bare => String::new(),
        }
    }
}

/// What the keys of a long document begin with until all of them are there:
/// `content:v1:{TENANT}:aside:ID:TOKEN:`, where the token is nobody else's.
pub fn aside(tenant: &Tenant, id: DocumentId, token: u64) -> String {
    format!("{}aside:{id}:{token:016x}:", CONTENT.entries(tenant))
}
