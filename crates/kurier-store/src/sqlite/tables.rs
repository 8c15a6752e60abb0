//! Any read model's table, live or in the shadow: loading rows by key, writing and dropping
//! them.

use kurier_core::projection::{Cell, Column, Loaded, Need, Row, Table, Writes};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::cell::{Bound, cell, marks};
use crate::projections::Side;
use crate::{Error, Result};

pub fn load(connection: &Connection, need: &Need) -> Result<Loaded> {
    load_from(connection, Side::Live, need)
}

pub fn load_from(connection: &Connection, side: Side, need: &Need) -> Result<Loaded> {
    let table = need.table;
    let sql = format!(
        "SELECT {} FROM {} WHERE {}",
        names(table.columns).join(","),
        side.name(table),
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

pub fn write(connection: &Connection, side: Side, writes: &Writes) -> Result<()> {
    let table = writes.table;
    for prefix in writes.prefixes.iter().chain(&writes.gone) {
        drop_rows(connection, side, table, prefix)?;
    }
    put(connection, side, table, &writes.puts)
}

pub fn put(connection: &Connection, side: Side, table: &Table, rows: &[Row]) -> Result<()> {
    let mut statement = connection.prepare_cached(&upsert(side, table))?;
    for row in rows {
        statement.execute(params_from_iter(row.iter().map(Bound)))?;
    }
    Ok(())
}

fn upsert(side: Side, table: &Table) -> String {
    let rest = &table.columns[table.key..];
    let updates: Vec<String> = rest
        .iter()
        .map(|column| format!("{0}=excluded.{0}", column.name))
        .collect();
    format!(
        "INSERT INTO {} ({}) VALUES ({}) ON CONFLICT ({}) DO UPDATE SET {}",
        side.name(table),
        names(table.columns).join(","),
        marks(table.columns.len()),
        names(table.key_columns()).join(","),
        updates.join(",")
    )
}

fn drop_rows(connection: &Connection, side: Side, table: &Table, prefix: &[Cell]) -> Result<()> {
    let columns = equals(&table.columns[..prefix.len()]);
    let sql = format!("DELETE FROM {} WHERE {columns}", side.name(table));
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

/// What a query says of the rows of a table.
pub fn select<T>(
    connection: &Connection,
    table: &'static Table,
    rest: &str,
    values: Vec<Value>,
    read: impl Fn(&Row) -> Option<T>,
) -> Result<Vec<T>> {
    let columns = names(table.columns).join(",");
    let sql = format!("SELECT {columns} FROM {} {rest}", table.name);
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params_from_iter(values))?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let row = read_row(row, table)?;
        all.push(read(&row).ok_or_else(|| unreadable(table))?);
    }
    Ok(all)
}

pub fn unreadable(table: &Table) -> Error {
    Error::Damaged(format!("a row of {} cannot be read", table.name))
}
