//! Messages in the hand: locked in a transaction that stays open until they are settled. A
//! lease would write every row once more, and cost more than all the rest.

use std::collections::HashMap;

use async_trait::async_trait;
use kurier_core::id::MessageId;
use kurier_core::time::Timestamp;
use sqlx::{PgConnection, Row, Transaction};
use tokio::sync::SemaphorePermit;

use super::Postgres;
use super::appender::append;
use super::claims::{Stay, read_claim, stay};
use super::queue::gather;
use crate::queue::{Hand, Held, Lane, Settled};
use crate::{Error, Result, rows_max};

/// So many transactions are open at once for this: whoever has one may need another
/// connection meanwhile, and there must be one left.
pub const HANDS_MAX: usize = 4;

struct Locked<'a> {
    transaction: Transaction<'static, sqlx::Postgres>,
    /// Where each row lies.
    places: HashMap<MessageId, String>,
    ageing: i64,
    _permit: SemaphorePermit<'a>,
}

impl Postgres {
    pub(super) async fn take_in_hand(&self, lane: &Lane, limit: usize) -> Result<Held<'_>> {
        let permit = self.hands.acquire().await;
        let permit = permit.map_err(|e| Error::Unavailable(e.to_string()))?;
        let mut transaction = self.pool.begin().await?;
        let sql = "
            SELECT id, contact, priority, due_at, payload, fence + 1 AS fence,
              attempts + 1 AS attempts, before, interrupted, ctid::text
            FROM queue WHERE stage = 0 AND workspace = $1 AND channel = $2
            ORDER BY rank LIMIT $3 FOR UPDATE SKIP LOCKED";
        let rows = sqlx::query(sql)
            .bind(lane.workspace.as_uuid())
            .bind(&lane.channel)
            .bind(rows_max(limit))
            .fetch_all(&mut *transaction)
            .await?;
        let mut claims = Vec::with_capacity(rows.len());
        let mut places = HashMap::with_capacity(rows.len());
        for row in rows {
            let claim = read_claim(lane, &row)?;
            places.insert(claim.message.id, row.try_get("ctid")?);
            claims.push(claim);
        }
        let hand = Box::new(Locked {
            transaction,
            places,
            ageing: self.ageing,
            _permit: permit,
        });
        Ok(Held { claims, hand })
    }
}

#[async_trait]
impl Hand for Locked<'_> {
    async fn settle(
        mut self: Box<Self>,
        settled: Vec<Settled>,
        now: Timestamp,
    ) -> Result<Vec<bool>> {
        let (mut gone, mut stays) = (Vec::new(), Vec::new());
        let (mut told, mut kept) = (Vec::new(), Vec::with_capacity(settled.len()));
        for one in &settled {
            let place = self.places.remove(&one.claim.message.id);
            kept.push(place.is_some());
            let Some(place) = place else { continue };
            match stay(one, now, self.ageing) {
                None => gone.push(place),
                Some(stay) => stays.push(stay),
            }
            let workspace = one.claim.workspace;
            told.extend(one.events.iter().map(|event| (workspace, event)));
        }
        remove(&mut self.transaction, &gone).await?;
        put_back(&mut self.transaction, &stays).await?;
        append(&mut self.transaction, &told).await?;
        self.transaction.commit().await?;
        Ok(kept)
    }
}

/// The rows are locked, so they lie where they lay.
async fn remove(connection: &mut PgConnection, places: &[String]) -> Result<()> {
    if places.is_empty() {
        return Ok(());
    }
    sqlx::query("DELETE FROM queue WHERE ctid = ANY ($1::text[]::tid[])")
        .bind(places)
        .execute(connection)
        .await?;
    Ok(())
}

async fn put_back(connection: &mut PgConnection, stays: &[Stay]) -> Result<()> {
    if stays.is_empty() {
        return Ok(());
    }
    let sql = "
        UPDATE queue q SET stage = s.stage, due_at = s.due, rank = s.rank, attempts = s.tries,
          fence = s.f, lease_until = NULL, interrupted = false
        FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::smallint[], $5::bigint[],
                    $6::bigint[], $7::int[]) AS s (w, i, f, stage, due, rank, tries)
        WHERE q.workspace = s.w AND q.id = s.i";
    sqlx::query(sql)
        .bind(gather(stays, |stay| stay.key.0))
        .bind(gather(stays, |stay| stay.key.1))
        .bind(gather(stays, |stay| stay.key.2))
        .bind(gather(stays, |stay| stay.stage))
        .bind(gather(stays, |stay| stay.due_at))
        .bind(gather(stays, |stay| stay.rank))
        .bind(gather(stays, |stay| stay.attempts))
        .execute(connection)
        .await?;
    Ok(())
}
