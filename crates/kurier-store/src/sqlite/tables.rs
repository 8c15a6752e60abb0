//! Any read model's table: loading rows by key, writing and dropping them.

use kurier_core::projection::{Cell, Change, Column, Loaded, Need, Row, Table};
use rusqlite::{Connection, params_from_iter};

use super::cell::{Bound, cell, marks};
use crate::Result;

pub fn load(connection: &Connection, need: &Need) -> Result<Loaded> {
    let table = need.table;
    let sql = format!(
        "SELECT {} FROM {} WHERE {}",
        names(table.columns).join(","),
        table.name,
        equals(need.columns)
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = Vec::with_capacity(need.keys.len());
    for key in &need.keys {
        let mut found = statement.query(params_from_iter(key.iter().map(Bound)))?;
        while let Some(row) = found.next()? {
            rows.push(read_row(row, table)?);
        }
    }
    Ok(Loaded { table, rows })
}

pub fn read_row(row: &rusqlite::Row<'_>, table: &Table) -> Result<Row> {
    let columns = table.columns.iter().enumerate();
    columns
        .map(|(index, column)| cell(row, index, column.kind))
        .collect()
}

pub fn write(connection: &Connection, change: &Change) -> Result<()> {
    match change {
        Change::Put(table, row) => put(connection, table, row),
        Change::Drop(table, prefix) => drop_rows(connection, table, prefix),
    }
}

fn put(connection: &Connection, table: &Table, row: &Row) -> Result<()> {
    let mut statement = connection.prepare_cached(&upsert(table))?;
    statement.execute(params_from_iter(row.iter().map(Bound)))?;
    Ok(())
}

fn upsert(table: &Table) -> String {
    let rest = &table.columns[table.key..];
    let updates: Vec<String> = rest
        .iter()
        .map(|column| format!("{0}=excluded.{0}", column.name))
        .collect();
    format!(
        "INSERT INTO {} ({}) VALUES ({}) ON CONFLICT ({}) DO UPDATE SET {}",
        table.name,
        names(table.columns).join(","),
        marks(table.columns.len()),
        names(table.key_columns()).join(","),
        updates.join(",")
    )
}

fn drop_rows(connection: &Connection, table: &Table, prefix: &[Cell]) -> Result<()> {
    let columns = equals(&table.columns[..prefix.len()]);
    let sql = format!("DELETE FROM {} WHERE {columns}", table.name);
    let mut statement = connection.prepare_cached(&sql)?;
    statement.execute(params_from_iter(prefix.iter().map(Bound)))?;
    Ok(())
}

pub fn names(columns: &'static [Column]) -> Vec<&'static str> {
    columns.iter().map(|column| column.name).collect()
}

fn equals(columns: &'static [Column]) -> String {
    let parts: Vec<String> = columns
        .iter()
        .map(|column| format!("{}=?", column.name))
        .collect();
    parts.join(" AND ")
}
