//! The queue: what is to be handed out, claimed by one worker at a time.

use async_trait::async_trait;
use kurier_core::event::{Event, Kind};
use kurier_core::id::{ContactId, MessageId, WorkspaceId};
use kurier_core::message::Request;
use kurier_core::time::Timestamp;

use crate::{Appended, Result, Scope};

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

/// A claim that is dealt with, and what the log is told of it: both, or neither.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    pub claim: Claim,
    pub how: Settlement,
    pub event: Option<Event>,
}

impl Queued {
    /// The row for a message that an event asks for.
    pub fn requested(event: &Event) -> Option<Self> {
        if event.kind != Kind::MessageRequested {
            return None;
        }
        let request: Request = serde_json::from_str(&event.payload).ok()?;
        Some(Self {
            id: request.message,
            contact: event.contact,
            channel: request.channel,
            priority: request.priority,
            due_at: event.recorded_at,
            payload: event.payload.clone(),
        })
    }
}

/// The rows for what a reaction asks for. What stood in the log already was queued then, and
/// may have left the queue since.
pub(crate) fn requested(
    events: &[(WorkspaceId, Event)],
    appended: &[Appended],
) -> Vec<(WorkspaceId, Queued)> {
    let fresh = events
        .iter()
        .zip(appended)
        .filter(|(_, how)| **how != Appended::Duplicate);
    let rows =
        fresh.filter_map(|((workspace, event), _)| Some((*workspace, Queued::requested(event)?)));
    rows.collect()
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

    /// Settles claims and tells the log; a claim that another worker has taken over meanwhile
    /// answers false, and nothing is told of it.
    async fn settle(&self, settled: Vec<Settled>) -> Result<Vec<bool>>;

    /// Removes what is queued for these contacts.
    async fn forget(&self, scope: Scope, contacts: &[ContactId]) -> Result<u64>;

    async fn depth(&self, scope: Scope) -> Result<u64>;
}
