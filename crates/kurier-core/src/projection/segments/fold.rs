//! One batch of events over the segments it touches.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::super::{Cell, Change, Folded, Loaded, UnreadableRow};
use super::row::{SegmentSummary, row_of, segment_of_row};
use super::{MEMBER, SEGMENT, SEGMENT_SIZE, segment_key};
use crate::event::{Kind, Recorded};
use crate::id::{SegmentId, WorkspaceId};
use crate::segment::{Definition, Membership};

const HOUR_MICROS: i64 = 3_600_000_000;

type SegmentKey = (WorkspaceId, SegmentId);

#[derive(Default)]
pub struct Fold {
    segments: HashMap<SegmentKey, SegmentSummary>,
    /// Keys of rows in [`MEMBER`] that are there.
    members: HashSet<Vec<Cell>>,
    /// Segments to write, in a fixed order.
    dirty: BTreeMap<SegmentKey, ()>,
    folded: Folded,
}

impl Fold {
    pub fn new(loaded: Vec<Loaded>) -> Result<Self, UnreadableRow> {
        let mut fold = Self::default();
        for Loaded { table, rows } in loaded {
            for row in rows {
                if table != &SEGMENT {
                    fold.members.insert(row[..MEMBER.key].to_vec());
                    continue;
                }
                let read = segment_of_row(&row);
                let (workspace, summary) = read.ok_or_else(|| UnreadableRow::new(table, &row))?;
                fold.segments
                    .insert((workspace, summary.definition.segment), summary);
            }
        }
        Ok(fold)
    }

    pub fn event(&mut self, recorded: &Recorded) {
        let result = match recorded.event.kind {
            Kind::SegmentCreated | Kind::SegmentChanged => self.defined(recorded),
            Kind::SegmentDeleted => self.deleted(recorded),
            Kind::SegmentEntered => self.crossed(recorded, true),
            Kind::SegmentLeft => self.crossed(recorded, false),
            _ => Ok(()),
        };
        if let Err(error) = result {
            self.folded
                .poison
                .push((recorded.position, error.to_string()));
        }
    }

    fn defined(&mut self, recorded: &Recorded) -> Result<(), serde_json::Error> {
        let definition: Definition = serde_json::from_str(&recorded.event.payload)?;
        let key = (recorded.workspace, definition.segment);
        let at = recorded.event.recorded_at;
        let known = self.segments.get(&key);
        let summary = SegmentSummary {
            created_at: known.map_or(at, |known| known.created_at),
            size: known.map_or(0, |known| known.size),
            definition,
            changed_at: at,
            revision: recorded.position,
        };
        self.segments.insert(key, summary);
        self.dirty.insert(key, ());
        Ok(())
    }

    fn deleted(&mut self, recorded: &Recorded) -> Result<(), serde_json::Error> {
        let Membership { segment } = serde_json::from_str(&recorded.event.payload)?;
        let key = (recorded.workspace, segment);
        self.segments.remove(&key);
        self.dirty.remove(&key);
        let prefix = segment_key(recorded.workspace, segment);
        self.members.retain(|member| !member.starts_with(&prefix));
        for table in [&SEGMENT, &MEMBER, &SEGMENT_SIZE] {
            self.folded
                .changes
                .push(Change::Drop(table, prefix.clone()));
        }
        Ok(())
    }

    fn crossed(&mut self, recorded: &Recorded, entered: bool) -> Result<(), serde_json::Error> {
        let Membership { segment } = serde_json::from_str(&recorded.event.payload)?;
        let key = (recorded.workspace, segment);
        let (Some(summary), Some(contact)) = (self.segments.get_mut(&key), recorded.event.contact)
        else {
            return Ok(());
        };
        let mut member = segment_key(recorded.workspace, segment);
        member.push(contact.into());
        let changed = if entered {
            self.members.insert(member.clone())
        } else {
            self.members.remove(&member)
        };
        if !changed {
            return Ok(());
        }
        summary.size += if entered { 1 } else { -1 };
        let size = summary.size;
        self.dirty.insert(key, ());
        self.folded.changes.push(match entered {
            true => {
                member.push(recorded.event.occurred_at.into());
                Change::Put(&MEMBER, member)
            }
            false => Change::Drop(&MEMBER, member),
        });
        self.note_size(recorded, segment, size);
        Ok(())
    }

    /// The size at the end of an hour is the last one noted in it.
    fn note_size(&mut self, recorded: &Recorded, segment: SegmentId, size: i64) {
        let hour = recorded
            .event
            .recorded_at
            .as_micros()
            .div_euclid(HOUR_MICROS)
            * HOUR_MICROS;
        let mut row = segment_key(recorded.workspace, segment);
        row.extend([Cell::Int(hour), Cell::Int(size)]);
        self.folded.changes.push(Change::Put(&SEGMENT_SIZE, row));
    }

    pub fn finish(mut self) -> Folded {
        for key in self.dirty.keys() {
            let row = row_of(key.0, &self.segments[key]);
            self.folded.changes.push(Change::Put(&SEGMENT, row));
        }
        self.folded
    }
}
