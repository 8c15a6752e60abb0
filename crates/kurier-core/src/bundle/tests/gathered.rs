//! Evidence of many events.

use super::super::gathered::{Entry, Gathered};
use super::super::hash::Digest;
use crate::event::{Event, Kind, Position, Recorded};
use crate::id::{EventId, WorkspaceId};
use crate::time::Timestamp;

fn recorded(position: i64, kind: Kind) -> Recorded {
    let at = Timestamp::from_millis(1_790_000_000_000 + position);
    let event = Event {
        id: EventId::of_message(&position.to_string()),
        kind,
        contact: None,
        occurred_at: at,
        recorded_at: at,
        payload: format!("{{\"n\":{position}}}"),
    };
    Recorded {
        position: Position(position),
        workspace: WorkspaceId::new(at, [1; 10]),
        event: event.into(),
    }
}

fn gathered() -> Gathered {
    let kinds = [
        Kind::MessageSent,
        Kind::Track,
        Kind::AddressSuppressed,
        Kind::MessageFailed,
        Kind::AddressReleased,
        Kind::TemplatePublished,
    ];
    let events = kinds.iter().zip(1..);
    let entries = events.filter_map(|(kind, position)| Entry::of(&recorded(position, *kind)));
    Gathered {
        from: Timestamp::from_millis(0),
        to: Timestamp::from_millis(1_800_000_000_000),
        entries: entries.collect(),
    }
}

#[test]
fn deliveries_and_consent_are_evidence_and_nothing_else_is() {
    let found = gathered();
    let positions: Vec<i64> = found.entries.iter().map(|it| it.position.0).collect();
    assert_eq!(positions, [1, 3, 4, 5]);
    let summary = found.summary().expect("some");
    assert_eq!(summary.count, 4);
    let none = Gathered {
        entries: Vec::new(),
        ..found
    };
    assert_eq!(none.summary(), None);
}

#[test]
fn the_root_stands_for_every_part_of_every_entry() {
    let honest = gathered().summary().expect("some");
    let changes: [&dyn Fn(&mut Gathered); 7] = [
        &|it| it.entries[1].position.0 += 1,
        &|it| it.entries[1].id = EventId::of_message("another"),
        &|it| it.entries[1].kind = "message.sent".to_owned(),
        &|it| it.entries[1].recorded_at = Timestamp::from_millis(7),
        &|it| it.entries[1].payload_sha256 = Digest::of(b"another"),
        &|it| it.entries.swap(1, 2),
        &|it| drop(it.entries.pop()),
    ];
    for (number, change) in changes.iter().enumerate() {
        let mut changed = gathered();
        change(&mut changed);
        let summary = changed.summary().expect("some");
        assert_ne!(summary.root, honest.root, "{number}");
    }
    // And the time it is of is in the content of its version.
    let mut moved = gathered();
    moved.to = Timestamp::from_millis(1_800_000_000_001);
    let moved = moved.summary().expect("some");
    assert_eq!(moved.root, honest.root);
    assert_ne!(moved.canonical(), honest.canonical());
}

#[test]
fn what_is_kept_is_read_as_it_was_written() {
    let text = serde_json::to_string(&gathered()).expect("JSON");
    let read: Gathered = serde_json::from_str(&text).expect("ours");
    assert_eq!(read, gathered());
}
