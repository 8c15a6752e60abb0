use std::collections::HashSet;

use async_trait::async_trait;
use kurier_core::id::{ContactId, MessageId, WorkspaceId};
use kurier_core::time::Timestamp;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};
use uuid::Uuid;

use super::Postgres;
use super::appender::{append, uuids};
use crate::queue::{Claim, Queue, Queued, Settled, Settlement};
use crate::{Result, Scope, rows_max};

#[async_trait]
impl Queue for Postgres {
    async fn put(&self, scope: Scope, messages: Vec<Queued>) -> Result<usize> {
        let rows: Vec<_> = messages.into_iter().map(|row| (scope.0, row)).collect();
        put(&mut *self.pool.acquire().await?, &rows).await
    }

    /// Rows are locked from one table only: with a join, SKIP LOCKED hands the same row to two
    /// workers. And they are locked once: a plan may run a subquery again for every row.
    async fn claim(
        &self,
        now: Timestamp,
        lease_until: Timestamp,
        limit: usize,
    ) -> Result<Vec<Claim>> {
        let sql = "
            WITH due AS MATERIALIZED (
              SELECT workspace, id FROM queue
              WHERE due_at <= $1 AND (lease_until IS NULL OR lease_until <= $1)
              ORDER BY priority DESC, due_at LIMIT $3
              FOR UPDATE SKIP LOCKED)
            UPDATE queue q SET lease_until = $2, fence = fence + 1, attempts = attempts + 1
            FROM due WHERE q.workspace = due.workspace AND q.id = due.id
            RETURNING q.workspace, q.id, contact, channel, priority, due_at, payload, fence,
              attempts";
        let rows = sqlx::query(sql)
            .bind(now.as_micros())
            .bind(lease_until.as_micros())
            .bind(rows_max(limit))
            .fetch_all(&self.pool)
            .await?;
        let mut claims = rows
            .iter()
            .map(read_claim)
            .collect::<Result<Vec<Claim>>>()?;
        // RETURNING promises no order.
        claims.sort_by_key(|c| (std::cmp::Reverse(c.message.priority), c.message.due_at));
        Ok(claims)
    }

    async fn settle(&self, settled: Vec<Settled>) -> Result<Vec<bool>> {
        let mut transaction = self.pool.begin().await?;
        let kept = settle(&mut transaction, &settled).await?;
        let told = settled.iter().filter(|one| kept.contains(&key(&one.claim)));
        let told = told.filter_map(|one| Some((one.claim.workspace, one.event.as_ref()?)));
        append(&mut transaction, &told.collect::<Vec<_>>()).await?;
        transaction.commit().await?;
        let is_kept = |one: &Settled| kept.contains(&key(&one.claim));
        Ok(settled.iter().map(is_kept).collect())
    }

    async fn forget(&self, scope: Scope, contacts: &[ContactId]) -> Result<u64> {
        let forgotten =
            sqlx::query("DELETE FROM queue WHERE workspace = $1 AND contact = ANY ($2)")
                .bind(scope.0.as_uuid())
                .bind(uuids(contacts, ContactId::as_uuid))
                .execute(&self.pool)
                .await?;
        Ok(forgotten.rows_affected())
    }

    async fn depth(&self, scope: Scope) -> Result<u64> {
        let depth: i64 = sqlx::query_scalar("SELECT count(*) FROM queue WHERE workspace = $1")
            .bind(scope.0.as_uuid())
            .fetch_one(&self.pool)
            .await?;
        Ok(depth.unsigned_abs())
    }
}

/// In the order of ids, so that two of these never wait for each other in a circle.
pub async fn put(connection: &mut PgConnection, rows: &[(WorkspaceId, Queued)]) -> Result<usize> {
    if rows.is_empty() {
        return Ok(0);
    }
    let sql = "
        INSERT INTO queue (workspace, id, contact, channel, priority, due_at, fence, attempts, payload)
        SELECT w, i, c, ch, p, d, 0, 0, t
        FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::smallint[], $6::bigint[], $7::text[])
          WITH ORDINALITY AS new (w, i, c, ch, p, d, t, o)
        ORDER BY i, o
        ON CONFLICT DO NOTHING";
    let put = sqlx::query(sql)
        .bind(gather(rows, |(workspace, _)| workspace.as_uuid()))
        .bind(gather(rows, |(_, row)| row.id.as_uuid()))
        .bind(gather(rows, |(_, row)| row.contact.map(ContactId::as_uuid)))
        .bind(gather(rows, |(_, row)| row.channel.as_str()))
        .bind(gather(rows, |(_, row)| i16::from(row.priority)))
        .bind(gather(rows, |(_, row)| row.due_at.as_micros()))
        .bind(gather(rows, |(_, row)| row.payload.as_str()))
        .execute(connection)
        .await?;
    Ok(put.rows_affected() as usize)
}

fn gather<'a, R, T>(rows: &'a [R], part: impl Fn(&'a R) -> T) -> Vec<T> {
    rows.iter().map(part).collect()
}

/// What tells one claim from every other, of the same message too.
type ClaimKey = (Uuid, Uuid, i64);

fn key(claim: &Claim) -> ClaimKey {
    let (workspace, id) = (claim.workspace.as_uuid(), claim.message.id.as_uuid());
    (workspace, id, claim.fence)
}

/// Settles in two statements, however many there are; answers which claims were still held.
async fn settle(connection: &mut PgConnection, settled: &[Settled]) -> Result<HashSet<ClaimKey>> {
    let (mut done, mut later) = (Vec::new(), Vec::new());
    for one in settled {
        match one.how {
            Settlement::Done => done.push((key(&one.claim), 0)),
            Settlement::Retry(at) => later.push((key(&one.claim), at.as_micros())),
        }
    }
    let mut kept = HashSet::new();
    for (sql, claims) in [(DONE, done), (RETRY, later)] {
        if claims.is_empty() {
            continue;
        }
        let rows = sqlx::query(sql)
            .bind(gather(&claims, |(key, _)| key.0))
            .bind(gather(&claims, |(key, _)| key.1))
            .bind(gather(&claims, |(key, _)| key.2))
            .bind(gather(&claims, |(_, at)| *at))
            .fetch_all(&mut *connection)
            .await?;
        for row in rows {
            kept.insert((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?));
        }
    }
    Ok(kept)
}

/// Rows are locked in the order of ids, so that two of these never wait for each other.
const DONE: &str = "
    WITH held AS MATERIALIZED (
      SELECT q.workspace, q.id, q.fence FROM queue q
      JOIN unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[]) AS s (w, i, f, a)
        ON q.workspace = s.w AND q.id = s.i AND q.fence = s.f
      ORDER BY q.workspace, q.id FOR UPDATE OF q)
    DELETE FROM queue q USING held h WHERE q.workspace = h.workspace AND q.id = h.id
    RETURNING h.workspace, h.id, h.fence";
const RETRY: &str = "
    WITH held AS MATERIALIZED (
      SELECT q.workspace, q.id, q.fence, s.a FROM queue q
      JOIN unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[]) AS s (w, i, f, a)
        ON q.workspace = s.w AND q.id = s.i AND q.fence = s.f
      ORDER BY q.workspace, q.id FOR UPDATE OF q)
    UPDATE queue q SET due_at = h.a, lease_until = NULL, fence = q.fence + 1
    FROM held h WHERE q.workspace = h.workspace AND q.id = h.id
    RETURNING h.workspace, h.id, h.fence";

fn read_claim(row: &PgRow) -> Result<Claim> {
    let contact: Option<Uuid> = row.try_get("contact")?;
    Ok(Claim {
        workspace: WorkspaceId::from_uuid(row.try_get("workspace")?),
        message: Queued {
            id: MessageId::from_uuid(row.try_get("id")?),
            contact: contact.map(ContactId::from_uuid),
            channel: row.try_get("channel")?,
            priority: row.try_get::<i16, _>("priority")? as u8,
            due_at: Timestamp::from_micros(row.try_get("due_at")?),
            payload: row.try_get("payload")?,
        },
        fence: row.try_get("fence")?,
        attempts: row.try_get::<i32, _>("attempts")? as u32,
    })
}
