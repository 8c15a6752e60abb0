//! A workspace to test with, and events in it.

use kurier_core::accept::{Reception, accept};
use kurier_core::event::{Event, Kind};
use kurier_core::id::{ContactId, EventId, IdentityKey, WorkspaceId};
use kurier_core::time::Timestamp;
use kurier_store::Scope;

/// The time of all tests, unless they say otherwise.
pub fn now() -> Timestamp {
    time("2026-03-15T12:00:00Z")
}

pub fn time(text: &str) -> Timestamp {
    text.parse().expect("an RFC 3339 time")
}

pub fn seconds(count: i64) -> Timestamp {
    now().shifted(count * 1_000_000)
}

pub struct Space {
    pub scope: Scope,
    pub key: IdentityKey,
}

impl Space {
    /// The `number`th workspace. All share one key, so that the same name is the same id in
    /// each: what leaks from one to another is seen.
    pub fn new(number: u8) -> Self {
        Self {
            scope: Scope(WorkspaceId::new(now(), [number; 10])),
            key: IdentityKey::new([7; 32]),
        }
    }

    pub fn user(&self, id: &str) -> ContactId {
        self.key.contact_of_user(id)
    }

    pub fn guest(&self, id: &str) -> ContactId {
        self.key.contact_of_anonymous(id)
    }

    /// What a client sends, accepted at `at`.
    pub fn said(&self, at: Timestamp, raw: &str) -> Event {
        let reception = Reception {
            key: &self.key,
            received_at: at,
            sent_at: None,
            kind: None,
            fresh_id: &|| EventId::of_message(&format!("{at} {raw}")),
        };
        accept(raw, &reception).expect("an acceptable event")
    }
}

/// A tracked event with this message id, of the user `u`.
pub fn event(message: &str) -> Event {
    event_at(message, now())
}

pub fn event_at(message: &str, at: Timestamp) -> Event {
    Event {
        id: EventId::of_message(message),
        kind: Kind::Track,
        contact: Some(Space::new(1).user("u")),
        occurred_at: at,
        recorded_at: at,
        payload: format!(r#"{{"event":"{message}"}}"#),
    }
}

pub fn events(messages: &[&str]) -> Vec<Event> {
    messages.iter().map(|message| event(message)).collect()
}
