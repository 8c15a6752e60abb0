//! Queries over published versions and what was shown for them.

use async_trait::async_trait;
use kurier_core::bundle::{Digest, Kind};
use kurier_core::event::Position;
use kurier_core::id::WorkspaceId;
use kurier_core::projection::{Anchor, PublishedVersion, VersionProof};
use kurier_core::time::Timestamp;

use crate::{Result, Scope};

/// Of what was shown for a version, so much is looked at: the newest.
pub const PROOFS_MAX: usize = 16;

/// Which versions to list. All that is given must hold.
#[derive(Debug, Clone, Copy, Default)]
pub struct VersionQuery {
    pub kind: Option<Kind>,
    pub anchor: Option<Anchor>,
    /// Newest first, after this one.
    pub after: Option<(Timestamp, Digest)>,
    pub limit: usize,
}

#[derive(Debug)]
pub struct VersionPage {
    pub versions: Vec<PublishedVersion>,
    pub has_more: bool,
}

#[async_trait]
pub trait VersionViews: Send + Sync {
    async fn published(&self, scope: Scope, query: &VersionQuery) -> Result<VersionPage>;

    /// Those of these that there are, in no particular order.
    async fn published_among(&self, scope: Scope, ids: &[Digest]) -> Result<Vec<PublishedVersion>>;

    /// What was shown for a version, the newest first.
    async fn version_proofs(&self, scope: Scope, id: &Digest) -> Result<Vec<VersionProof>>;

    /// Versions of all workspaces that changed after a position, in that order: for the flow
    /// that forgets what is cached of them.
    async fn changed_versions(
        &self,
        after: Position,
        max: usize,
    ) -> Result<Vec<(WorkspaceId, Digest, Position)>>;
}

impl VersionPage {
    /// Of one row more than was asked for is known that there are more.
    pub(crate) fn of(mut versions: Vec<PublishedVersion>, limit: usize) -> Self {
        let has_more = versions.len() > limit;
        versions.truncate(limit);
        Self { versions, has_more }
    }
}
