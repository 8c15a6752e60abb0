//! Messages: what is asked for, what a channel is handed, and what became of it.

pub mod channel;
mod letter;
mod outcome;
pub mod reply;
mod request;
mod state;

pub use letter::{Letter, Rendered};
pub use outcome::{Blame, Category, Outcome, Refusal};
pub use request::{Origin, Request};
pub use state::MessageState;

use serde::{Deserialize, Serialize};

use crate::event::{Event, Kind};
use crate::id::{ContactId, EventId, MessageId};
use crate::time::Timestamp;

/// `message.sent`: a channel has taken a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handover {
    pub message: MessageId,
    /// The channel that took it, which is not always the one that was asked for.
    pub channel: String,
}

impl Handover {
    /// What the log is told. Told twice, it stands there once.
    pub fn event(&self, contact: Option<ContactId>, now: Timestamp) -> Event {
        let message = EventId::from_uuid(self.message.as_uuid());
        Event {
            id: EventId::derived("sent", message, 0),
            kind: Kind::MessageSent,
            contact,
            occurred_at: now,
            recorded_at: now,
            payload: serde_json::to_string(self).expect("a handover serialises"),
        }
    }
}
