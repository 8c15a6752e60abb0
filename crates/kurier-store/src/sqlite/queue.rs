use async_trait::async_trait;
use kurier_core::id::{ContactId, MessageId, WorkspaceId};
use kurier_core::time::Timestamp;
use rusqlite::{Connection, Row, params, params_from_iter};

use super::Sqlite;
use super::cell::{IDS, blob, id_list, optional_uuid, uuid};
use super::log::append;
use super::writer::Pen;
use crate::queue::{Claim, Queue, Queued, Settled, Settlement};
use crate::{Result, Scope, rows_max};

const COLUMNS: &str = "workspace, id, contact, channel, priority, due_at, payload, fence, attempts";

#[async_trait]
impl Queue for Sqlite {
    async fn put(&self, scope: Scope, messages: Vec<Queued>) -> Result<usize> {
        let weight = messages.len();
        self.writer
            .write(weight, move |connection| put(connection, scope, &messages))
            .await
    }

    async fn claim(
        &self,
        now: Timestamp,
        lease_until: Timestamp,
        limit: usize,
    ) -> Result<Vec<Claim>> {
        self.writer
            .write(limit, move |connection| {
                claim(connection, (now, lease_until), limit)
            })
            .await
    }

    async fn settle(&self, settled: Vec<Settled>) -> Result<Vec<bool>> {
        self.writer
            .write(settled.len(), move |pen| {
                let settle = |one: &Settled| settle(pen, one);
                settled.iter().map(settle).collect()
            })
            .await
    }

    async fn forget(&self, scope: Scope, contacts: &[ContactId]) -> Result<u64> {
        let sql = format!("DELETE FROM queue WHERE workspace = ? AND contact IN {IDS}");
        let ids = id_list(contacts.iter().map(|id| id.as_uuid()));
        let values = [blob(scope.0.as_uuid()), ids];
        self.writer
            .write(1, move |connection| {
                Ok(connection.execute(&sql, params_from_iter(&values))? as u64)
            })
            .await
    }

    async fn depth(&self, scope: Scope) -> Result<u64> {
        self.readers
            .read(move |connection| {
                let sql = "SELECT count(*) FROM queue WHERE workspace = ?1";
                let key = [scope.0.as_uuid().into_bytes()];
                let depth: i64 = connection.query_row(sql, key, |row| row.get(0))?;
                Ok(depth.unsigned_abs())
            })
            .await
    }
}

pub fn put(connection: &Connection, scope: Scope, messages: &[Queued]) -> Result<usize> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO queue (workspace, id, contact, channel, priority, due_at, fence, attempts, payload)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, 0, ?7) ON CONFLICT DO NOTHING",
    )?;
    let mut new = 0;
    for message in messages {
        new += statement.execute(params![
            scope.0.as_uuid().as_bytes(),
            message.id.as_uuid().as_bytes(),
            message
                .contact
                .map(|contact| contact.as_uuid().into_bytes()),
            message.channel,
            message.priority,
            message.due_at.as_micros(),
            message.payload,
        ])?;
    }
    Ok(new)
}

fn claim(
    connection: &Connection,
    (now, lease_until): (Timestamp, Timestamp),
    limit: usize,
) -> Result<Vec<Claim>> {
    let sql = format!(
        "UPDATE queue SET lease_until = ?2, fence = fence + 1, attempts = attempts + 1
         WHERE (workspace, id) IN (
           SELECT workspace, id FROM queue
           WHERE due_at <= ?1 AND (lease_until IS NULL OR lease_until <= ?1)
           ORDER BY priority DESC, due_at LIMIT ?3)
         RETURNING {COLUMNS}"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params![
        now.as_micros(),
        lease_until.as_micros(),
        rows_max(limit)
    ])?;
    let mut claims = Vec::new();
    while let Some(row) = rows.next()? {
        claims.push(read_claim(row)?);
    }
    // RETURNING promises no order.
    claims.sort_by_key(|c: &Claim| (std::cmp::Reverse(c.message.priority), c.message.due_at));
    Ok(claims)
}

fn settle(pen: &Pen, Settled { claim, how, event }: &Settled) -> Result<bool> {
    let key = (
        claim.workspace.as_uuid().into_bytes(),
        claim.message.id.as_uuid().into_bytes(),
    );
    let changed = match how {
        Settlement::Done => pen
            .prepare_cached("DELETE FROM queue WHERE workspace = ?1 AND id = ?2 AND fence = ?3")?
            .execute(params![key.0, key.1, claim.fence])?,
        Settlement::Retry(at) => pen
            .prepare_cached(
                "UPDATE queue SET due_at = ?4, lease_until = NULL, fence = fence + 1
                 WHERE workspace = ?1 AND id = ?2 AND fence = ?3",
            )?
            .execute(params![key.0, key.1, claim.fence, at.as_micros()])?,
    };
    if let Some(event) = event.as_ref().filter(|_| changed == 1) {
        append(pen, Scope(claim.workspace), std::slice::from_ref(event))?;
    }
    Ok(changed == 1)
}

fn read_claim(row: &Row<'_>) -> Result<Claim> {
    Ok(Claim {
        workspace: WorkspaceId::from_uuid(uuid(row, 0)?),
        message: Queued {
            id: MessageId::from_uuid(uuid(row, 1)?),
            contact: optional_uuid(row, 2)?.map(ContactId::from_uuid),
            channel: row.get(3)?,
            priority: row.get(4)?,
            due_at: Timestamp::from_micros(row.get(5)?),
            payload: row.get(6)?,
        },
        fence: row.get(7)?,
        attempts: row.get(8)?,
    })
}
