//! Queries over messages.

use async_trait::async_trait;
use kurier_core::id::{ContactId, InstanceId, JourneyId, MessageId};
use kurier_core::message::MessageState;
use kurier_core::projection::MessageSummary;
use kurier_core::time::Timestamp;

use crate::{Result, Scope};

/// Which messages to list. All that is given must hold.
#[derive(Debug, Clone, Default)]
pub struct MessageQuery {
    /// Of one of these.
    pub contacts: Option<Vec<ContactId>>,
    pub journey: Option<JourneyId>,
    pub instance: Option<InstanceId>,
    pub state: Option<MessageState>,
    /// Newest first, after this one.
    pub after: Option<(Timestamp, MessageId)>,
    pub limit: usize,
}

#[derive(Debug)]
pub struct MessagePage {
    pub messages: Vec<MessageSummary>,
    pub has_more: bool,
}

#[async_trait]
pub trait MessageViews: Send + Sync {
    async fn messages(&self, scope: Scope, query: &MessageQuery) -> Result<MessagePage>;

    async fn message(&self, scope: Scope, id: MessageId) -> Result<Option<MessageSummary>>;
}
