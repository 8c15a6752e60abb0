//! Queries over the ledger.

use async_trait::async_trait;
use kurier_core::id::{ContactId, InstanceId, JourneyId, MessageId};
use kurier_core::message::{MessageState, Reason};
use kurier_core::projection::MessageSummary;
use kurier_core::time::Timestamp;

use crate::{Result, Scope};

/// Which messages are meant. All that is given must hold.
#[derive(Debug, Clone, Default)]
pub struct MessageFilter {
    /// Of one of these.
    pub contacts: Option<Vec<ContactId>>,
    pub journey: Option<JourneyId>,
    pub version: Option<u32>,
    pub node: Option<String>,
    pub instance: Option<InstanceId>,
    pub channel: Option<String>,
    pub template: Option<String>,
    pub topic: Option<String>,
    pub address: Option<String>,
    /// Taken by one of these channels; by any or none if there is none.
    pub sent_by: Vec<String>,
    /// In one of these; in any if there is none.
    pub states: Vec<MessageState>,
    pub reason: Option<Reason>,
    /// What the channel said last.
    pub code: Option<String>,
    /// Whether somebody put it away.
    pub is_discarded: Option<bool>,
    /// Asked for at this time or later.
    pub since: Option<Timestamp>,
    /// Asked for before this time.
    pub before: Option<Timestamp>,
}

#[derive(Debug, Clone, Default)]
pub struct MessageQuery {
    pub filter: MessageFilter,
    /// Newest first, after this one.
    pub after: Option<(Timestamp, MessageId)>,
    pub limit: usize,
}

#[derive(Debug)]
pub struct MessagePage {
    pub messages: Vec<MessageSummary>,
    pub has_more: bool,
}

/// Messages that are alike in how they stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageCount {
    pub channel: String,
    pub state: MessageState,
    pub reason: Option<Reason>,
    pub code: Option<String>,
    pub count: u64,
}

#[async_trait]
pub trait MessageViews: Send + Sync {
    async fn messages(&self, scope: Scope, query: &MessageQuery) -> Result<MessagePage>;

    async fn message(&self, scope: Scope, id: MessageId) -> Result<Option<MessageSummary>>;

    /// How many there are, by how they stand; the most first.
    async fn message_counts(
        &self,
        scope: Scope,
        filter: &MessageFilter,
    ) -> Result<Vec<MessageCount>>;
}

/// The states as SQL, written out: an index over some of them is used only if they are seen.
pub(crate) fn states(states: &[MessageState]) -> String {
    let states: Vec<String> = states
        .iter()
        .map(|it| format!("'{}'", it.as_str()))
        .collect();
    states.join(", ")
}

pub(crate) fn count(
    (channel, state, reason, code): (String, &str, Option<&str>, Option<String>),
    count: i64,
) -> Option<MessageCount> {
    let reason = match reason {
        Some(reason) => Some(Reason::of(reason)?),
        None => None,
    };
    Some(MessageCount {
        channel,
        state: MessageState::of(state)?,
        reason,
        code,
        count: count.unsigned_abs(),
    })
}
