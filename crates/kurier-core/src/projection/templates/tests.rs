use proptest::prelude::*;

use super::*;
use crate::event::{Event, Position};
use crate::id::EventId;
use crate::projection::simulation::Tables;
use crate::time::Timestamp;
use crate::value::Value;

#[derive(Debug, Clone, Copy)]
enum Step {
    Publish(u8),
    Retire(u8),
}

fn recorded(position: i64, kind: Kind, payload: String) -> Recorded {
    let at = Timestamp::from_millis(position * 1_000);
    let event = Event {
        id: EventId::of_message(&position.to_string()),
        kind,
        contact: None,
        occurred_at: at,
        recorded_at: at,
        payload,
    };
    Recorded {
        position: Position(position),
        workspace: WorkspaceId::from_bytes([9; 16]),
        event: event.into(),
    }
}

fn log(steps: &[Step]) -> Vec<Recorded> {
    let mut versions = [0; 3];
    let events = steps.iter().zip(1..).map(|(step, position)| match step {
        Step::Publish(n) => {
            versions[usize::from(*n)] += 1;
            let name = format!("t{n}");
            let publication = Publication {
                id: TemplateId::of_name(&name),
                version: versions[usize::from(*n)],
                document: Value::Text(format!("{position}")),
                reads: vec![format!("contact.a{position}")],
                topic: (position % 2 == 0).then(|| "news".to_owned()),
                hash: format!("h{position}"),
                name,
            };
            let payload = serde_json::to_string(&publication).expect("JSON");
            recorded(position, Kind::TemplatePublished, payload)
        }
        Step::Retire(n) => {
            let name = format!("t{n}");
            let id = TemplateId::of_name(&name);
            let payload = serde_json::to_string(&Retirement { id, name }).expect("JSON");
            recorded(position, Kind::TemplateRetired, payload)
        }
    });
    events.collect()
}

#[test]
fn the_newest_version_stands_in_the_list_and_all_are_kept() {
    let mut tables = Tables::default();
    let steps = [
        Step::Publish(0),
        Step::Publish(0),
        Step::Retire(0),
        Step::Retire(1),
    ];
    tables.run(&Templates, &log(&steps));
    let rows: Vec<_> = tables.rows(&TEMPLATE).collect();
    assert_eq!(rows.len(), 1);
    let template = template_of_row(rows[0]).expect("readable").1;
    assert_eq!((template.version, template.hash.as_str()), (2, "h2"));
    assert_eq!(template.reads, ["contact.a2"]);
    assert_eq!(template.created_at, Timestamp::from_millis(1_000));
    assert_eq!(template.retired_at, Some(Timestamp::from_millis(3_000)));
    let versions = tables
        .rows(&TEMPLATE_VERSION)
        .map(|row| template_version_of_row(row).expect("readable"));
    let versions: Vec<_> = versions.map(|it| (it.version, it.document)).collect();
    assert_eq!(versions, [(1, "\"1\"".to_owned()), (2, "\"2\"".to_owned())]);
    // Published again, it is back.
    tables.run(&Templates, &[log(&[Step::Publish(0); 4])[3].clone()]);
    let template = template_of_row(tables.rows(&TEMPLATE).next().expect("there"))
        .expect("readable")
        .1;
    assert_eq!((template.version, template.retired_at), (4, None));
}

proptest! {
    #[test]
    fn any_batch_size_gives_the_same(steps in prop::collection::vec(
        prop_oneof![3 => (0..3u8).prop_map(Step::Publish), 1 => (0..3u8).prop_map(Step::Retire)], 1..40,
    )) {
        let log = log(&steps);
        let mut whole = Tables::default();
        whole.run(&Templates, &log);
        for batch in [1, 3, 7] {
            let mut tables = Tables::default();
            log.chunks(batch).for_each(|events| tables.run(&Templates, events));
            prop_assert_eq!(&tables, &whole, "batch of {}", batch);
        }
    }
}
