//! The index of ids: what this process knows of it, and how it follows the log.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::TryStreamExt as _;
use kurier_core::event::Position;
use kurier_core::id::{EventId, WorkspaceId};
use kurier_core::time::Timestamp;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::ids::{Due, Ids, Key};
use crate::flood::Flood;

/// So many positions are taken in by one transaction.
const SLICE: i64 = 16_384;
/// So many ids are added to the filter at once: who appends waits meanwhile.
const PORTION: usize = 4_096;

pub struct Index {
    pool: PgPool,
    ids: Mutex<Ids>,
    flood: Mutex<Flood>,
    /// Whether a task of this process is at it: the one does not wait for the other.
    is_indexing: AtomicBool,
    is_filling: AtomicBool,
}

impl Index {
    pub fn of(pool: PgPool) -> Self {
        Self {
            pool,
            ids: Mutex::default(),
            flood: Mutex::default(),
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

    fn flood(&self) -> MutexGuard<'_, Flood> {
        self.flood.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does what is due after a group of so many events, aside.
    pub fn follow(self: &Arc<Self>, events: usize, now: Timestamp) {
        let is_flood = self.flood().count(events, now);
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

    /// A flood may have begun since: then it is no longer behind.
    fn is_behind(&self) -> bool {
        let is_flood = self.flood().is_on();
        self.ids().due(is_flood) == Some(Due::Index)
    }

    async fn take_in(&self) -> sqlx::Result<()> {
        let mut before = -1;
        while self.is_behind() {
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
