//! However the log is cut into batches, the tables are the same, on either backend: those of
//! a model that folds everything in memory at once.

use std::collections::{BTreeMap, BTreeSet};

use kurier_core::event::{Erasure, Event, Kind, Position, Recorded};
use kurier_core::id::{ContactId, EventId};
use kurier_core::projection::{
    CONTACT, Cell, Contacts, ERASURE, Need, Projection, Row, TIMELINE, Table,
};
use kurier_core::value::Value;
use kurier_store::Store;

use super::dice::Dice;
use super::place::cases;
use super::runner::project;
use super::space::{Space, seconds};

cases! { batches_of_any_size_give_the_same_tables }

const SEEDS: u64 = 4;
const EVENTS: i64 = 120;
const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Values that a careless round trip would change.
const VALUES: [&str; 12] = [
    "0.1",
    "5e-324",
    "1.7976931348623157e308",
    "1e16",
    "-0.0",
    "9007199254740993",
    "18446744073709551615",
    "123456789.12345679",
    "{\"z\":1,\"aa\":{\"b\":null},\"a\":[]}",
    "\"\\u0001 ä 🦀 \\\\ \\\"\"",
    "null",
    "[true,false,0.30000000000000004]",
];

/// The same seed gives the same events in every workspace.
fn history(space: &Space, seed: u64) -> Vec<Event> {
    let mut dice = Dice::new(seed);
    (0..EVENTS)
        .map(|n| something(space, &mut dice, n))
        .collect()
}

fn something(space: &Space, dice: &mut Dice, n: i64) -> Event {
    let mut name = || NAMES[dice.below(NAMES.len() as u64) as usize];
    let (u, a) = (name(), name());
    let value = VALUES[dice.below(VALUES.len() as u64) as usize];
    let noise = f64::from_bits(0x3ff0_0000_0000_0000 | dice.below(1 << 52));
    let raw = match dice.below(14) {
        0..=2 => format!(r#"{{"type":"track","event":"E{n}","userId":"{u}"}}"#),
        3..=5 => format!(r#"{{"type":"page","name":"P","anonymousId":"{a}"}}"#),
        6 => format!(r#"{{"type":"group","userId":"{u}","groupId":"g{n}"}}"#),
        7..=8 => format!(r#"{{"type":"alias","userId":"{u}","previousId":"{a}"}}"#),
        9 => return erased(space, (u, a), n),
        _ => format!(
            r#"{{"type":"identify","userId":"{u}","anonymousId":"{a}","traits":
               {{"{a}":{value},"noise":{noise},"email":"{u}@x.de","phone":" {n} "}}}}"#
        ),
    };
    space.said(seconds(n), &raw)
}

fn erased(space: &Space, (u, a): (&str, &str), n: i64) -> Event {
    let erasure = Erasure {
        contacts: vec![space.user(u), space.guest(a)],
        addresses: vec![space.key.address(&format!("{u}@x.de"))],
        positions: Vec::new(),
        seen: Position(0),
    };
    Event {
        id: EventId::of_message(&format!("erase {n}")),
        kind: Kind::ContactErased,
        contact: Some(space.user(u)),
        occurred_at: seconds(n),
        recorded_at: seconds(n),
        payload: serde_json::to_string(&erasure).expect("JSON"),
    }
}

async fn batches_of_any_size_give_the_same_tables(store: Store) {
    for seed in 0..SEEDS {
        let mut shapes = Vec::new();
        for (size, ordinal) in [1, 7, 1_000].into_iter().zip(0..) {
            let space = Space::new(seed as u8 * 3 + ordinal);
            let before = store.log.head().await.expect("head");
            let events = history(&space, seed);
            store
                .log
                .append(space.scope, events)
                .await
                .expect("appended");
            project(&store, size).await;
            let log = store.log.read(before, 1_000).await.expect("read");
            let tables = model(&log);
            check(
                &store,
                &space,
                &tables,
                &format!("seed {seed}, batches of {size}"),
            )
            .await;
            shapes.push(shape(&tables, before));
        }
        assert!(
            shapes.windows(2).all(|pair| pair[0] == pair[1]),
            "seed {seed}"
        );
    }
    assert_eq!(
        store
            .views
            .poisoned(Contacts.name())
            .await
            .expect("counted"),
        0
    );
}

type Tables = BTreeMap<(&'static str, Vec<Cell>), Row>;

/// The tables that a workspace's log makes, without a store.
fn model(log: &[Recorded]) -> Tables {
    let mut tables = Tables::new();
    for change in Contacts.fold(Vec::new(), log).expect("no rows").changes {
        if let Some((table, row)) = change.as_put() {
            tables.insert((table.name, row[..table.key].to_vec()), row.clone());
        }
        if let Some((table, prefix)) = change.as_drop() {
            tables.retain(|(name, key), _| *name != table.name || !key.starts_with(prefix));
        }
    }
    tables
}

/// JSON as a value: the databases keep it, but not the order of its names.
fn comparable(row: &Row) -> Vec<(Cell, Option<Value>)> {
    let value = |text: &str| serde_json::from_str(text).map(number).expect("JSON");
    let pair = |cell: &Cell| match cell {
        Cell::Json(text) => (Cell::Null, Some(value(text))),
        cell => (cell.clone(), None),
    };
    row.iter().map(pair).collect()
}

/// PostgreSQL writes 1e16 as 10000000000000000: the same number, no longer a float.
fn number(value: Value) -> Value {
    match value {
        Value::Float(float) if float.abs() == 1e16 => Value::Int(float as i64),
        Value::List(list) => Value::List(list.into_iter().map(number).collect()),
        Value::Object(object) => {
            let members = object
                .into_iter()
                .map(|(name, value)| (name, number(value)));
            Value::Object(members.collect())
        }
        value => value,
    }
}

async fn check(store: &Store, space: &Space, tables: &Tables, case: &str) {
    for table in [&CONTACT, &TIMELINE, &ERASURE] {
        let expected: BTreeMap<&Vec<Cell>, &Row> = tables
            .iter()
            .filter(|((name, _), _)| *name == table.name)
            .map(|((_, key), row)| (key, row))
            .collect();
        let keys = expected.keys().map(|key| (*key).clone()).collect();
        let rows = load(store, table, keys).await;
        assert_eq!(rows.len(), expected.len(), "{case}: rows of {}", table.name);
        for row in rows {
            let key = row[..table.key].to_vec();
            assert_eq!(comparable(&row), comparable(expected[&key]), "{case}");
        }
    }
    check_nothing_more(store, space, tables, case).await;
}

async fn load(store: &Store, table: &'static Table, keys: Vec<Vec<Cell>>) -> Vec<Row> {
    let loaded = store.views.load(vec![Need::new(table, keys)]).await;
    loaded.expect("loaded").remove(0).rows
}

/// A row that should have gone would be found by who it could belong to.
async fn check_nothing_more(store: &Store, space: &Space, tables: &Tables, case: &str) {
    let ids = NAMES
        .iter()
        .flat_map(|name| [space.user(name), space.guest(name)]);
    let ids: Vec<ContactId> = ids.collect();
    let there = store.views.timeline_positions(space.scope, &ids).await;
    let rows = tables
        .iter()
        .filter(|((name, _), _)| *name == TIMELINE.name);
    let expected: BTreeSet<i64> = rows.filter_map(|(_, row)| row[3].as_int()).collect();
    let there: Vec<Position> = there.expect("read");
    let expected: Vec<Position> = expected.into_iter().map(Position).collect();
    assert_eq!(there, expected, "{case}: timeline");
    for id in ids {
        let key = (CONTACT.name, vec![space.scope.0.into(), id.into()]);
        let standing = store.views.contact(space.scope, id).await.expect("read");
        assert_eq!(
            standing.is_some(),
            tables.contains_key(&key),
            "{case}: {id}"
        );
    }
}

/// Tables without what differs by workspace and place in the log.
fn shape(tables: &Tables, before: Position) -> Vec<(&'static str, Vec<Cell>)> {
    let rows = tables.iter().map(|((name, _), row)| {
        let mut row = row.clone();
        row[0] = Cell::Null;
        let position = match *name {
            "timeline" => 3,
            "contact" => 14,
            _ => return (*name, row),
        };
        if let Cell::Int(position) = &mut row[position] {
            *position -= before.0;
        }
        (*name, row)
    });
    rows.collect()
}
