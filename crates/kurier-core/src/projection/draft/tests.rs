use proptest::prelude::*;

use super::*;
use crate::projection::simulation::Tables;
use crate::projection::{Cell, Column, ColumnKind, MEMBER, TIMELINE};

const BY_SEGMENT: &[Column] = &[
    Column::new("workspace", ColumnKind::Id),
    Column::new("contact", ColumnKind::Id),
];

fn key(table: &'static Table, parts: &[i64]) -> Vec<Cell> {
    let key = parts.iter().take(table.key);
    key.map(|part| Cell::Int(*part)).collect()
}

#[derive(Debug, Clone)]
enum Step {
    Change(Change),
    Ask(Need),
}

fn step() -> impl Strategy<Value = Step> {
    let table = prop_oneof![Just(&MEMBER), Just(&TIMELINE)];
    let parts = prop::collection::vec(0i64..3, 4);
    (table, parts, 0usize..9, any::<i64>()).prop_map(|(table, parts, kind, value)| match kind {
        0 => Step::Change(Change::Drop(table, key(table, &parts[..2]))),
        1 => Step::Change(Change::Drop(table, key(table, &parts))),
        2 => Step::Ask(Need::new(&MEMBER, vec![key(&MEMBER, &parts)])),
        3 => {
            let values = vec![Cell::Int(parts[0]), Cell::Int(parts[1])];
            Step::Ask(Need::by(&MEMBER, BY_SEGMENT, vec![values]))
        }
        _ => {
            let mut row = key(table, &parts);
            row.resize(table.columns.len(), Cell::Int(value));
            Step::Change(Change::Put(table, row))
        }
    })
}

fn write(tables: &mut Tables, all: Vec<Writes>) {
    for writes in all {
        let table = writes.table;
        let prefixes = writes.prefixes.into_iter();
        prefixes.for_each(|it| tables.write(Change::Drop(table, it)));
        writes
            .puts
            .into_iter()
            .for_each(|it| tables.write(Change::Put(table, it)));
    }
}

fn sorted(mut loaded: Vec<Loaded>) -> Vec<Vec<Row>> {
    loaded.iter_mut().for_each(|loaded| loaded.rows.sort());
    loaded.into_iter().map(|loaded| loaded.rows).collect()
}

proptest! {
    /// Whatever fits into memory, asking answers the same and the end is the same.
    #[test]
    fn a_draft_is_the_tables_it_ends_in(
        steps in prop::collection::vec(prop::collection::vec(step(), 0..12), 0..12),
        bytes_max in prop_oneof![Just(0usize), Just(2_000), Just(usize::MAX)],
    ) {
        let mut straight = Tables::default();
        let (mut draft, mut shadow) = (Draft::new(&[&MEMBER, &TIMELINE], bytes_max), Tables::default());
        for batch in steps {
            let mut changes = Vec::new();
            for step in batch {
                match step {
                    Step::Change(change) => changes.push(change),
                    Step::Ask(need) => {
                        let needs = [need];
                        let asked = draft.unknown(&needs);
                        let held = shadow.load(asked.clone());
                        draft.know(&asked, held);
                        prop_assert_eq!(
                            sorted(draft.load(&needs)),
                            sorted(straight.load(needs.to_vec()))
                        );
                    }
                }
            }
            changes.clone().into_iter().for_each(|change| straight.write(change));
            write(&mut shadow, draft.apply(changes));
        }
        let rest = draft.finish().into_iter().map(|(writes, _)| writes);
        write(&mut shadow, rest.collect());
        prop_assert_eq!(straight, shadow);
    }
}

/// Nothing is asked of the tables while everything fits, and what nobody reads is not kept.
#[test]
fn what_is_only_written_is_handed_out_and_the_rest_stays() {
    let mut draft = Draft::new(&[&MEMBER, &TIMELINE], usize::MAX);
    let row = |table: &'static Table, n: i64| {
        let mut row = key(table, &[1, n, n, n]);
        row.resize(table.columns.len(), Cell::Int(n));
        Change::Put(table, row)
    };
    let need = Need::new(&MEMBER, vec![key(&MEMBER, &[1, 5, 5])]);
    draft.load(std::slice::from_ref(&need));
    let due = draft.apply(
        (0..9)
            .flat_map(|n| [row(&MEMBER, n), row(&TIMELINE, n)])
            .collect(),
    );
    assert_eq!(due.len(), 1);
    assert_eq!((due[0].table, due[0].puts.len()), (&TIMELINE, 9));
    assert_eq!(draft.unknown(std::slice::from_ref(&need)), []);
    assert_eq!(draft.load(&[need])[0].rows.len(), 1);
    let rest = draft.finish();
    assert_eq!((rest[0].0.puts.len(), rest[0].1), (9, true));
}
