//! Any read model's table: loading rows by key, writing and dropping them, a batch at a time.

use std::collections::HashMap;

use kurier_core::projection::{Cell, Change, Column, Loaded, Need, Row, Table};
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, PgConnection, PgPool};

use super::columns::{array_type, bind, cell, read_as};
use crate::Result;

pub async fn load(pool: &PgPool, need: &Need) -> Result<Loaded> {
    let table = need.table;
    if need.keys.is_empty() {
        return Ok(Loaded {
            table,
            rows: Vec::new(),
        });
    }
    let keys = need.columns;
    let sql = format!(
        "SELECT {} FROM {} JOIN unnest({}) AS wanted ({}) USING ({})",
        table
            .columns
            .iter()
            .map(read_as)
            .collect::<Vec<_>>()
            .join(","),
        table.name,
        arrays(keys),
        names(keys),
        names(keys)
    );
    let key_rows: Vec<&[Cell]> = need.keys.iter().map(Vec::as_slice).collect();
    let mut statement = sqlx::query(AssertSqlSafe(sql));
    for (index, column) in keys.iter().enumerate() {
        statement = bind(statement, column.kind, &key_rows, index);
    }
    let rows = statement.fetch_all(pool).await?;
    let rows = rows
        .iter()
        .map(|row| read_row(row, table))
        .collect::<Result<_>>()?;
    Ok(Loaded { table, rows })
}

pub fn read_row(row: &PgRow, table: &Table) -> Result<Row> {
    let columns = table.columns.iter().enumerate();
    columns
        .map(|(index, column)| cell(row, index, column.kind))
        .collect()
}

/// Writes changes in order; neighbours that put rows into one table go in one statement.
pub async fn write(connection: &mut PgConnection, changes: &[Change]) -> Result<()> {
    let same = |a: &Change, b: &Change| matches!((a, b), (Change::Put(a, _), Change::Put(b, _)) if std::ptr::eq(*a, *b));
    for run in changes.chunk_by(same) {
        match &run[0] {
            Change::Put(table, _) => put(connection, table, run).await?,
            Change::Drop(table, prefix) => drop_rows(connection, table, prefix).await?,
        }
    }
    Ok(())
}

async fn put(connection: &mut PgConnection, table: &Table, run: &[Change]) -> Result<()> {
    let rows = last_of_each_key(table, run);
    let mut statement = sqlx::query(AssertSqlSafe(upsert(table)));
    for (index, column) in table.columns.iter().enumerate() {
        statement = bind(statement, column.kind, &rows, index);
    }
    statement.execute(connection).await?;
    Ok(())
}

/// One statement may write a row only once, so the last of several wins here.
fn last_of_each_key<'a>(table: &Table, run: &'a [Change]) -> Vec<&'a [Cell]> {
    let mut places: HashMap<&[Cell], usize> = HashMap::with_capacity(run.len());
    let mut rows: Vec<&[Cell]> = Vec::with_capacity(run.len());
    for change in run {
        let Change::Put(_, row) = change else {
            continue;
        };
        match places.entry(&row[..table.key]) {
            std::collections::hash_map::Entry::Occupied(place) => rows[*place.get()] = row,
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(rows.len());
                rows.push(row);
            }
        }
    }
    rows
}

fn upsert(table: &Table) -> String {
    let rest = &table.columns[table.key..];
    let updates: Vec<String> = rest
        .iter()
        .map(|column| format!("{0}=excluded.{0}", column.name))
        .collect();
    let values: Vec<String> = table
        .columns
        .iter()
        .map(|column| match column.kind {
            kurier_core::projection::ColumnKind::Json => format!("{}::jsonb", column.name),
            _ => column.name.to_owned(),
        })
        .collect();
    format!(
        "INSERT INTO {} ({}) SELECT {} FROM unnest({}) AS new ({}) ON CONFLICT ({}) DO UPDATE SET {}",
        table.name,
        names(table.columns),
        values.join(","),
        arrays(table.columns),
        names(table.columns),
        names(table.key_columns()),
        updates.join(",")
    )
}

async fn drop_rows(connection: &mut PgConnection, table: &Table, prefix: &[Cell]) -> Result<()> {
    let columns = &table.columns[..prefix.len()];
    let sql = format!(
        "DELETE FROM {} WHERE ({}) IN (SELECT * FROM unnest({}))",
        table.name,
        names(columns),
        arrays(columns)
    );
    let mut statement = sqlx::query(AssertSqlSafe(sql));
    for (index, column) in columns.iter().enumerate() {
        statement = bind(statement, column.kind, &[prefix], index);
    }
    statement.execute(connection).await?;
    Ok(())
}

fn names(columns: &[Column]) -> String {
    columns
        .iter()
        .map(|column| column.name)
        .collect::<Vec<_>>()
        .join(",")
}

/// `$1::uuid[],$2::bigint[]` for the columns in order.
fn arrays(columns: &[Column]) -> String {
    let arrays = columns
        .iter()
        .zip(1..)
        .map(|(c, n)| format!("${n}::{}", array_type(c.kind)));
    arrays.collect::<Vec<_>>().join(",")
}
