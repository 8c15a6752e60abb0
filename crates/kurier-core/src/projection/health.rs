//! How channels fare: what became of the messages that were handed to each.

use std::collections::BTreeMap;

use super::table::ColumnKind::{Id, Int, Text};
use super::{
    Cell, Change, Column, Folded, Loaded, Need, Projection, Repeat, Row, Table, UnreadableRow,
};
use crate::event::{Kind, Recorded};
use crate::message::channel_of;
use crate::time::Timestamp;

/// Rows count and know of no event: which were counted is remembered beside them.
pub const CHANNEL_HEALTH: Table = Table {
    name: "channel_health",
    key: 2,
    columns: &[
        Column::new("workspace", Id),
        Column::new("channel", Text),
        Column::new("sent", Int),
        Column::new("retried", Int),
        Column::new("failed", Int),
        Column::new("skipped", Int),
        Column::new("unknown", Int),
        Column::new("failing", Int),
        Column::new("last_sent_at", Int),
        Column::new("last_failed_at", Int),
    ],
};

/// What became of the messages of one channel, since there is one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChannelHealth {
    pub sent: i64,
    pub retried: i64,
    pub failed: i64,
    pub skipped: i64,
    pub unknown: i64,
    /// How many in a row were not taken, up to now.
    pub failing: i64,
    pub last_sent_at: Option<Timestamp>,
    pub last_failed_at: Option<Timestamp>,
}

/// The projection of [`CHANNEL_HEALTH`].
pub struct Health;

impl Projection for Health {
    fn name(&self) -> &'static str {
        "channel_health"
    }

    fn tables(&self) -> &'static [&'static Table] {
        &[&CHANNEL_HEALTH]
    }

    fn folds(&self, kind: Kind) -> bool {
        use Kind::{MessageFailed, MessageRetried, MessageSent, MessageSkipped, MessageUnknown};
        let was_kept = matches!(kind, MessageSkipped | MessageUnknown);
        was_kept || matches!(kind, MessageSent | MessageRetried | MessageFailed)
    }

    fn repeat(&self) -> Repeat {
        Repeat::Remembered
    }

    fn needs(&self, events: &[Recorded]) -> Vec<Need> {
        let keys = events.iter().filter_map(|recorded| self.key(recorded));
        vec![Need::new(&CHANNEL_HEALTH, keys.collect())]
    }

    fn follows(&self, _: &[Loaded]) -> Vec<Need> {
        Vec::new()
    }

    fn fold(&self, loaded: Vec<Loaded>, events: &[Recorded]) -> Result<Folded, UnreadableRow> {
        let mut channels: BTreeMap<Vec<Cell>, ChannelHealth> = BTreeMap::new();
        for row in loaded.into_iter().flat_map(|loaded| loaded.rows) {
            let unreadable = || UnreadableRow::new(&CHANNEL_HEALTH, &row);
            let (_, health) = health_of_row(&row).ok_or_else(unreadable)?;
            channels.insert(row[..CHANNEL_HEALTH.key].to_vec(), health);
        }
        let mut folded = Folded::default();
        let mut changed: BTreeMap<Vec<Cell>, ChannelHealth> = BTreeMap::new();
        for recorded in events.iter().filter(|it| self.folds(it.event.kind)) {
            let Some(key) = self.key(recorded) else {
                let reason = "it names no channel that it could be counted for".to_owned();
                folded.poison.push((recorded.position, reason));
                continue;
            };
            let health = channels.entry(key.clone()).or_default();
            health.count(recorded);
            changed.insert(key, health.clone());
        }
        let rows = changed.into_iter();
        let rows = rows.map(|(key, health)| Change::Put(&CHANNEL_HEALTH, health.row(key)));
        folded.changes = rows.collect();
        Ok(folded)
    }
}

impl Health {
    fn key(&self, recorded: &Recorded) -> Option<Vec<Cell>> {
        if !self.folds(recorded.event.kind) {
            return None;
        }
        let channel = channel_of(recorded)?;
        Some(vec![recorded.workspace.into(), channel.into()])
    }
}

impl ChannelHealth {
    fn count(&mut self, recorded: &Recorded) {
        let at = Some(recorded.event.occurred_at);
        match recorded.event.kind {
            Kind::MessageSent => {
                self.sent += 1;
                self.failing = 0;
                self.last_sent_at = self.last_sent_at.max(at);
            }
            Kind::MessageRetried => Self::fail(&mut self.retried, &mut self.failing),
            Kind::MessageFailed => Self::fail(&mut self.failed, &mut self.failing),
            Kind::MessageUnknown => Self::fail(&mut self.unknown, &mut self.failing),
            _ => self.skipped += 1,
        }
        if self.failing > 0 && recorded.event.kind != Kind::MessageSkipped {
            self.last_failed_at = self.last_failed_at.max(at);
        }
    }

    const fn fail(count: &mut i64, failing: &mut i64) {
        *count += 1;
        *failing += 1;
    }

    fn row(&self, mut key: Vec<Cell>) -> Row {
        let counts = [
            self.sent,
            self.retried,
            self.failed,
            self.skipped,
            self.unknown,
        ];
        key.extend(counts.map(Cell::Int));
        key.push(self.failing.into());
        key.extend([self.last_sent_at.into(), self.last_failed_at.into()]);
        key
    }
}

/// Reads a row of [`CHANNEL_HEALTH`]: the channel's name, and how it fares; `None` if it is
/// not one that this version wrote.
pub fn health_of_row(row: &Row) -> Option<(String, ChannelHealth)> {
    let int = |column: usize| row.get(column)?.as_int();
    let time = |column: usize| Some(Timestamp::from_micros(int(column)?));
    let health = ChannelHealth {
        sent: int(2)?,
        retried: int(3)?,
        failed: int(4)?,
        skipped: int(5)?,
        unknown: int(6)?,
        failing: int(7)?,
        last_sent_at: time(8),
        last_failed_at: time(9),
    };
    Some((row.get(1)?.as_text()?.to_owned(), health))
}
