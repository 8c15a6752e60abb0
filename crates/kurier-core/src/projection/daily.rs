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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::event::{Event, tombstone};
    use crate::id::{ContactId, EventId, WorkspaceId};
    use crate::projection::simulation::Tables;
    use crate::projection::{AUDIT, Audit};

    const KINDS: [Kind; 5] = [
        Kind::Identify,
        Kind::MessageSent,
        Kind::MessageRequested,
        Kind::SegmentCreated,
        Kind::MessageRedriven,
    ];

    fn recorded(position: i64, kind: Kind, day: i64, channel: &str) -> Recorded {
        let at = Timestamp::from_micros(day * DAY_MICROS + position);
        let message = uuid::Uuid::from_u128(position as u128);
        let payload = match kind {
            Kind::Identify => r#"{"channel":"a name of theirs"}"#.to_owned(),
            Kind::SegmentCreated => format!(r#"{{"by":"Ann","name":"S{position}"}}"#),
            _ => format!(r#"{{"by":"Ann","message":"{message}","channel":"{channel}"}}"#),
        };
        Recorded {
            position: Position(position),
            workspace: WorkspaceId::from_bytes([1; 16]),
            event: Event {
                id: EventId::of_message(&position.to_string()),
                kind,
                contact: (kind != Kind::SegmentCreated).then(|| ContactId::from_bytes([2; 16])),
                occurred_at: at,
                recorded_at: at,
                payload,
            }
            .into(),
        }
    }

    fn log() -> impl Strategy<Value = Vec<Recorded>> {
        let event = (0..KINDS.len(), 0..3i64, prop::bool::ANY);
        prop::collection::vec(event, 0..40).prop_map(|all| {
            let numbered = all.into_iter().zip(1..);
            let made = numbered.map(|((kind, day, is_mail), position)| {
                let channel = if is_mail { "email" } else { "outbox" };
                recorded(position, KINDS[kind], day, channel)
            });
            made.collect()
        })
    }

    fn folded(projection: &dyn Projection, log: &[Recorded], batch: usize) -> Tables {
        let mut tables = Tables::default();
        log.chunks(batch)
            .for_each(|events| tables.run(projection, events));
        tables
    }

    proptest! {
        /// In any batches, every event twice, and after all that was said was erased.
        #[test]
        fn counts_and_acts_are_the_same_however_they_are_told(log in log(), batch in 1usize..9) {
            let twice: Vec<Recorded> = log.iter().flat_map(|it| [it.clone(), it.clone()]).collect();
            let erased: Vec<Recorded> = log.iter().cloned().map(|mut it| {
                if it.event.contact.is_some() {
                    let event = Arc::make_mut(&mut it.event);
                    event.payload = tombstone(&event.payload);
                }
                it
            }).collect();
            for projection in [&Daily as &dyn Projection, &Audit] {
                let once = folded(projection, &log, 1_000);
                prop_assert_eq!(&folded(projection, &twice, batch), &once);
                prop_assert_eq!(&folded(projection, &erased, batch), &once);
            }
            let counts = folded(&Daily, &log, batch);
            let total: i64 = counts.rows(&DAILY_COUNT).map(|row| daily_of_row(row).expect("a count").times).sum();
            prop_assert_eq!(total, log.len() as i64);
            let acts = folded(&Audit, &log, batch);
            let is_act = |it: &&Recorded| it.event.kind.is_of_operator();
            prop_assert_eq!(acts.rows(&AUDIT).count(), log.iter().filter(is_act).count());
        }
    }
}
