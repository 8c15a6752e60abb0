//! A store in a few lines, for tests: what any backend does with needs and changes.

use std::collections::BTreeMap;

use super::{Cell, Change, Loaded, Need, Projection, Row, Table};
use crate::event::Recorded;

#[derive(Default, Clone, PartialEq, Debug)]
pub struct Tables(pub BTreeMap<(&'static str, Vec<Cell>), Row>);

impl Tables {
    /// Folds one batch, as the projection runner does.
    pub fn run(&mut self, projection: &dyn Projection, events: &[Recorded]) {
        let mut loaded = self.load(projection.needs(events));
        let mut newest = loaded.clone();
        loop {
            newest = self.load(projection.follows(&newest));
            if newest.iter().all(|loaded| loaded.rows.is_empty()) {
                break;
            }
            loaded.extend(newest.clone());
        }
        let folded = projection.fold(loaded, events).expect("rows are readable");
        assert_eq!(folded.poison, []);
        folded
            .changes
            .into_iter()
            .for_each(|change| self.write(change));
    }

    pub fn load(&self, needs: Vec<Need>) -> Vec<Loaded> {
        let find = |need: &Need| {
            let places: Vec<usize> = need.columns.iter().map(|it| need.table.place(it)).collect();
            let is_wanted = |row: &&Row| {
                let values: Vec<Cell> = places.iter().map(|place| row[*place].clone()).collect();
                need.keys.contains(&values)
            };
            self.rows(need.table).filter(is_wanted).cloned().collect()
        };
        needs
            .into_iter()
            .map(|need| Loaded {
                table: need.table,
                rows: find(&need),
            })
            .collect()
    }

    pub fn write(&mut self, change: Change) {
        match change {
            Change::Put(table, row) => {
                self.0.insert((table.name, row[..table.key].to_vec()), row);
            }
            Change::Drop(table, prefix) => {
                self.0
                    .retain(|(name, key), _| *name != table.name || !key.starts_with(&prefix));
            }
        }
    }

    pub fn rows(&self, table: &'static Table) -> impl Iterator<Item = &Row> {
        self.0
            .iter()
            .filter(|((name, _), _)| *name == table.name)
            .map(|(_, row)| row)
    }
}
