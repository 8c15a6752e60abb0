//! Messages in the hand: only looked at, and settled if nobody else was faster. One hand in a
//! process, so that it does not race with itself.

use async_trait::async_trait;
use kurier_core::time::Timestamp;
use rusqlite::{Connection, params};
use tokio::sync::MutexGuard;

use super::Sqlite;
use super::claims::{IN_HAND, read_claim, settle};
use crate::queue::{Claim, Hand, Held, Lane, Settled};
use crate::{Result, rows_max};

struct Alone<'a> {
    sqlite: &'a Sqlite,
    _guard: MutexGuard<'a, ()>,
}

impl Sqlite {
    pub(super) async fn take_in_hand(&self, lane: &Lane, limit: usize) -> Result<Held<'_>> {
        let guard = self.hand.lock().await;
        let lane = lane.clone();
        let claims = self
            .readers
            .read(move |connection| look(connection, &lane, limit));
        let claims = claims.await?;
        let hand = Box::new(Alone {
            sqlite: self,
            _guard: guard,
        });
        Ok(Held { claims, hand })
    }
}

fn look(connection: &Connection, lane: &Lane, limit: usize) -> Result<Vec<Claim>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, contact, priority, due_at, payload, fence + 1, attempts + 1, before,
           interrupted
         FROM queue WHERE stage = 0 AND workspace = ?1 AND channel = ?2 ORDER BY rank LIMIT ?3",
    )?;
    let mut rows = statement.query(params![
        lane.workspace.as_uuid().as_bytes(),
        lane.channel,
        rows_max(limit),
    ])?;
    let mut claims = Vec::new();
    while let Some(row) = rows.next()? {
        claims.push(read_claim(lane, row)?);
    }
    Ok(claims)
}

#[async_trait]
impl Hand for Alone<'_> {
    async fn settle(self: Box<Self>, settled: Vec<Settled>, now: Timestamp) -> Result<Vec<bool>> {
        let times = (now, self.sqlite.ageing);
        self.sqlite
            .writer
            .write(settled.len(), move |pen| {
                let each = |one: &Settled| settle(pen, one, IN_HAND, times);
                settled.iter().map(each).collect()
            })
            .await
    }
}
