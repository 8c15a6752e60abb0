//! How much happened, day by day: events of each kind, and messages by channel.

use std::collections::BTreeMap;

use super::table::ColumnKind::{Id, Int, Text};
use super::{Cell, Change, Column, Folded, Loaded, Need, Projection, Row, Table, UnreadableRow};
use crate::event::{Kind, Position, Recorded};
use crate::message::channel_of;
use crate::time::Timestamp;

const DAY_MICROS: i64 = 24 * 3_600 * 1_000_000;

/// A row knows the last event it counted: one that is told again is not counted again.
pub const DAILY_COUNT: Table = Table {
    name: "daily_count",
    key: 4,
    columns: &[
        Column::new("workspace", Id),
        Column::new("day", Int),
        Column::new("kind", Text),
        Column::new("channel", Text),
        Column::new("times", Int),
        Column::new("revision", Int),
    ],
};

/// Events of one kind on one day, in UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DailyCount {
    /// Its first instant.
    pub day: Timestamp,
    pub kind: Kind,
    /// Of messages, by which channel.
    pub channel: Option<String>,
    pub times: i64,
}

/// The projection of [`DAILY_COUNT`].
pub struct Daily;

impl Projection for Daily {
    fn name(&self) -> &'static str {
        "daily"
    }

    fn tables(&self) -> &'static [&'static Table] {
        &[&DAILY_COUNT]
    }

    fn needs(&self, events: &[Recorded]) -> Vec<Need> {
        vec![Need::new(&DAILY_COUNT, events.iter().map(key).collect())]
    }

    fn follows(&self, _: &[Loaded]) -> Vec<Need> {
        Vec::new()
    }

    fn fold(&self, loaded: Vec<Loaded>, events: &[Recorded]) -> Result<Folded, UnreadableRow> {
        let mut counts: BTreeMap<Vec<Cell>, (i64, Position)> = BTreeMap::new();
        for row in loaded.into_iter().flat_map(|loaded| loaded.rows) {
            let count = standing(&row).ok_or_else(|| UnreadableRow::new(&DAILY_COUNT, &row))?;
            counts.insert(row[..DAILY_COUNT.key].to_vec(), count);
        }
        let mut changed: BTreeMap<Vec<Cell>, (i64, Position)> = BTreeMap::new();
        for recorded in events {
            let key = key(recorded);
            let (times, revision) = counts.entry(key.clone()).or_default();
            if recorded.position > *revision {
                (*times, *revision) = (*times + 1, recorded.position);
                changed.insert(key, (*times, *revision));
            }
        }
        let rows = changed.into_iter().map(|(mut row, (times, revision))| {
            row.extend([Cell::Int(times), Cell::Int(revision.0)]);
            Change::Put(&DAILY_COUNT, row)
        });
        Ok(Folded {
            changes: rows.collect(),
            ..Folded::default()
        })
    }
}

fn key(recorded: &Recorded) -> Vec<Cell> {
    let at = recorded.event.recorded_at.as_micros();
    let kind = recorded.event.kind;
    let channel = kind.is_of_message().then(|| channel_of(recorded)).flatten();
    vec![
        recorded.workspace.into(),
        Cell::Int(at.div_euclid(DAY_MICROS) * DAY_MICROS),
        kind.as_str().into(),
        channel.unwrap_or_default().into(),
    ]
}

fn standing(row: &Row) -> Option<(i64, Position)> {
    Some((row.get(4)?.as_int()?, Position(row.get(5)?.as_int()?)))
}

/// Reads a row of [`DAILY_COUNT`]; `None` if it is not one that this version wrote.
pub fn daily_of_row(row: &Row) -> Option<DailyCount> {
    let channel = row.get(3)?.as_text()?;
    Some(DailyCount {
        day: Timestamp::from_micros(row.get(1)?.as_int()?),
        kind: row.get(2)?.as_text()?.parse().ok()?,
        channel: (!channel.is_empty()).then(|| channel.to_owned()),
        times: row.get(4)?.as_int()?,
    })
}
