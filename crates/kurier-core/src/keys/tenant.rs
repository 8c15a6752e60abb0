//! Whose keys they are.

use std::fmt;

use super::part::{self, Refused};
use crate::id::WorkspaceId;

/// Whose keys they are, as the hash tag that keeps them in one slot of a cluster. It cannot
/// contain a brace or a colon, so it is the whole tag and nothing else is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tenant(String);

impl Tenant {
    /// A tenant by a name: letters, digits, `-`, `.` and `_`.
    pub fn named(name: &str) -> Result<Self, Refused> {
        part::plain("a tenant", name)?;
        Ok(Self(name.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<WorkspaceId> for Tenant {
    fn from(workspace: WorkspaceId) -> Self {
        Self(workspace.to_string())
    }
}

/// With its braces, which are part of the key.
impl fmt::Display for Tenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}}}", self.0)
    }
}
