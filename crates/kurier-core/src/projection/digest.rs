//! Whether two tables hold the same rows, without holding them.

use sha2::{Digest as _, Sha256};

use super::{Cell, Row, Table};

/// Rows are spread over this many sums, so that a difference can be looked for in a small
/// part of both tables.
const SUMS: usize = 1_024;

/// What is known of a table's rows after each was looked at once, in any order.
#[derive(Clone, PartialEq, Eq)]
pub struct Digest {
    rows: u64,
    sums: Vec<u128>,
}

impl Default for Digest {
    fn default() -> Self {
        Self {
            rows: 0,
            sums: vec![0; SUMS],
        }
    }
}

impl Digest {
    pub fn add(&mut self, table: &Table, row: &[Cell]) {
        let sum = place(table, row);
        self.rows += 1;
        self.sums[sum] = self.sums[sum].wrapping_add(hash(row));
    }

    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// The same for the same rows, on every backend that keeps the same texts.
    pub fn text(&self) -> String {
        let mut hasher = Sha256::new();
        hasher.update(self.rows.to_le_bytes());
        for sum in &self.sums {
            hasher.update(sum.to_le_bytes());
        }
        let hash = hasher.finalize();
        hash[..16]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    /// A sieve for the rows among which the difference is.
    pub fn unlike(&self, other: &Self) -> Sample {
        let pairs = self.sums.iter().zip(&other.sums);
        Sample(pairs.map(|(one, other)| one != other).collect())
    }
}

/// The rows of some of a digest's sums.
#[derive(Debug, Clone)]
pub struct Sample(Vec<bool>);

impl Sample {
    pub fn holds(&self, table: &Table, row: &[Cell]) -> bool {
        self.0[place(table, row)]
    }
}

/// A row that is not the same in the read model and in the fold of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub table: &'static str,
    /// What stands in its key's columns.
    pub key: Vec<Cell>,
    /// Columns whose values differ; none if one of the two has no such row.
    pub columns: Vec<&'static str>,
    pub is_in_view: bool,
    pub is_in_log: bool,
}

impl Difference {
    /// The rows at one key, as the read model has it and as the log says; `None` if alike.
    pub fn between(table: &'static Table, view: Option<&Row>, log: Option<&Row>) -> Option<Self> {
        if view == log {
            return None;
        }
        let key = view.or(log)?[..table.key].to_vec();
        let columns = view.zip(log).map(|(view, log)| {
            let cells = view.iter().zip(log).zip(table.columns);
            let unlike = cells.filter(|((view, log), _)| view != log);
            unlike.map(|(_, column)| column.name).collect()
        });
        Some(Self {
            table: table.name,
            key,
            columns: columns.unwrap_or_default(),
            is_in_view: view.is_some(),
            is_in_log: log.is_some(),
        })
    }
}

fn place(table: &Table, row: &[Cell]) -> usize {
    let hash = hash(&row[..table.key]);
    (hash % SUMS as u128) as usize
}

/// Every cell with its kind and length, so that no two rows are written alike.
fn hash(cells: &[Cell]) -> u128 {
    let mut hasher = Sha256::new();
    for cell in cells {
        match cell {
            Cell::Null => hasher.update([0]),
            Cell::Id(id) => hasher.update([&[1][..], id.as_bytes()].concat()),
            Cell::Int(int) => hasher.update([&[2][..], &int.to_le_bytes()].concat()),
            Cell::Text(text) => text_into(&mut hasher, 3, text),
            Cell::Json(text) => text_into(&mut hasher, 4, text),
        }
    }
    let bytes: [u8; 32] = hasher.finalize().into();
    u128::from_le_bytes(std::array::from_fn(|index| bytes[index]))
}

fn text_into(hasher: &mut Sha256, kind: u8, text: &str) {
    hasher.update([kind]);
    hasher.update((text.len() as u64).to_le_bytes());
    hasher.update(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::projection::MEMBER;

    fn row(segment: i64, contact: i64, entered: Cell) -> Row {
        vec![
            Cell::Int(1),
            Cell::Int(segment),
            Cell::Int(contact),
            entered,
        ]
    }

    fn digest(rows: &[Row]) -> Digest {
        let mut digest = Digest::default();
        rows.iter().for_each(|row| digest.add(&MEMBER, row));
        digest
    }

    #[test]
    fn rows_in_another_order_are_the_same_and_any_other_row_is_not() {
        let rows: Vec<Row> = (0..100).map(|n| row(n % 7, n, Cell::Int(n))).collect();
        let whole = digest(&rows);
        let mut turned = rows.clone();
        turned.reverse();
        assert_eq!(digest(&turned).text(), whole.text());
        let mut changed = rows.clone();
        changed[40][3] = Cell::Int(41);
        assert_ne!(digest(&changed).text(), whole.text());
        assert_ne!(digest(&rows[1..]).text(), whole.text());
        // A row told twice is a row too many.
        let twice = [&rows[..], &rows[..1]].concat();
        assert_ne!(digest(&twice).text(), whole.text());
    }

    #[test]
    fn kinds_and_borders_of_cells_count() {
        let texts = |a: &str, b: &str| vec![Cell::from(a), Cell::from(b)];
        assert_ne!(hash(&texts("ab", "c")), hash(&texts("a", "bc")));
        assert_ne!(
            hash(&[Cell::Text("1".into())]),
            hash(&[Cell::Json("1".into())])
        );
        assert_ne!(hash(&[Cell::Null]), hash(&[Cell::Int(0)]));
    }

    #[test]
    fn a_difference_lies_in_its_sample_and_names_its_columns() {
        let rows: Vec<Row> = (0..1_000).map(|n| row(n % 7, n, Cell::Int(n))).collect();
        let mut changed = rows.clone();
        changed[40][3] = Cell::Null;
        let sample = digest(&rows).unlike(&digest(&changed));
        assert!(sample.holds(&MEMBER, &rows[40]));
        let others = rows.iter().filter(|row| sample.holds(&MEMBER, row)).count();
        assert!(others < 20, "{others}");
        let difference = Difference::between(&MEMBER, Some(&changed[40]), Some(&rows[40]));
        let difference = difference.expect("they differ");
        assert_eq!(difference.columns, ["entered_at"]);
        assert_eq!(difference.key, rows[40][..3]);
        assert_eq!(
            Difference::between(&MEMBER, Some(&rows[1]), Some(&rows[1])),
            None
        );
        let missing = Difference::between(&MEMBER, None, Some(&rows[1])).expect("one is missing");
        assert!(missing.is_in_log && !missing.is_in_view);
    }
}
