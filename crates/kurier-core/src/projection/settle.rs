//! Changes in order become, for each table, what is to be written: each row once.

use std::collections::BTreeMap;

use super::{Cell, Change, Row, Table};

/// What a batch does to one table. Prefixes go first, then rows are put and taken away.
/// Nothing but changes becomes one.
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub struct Writes {
    pub table: &'static Table,
    /// All rows whose key begins so go.
    pub prefixes: Vec<Vec<Cell>>,
    pub puts: Vec<Row>,
    /// The rows at these keys go.
    pub gone: Vec<Vec<Cell>>,
}

/// The end of a list of changes is the same when it is written this way: what a later change
/// undoes is not written at all.
pub fn settle(changes: Vec<Change>) -> Vec<Writes> {
    let mut pending: Vec<Pending> = Vec::new();
    for change in changes {
        let table = change.table();
        let known = pending.iter().position(|it| it.table.name == table.name);
        let index = known.unwrap_or_else(|| {
            pending.push(Pending::of(table));
            pending.len() - 1
        });
        pending[index].take(change);
    }
    pending.into_iter().map(Pending::finish).collect()
}

struct Pending {
    table: &'static Table,
    prefixes: Vec<Vec<Cell>>,
    /// `None` where a row is to go.
    rows: BTreeMap<Vec<Cell>, Option<Row>>,
}

impl Pending {
    const fn of(table: &'static Table) -> Self {
        Self {
            table,
            prefixes: Vec::new(),
            rows: BTreeMap::new(),
        }
    }

    fn take(&mut self, change: Change) {
        match change {
            Change::Put(table, row) => {
                self.rows.insert(row[..table.key].to_vec(), Some(row));
            }
            Change::Drop(table, key) if key.len() == table.key => {
                self.rows.insert(key, None);
            }
            Change::Drop(_, prefix) => self.take_prefix(prefix),
        }
    }

    fn take_prefix(&mut self, prefix: Vec<Cell>) {
        let begun = self.rows.range(prefix.clone()..);
        let under: Vec<Vec<Cell>> = begun
            .map(|(key, _)| key)
            .take_while(|key| key.starts_with(&prefix))
            .cloned()
            .collect();
        for key in under {
            self.rows.remove(&key);
        }
        self.prefixes.push(prefix);
    }

    fn finish(self) -> Writes {
        let (mut puts, mut gone) = (Vec::with_capacity(self.rows.len()), Vec::new());
        for (key, row) in self.rows {
            match row {
                Some(row) => puts.push(row),
                None => gone.push(key),
            }
        }
        Writes {
            table: self.table,
            prefixes: self.prefixes,
            puts,
            gone,
        }
    }
}

impl Change {
    pub const fn table(&self) -> &'static Table {
        match self {
            Self::Put(table, _) | Self::Drop(table, _) => table,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::projection::simulation::Tables;
    use crate::projection::{MEMBER, TIMELINE};

    fn key(table: &'static Table, parts: &[i64]) -> Vec<Cell> {
        let key = parts.iter().take(table.key);
        key.map(|part| Cell::Int(*part)).collect()
    }

    fn change() -> impl Strategy<Value = Change> {
        let table = prop_oneof![Just(&MEMBER), Just(&TIMELINE)];
        let parts = prop::collection::vec(0i64..3, 4);
        (table, parts, 0usize..6, any::<i64>()).prop_map(|(table, parts, kind, value)| match kind {
            0 => Change::Drop(table, key(table, &parts[..2])),
            1 => Change::Drop(table, key(table, &parts)),
            _ => {
                let mut row = key(table, &parts);
                row.resize(table.columns.len(), Cell::Int(value));
                Change::Put(table, row)
            }
        })
    }

    fn written(all: Vec<Writes>) -> Vec<Change> {
        let mut changes = Vec::new();
        for Writes {
            table,
            prefixes,
            puts,
            gone,
        } in all
        {
            changes.extend(prefixes.into_iter().map(|it| Change::Drop(table, it)));
            changes.extend(puts.into_iter().map(|it| Change::Put(table, it)));
            changes.extend(gone.into_iter().map(|it| Change::Drop(table, it)));
        }
        changes
    }

    proptest! {
        #[test]
        fn settled_changes_end_where_the_changes_in_order_do(
            before in prop::collection::vec(change(), 0..20),
            changes in prop::collection::vec(change(), 0..40),
        ) {
            let mut one = Tables::default();
            before.into_iter().for_each(|change| one.write(change));
            let mut other = one.clone();
            changes.clone().into_iter().for_each(|change| one.write(change));
            written(settle(changes)).into_iter().for_each(|change| other.write(change));
            prop_assert_eq!(one, other);
        }
    }
}
