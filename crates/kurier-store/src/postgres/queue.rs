use async_trait::async_trait;
use kurier_core::id::{ContactId, MessageId, WorkspaceId};
use kurier_core::time::Timestamp;
use sqlx::Row;
use sqlx::postgres::PgRow;

use super::Postgres;
use super::appender::uuids;
use crate::queue::{Claim, Queue, Queued, Settlement};
use crate::{Result, Scope, rows_max};

#[async_trait]
impl Queue for Postgres {
    /// In the order of ids, so that two of these never wait for each other in a circle.
    async fn put(&self, scope: Scope, messages: Vec<Queued>) -> Result<usize> {
        let sql = "
            INSERT INTO queue (workspace, id, contact, channel, priority, due_at, fence, attempts, payload)
            SELECT $1, i, c, ch, p, d, 0, 0, t
            FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::smallint[], $6::bigint[], $7::text[])
              WITH ORDINALITY AS new (i, c, ch, p, d, t, o)
            ORDER BY i, o
            ON CONFLICT DO NOTHING";
        let put = sqlx::query(sql)
            .bind(scope.0.as_uuid())
            .bind(messages.iter().map(|m| m.id.as_uuid()).collect::<Vec<_>>())
            .bind(
                messages
                    .iter()
                    .map(|m| m.contact.map(|c| c.as_uuid()))
                    .collect::<Vec<_>>(),
            )
            .bind(
                messages
                    .iter()
                    .map(|m| m.channel.clone())
                    .collect::<Vec<_>>(),
            )
            .bind(
                messages
                    .iter()
                    .map(|m| i16::from(m.priority))
                    .collect::<Vec<_>>(),
            )
            .bind(
                messages
                    .iter()
                    .map(|m| m.due_at.as_micros())
                    .collect::<Vec<_>>(),
            )
            .bind(
                messages
                    .iter()
                    .map(|m| m.payload.clone())
                    .collect::<Vec<_>>(),
            )
            .execute(&self.pool)
            .await?;
        Ok(put.rows_affected() as usize)
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

    async fn settle(&self, settled: Vec<(Claim, Settlement)>) -> Result<Vec<bool>> {
        let mut transaction = self.pool.begin().await?;
        let mut kept = Vec::with_capacity(settled.len());
        for (claim, how) in &settled {
            let (workspace, id) = (claim.workspace.as_uuid(), claim.message.id.as_uuid());
            let statement = match how {
                Settlement::Done => sqlx::query(DONE).bind(workspace).bind(id).bind(claim.fence),
                Settlement::Retry(at) => sqlx::query(RETRY)
                    .bind(workspace)
                    .bind(id)
                    .bind(claim.fence)
                    .bind(at.as_micros()),
            };
            kept.push(statement.execute(&mut *transaction).await?.rows_affected() == 1);
        }
        transaction.commit().await?;
        Ok(kept)
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

const DONE: &str = "DELETE FROM queue WHERE workspace = $1 AND id = $2 AND fence = $3";
const RETRY: &str = "UPDATE queue SET due_at = $4, lease_until = NULL, fence = fence + 1
                     WHERE workspace = $1 AND id = $2 AND fence = $3";

fn read_claim(row: &PgRow) -> Result<Claim> {
    let contact: Option<uuid::Uuid> = row.try_get("contact")?;
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
