//! One table of a draft.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::super::{Cell, Column, Need, Row, Table, Writes};
use super::weight;

type Key = Vec<Cell>;

pub struct Sheet {
    table: &'static Table,
    /// `None` where it is known that there is no row.
    rows: BTreeMap<Key, Option<Row>>,
    /// Keys of `rows` that were changed since they were handed out.
    dirty: BTreeSet<Key>,
    prefixes: Vec<Key>,
    indexes: Vec<Index>,
    bytes: usize,
    /// Somebody asked for rows of it.
    is_read: bool,
    /// Some of its rows were handed out: what is not here may be there.
    is_partial: bool,
}

/// Which keys have which values in some columns.
struct Index {
    columns: &'static [Column],
    places: Vec<usize>,
    keys: HashMap<Key, BTreeSet<Key>>,
}

impl Sheet {
    pub const fn of(table: &'static Table) -> Self {
        Self {
            table,
            rows: BTreeMap::new(),
            dirty: BTreeSet::new(),
            prefixes: Vec::new(),
            indexes: Vec::new(),
            bytes: 0,
            is_read: false,
            is_partial: false,
        }
    }

    pub const fn table(&self) -> &'static Table {
        self.table
    }

    pub const fn is_partial(&self) -> bool {
        self.is_partial
    }

    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// What of a need has to be asked for; an index is asked for whole.
    pub fn unknown(&self, need: &Need) -> Option<Need> {
        if !self.is_partial {
            return None;
        }
        let is_key = need.columns == self.table.key_columns();
        let unknown = |key: &&Key| !is_key || !self.rows.contains_key(*key);
        let keys: Vec<Key> = need.keys.iter().filter(unknown).cloned().collect();
        (!keys.is_empty()).then(|| Need::by(need.table, need.columns, keys))
    }

    /// What is here already is newer than what was written.
    pub fn know(&mut self, asked: &Need, rows: Vec<Row>) {
        for row in rows {
            let key = row[..self.table.key].to_vec();
            if !self.rows.contains_key(&key) {
                self.insert(key, Some(row));
            }
        }
        if asked.columns == self.table.key_columns() {
            for key in &asked.keys {
                self.rows.entry(key.clone()).or_insert(None);
            }
        }
    }

    pub fn find(&mut self, need: &Need) -> Vec<Row> {
        self.is_read = true;
        if need.columns == self.table.key_columns() {
            let rows = need
                .keys
                .iter()
                .filter_map(|key| self.rows.get(key)?.clone());
            return rows.collect();
        }
        let place = self.index(need.columns);
        let index = &self.indexes[place];
        let keys = need.keys.iter().filter_map(|values| index.keys.get(values));
        let keys: BTreeSet<&Key> = keys.flatten().collect();
        let rows = keys.iter().filter_map(|key| self.rows.get(*key)?.clone());
        rows.collect()
    }

    /// Where the index over these columns is; made when it is first asked for.
    fn index(&mut self, columns: &'static [Column]) -> usize {
        let known = self.indexes.iter().position(|it| it.columns == columns);
        known.unwrap_or_else(|| {
            let mut index = Index::of(self.table, columns);
            let rows = self
                .rows
                .iter()
                .filter_map(|(key, row)| Some((key, row.as_ref()?)));
            rows.for_each(|(key, row)| index.add(key, row));
            self.indexes.push(index);
            self.indexes.len() - 1
        })
    }

    pub fn put(&mut self, row: Row) {
        let key = row[..self.table.key].to_vec();
        self.dirty.insert(key.clone());
        self.insert(key, Some(row));
    }

    fn insert(&mut self, key: Key, row: Option<Row>) {
        self.bytes += row.as_ref().map_or(0, weight);
        if let Some(row) = &row {
            self.indexes
                .iter_mut()
                .for_each(|index| index.add(&key, row));
        }
        if let Some(Some(old)) = self.rows.insert(key.clone(), row) {
            self.bytes -= weight(&old);
            let now = self.rows[&key].as_ref();
            let indexes = self.indexes.iter_mut();
            indexes.for_each(|index| index.forget(&key, &old, now));
        }
    }

    /// Where rows were handed out, those of this prefix go as well.
    pub fn drop_rows(&mut self, prefix: Key) {
        let begun = self.rows.range(prefix.clone()..);
        let under: Vec<Key> = begun
            .map(|(key, _)| key)
            .take_while(|key| key.starts_with(&prefix))
            .cloned()
            .collect();
        for key in under {
            self.dirty.remove(&key);
            self.insert(key, None);
        }
        if self.is_partial {
            self.prefixes.push(prefix);
        }
    }

    /// What is to be written now: drops at once, rows if nobody reads them or all are to go.
    pub fn due(&mut self, is_full: bool) -> Writes {
        let prefixes = std::mem::take(&mut self.prefixes);
        let is_leaving = is_full || !self.is_read;
        let puts = if is_leaving { self.leave() } else { Vec::new() };
        Writes {
            table: self.table,
            prefixes,
            puts,
            gone: Vec::new(),
        }
    }

    fn leave(&mut self) -> Vec<Row> {
        let dirty = std::mem::take(&mut self.dirty);
        let mut rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        self.indexes.clear();
        self.is_partial |= !dirty.is_empty();
        let puts = dirty.iter().filter_map(|key| rows.remove(key).flatten());
        puts.collect()
    }
}

impl Index {
    fn of(table: &Table, columns: &'static [Column]) -> Self {
        Self {
            columns,
            places: columns.iter().map(|column| table.place(column)).collect(),
            keys: HashMap::new(),
        }
    }

    fn values(&self, row: &Row) -> Key {
        self.places
            .iter()
            .map(|place| row[*place].clone())
            .collect()
    }

    fn add(&mut self, key: &Key, row: &Row) {
        let values = self.values(row);
        self.keys.entry(values).or_default().insert(key.clone());
    }

    /// The key leaves its old values, unless the new row has the same.
    fn forget(&mut self, key: &Key, old: &Row, now: Option<&Row>) {
        let values = self.values(old);
        let is_same = now.is_some_and(|now| self.values(now) == values);
        if let Some(keys) = self.keys.get_mut(&values).filter(|_| !is_same) {
            keys.remove(key);
        }
    }
}
