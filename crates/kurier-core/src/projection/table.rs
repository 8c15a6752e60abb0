//! Tables as data: enough for a store to load, write, copy and compare any of them.

use crate::id::{ContactId, WorkspaceId};
use crate::time::Timestamp;
use uuid::Uuid;

/// A read model's table. The first `key` columns are its primary key, the first of them the
/// workspace.
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    pub name: &'static str,
    pub columns: &'static [Column],
    pub key: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Column {
    pub name: &'static str,
    pub kind: ColumnKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    Id,
    Int,
    Text,
    Json,
}

impl Column {
    pub const fn new(name: &'static str, kind: ColumnKind) -> Self {
        Self { name, kind }
    }
}

impl Table {
    pub fn key_columns(&self) -> &'static [Column] {
        &self.columns[..self.key]
    }

    /// Where a column of this table stands.
    pub fn place(&self, column: &Column) -> usize {
        let place = self.columns.iter().position(|it| it == column);
        place.expect("a column of this table")
    }
}

/// A whole row, in the order of the table's columns.
pub type Row = Vec<Cell>;

/// One value of a row.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cell {
    Null,
    Id(Uuid),
    Int(i64),
    Text(String),
    Json(String),
}

impl Cell {
    pub const fn as_id(&self) -> Option<Uuid> {
        match self {
            Self::Id(id) => Some(*id),
            _ => None,
        }
    }

    pub const fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(int) => Some(*int),
            _ => None,
        }
    }

    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Json(text) => Some(text),
            _ => None,
        }
    }
}

impl From<WorkspaceId> for Cell {
    fn from(id: WorkspaceId) -> Self {
        Self::Id(id.as_uuid())
    }
}

impl From<ContactId> for Cell {
    fn from(id: ContactId) -> Self {
        Self::Id(id.as_uuid())
    }
}

impl From<Timestamp> for Cell {
    fn from(time: Timestamp) -> Self {
        Self::Int(time.as_micros())
    }
}

impl From<i64> for Cell {
    fn from(int: i64) -> Self {
        Self::Int(int)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
