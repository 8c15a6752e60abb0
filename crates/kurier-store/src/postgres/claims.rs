//! Rows in a worker's hands: claimed by a lease, and settled.

use std::collections::HashSet;

use kurier_core::id::{ContactId, MessageId};
use kurier_core::time::Timestamp;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};
use uuid::Uuid;

use super::queue::gather;
use crate::queue::{Claim, Claiming, Lane, Queued, Settled, left, rank};
use crate::{Result, rows_max};

/// Rows are locked from one table only: with a join, SKIP LOCKED hands the same row to two
/// workers. And they are locked once: a plan may run a subquery again for every row.
pub(super) async fn take(
    connection: &mut PgConnection,
    lane: &Lane,
    claiming: Claiming,
    limit: usize,
) -> Result<Vec<Claim>> {
    let sql = "
        WITH due AS MATERIALIZED (
          SELECT id FROM queue WHERE stage = 0 AND workspace = $1 AND channel = $2
          ORDER BY rank LIMIT $4 FOR UPDATE SKIP LOCKED)
        UPDATE queue q SET stage = 2, lease_until = $3, fence = fence + 1,
          attempts = attempts + 1, told = false
        FROM due WHERE q.workspace = $1 AND q.id = due.id
        RETURNING q.id, contact, priority, due_at, payload, fence, attempts, before, interrupted,
          rank";
    if limit == 0 {
        return Ok(Vec::new());
    }
    let rows = sqlx::query(sql)
        .bind(lane.workspace.as_uuid())
        .bind(&lane.channel)
        .bind(claiming.lease_until.as_micros())
        .bind(rows_max(limit))
        .fetch_all(connection)
        .await?;
    let mut claims: Vec<(i64, Claim)> = Vec::with_capacity(rows.len());
    for row in rows {
        claims.push((row.try_get(9)?, read_claim(lane, &row)?));
    }
    // RETURNING promises no order.
    claims.sort_by_key(|(rank, _)| *rank);
    Ok(claims.into_iter().map(|(_, claim)| claim).collect())
}

/// Marks claims as about to be handed over; answers which are still held.
pub(super) async fn begin(
    connection: &mut PgConnection,
    claims: &[Claim],
) -> Result<HashSet<ClaimKey>> {
    let sql = "
        WITH held AS MATERIALIZED (
          SELECT q.workspace, q.id, q.fence FROM queue q
          JOIN unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS s (w, i, f)
            ON q.workspace = s.w AND q.id = s.i AND q.fence = s.f
          WHERE q.stage + 0 = 2 ORDER BY q.workspace, q.id FOR UPDATE OF q)
        UPDATE queue q SET told = true
        FROM held h WHERE q.workspace = h.workspace AND q.id = h.id
        RETURNING h.workspace, h.id, h.fence";
    let keys: Vec<ClaimKey> = claims.iter().map(key).collect();
    let rows = sqlx::query(sql)
        .bind(gather(&keys, |key| key.0))
        .bind(gather(&keys, |key| key.1))
        .bind(gather(&keys, |key| key.2))
        .fetch_all(connection)
        .await?;
    let key = |row: &PgRow| Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?));
    rows.iter().map(key).collect()
}

/// What tells one claim from every other, of the same message too.
pub(super) type ClaimKey = (Uuid, Uuid, i64);

pub(super) fn key(claim: &Claim) -> ClaimKey {
    let (workspace, id) = (claim.workspace.as_uuid(), claim.message.id.as_uuid());
    (workspace, id, claim.fence)
}

/// A claim that stays in the queue: in which stage, when due, with what rank and attempts.
pub(super) struct Stay {
    pub key: ClaimKey,
    pub stage: i16,
    pub due_at: i64,
    pub rank: i64,
    pub attempts: i32,
}

/// How a claim stays in the queue, if it does.
pub(super) fn stay(settled: &Settled, now: Timestamp, ageing: i64) -> Option<Stay> {
    let claim = &settled.claim;
    let (stage, due_at, attempts) = left(claim, settled.then, now)?;
    Some(Stay {
        key: key(claim),
        stage,
        due_at: due_at.as_micros(),
        rank: rank(due_at, claim.message.priority, ageing),
        attempts: attempts as i32,
    })
}

/// Settles in two statements, however many there are; answers which claims were still held.
pub(super) async fn settle(
    connection: &mut PgConnection,
    settled: &[Settled],
    now: Timestamp,
    ageing: i64,
) -> Result<HashSet<ClaimKey>> {
    let (mut gone, mut stays) = (Vec::new(), Vec::new());
    for one in settled {
        match stay(one, now, ageing) {
            None => gone.push(key(&one.claim)),
            Some(stay) => stays.push(stay),
        }
    }
    let mut rows = Vec::new();
    if !gone.is_empty() {
        rows.extend(remove(connection, &gone).await?);
    }
    if !stays.is_empty() {
        rows.extend(keep(connection, &stays).await?);
    }
    let key = |row: &PgRow| Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?));
    rows.iter().map(key).collect()
}

/// Rows are locked in the order of ids, so that two of these never wait for each other. The
/// planner believes that nothing is claimed, as it was when it last looked; the sum keeps it
/// from reading all that is for every row, by the index that it takes to be empty.
async fn remove(connection: &mut PgConnection, gone: &[ClaimKey]) -> Result<Vec<PgRow>> {
    let sql = "
        WITH held AS MATERIALIZED (
          SELECT q.workspace, q.id, q.fence FROM queue q
          JOIN unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS s (w, i, f)
            ON q.workspace = s.w AND q.id = s.i AND q.fence = s.f
          WHERE q.stage + 0 = 2 ORDER BY q.workspace, q.id FOR UPDATE OF q)
        DELETE FROM queue q USING held h WHERE q.workspace = h.workspace AND q.id = h.id
        RETURNING h.workspace, h.id, h.fence";
    let rows = sqlx::query(sql)
        .bind(gather(gone, |key| key.0))
        .bind(gather(gone, |key| key.1))
        .bind(gather(gone, |key| key.2));
    Ok(rows.fetch_all(connection).await?)
}

async fn keep(connection: &mut PgConnection, stays: &[Stay]) -> Result<Vec<PgRow>> {
    let sql = "
        WITH held AS MATERIALIZED (
          SELECT q.workspace, q.id, q.fence, s.stage, s.due, s.rank, s.tries FROM queue q
          JOIN unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::smallint[], $5::bigint[],
                      $6::bigint[], $7::int[]) AS s (w, i, f, stage, due, rank, tries)
            ON q.workspace = s.w AND q.id = s.i AND q.fence = s.f
          WHERE q.stage + 0 = 2 ORDER BY q.workspace, q.id FOR UPDATE OF q)
        UPDATE queue q SET stage = h.stage, due_at = h.due, rank = h.rank, attempts = h.tries,
          lease_until = NULL, interrupted = false
        FROM held h WHERE q.workspace = h.workspace AND q.id = h.id
        RETURNING h.workspace, h.id, h.fence";
    let rows = sqlx::query(sql)
        .bind(gather(stays, |stay| stay.key.0))
        .bind(gather(stays, |stay| stay.key.1))
        .bind(gather(stays, |stay| stay.key.2))
        .bind(gather(stays, |stay| stay.stage))
        .bind(gather(stays, |stay| stay.due_at))
        .bind(gather(stays, |stay| stay.rank))
        .bind(gather(stays, |stay| stay.attempts));
    Ok(rows.fetch_all(connection).await?)
}

pub(super) fn read_claim(lane: &Lane, row: &PgRow) -> Result<Claim> {
    let contact: Option<Uuid> = row.try_get("contact")?;
    Ok(Claim {
        workspace: lane.workspace,
        message: Queued {
            id: MessageId::from_uuid(row.try_get("id")?),
            contact: contact.map(ContactId::from_uuid),
            channel: lane.channel.clone(),
            priority: row.try_get::<i16, _>("priority")? as u8,
            due_at: Timestamp::from_micros(row.try_get("due_at")?),
            payload: row.try_get("payload")?,
        },
        fence: row.try_get("fence")?,
        attempts: row.try_get::<i32, _>("attempts")? as u32,
        before: row.try_get::<i32, _>("before")? as u32,
        is_interrupted: row.try_get("interrupted")?,
    })
}
