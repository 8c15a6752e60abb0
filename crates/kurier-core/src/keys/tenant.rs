//! Whose keys they are.

use std::fmt;

use uuid::fmt::Hyphenated;

use super::part::{self, Refused};
use crate::id::WorkspaceId;

/// Whose keys they are, as the hash tag that keeps them in one slot of a cluster. It cannot
/// contain a brace or a colon, so it is the whole tag and nothing else is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tenant {
    /// The name in its braces.
    tag: String,
}

impl Tenant {
    /// A tenant by a name: letters, digits, `-`, `.` and `_`.
    pub fn named(name: &str) -> Result<Self, Refused> {
        part::plain("a tenant", name)?;
        Ok(Self::of(name))
    }

    fn of(name: &str) -> Self {
        Self {
            tag: ["{", name, "}"].concat(),
        }
    }

    /// Without its braces.
    pub fn as_str(&self) -> &str {
        &self.tag[1..self.tag.len() - 1]
    }

    /// With its braces, which are part of the key.
    pub fn tag(&self) -> &str {
        &self.tag
    }
}

impl From<WorkspaceId> for Tenant {
    fn from(workspace: WorkspaceId) -> Self {
        let mut name = [0; Hyphenated::LENGTH];
        Self::of(workspace.as_uuid().hyphenated().encode_lower(&mut name))
    }
}

/// With its braces, which are part of the key.
impl fmt::Display for Tenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.tag)
    }
}
