use proptest::prelude::*;

use super::*;
use crate::event::{Erasure, Event, Position};
use crate::id::{EventId, InstanceId, JourneyId};
use crate::message::{MessageState, Origin};
use crate::projection::simulation::Tables;
use crate::time::Timestamp;
use crate::value::Object;

#[derive(Debug, Clone)]
enum Step {
    Request(u8, u8),
    Send(u8, u8),
    Erase(u8),
}

fn contact(n: u8) -> ContactId {
    ContactId::new(Timestamp::from_millis(2), [n; 10])
}

fn message(n: u8) -> MessageId {
    MessageId::new(Timestamp::from_millis(3), [n; 10])
}

fn request(n: u8) -> Request {
    Request {
        message: message(n),
        origin: Some(Origin {
            journey: JourneyId::of_name("j"),
            version: 1,
            instance: InstanceId::from_bytes([n; 16]),
            node: "send".into(),
        }),
        channel: "email".into(),
        template: Some("hello".into()),
        body: None,
        to: None,
        topic: None,
        inputs: Object::new(),
        priority: 5,
        scheduled_at: None,
    }
}

fn event(step: &Step, position: i64) -> Event {
    let at = Timestamp::from_millis(position * 1_000);
    let (kind, of, payload) = match step {
        Step::Request(n, of) => {
            let payload = serde_json::to_string(&request(*n));
            (Kind::MessageRequested, of, payload)
        }
        Step::Send(n, of) => {
            let handover = Handover {
                message: message(*n),
                channel: "outbox".into(),
            };
            return handover.event(Some(contact(*of)), at);
        }
        Step::Erase(of) => {
            let erasure = Erasure {
                contacts: vec![contact(*of)],
                addresses: Vec::new(),
                positions: Vec::new(),
                seen: Position(0),
            };
            (Kind::ContactErased, of, serde_json::to_string(&erasure))
        }
    };
    Event {
        id: EventId::of_message(&position.to_string()),
        kind,
        contact: Some(contact(*of)),
        occurred_at: at,
        recorded_at: at,
        payload: payload.expect("JSON"),
    }
}

fn log(steps: &[Step]) -> Vec<Recorded> {
    let workspace = WorkspaceId::new(Timestamp::from_millis(1), [9; 10]);
    let recorded = |(step, position)| Recorded {
        position: Position(position),
        workspace,
        event: event(step, position),
    };
    steps.iter().zip(1..).map(recorded).collect()
}

fn states(tables: &Tables) -> Vec<(MessageId, MessageState)> {
    let rows = tables.rows(&MESSAGE).filter_map(message_of_row);
    rows.map(|(_, message)| (message.request.message, message.state))
        .collect()
}

#[test]
fn a_message_is_queued_then_sent_and_goes_with_its_contact() {
    let steps = [
        Step::Request(1, 1),
        Step::Request(2, 2),
        Step::Send(1, 1),
        Step::Send(9, 1),
    ];
    let mut tables = Tables::default();
    tables.run(&Messages, &log(&steps));
    let expected = [
        (message(1), MessageState::Sent),
        (message(2), MessageState::Queued),
    ];
    assert_eq!(states(&tables), expected);
    let mut all = steps.to_vec();
    all.push(Step::Erase(1));
    tables.run(&Messages, &log(&all)[4..]);
    assert_eq!(states(&tables), expected[1..]);
}

#[test]
fn what_was_erased_in_the_log_is_passed_over() {
    let mut log = log(&[Step::Request(1, 1)]);
    log[0].event.payload = crate::event::tombstone(&log[0].event.payload);
    let mut tables = Tables::default();
    tables.run(&Messages, &log);
    assert_eq!(states(&tables), []);
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..5u8, 0..3u8).prop_map(|(n, of)| Step::Request(n, of)),
        4 => (0..5u8, 0..3u8).prop_map(|(n, of)| Step::Send(n, of)),
        1 => (0..3u8).prop_map(Step::Erase),
    ];
    prop::collection::vec(step, 0..40)
}

proptest! {
    #[test]
    fn any_batches_with_every_event_twice_equal_one_pass(steps in steps(), size in 1..7usize) {
        let log = log(&steps);
        let (mut whole, mut parts) = (Tables::default(), Tables::default());
        whole.run(&Messages, &log);
        for batch in log.chunks(size) {
            let doubled: Vec<_> = batch.iter().flat_map(|r| [r.clone(), r.clone()]).collect();
            parts.run(&Messages, &doubled);
        }
        prop_assert_eq!(whole, parts);
    }
}
