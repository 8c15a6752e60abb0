use proptest::prelude::*;

use super::*;
use crate::event::{Event, Position};
use crate::id::{ContactId, EventId};
use crate::projection::simulation::Tables;
use crate::segment::crossing;
use crate::time::Timestamp;

fn segment(n: u8) -> SegmentId {
    SegmentId::new(Timestamp::from_millis(1), [n; 10])
}

fn contact(n: u8) -> ContactId {
    ContactId::new(Timestamp::from_millis(2), [n; 10])
}

fn recorded(position: i64, event: Event) -> Recorded {
    let workspace = WorkspaceId::new(Timestamp::from_millis(1), [9; 10]);
    Recorded {
        position: Position(position),
        workspace,
        event: event.into(),
    }
}

#[derive(Debug, Clone)]
enum Step {
    Define(u8),
    Delete(u8),
    Cross(u8, u8, bool),
}

fn event(step: &Step, position: i64) -> Event {
    let at = Timestamp::from_millis(position * 900_000);
    let cause = EventId::of_message(&position.to_string());
    let about = |kind: Kind, payload: String| Event {
        id: cause,
        kind,
        contact: None,
        occurred_at: at,
        recorded_at: at,
        payload,
    };
    match step {
        Step::Define(n) => {
            let definition = Definition::new(segment(*n), "s", Some("TRUE")).expect("good");
            about(
                Kind::SegmentCreated,
                serde_json::to_string(&definition).expect("JSON"),
            )
        }
        Step::Delete(n) => about(
            Kind::SegmentDeleted,
            format!("{{\"segment\":\"{}\"}}", segment(*n)),
        ),
        Step::Cross(s, c, entered) => crossing(segment(*s), contact(*c), *entered, cause, (at, at)),
    }
}

fn log(steps: &[Step]) -> Vec<Recorded> {
    let events = steps
        .iter()
        .zip(1..)
        .map(|(step, position)| recorded(position, event(step, position)));
    events.collect()
}

#[test]
fn members_come_and_go_and_are_counted_once() {
    let steps = [
        Step::Define(1),
        Step::Cross(1, 1, true),
        Step::Cross(1, 2, true),
        Step::Cross(1, 2, true),
        Step::Cross(1, 1, false),
        Step::Cross(2, 1, true),
    ];
    let mut tables = Tables::default();
    tables.run(&Segments, &log(&steps));
    let row = tables.rows(&SEGMENT).next().expect("there");
    assert_eq!(segment_of_row(row).expect("readable").1.size, 1);
    assert_eq!(tables.rows(&MEMBER).count(), 1);
    assert_eq!(tables.rows(&SEGMENT_SIZE).count(), 2);
}

#[test]
fn a_deleted_segment_leaves_nothing() {
    let mut tables = Tables::default();
    tables.run(
        &Segments,
        &log(&[Step::Define(1), Step::Cross(1, 1, true), Step::Delete(1)]),
    );
    assert_eq!(tables, Tables::default());
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => (0..3u8).prop_map(Step::Define),
        1 => (0..3u8).prop_map(Step::Delete),
        8 => (0..3u8, 0..4u8, any::<bool>()).prop_map(|(s, c, entered)| Step::Cross(s, c, entered)),
    ]
}

proptest! {
    #[test]
    fn any_batch_size_gives_the_same_and_sizes_are_counts(steps in prop::collection::vec(step(), 1..60)) {
        let log = log(&steps);
        let mut whole = Tables::default();
        whole.run(&Segments, &log);
        for batch in [1, 3, 7] {
            let mut tables = Tables::default();
            log.chunks(batch).for_each(|events| tables.run(&Segments, events));
            prop_assert_eq!(&tables, &whole, "batch of {}", batch);
        }
        for row in whole.rows(&SEGMENT) {
            let (_, summary) = segment_of_row(row).expect("readable");
            let members = whole.rows(&MEMBER).filter(|member| member[1] == row[1]).count();
            prop_assert_eq!(summary.size, members as i64);
        }
    }
}
