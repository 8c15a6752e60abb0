//! A segment as a row, and back.

use super::super::{Cell, Row};
use crate::event::Position;
use crate::id::{SegmentId, WorkspaceId};
use crate::segment::Definition;
use crate::time::Timestamp;

/// A segment and how many are in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentSummary {
    pub definition: Definition,
    pub created_at: Timestamp,
    pub changed_at: Timestamp,
    pub size: i64,
    pub revision: Position,
}

pub fn row_of(workspace: WorkspaceId, segment: &SegmentSummary) -> Row {
    vec![
        workspace.into(),
        Cell::Id(segment.definition.segment.as_uuid()),
        segment.definition.name.as_str().into(),
        segment.definition.expression.clone().into(),
        segment.created_at.into(),
        segment.changed_at.into(),
        segment.size.into(),
        segment.revision.0.into(),
    ]
}

/// Reads a row of [`super::SEGMENT`]; `None` if it is not one that this version wrote.
pub fn segment_of_row(row: &Row) -> Option<(WorkspaceId, SegmentSummary)> {
    let time = |column: usize| Some(Timestamp::from_micros(row.get(column)?.as_int()?));
    let definition = Definition {
        segment: SegmentId::from_uuid(row.get(1)?.as_id()?),
        name: row.get(2)?.as_text()?.to_owned(),
        expression: row.get(3)?.as_text().map(str::to_owned),
    };
    let summary = SegmentSummary {
        definition,
        created_at: time(4)?,
        changed_at: time(5)?,
        size: row.get(6)?.as_int()?,
        revision: Position(row.get(7)?.as_int()?),
    };
    Some((WorkspaceId::from_uuid(row.first()?.as_id()?), summary))
}
