//! Rows turned into columns: PostgreSQL takes a batch as one array per column.

use kurier_core::projection::{Cell, Column, ColumnKind};
use sqlx::Postgres;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{Row, ValueRef};
use uuid::Uuid;

use crate::{Error, Result};

pub type Statement<'q> = Query<'q, Postgres, PgArguments>;

/// The type of the array a column's values travel in.
pub const fn array_type(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Id => "uuid[]",
        ColumnKind::Int => "bigint[]",
        ColumnKind::Text | ColumnKind::Json => "text[]",
    }
}

/// How a column is read: JSON as the text it is.
pub fn read_as(column: &Column) -> String {
    match column.kind {
        ColumnKind::Json => format!("{0}::text AS {0}", column.name),
        _ => column.name.to_owned(),
    }
}

/// Binds the cells at `index` of every row as one array.
pub fn bind<'q>(
    statement: Statement<'q>,
    kind: ColumnKind,
    rows: &[&[Cell]],
    index: usize,
) -> Statement<'q> {
    let cells = rows.iter().map(|row| &row[index]);
    match kind {
        ColumnKind::Id => statement.bind(cells.map(Cell::as_id).collect::<Vec<Option<Uuid>>>()),
        ColumnKind::Int => statement.bind(cells.map(Cell::as_int).collect::<Vec<Option<i64>>>()),
        ColumnKind::Text | ColumnKind::Json => {
            let texts = cells.map(|cell| cell.as_text().map(str::to_owned));
            statement.bind(texts.collect::<Vec<Option<String>>>())
        }
    }
}

pub fn cell(row: &PgRow, index: usize, kind: ColumnKind) -> Result<Cell> {
    if row.try_get_raw(index).map_err(Error::from)?.is_null() {
        return Ok(Cell::Null);
    }
    Ok(match kind {
        ColumnKind::Id => Cell::Id(row.try_get(index)?),
        ColumnKind::Int => Cell::Int(row.try_get(index)?),
        ColumnKind::Text => Cell::Text(row.try_get(index)?),
        ColumnKind::Json => Cell::Json(row.try_get(index)?),
    })
}
