//! Reading what is only looked at: counts of days, acts of operators, how channels fare.

use async_trait::async_trait;
use kurier_core::event::Position;
use kurier_core::projection::{AuditEntry, ChannelHealth, DailyCount};
use kurier_core::time::Timestamp;

use crate::{Result, Scope};

#[async_trait]
pub trait RecordViews: Send + Sync {
    /// The counts of the days from one to another, both included.
    async fn daily(&self, scope: Scope, between: (Timestamp, Timestamp))
    -> Result<Vec<DailyCount>>;

    /// Acts of operators before a position, the newest first.
    async fn audit(
        &self,
        scope: Scope,
        before: Option<Position>,
        limit: usize,
    ) -> Result<Vec<AuditEntry>>;

    /// How each channel fares, by name.
    async fn channel_health(&self, scope: Scope) -> Result<Vec<(String, ChannelHealth)>>;
}
