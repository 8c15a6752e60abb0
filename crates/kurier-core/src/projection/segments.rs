//! The segments of a workspace, their members, and how many there were hour by hour.

mod fold;
mod row;

pub use row::{SegmentSummary, segment_of_row};

use super::table::ColumnKind::{Id, Int, Text};
use super::{Cell, Column, Folded, Loaded, Need, Projection, Table, UnreadableRow};
use crate::event::{Kind, Recorded};
use crate::id::{SegmentId, WorkspaceId};
use crate::segment::{Definition, Membership};
use fold::Fold;

pub const SEGMENT: Table = Table {
    name: "segment",
    key: 2,
    columns: &[
        Column::new("workspace", Id),
        Column::new("id", Id),
        Column::new("name", Text),
        Column::new("expression", Text),
        Column::new("created_at", Int),
        Column::new("changed_at", Int),
        Column::new("size", Int),
        Column::new("revision", Int),
    ],
};

pub const MEMBER: Table = Table {
    name: "member",
    key: 3,
    columns: &[
        Column::new("workspace", Id),
        Column::new("segment", Id),
        Column::new("contact", Id),
        Column::new("entered_at", Int),
    ],
};

pub const SEGMENT_SIZE: Table = Table {
    name: "segment_size",
    key: 3,
    columns: &[
        Column::new("workspace", Id),
        Column::new("segment", Id),
        Column::new("hour", Int),
        Column::new("size", Int),
    ],
};

/// The projection of [`SEGMENT`], [`MEMBER`] and [`SEGMENT_SIZE`].
pub struct Segments;

impl Projection for Segments {
    fn name(&self) -> &'static str {
        "segments"
    }

    fn tables(&self) -> &'static [&'static Table] {
        &[&SEGMENT, &MEMBER, &SEGMENT_SIZE]
    }

    fn folds(&self, kind: Kind) -> bool {
        use Kind::{SegmentChanged, SegmentCreated, SegmentDeleted, SegmentEntered, SegmentLeft};
        let is_crossed = matches!(kind, SegmentEntered | SegmentLeft);
        is_crossed || matches!(kind, SegmentCreated | SegmentChanged | SegmentDeleted)
    }

    fn needs(&self, events: &[Recorded]) -> Vec<Need> {
        let (mut segments, mut members) = (Vec::new(), Vec::new());
        for recorded in events {
            let Some(segment) = segment_of(recorded) else {
                continue;
            };
            segments.push(segment_key(recorded.workspace, segment));
            if let Some(contact) = recorded.event.contact {
                let mut key = segment_key(recorded.workspace, segment);
                key.push(contact.into());
                members.push(key);
            }
        }
        vec![Need::new(&SEGMENT, segments), Need::new(&MEMBER, members)]
    }

    fn follows(&self, _: &[Loaded]) -> Vec<Need> {
        Vec::new()
    }

    fn fold(&self, loaded: Vec<Loaded>, events: &[Recorded]) -> Result<Folded, UnreadableRow> {
        let mut fold = Fold::new(loaded)?;
        events.iter().for_each(|recorded| fold.event(recorded));
        Ok(fold.finish())
    }
}

/// The segment an event is about, if it is about one.
fn segment_of(recorded: &Recorded) -> Option<SegmentId> {
    let payload = &recorded.event.payload;
    match recorded.event.kind {
        Kind::SegmentCreated | Kind::SegmentChanged => {
            Some(serde_json::from_str::<Definition>(payload).ok()?.segment)
        }
        Kind::SegmentDeleted | Kind::SegmentEntered | Kind::SegmentLeft => {
            Some(serde_json::from_str::<Membership>(payload).ok()?.segment)
        }
        _ => None,
    }
}

fn segment_key(workspace: WorkspaceId, segment: SegmentId) -> Vec<Cell> {
    vec![workspace.into(), Cell::Id(segment.as_uuid())]
}

#[cfg(test)]
mod tests;
