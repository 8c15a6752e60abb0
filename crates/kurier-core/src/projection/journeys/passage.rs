//! What one decision about a run did: the nodes it passed, why, and the messages it asked for.
//!
//! A run may pass 100,000 nodes. Of its decisions the first and the last are kept, and of the
//! hops of one decision as well.

use serde::{Deserialize, Serialize};

use super::super::{Cell, Change, Row};
use super::{JOURNEY_PATH, instance_key};
use crate::event::Recorded;
use crate::journey::{By, Record, Sent};
use crate::time::Timestamp;

/// So many decisions are kept of a run's beginning, and so many of its end.
const DECISIONS_KEPT: u32 = 150;
/// So many hops are kept of a decision's beginning, and so many of its end.
const HOPS_KEPT: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    pub seq: u32,
    pub at: Timestamp,
    pub hops: Vec<PathHop>,
    /// How many hops are left out in the middle of these.
    pub omitted: u32,
    pub messages: Vec<Sent>,
}

/// One node left behind, and why so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathHop {
    pub node: String,
    pub by: By,
    pub to: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<String>,
}

impl Passage {
    fn of(recorded: &Recorded, record: Record) -> Self {
        let run = record.run;
        let mut reasons = record.because.into_iter();
        let hops = run.hops.into_iter().map(|hop| PathHop {
            node: hop.node,
            by: hop.by,
            to: hop.to,
            because: reasons.next().unwrap_or_default(),
        });
        let mut hops: Vec<PathHop> = hops.collect();
        let omitted = hops.len().saturating_sub(2 * HOPS_KEPT);
        if omitted > 0 {
            hops.drain(HOPS_KEPT..HOPS_KEPT + omitted);
        }
        Self {
            seq: run.seq,
            at: recorded.event.occurred_at,
            hops,
            omitted: u32::try_from(omitted).unwrap_or(u32::MAX),
            messages: run.messages,
        }
    }

    /// Adds a record to the path of its run, and lets go of one that is now neither among the
    /// first nor among the last.
    pub fn changes_of(recorded: &Recorded, record: Record) -> Vec<Change> {
        let key = instance_key(recorded.workspace, record.run.instance);
        let passage = Self::of(recorded, record);
        let mut changes = Vec::new();
        if !passage.hops.is_empty() || !passage.messages.is_empty() {
            changes.push(Change::Put(&JOURNEY_PATH, passage.row(key.clone())));
        }
        if passage.seq > 2 * DECISIONS_KEPT {
            let mut old = key;
            old.push(i64::from(passage.seq - DECISIONS_KEPT).into());
            changes.push(Change::Drop(&JOURNEY_PATH, old));
        }
        changes
    }

    fn row(&self, key: Vec<Cell>) -> Row {
        let json = |text: serde_json::Result<String>| Cell::Text(text.expect("texts serialise"));
        let messages = match self.messages.is_empty() {
            true => Cell::Null,
            false => json(serde_json::to_string(&self.messages)),
        };
        let mut row = key;
        row.extend([
            i64::from(self.seq).into(),
            self.at.into(),
            json(serde_json::to_string(&self.hops)),
            i64::from(self.omitted).into(),
            messages,
        ]);
        row
    }
}

/// Reads a row of [`JOURNEY_PATH`]; `None` if it is not one that this version wrote.
pub fn passage_of_row(row: &Row) -> Option<Passage> {
    let number = |column: usize| u32::try_from(row.get(column)?.as_int()?).ok();
    let messages = row.get(6)?.as_text().map(serde_json::from_str).transpose();
    Some(Passage {
        seq: number(2)?,
        at: Timestamp::from_micros(row.get(3)?.as_int()?),
        hops: serde_json::from_str(row.get(4)?.as_text()?).ok()?,
        omitted: number(5)?,
        messages: messages.ok()?.unwrap_or_default(),
    })
}
