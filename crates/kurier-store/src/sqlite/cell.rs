//! Cells of read models, and ids, as SQLite keeps them.

use kurier_core::projection::{Cell, ColumnKind};
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Row, ToSql};
use uuid::Uuid;

use crate::{Error, Result};

pub struct Bound<'a>(pub &'a Cell);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let value = match self.0 {
            Cell::Null => ValueRef::Null,
            Cell::Id(id) => ValueRef::Blob(id.as_bytes()),
            Cell::Int(int) => ValueRef::Integer(*int),
            Cell::Text(text) | Cell::Json(text) => ValueRef::Text(text.as_bytes()),
        };
        Ok(ToSqlOutput::Borrowed(value))
    }
}

pub fn cell(row: &Row<'_>, index: usize, kind: ColumnKind) -> Result<Cell> {
    let value = row.get_ref(index)?;
    let damaged = || Error::Damaged(format!("column {index} holds {}", value.data_type()));
    match (kind, value) {
        (_, ValueRef::Null) => Ok(Cell::Null),
        (ColumnKind::Id, ValueRef::Blob(bytes)) => {
            Uuid::from_slice(bytes).map(Cell::Id).map_err(|_| damaged())
        }
        (ColumnKind::Int, ValueRef::Integer(int)) => Ok(Cell::Int(int)),
        (ColumnKind::Text, ValueRef::Text(text)) => Ok(Cell::Text(utf8(text)?)),
        (ColumnKind::Json, ValueRef::Text(text)) => Ok(Cell::Json(utf8(text)?)),
        _ => Err(damaged()),
    }
}

fn utf8(bytes: &[u8]) -> Result<String> {
    let text = std::str::from_utf8(bytes).map_err(|e| Error::Damaged(e.to_string()))?;
    Ok(text.to_owned())
}

pub fn blob(id: Uuid) -> Value {
    Value::Blob(id.as_bytes().to_vec())
}

pub fn uuid(row: &Row<'_>, index: usize) -> Result<Uuid> {
    optional_uuid(row, index)?.ok_or_else(|| Error::Damaged(format!("column {index} is null")))
}

pub fn optional_uuid(row: &Row<'_>, index: usize) -> Result<Option<Uuid>> {
    Ok(cell(row, index, ColumnKind::Id)?.as_id())
}

/// The ids in a value made by [`id_list`]: `contact IN` this takes any number of them, where
/// a mark for each would end at 32,766.
pub const IDS: &str = "(SELECT unhex(value) FROM json_each(?))";

pub fn id_list(ids: impl Iterator<Item = Uuid>) -> Value {
    let ids: Vec<String> = ids.map(|id| format!("\"{}\"", id.simple())).collect();
    Value::Text(format!("[{}]", ids.join(",")))
}

/// `?,?,?` for `count` values.
pub fn marks(count: usize) -> String {
    vec!["?"; count].join(",")
}
