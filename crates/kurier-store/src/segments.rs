//! Queries over segments and their members.

use async_trait::async_trait;
use kurier_core::id::{ContactId, SegmentId};
use kurier_core::projection::SegmentSummary;
use kurier_core::time::Timestamp;

use crate::{Result, Scope};

/// A contact in a segment, since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    pub contact: ContactId,
    pub entered_at: Timestamp,
}

#[derive(Debug)]
pub struct MemberPage {
    pub members: Vec<Member>,
    pub has_more: bool,
}

#[async_trait]
pub trait SegmentViews: Send + Sync {
    /// All segments, by name.
    async fn segments(&self, scope: Scope) -> Result<Vec<SegmentSummary>>;

    async fn segment(&self, scope: Scope, id: SegmentId) -> Result<Option<SegmentSummary>>;

    /// Members in the order of their ids, after one.
    async fn members(
        &self,
        scope: Scope,
        segment: SegmentId,
        after: Option<ContactId>,
        limit: usize,
    ) -> Result<MemberPage>;

    /// The segments a contact is in, since when.
    async fn segments_of(
        &self,
        scope: Scope,
        contact: ContactId,
    ) -> Result<Vec<(SegmentId, Timestamp)>>;

    /// How many members there were at the end of each hour in which that changed.
    async fn sizes(
        &self,
        scope: Scope,
        segment: SegmentId,
        since: Timestamp,
    ) -> Result<Vec<(Timestamp, i64)>>;
}
