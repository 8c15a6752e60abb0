//! What is proven: a published artefact that never changes, named by the hash of what it is.

use serde::{Deserialize, Serialize};

use super::hash::Digest;

/// A journey may send many templates.
pub const PARENTS_MAX: usize = 1_000;
/// A journey's or template's name and the number of its version.
const NAME_BYTES_MAX: usize = 512;

/// What kind of artefact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A journey's version.
    Journey,
    Template,
    /// A content document.
    Content,
    /// A Merkle root over events.
    Evidence,
}

/// An artefact's record. Its id is the hash of it, so it includes the content and, through
/// the parents' ids, all that it came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Version {
    pub kind: Kind,
    pub name: String,
    pub content_sha256: Digest,
    /// Ascending, none twice: a record has one form.
    pub parents: Vec<Digest>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VersionFault {
    #[error("a name has 1 to 512 bytes")]
    Name,
    #[error("a version has at most 1000 parents, ascending and none twice")]
    Parents,
}

impl Kind {
    pub const ALL: [Self; 4] = [Self::Journey, Self::Template, Self::Content, Self::Evidence];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Journey => "journey",
            Self::Template => "template",
            Self::Content => "content",
            Self::Evidence => "evidence",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

impl Version {
    pub fn new(
        kind: Kind,
        name: &str,
        content: &[u8],
        mut parents: Vec<Digest>,
    ) -> Result<Self, VersionFault> {
        parents.sort_unstable();
        parents.dedup();
        let version = Self {
            kind,
            name: name.to_owned(),
            content_sha256: Digest::of(content),
            parents,
        };
        version.check().map(|()| version)
    }

    pub fn check(&self) -> Result<(), VersionFault> {
        if self.name.is_empty() || self.name.len() > NAME_BYTES_MAX {
            return Err(VersionFault::Name);
        }
        let ascending = self.parents.windows(2).all(|two| two[0] < two[1]);
        match ascending && self.parents.len() <= PARENTS_MAX {
            true => Ok(()),
            false => Err(VersionFault::Parents),
        }
    }

    /// JSON without spaces, the fields in the order of this struct.
    pub fn canonical(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("text, digests and a list are JSON")
    }

    pub fn id(&self) -> Digest {
        Digest::of(&self.canonical())
    }
}
