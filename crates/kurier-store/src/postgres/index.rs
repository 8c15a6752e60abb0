//! The index of ids: what this process knows of it, and how it follows the log.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::TryStreamExt as _;
use kurier_core::event::Position;
use kurier_core::id::{EventId, WorkspaceId};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::ids::{Due, Ids, Key};

/// So many positions are taken in by one transaction.
const SLICE: i64 = 16_384;
/// More events a second than this are a flood.
const FLOOD_RATE: f64 = 5_000.0;
/// Looked at so often.
const FLOOD_SPAN: Duration = Duration::from_secs(1);
/// So many ids are added to the filter at once: who appends waits meanwhile.
const PORTION: usize = 4_096;

pub struct Index {
    pool: PgPool,
    ids: Mutex<Ids>,
    stream: Mutex<Stream>,
    /// Whether a task of this process is at it: the one does not wait for the other.
    is_indexing: AtomicBool,
    is_filling: AtomicBool,
}

/// How fast events come.
struct Stream {
    since: Option<Instant>,
    events: usize,
    is_flood: bool,
}

impl Stream {
    /// Counts, and tells whether it is a flood.
    fn count(&mut self, events: usize, now: Instant) -> bool {
        let span = now - *self.since.get_or_insert(now);
        if span >= FLOOD_SPAN {
            self.is_flood = self.events as f64 > FLOOD_RATE * span.as_secs_f64();
            (self.since, self.events) = (Some(now), 0);
        }
        self.events += events;
        self.is_flood
    }
}

impl Index {
    pub fn of(pool: PgPool) -> Self {
        Self {
            pool,
            ids: Mutex::default(),
            stream: Mutex::new(Stream {
                since: None,
                events: 0,
                // Until the contrary is known: who has just started has other things to do.
                is_flood: true,
            }),
            is_indexing: AtomicBool::new(false),
            is_filling: AtomicBool::new(false),
        }
    }

    pub fn ids(&self) -> MutexGuard<'_, Ids> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads what the log has behind the index.
    pub async fn load(&self, connection: &mut PgConnection) -> sqlx::Result<()> {
        let indexed: i64 =
            sqlx::query_scalar("SELECT position FROM checkpoint WHERE name = 'log_id'")
                .fetch_one(&mut *connection)
                .await?;
        let sql = "
            SELECT position, workspace, id FROM log_archive WHERE position > $1
            UNION ALL SELECT position, workspace, id FROM log WHERE position > $1";
        let rows: Vec<(i64, Uuid, Uuid)> = sqlx::query_as(sql)
            .bind(indexed)
            .fetch_all(&mut *connection)
            .await?;
        let known = rows.iter().map(|row| row.0).fold(indexed, i64::max);
        let recent = rows.iter().map(|row| key(row.1, row.2)).collect();
        self.ids().load(Position(indexed), Position(known), recent);
        Ok(())
    }

    /// Does what is due after a group of so many events, aside.
    pub fn follow(self: &Arc<Self>, events: usize, now: Instant) {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let is_flood = stream.count(events, now);
        drop(stream);
        let Some(due) = self.ids().due(is_flood) else {
            return;
        };
        if self.at_work(due).swap(true, Ordering::Relaxed) {
            return;
        }
        let index = self.clone();
        tokio::spawn(async move {
            // What failed is due again with the next group.
            let _: sqlx::Result<()> = match due {
                Due::Index => index.take_in().await,
                Due::Filter(turn) => index.fill(turn).await,
            };
            index.at_work(due).store(false, Ordering::Relaxed);
        });
    }

    const fn at_work(&self, due: Due) -> &AtomicBool {
        match due {
            Due::Index => &self.is_indexing,
            Due::Filter(_) => &self.is_filling,
        }
    }

    async fn take_in(&self) -> sqlx::Result<()> {
        let mut before = -1;
        while self.ids().is_much_left() {
            let indexed = sqlx::query_scalar("SELECT log_index($1)").bind(SLICE);
            let indexed: i64 = indexed.fetch_one(&self.pool).await?;
            self.ids().let_go(Position(indexed));
            // At the end of the log.
            if indexed == before {
                break;
            }
            before = indexed;
        }
        Ok(())
    }

    /// Reads the whole index into the filter.
    async fn fill(&self, turn: u64) -> sqlx::Result<()> {
        let mut rows = sqlx::query_scalar("SELECT id FROM log_id").fetch(&self.pool);
        let mut portion = Vec::with_capacity(PORTION);
        while let Some(id) = rows.try_next().await? {
            portion.push(EventId::from_uuid(id));
            if portion.len() == PORTION {
                if !self.ids().fill(turn, &portion) {
                    return Ok(());
                }
                portion.clear();
            }
        }
        self.ids().fill(turn, &portion);
        self.ids().filled(turn);
        Ok(())
    }
}

pub fn key(workspace: Uuid, id: Uuid) -> Key {
    (WorkspaceId::from_uuid(workspace), EventId::from_uuid(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_begins_and_ends_with_its_rate() {
        let began = Instant::now();
        let mut stream = Stream {
            since: None,
            events: 0,
            is_flood: false,
        };
        let at = |millis| began + Duration::from_millis(millis);
        assert!(!stream.count(8_000, at(0)), "nobody knows yet");
        assert!(stream.count(1, at(1_010)));
        assert!(stream.count(4_000, at(2_000)), "the last second counts");
        assert!(!stream.count(4_000, at(2_020)));
    }
}
