//! The messages that are queued: the same for every side.

use kurier_core::event::{Event, Kind};
use kurier_core::id::{EventId, MessageId};
use kurier_core::message::Request;
use kurier_store::Workspace;
use serde_json::json;

use crate::clock::{Random, now};

/// What programs ask for: one for each of as many contacts, of all priorities.
pub fn requested(workspace: &Workspace, channel: &str, count: usize) -> Vec<Event> {
    let mut random = Random::new(1);
    let contacts = (0..count).map(|n| workspace.key.contact_of_user(&format!("user-{n}")));
    let event = |(n, contact)| {
        let request = request(&mut random, channel, n);
        let at = now();
        Event {
            id: EventId::from_uuid(request.message.as_uuid()),
            kind: Kind::MessageRequested,
            contact: Some(contact),
            occurred_at: at,
            recorded_at: at,
            payload: payload(&request),
        }
    };
    contacts.enumerate().map(event).collect()
}

/// The same as text, for queues that take nothing else.
pub fn payloads(count: usize) -> Vec<String> {
    let mut random = Random::new(1);
    let texts = (0..count).map(|n| payload(&request(&mut random, "outbox", n)));
    texts.collect()
}

fn request(random: &mut Random, channel: &str, n: usize) -> Request {
    let mut noise = [0; 10];
    noise[..8].copy_from_slice(&random.draw().to_le_bytes());
    let request = json!({
        "message": MessageId::new(now(), noise),
        "channel": channel,
        "body": {"subject": "Welcome", "text": format!("Hello {n}, it is good to have you.")},
        "to": format!("user-{n}@example.com"),
        "priority": n % 10 + 1,
    });
    serde_json::from_value(request).expect("a request can be read")
}

fn payload(request: &Request) -> String {
    serde_json::to_string(request).expect("a request is JSON")
}
