//! A projection's rows while it is built anew: in memory as long as they fit, and beyond that
//! in tables beside the live ones.
//!
//! Rows of a table that is only written are handed out after every batch. The others stay, so
//! that folding a log of any length reads no table at all; when they take too much room they
//! are handed out as well, and from then on what is not here has to be asked for.

mod sheet;

use super::{Change, Loaded, Need, Row, Table, Writes};
use sheet::Sheet;

pub struct Draft {
    sheets: Vec<Sheet>,
    bytes_max: usize,
}

impl Draft {
    pub fn new(tables: &[&'static Table], bytes_max: usize) -> Self {
        Self {
            sheets: tables.iter().map(|table| Sheet::of(table)).collect(),
            bytes_max,
        }
    }

    /// Those of the needs that only the tables can answer. What they hold is to be given to
    /// [`Draft::know`] before [`Draft::load`].
    pub fn unknown(&mut self, needs: &[Need]) -> Vec<Need> {
        let ask = |need: &Need| self.sheet(need.table).unknown(need);
        needs.iter().filter_map(ask).collect()
    }

    /// What the tables hold of what was asked for.
    pub fn know(&mut self, asked: &[Need], loaded: Vec<Loaded>) {
        for (need, Loaded { table, rows }) in asked.iter().zip(loaded) {
            self.sheet(table).know(need, rows);
        }
    }

    pub fn load(&mut self, needs: &[Need]) -> Vec<Loaded> {
        let find = |need: &Need| Loaded {
            table: need.table,
            rows: self.sheet(need.table).find(need),
        };
        needs.iter().map(find).collect()
    }

    /// Takes the changes of a batch in. What it answers is to be written before anything is
    /// asked for again.
    pub fn apply(&mut self, changes: Vec<Change>) -> Vec<Writes> {
        for change in changes {
            match change {
                Change::Put(table, row) => self.sheet(table).put(row),
                Change::Drop(table, prefix) => self.sheet(table).drop_rows(prefix),
            }
        }
        let is_full = self.bytes() > self.bytes_max;
        let due = self.sheets.iter_mut().map(|sheet| sheet.due(is_full));
        due.filter(|writes| !writes.is_empty()).collect()
    }

    /// All that is still here; and whether these are all the rows of their table, since none
    /// was handed out before.
    pub fn finish(&mut self) -> Vec<(Writes, bool)> {
        let due = self.sheets.iter_mut().map(|sheet| {
            let is_whole = !sheet.is_partial();
            (sheet.due(true), is_whole)
        });
        due.filter(|(writes, _)| !writes.is_empty()).collect()
    }

    /// How much room the rows take, about.
    pub fn bytes(&self) -> usize {
        self.sheets.iter().map(Sheet::bytes).sum()
    }

    fn sheet(&mut self, table: &Table) -> &mut Sheet {
        let mut sheets = self.sheets.iter_mut();
        let sheet = sheets.find(|sheet| sheet.table().name == table.name);
        sheet.expect("a projection sees its own tables only")
    }
}

impl Writes {
    pub const fn is_empty(&self) -> bool {
        self.prefixes.is_empty() && self.puts.is_empty() && self.gone.is_empty()
    }
}

/// What a row takes, about: its cells, and their texts.
fn weight(row: &Row) -> usize {
    let texts = row.iter().filter_map(|cell| cell.as_text());
    let texts: usize = texts.map(str::len).sum();
    64 + row.len() * size_of::<super::Cell>() * 3 / 2 + texts
}

#[cfg(test)]
mod tests;
