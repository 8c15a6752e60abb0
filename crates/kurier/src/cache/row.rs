//! A contact's row as text, for Redis.

use kurier_core::projection::{Cell, Row};
use serde_json::{Value, json};

/// What a cell takes besides its text.
const CELL_BYTES: usize = 32;

pub(super) fn encode(row: &Row) -> Vec<u8> {
    let cell = |cell: &Cell| match cell {
        Cell::Null => Value::Null,
        Cell::Id(id) => json!({"id": id.to_string()}),
        Cell::Int(number) => json!(number),
        Cell::Text(text) => json!(text),
        Cell::Json(text) => json!({"json": text}),
    };
    Value::Array(row.iter().map(cell).collect())
        .to_string()
        .into_bytes()
}

/// `None` if another version wrote it.
pub(super) fn decode(bytes: &[u8]) -> Option<Row> {
    let cells: Vec<Value> = serde_json::from_slice(bytes).ok()?;
    let cell = |value: Value| match value {
        Value::Null => Some(Cell::Null),
        Value::Number(number) => number.as_i64().map(Cell::Int),
        Value::String(text) => Some(Cell::Text(text)),
        Value::Object(named) => match (named.get("id"), named.get("json")) {
            (Some(id), None) => Some(Cell::Id(id.as_str()?.parse().ok()?)),
            (None, Some(text)) => Some(Cell::Json(text.as_str()?.to_owned())),
            _ => None,
        },
        _ => None,
    };
    cells.into_iter().map(cell).collect()
}

pub(super) fn bytes(row: &Row) -> usize {
    let cell = |cell: &Cell| match cell {
        Cell::Text(text) | Cell::Json(text) => CELL_BYTES + text.len(),
        Cell::Null | Cell::Id(_) | Cell::Int(_) => CELL_BYTES,
    };
    row.iter().map(cell).sum()
}
