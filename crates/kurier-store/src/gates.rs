//! What the guards of delivery remember, for all processes together.

use async_trait::async_trait;
use kurier_core::message::{ContactLimit, Gate};
use kurier_core::time::Timestamp;
use uuid::Uuid;

use crate::queue::Lane;
use crate::{Result, Scope};

/// How many of the wanted messages a recipient may get, and when its window ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    pub granted: u32,
    pub until: Timestamp,
}

#[async_trait]
pub trait Gates: Send + Sync {
    /// The gates of a workspace's channels, as far as they remember anything.
    async fn gates(&self, scope: Scope) -> Result<Vec<(String, Gate)>>;

    /// Counts messages against the limits of their recipients, in one transaction; answers in
    /// the order of `wants`, in which each recipient occurs once.
    async fn allow(
        &self,
        lane: &Lane,
        limit: ContactLimit,
        wants: &[(Uuid, u32)],
        now: Timestamp,
    ) -> Result<Vec<Allowance>>;
}
