//! What the log is told of a message after it was asked for.

use serde::{Deserialize, Serialize};

use super::channel::check_name;
use super::{GateReason, Refusal, SkipReason};
use crate::event::{Event, Kind, Recorded};
use crate::id::{ContactId, EventId, MessageId};
use crate::time::Timestamp;

/// The payload of every `message.*` but `message.requested`. The event's kind says what
/// happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    pub message: MessageId,
    /// How often it has been handed to a channel, this time included.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub attempt: u32,
    /// The channel it was handed to, which is not always the one that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// What the provider calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// When it is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

/// The channel that an event about a message names.
pub fn channel_of(recorded: &Recorded) -> Option<String> {
    channel_in(&recorded.event.payload)
}

/// The channel in a payload that is about a message, or was before it was erased.
pub fn channel_in(payload: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct OfMessage {
        #[serde(default)]
        message: Option<MessageId>,
        #[serde(default)]
        erased: bool,
        channel: String,
    }
    let found: OfMessage = serde_json::from_str(payload).ok()?;
    let is_of_message = found.message.is_some() || found.erased;
    (is_of_message && check_name(&found.channel).is_ok()).then_some(found.channel)
}

/// Why a message waits, was skipped or has failed: one closed list, which guards add to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Nothing is sent to this address.
    Suppressed,
    /// The recipient has opted out of the topic.
    OptedOut,
    /// The contact had as many as it may have.
    ContactLimit,
    /// There is no address to send it to.
    NoAddress,
    /// It was refused for good.
    Refused,
    /// It was tried as often as it may be.
    RetriesExhausted,
    /// It was handed over and the answer was lost.
    AnswerLost,
    CircuitOpen,
    RateLimit,
    RetryAfter,
}

impl Reason {
    pub const ALL: &[Self] = &[
        Self::Suppressed,
        Self::OptedOut,
        Self::ContactLimit,
        Self::NoAddress,
        Self::Refused,
        Self::RetriesExhausted,
        Self::AnswerLost,
        Self::CircuitOpen,
        Self::RateLimit,
        Self::RetryAfter,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Suppressed => "suppressed",
            Self::OptedOut => "opted_out",
            Self::ContactLimit => "contact_limit",
            Self::NoAddress => "no_address",
            Self::Refused => "refused",
            Self::RetriesExhausted => "retries_exhausted",
            Self::AnswerLost => "answer_lost",
            Self::CircuitOpen => "circuit_open",
            Self::RateLimit => "rate_limit",
            Self::RetryAfter => "retry_after",
        }
    }

    pub fn of(text: &str) -> Option<Self> {
        let mut all = Self::ALL.iter();
        all.find(|reason| reason.as_str() == text).copied()
    }
}

impl From<SkipReason> for Reason {
    fn from(reason: SkipReason) -> Self {
        match reason {
            SkipReason::Suppressed => Self::Suppressed,
            SkipReason::OptedOut => Self::OptedOut,
        }
    }
}

impl From<GateReason> for Reason {
    fn from(reason: GateReason) -> Self {
        match reason {
            GateReason::CircuitOpen => Self::CircuitOpen,
            GateReason::RateLimit => Self::RateLimit,
            GateReason::RetryAfter => Self::RetryAfter,
        }
    }
}

impl Report {
    pub const fn new(message: MessageId, attempt: u32) -> Self {
        Self {
            message,
            attempt,
            channel: None,
            receipt: None,
            refusal: None,
            reason: None,
            until: None,
        }
    }

    /// What the log is told. `turn` tells one claim of a message from the next: told twice in
    /// one turn, it stands there once.
    pub fn event(
        &self,
        kind: Kind,
        turn: i64,
        contact: Option<ContactId>,
        now: Timestamp,
    ) -> Event {
        let message = EventId::from_uuid(self.message.as_uuid());
        Event {
            id: EventId::derived(kind.as_str(), message, turn as u32),
            kind,
            contact,
            occurred_at: now,
            recorded_at: now,
            payload: serde_json::to_string(self).expect("a report serialises"),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_read_back_as_it_is_written() {
        for reason in Reason::ALL {
            let json = serde_json::to_string(reason).expect("JSON");
            assert_eq!(json, format!("\"{}\"", reason.as_str()));
            assert_eq!(Reason::of(reason.as_str()), Some(*reason));
        }
    }

    #[test]
    fn a_report_says_only_what_there_is_to_say() {
        let id = MessageId::new(Timestamp::from_millis(1), [1; 10]);
        let json = serde_json::to_value(Report::new(id, 0)).expect("JSON");
        assert_eq!(json.as_object().map(|it| it.len()), Some(1));
    }
}
