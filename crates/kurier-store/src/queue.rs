//! The queue: what is to be handed out, claimed by one worker at a time.

use async_trait::async_trait;
use kurier_core::id::{ContactId, MessageId, WorkspaceId};
use kurier_core::time::Timestamp;

use crate::{Result, Scope};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queued {
    pub id: MessageId,
    pub contact: Option<ContactId>,
    pub channel: String,
    /// 1 to 10; 10 goes first.
    pub priority: u8,
    pub due_at: Timestamp,
    pub payload: String,
}

/// A row in a worker's hands until its lease ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    pub workspace: WorkspaceId,
    pub message: Queued,
    /// Grows with every claim: a settlement that names an older one is refused.
    pub fence: i64,
    pub attempts: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settlement {
    /// It is dealt with and leaves the queue.
    Done,
    /// It is tried again at this time.
    Retry(Timestamp),
}

#[async_trait]
pub trait Queue: Send + Sync {
    /// Queues what is not queued yet; answers how many were new.
    async fn put(&self, scope: Scope, messages: Vec<Queued>) -> Result<usize>;

    /// Claims what is due and not leased to a living worker: highest priority first, then
    /// the longest due.
    async fn claim(
        &self,
        now: Timestamp,
        lease_until: Timestamp,
        limit: usize,
    ) -> Result<Vec<Claim>>;

    /// Settles claims; a claim that another worker has taken over meanwhile answers false.
    async fn settle(&self, settled: Vec<(Claim, Settlement)>) -> Result<Vec<bool>>;

    /// Removes what is queued for these contacts.
    async fn forget(&self, scope: Scope, contacts: &[ContactId]) -> Result<u64>;

    async fn depth(&self, scope: Scope) -> Result<u64>;
}
