use std::collections::BTreeMap;

use super::*;
use crate::content::{Decision, Document, Numbers, Outline, Plan, Settings, Slugger};
use crate::event::{Event, Position};
use crate::id::{EventId, WorkspaceId};
use crate::projection::Row;
use crate::time::Timestamp;

const W: WorkspaceId = WorkspaceId::from_bytes([1; 16]);

fn at(position: i64, kind: Kind, payload: String) -> Recorded {
    let time = Timestamp::from_micros(position * 1_000_000);
    Recorded {
        position: Position(position),
        workspace: W,
        event: Event {
            id: EventId::of_message(&position.to_string()),
            kind,
            contact: None,
            occurred_at: time,
            recorded_at: time,
            payload,
        }
        .by("Ann")
        .into(),
    }
}

/// What importing a text comes to.
fn imported(source: &str, old: Option<&Document>, numbers: &mut Numbers) -> Imported {
    let slugger = Slugger::new(&Settings::default());
    let outline = Outline::read(source, None, &slugger).expect("read");
    match Plan::new("a.md", old, &outline).decide(numbers) {
        Decision::Changed(change) => Imported {
            document: change.document,
            source: source.to_owned(),
            given: change.given,
            gone: change.gone,
        },
        Decision::Unchanged => panic!("nothing changed"),
    }
}

fn history() -> Vec<Recorded> {
    let mut numbers = Numbers::default();
    let first = imported(
        "# One\n\nText here stays.\n\nThat goes.\n",
        None,
        &mut numbers,
    );
    let second = "# One\n\nText here stays.\n\n# Two\n";
    let second = imported(second, Some(&first.document), &mut numbers);
    let gone = crate::content::withdrawn(&second.document);
    let withdrawal = Withdrawal {
        number: 3,
        id: second.document.id(),
        name: "a.md".into(),
        gone,
    };
    let import = |number, imported: Imported| {
        serde_json::to_string(&Import::new(number, vec![imported])).expect("JSON")
    };
    vec![
        at(1, Kind::ContentImported, import(1, first)),
        at(2, Kind::ContentImported, import(2, second)),
        at(3, Kind::ContentImported, "{}".into()),
        at(
            4,
            Kind::ContentWithdrawn,
            serde_json::to_string(&withdrawal).expect("JSON"),
        ),
    ]
}

type Tables = BTreeMap<(&'static str, Vec<Cell>), Row>;

fn folded(events: &[Recorded], size: usize) -> (Tables, usize) {
    let (mut rows, mut poison) = (Tables::new(), 0);
    for events in events.chunks(size) {
        let folded = Content.fold(Vec::new(), events).expect("readable");
        poison += folded.poison.len();
        for change in folded.changes {
            match change {
                Change::Put(table, row) => {
                    rows.insert((table.name, row[..table.key].to_vec()), row);
                }
                Change::Drop(table, key) => drop(rows.remove(&(table.name, key))),
            }
        }
    }
    (rows, poison)
}

fn of<T>(tables: &Tables, table: &Table, read: impl Fn(&Row) -> Option<T>) -> Vec<T> {
    let rows = tables.iter().filter(|((name, _), _)| *name == table.name);
    rows.map(|(_, row)| read(row).expect("readable")).collect()
}

#[test]
fn in_batches_of_any_size_the_rows_are_the_same() {
    let events = history();
    let (all, poison) = folded(&events, 9);
    assert_eq!(poison, 1);
    for size in 1..=3 {
        assert_eq!(folded(&events, size), (all.clone(), 1), "batches of {size}");
    }
}

#[test]
fn a_key_that_is_gone_says_since_when_and_by_which_import() {
    let (tables, _) = folded(&history()[..2], 9);
    let nodes = of(&tables, &CONTENT_NODE, content_node_of_row);
    let gone: Vec<_> = nodes.iter().filter(|node| node.gone.is_some()).collect();
    assert_eq!(gone.len(), 1, "{nodes:?}");
    assert_eq!(gone[0].key.to_string(), "chunk:that_goes:001");
    assert_eq!(gone[0].gone, Some((Timestamp::from_micros(2_000_000), 2)));
    let imports = of(&tables, &CONTENT_IMPORT, content_import_of_row);
    assert_eq!(imports[1].by.as_deref(), Some("Ann"));
    assert_eq!((imports[1].given, imports[1].gone), (1, 1));
}

#[test]
fn a_withdrawal_takes_the_document_and_leaves_its_keys_gone() {
    let (tables, _) = folded(&history(), 9);
    assert!(of(&tables, &CONTENT_DOCUMENT, content_document_of_row).is_empty());
    assert!(of(&tables, &CONTENT_BODY, content_body_of_row).is_empty());
    let nodes = of(&tables, &CONTENT_NODE, content_node_of_row);
    assert!(nodes.iter().all(|node| node.gone.is_some()), "{nodes:?}");
    assert_eq!(nodes.len(), 5);
}

/// Rebuilding gives the same keys because the counters come back from what was given.
#[test]
fn counters_are_what_all_keys_together_say() {
    let (tables, _) = folded(&history(), 9);
    let mut kept = Numbers::default();
    for (name, used) in of(&tables, &CONTENT_COUNTER, content_used_of_row) {
        kept.set(name, used);
    }
    let mut learned = Numbers::default();
    for node in of(&tables, &CONTENT_NODE, content_node_of_row) {
        learned.learn(&node.key);
    }
    assert_eq!(kept, learned);
}

#[test]
fn a_document_is_read_back_whole() {
    let (tables, _) = folded(&history()[..1], 9);
    let documents = of(&tables, &CONTENT_DOCUMENT, content_document_of_row);
    let bodies = of(&tables, &CONTENT_BODY, content_body_of_row);
    let (known, body) = (&documents[0], &bodies[0]);
    assert_eq!(known.nodes, body.document.nodes.len());
    assert_eq!(Some(known.key), body.document.key());
    assert!(body.document.is_of(&body.source, &known.settings));
    assert_eq!(known.revision, Position(1));
}
