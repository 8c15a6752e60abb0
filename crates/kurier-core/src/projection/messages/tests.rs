use std::sync::Arc;

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
    Tell(Kind, u8, u8),
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
        template_version: None,
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
        Step::Tell(kind, n, of) => {
            let report = Report::new(message(*n), 1 + position as u32 / 4);
            return report.event(*kind, position, Some(contact(*of)), at);
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
        event: event(step, position).into(),
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
        Step::Tell(Kind::MessageSent, 1, 1),
        Step::Tell(Kind::MessageSent, 9, 1),
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
    let event = Arc::make_mut(&mut log[0].event);
    event.payload = crate::event::tombstone(&event.payload);
    let mut tables = Tables::default();
    tables.run(&Messages, &log);
    assert_eq!(states(&tables), []);
}

fn kind() -> impl Strategy<Value = Kind> {
    let told = Kind::ALL.iter().filter(|kind| kind.is_of_message());
    let told = told.filter(|kind| **kind != Kind::MessageRequested);
    prop::sample::select(told.copied().collect::<Vec<_>>())
}

fn one(tables: &Tables) -> MessageSummary {
    let rows: Vec<_> = tables.rows(&MESSAGE).filter_map(message_of_row).collect();
    let [(_, message)] = &rows[..] else {
        panic!("there is one message, not {}", rows.len())
    };
    message.clone()
}

#[test]
fn every_attempt_is_kept_with_its_ending() {
    let mut events = log(&[Step::Request(1, 1)]);
    let workspace = events[0].workspace;
    let told = [
        (Kind::MessageSending, 1),
        (Kind::MessageRetried, 1),
        (Kind::MessageSending, 2),
        (Kind::MessageSent, 2),
    ];
    for ((kind, attempt), position) in told.into_iter().zip(2..) {
        let at = Timestamp::from_millis(position * 1_000);
        let report = Report::new(message(1), attempt);
        let event = report.event(kind, position, Some(contact(1)), at);
        let position = Position(position);
        events.push(Recorded {
            position,
            workspace,
            event: event.into(),
        });
    }
    let mut tables = Tables::default();
    tables.run(&Messages, &events);
    let message = one(&tables);
    assert_eq!((message.state, message.attempts), (MessageState::Sent, 2));
    let tries = message.standing.tries.iter();
    let tries: Vec<_> = tries
        .map(|it| (it.attempt, it.outcome, it.ended_at.is_some()))
        .collect();
    let expected = [
        (1, MessageState::Retrying, true),
        (2, MessageState::Sent, true),
    ];
    assert_eq!(tries, expected);
}

#[test]
fn what_is_put_away_keeps_its_state_until_it_is_queued_again() {
    let failed = Step::Tell(Kind::MessageFailed, 1, 1);
    let discarded = Step::Tell(Kind::MessageDiscarded, 1, 1);
    let mut tables = Tables::default();
    tables.run(&Messages, &log(&[Step::Request(1, 1), failed, discarded]));
    let message = one(&tables);
    assert_eq!(
        (message.state, message.is_discarded),
        (MessageState::Failed, true)
    );
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..5u8, 0..3u8).prop_map(|(n, of)| Step::Request(n, of)),
        8 => (kind(), 0..5u8, 0..3u8).prop_map(|(kind, n, of)| Step::Tell(kind, n, of)),
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
