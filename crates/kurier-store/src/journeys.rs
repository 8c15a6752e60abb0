//! Queries over journeys and the runs through them.

use async_trait::async_trait;
use kurier_core::id::{ContactId, InstanceId, JourneyId};
use kurier_core::journey::Status;
use kurier_core::projection::{
    InstanceSummary, JourneyCount, JourneySummary, JourneyVersion, Passage,
};
use kurier_core::time::Timestamp;

use crate::{Result, Scope};

/// Which runs to list. All that is given must hold.
#[derive(Debug, Clone, Default)]
pub struct InstanceFilter {
    pub journey: Option<JourneyId>,
    pub version: Option<u32>,
    pub node: Option<String>,
    pub status: Option<Status>,
    /// Of one of these.
    pub contacts: Option<Vec<ContactId>>,
}

#[derive(Debug, Clone, Default)]
pub struct InstanceQuery {
    pub filter: InstanceFilter,
    /// Newest first, after this one.
    pub after: Option<(Timestamp, InstanceId)>,
    pub limit: usize,
}

#[derive(Debug)]
pub struct InstancePage {
    pub instances: Vec<InstanceSummary>,
    pub has_more: bool,
}

#[async_trait]
pub trait JourneyViews: Send + Sync {
    /// All journeys, by name.
    async fn journeys(&self, scope: Scope) -> Result<Vec<JourneySummary>>;

    async fn journey(&self, scope: Scope, id: JourneyId) -> Result<Option<JourneySummary>>;

    /// The draft of a journey, as JSON.
    async fn draft(&self, scope: Scope, id: JourneyId) -> Result<Option<String>>;

    /// When each version was published, the first one first.
    async fn versions(&self, scope: Scope, id: JourneyId) -> Result<Vec<(u32, Timestamp)>>;

    async fn version(
        &self,
        scope: Scope,
        id: JourneyId,
        version: u32,
    ) -> Result<Option<JourneyVersion>>;

    /// How often each way through a journey was taken, in all versions.
    async fn counts(&self, scope: Scope, id: JourneyId) -> Result<Vec<JourneyCount>>;

    async fn instances(&self, scope: Scope, query: &InstanceQuery) -> Result<InstancePage>;

    async fn instance(&self, scope: Scope, id: InstanceId) -> Result<Option<InstanceSummary>>;

    /// What is kept of a run's path, in order.
    async fn path(&self, scope: Scope, id: InstanceId) -> Result<Vec<Passage>>;
}
