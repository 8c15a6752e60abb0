//! What a transaction carries, and how a version leads to it.

use serde::{Deserialize, Serialize};

use super::batch::BatchPath;
use super::hash::Digest;

const LEAF_TAG: &[u8] = b"kurier.version.v1\0";

/// How the 32 bytes in a transaction come from a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Commitment {
    /// They are the version's leaf.
    OpReturn {},
    /// They are the root of a batch in which the leaf stands.
    Batch(BatchPath),
}

/// What is committed to of a version. Nothing but the tenant has a length of its own, so
/// the parts cannot run into each other.
pub fn leaf(tenant: &str, version_id: &Digest, content_sha256: &Digest) -> Digest {
    Digest::of_parts(&[
        LEAF_TAG,
        tenant.as_bytes(),
        &version_id.0,
        &content_sha256.0,
    ])
}

impl Commitment {
    /// The bytes that the transaction must carry; none if the batch's path is no path.
    pub fn root(&self, leaf: &Digest) -> Option<Digest> {
        match self {
            Self::OpReturn {} => Some(*leaf),
            Self::Batch(path) => path.root(leaf),
        }
    }
}
