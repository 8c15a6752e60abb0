//! Any read model's table, live or in the shadow: loading rows by key, and writing a batch.

use kurier_core::projection::{Cell, Column, ColumnKind, Loaded, Need, Row, Table, Writes};
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, PgConnection, PgPool};

use super::columns::{array_type, bind, cell, read_as};
use crate::Result;
use crate::projections::Side;

pub async fn load(pool: &PgPool, need: &Need) -> Result<Loaded> {
    load_from(pool, Side::Live, need).await
}

pub async fn load_from(pool: &PgPool, side: Side, need: &Need) -> Result<Loaded> {
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
        side.name(table),
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

/// Writes a batch: a statement or two for each table.
pub async fn write(connection: &mut PgConnection, side: Side, all: &[Writes]) -> Result<()> {
    for writes in all {
        let table = writes.table;
        let of_one_length = |a: &Vec<Cell>, b: &Vec<Cell>| a.len() == b.len();
        for prefixes in writes.prefixes.chunk_by(of_one_length) {
            drop_rows(connection, side, table, prefixes).await?;
        }
        match (writes.puts.is_empty(), writes.gone.is_empty()) {
            (true, true) => {}
            (false, true) => put(connection, side, table, &writes.puts).await?,
            (true, false) => drop_rows(connection, side, table, &writes.gone).await?,
            (false, false) => merge(connection, side, writes).await?,
        }
    }
    Ok(())
}

async fn put(connection: &mut PgConnection, side: Side, table: &Table, rows: &[Row]) -> Result<()> {
    let rows: Vec<&[Cell]> = rows.iter().map(Vec::as_slice).collect();
    let mut statement = sqlx::query(AssertSqlSafe(upsert(side, table)));
    for (index, column) in table.columns.iter().enumerate() {
        statement = bind(statement, column.kind, &rows, index);
    }
    statement.execute(connection).await?;
    Ok(())
}

fn upsert(side: Side, table: &Table) -> String {
    format!(
        "INSERT INTO {} ({}) SELECT {} FROM unnest({}) AS new ({}) ON CONFLICT ({}) DO UPDATE SET {}",
        side.name(table),
        names(table.columns),
        values("new", table.columns),
        arrays(table.columns),
        names(table.columns),
        names(table.key_columns()),
        updates(&table.columns[table.key..], "excluded"),
    )
}

/// Rows come and go in one statement. Nobody else writes the table meanwhile: a projection's
/// checkpoint is locked first.
async fn merge(connection: &mut PgConnection, side: Side, writes: &Writes) -> Result<()> {
    let table = writes.table;
    let width = table.columns.len();
    let gone = writes.gone.iter().map(|key| {
        let mut row = key.clone();
        row.resize(width, Cell::Null);
        row
    });
    let gone: Vec<Row> = gone.collect();
    let rows: Vec<&[Cell]> = writes.puts.iter().chain(&gone).map(Vec::as_slice).collect();
    let is_gone: Vec<bool> = (0..rows.len())
        .map(|row| row >= writes.puts.len())
        .collect();
    let mut statement = sqlx::query(AssertSqlSafe(merging(side, table)));
    for (index, column) in table.columns.iter().enumerate() {
        statement = bind(statement, column.kind, &rows, index);
    }
    statement.bind(is_gone).execute(connection).await?;
    Ok(())
}

fn merging(side: Side, table: &Table) -> String {
    let same = table.key_columns().iter();
    let same: Vec<String> = same.map(|key| format!("t.{0} = s.{0}", key.name)).collect();
    format!(
        "MERGE INTO {} AS t
         USING (SELECT * FROM unnest({}, ${}::boolean[]) AS s ({}, is_gone)) AS s ON {}
         WHEN MATCHED AND s.is_gone THEN DELETE
         WHEN MATCHED THEN UPDATE SET {}
         WHEN NOT MATCHED AND NOT s.is_gone THEN INSERT ({}) VALUES ({})",
        side.name(table),
        arrays(table.columns),
        table.columns.len() + 1,
        names(table.columns),
        same.join(" AND "),
        updates(&table.columns[table.key..], "s"),
        names(table.columns),
        values("s", table.columns),
    )
}

async fn drop_rows(
    connection: &mut PgConnection,
    side: Side,
    table: &Table,
    prefixes: &[Vec<Cell>],
) -> Result<()> {
    let length = prefixes.first().map_or(0, Vec::len);
    let columns = &table.columns[..length];
    let sql = format!(
        "DELETE FROM {} WHERE ({}) IN (SELECT * FROM unnest({}))",
        side.name(table),
        names(columns),
        arrays(columns)
    );
    let rows: Vec<&[Cell]> = prefixes.iter().map(Vec::as_slice).collect();
    let mut statement = sqlx::query(AssertSqlSafe(sql));
    for (index, column) in columns.iter().enumerate() {
        statement = bind(statement, column.kind, &rows, index);
    }
    statement.execute(connection).await?;
    Ok(())
}

pub fn names(columns: &[Column]) -> String {
    columns
        .iter()
        .map(|column| column.name)
        .collect::<Vec<_>>()
        .join(",")
}

/// `s.id,s.attributes::jsonb`: what travels as text is JSON again.
fn values(of: &str, columns: &[Column]) -> String {
    let values = columns.iter().map(|column| value(of, column));
    values.collect::<Vec<_>>().join(",")
}

fn value(of: &str, column: &Column) -> String {
    match column.kind {
        ColumnKind::Json => format!("{of}.{}::jsonb", column.name),
        _ => format!("{of}.{}", column.name),
    }
}

fn updates(columns: &[Column], of: &str) -> String {
    let updates = columns.iter().map(|column| {
        let value = match of {
            "excluded" => format!("excluded.{}", column.name),
            _ => value(of, column),
        };
        format!("{}={value}", column.name)
    });
    updates.collect::<Vec<_>>().join(",")
}

/// `$1::uuid[],$2::bigint[]` for the columns in order.
fn arrays(columns: &[Column]) -> String {
    let arrays = columns
        .iter()
        .zip(1..)
        .map(|(c, n)| format!("${n}::{}", array_type(c.kind)));
    arrays.collect::<Vec<_>>().join(",")
}
