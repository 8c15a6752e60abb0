use async_trait::async_trait;
use kurier_core::event::{Event, Kind};
use kurier_core::id::{ContactId, MessageId, WorkspaceId};
use kurier_core::message::Report;
use kurier_core::time::Timestamp;
use rusqlite::{Connection, params, params_from_iter};

use super::Sqlite;
use super::cell::{IDS, blob, id_list, optional_uuid, uuid};
use super::claims::{CLAIMED, begin, claim, learn, settle};
use super::log::append;
use crate::queue::{
    Asked, Claim, Claimed, Claiming, Held, Lane, Lesson, Line, Once, Put, Queue, Queued, Settled,
    recalled, requested,
};
use crate::{Appended, Result, Scope};

/// So many rows change their stage at once.
const MOVES_MAX: i64 = 10_000;
const LANES_MAX: usize = 10_000;

#[async_trait]
impl Queue for Sqlite {
    async fn put(&self, scope: Scope, messages: Vec<Queued>, now: Timestamp) -> Result<usize> {
        let (weight, ageing) = (messages.len(), self.ageing);
        let rows = messages.into_iter().map(|row| Put::new(scope.0, row, now));
        let rows: Vec<Put> = rows.collect();
        self.writer
            .write(weight, move |pen| put(pen, &rows, ageing))
            .await
    }

    async fn request(&self, scope: Scope, events: Vec<Event>) -> Result<Vec<Appended>> {
        let (weight, ageing) = (events.len() * 2, self.ageing);
        self.writer
            .write(weight, move |pen| {
                let appended = append(pen, scope, &events)?;
                let owned = events.iter().map(|event| (scope.0, event.clone()));
                let rows = requested(&owned.collect::<Vec<_>>(), &appended);
                put(pen, &rows, ageing)?;
                Ok(appended)
            })
            .await
    }

    async fn request_once(&self, scope: Scope, event: Event, once: Once) -> Result<Asked> {
        let ageing = self.ageing;
        self.writer
            .write(3, move |pen| {
                if let Some(known) = recall(pen, scope, &once)? {
                    return Ok(known);
                }
                name(pen, scope, &once, &event)?;
                let events = [event.clone()];
                let appended = append(pen, scope, &events)?;
                let rows = requested(&[(scope.0, event.clone())], &appended);
                put(pen, &rows, ageing)?;
                Ok(Asked::New)
            })
            .await
    }

    async fn prune(&self, before: Timestamp) -> Result<()> {
        self.writer
            .write(1, move |pen| {
                let sql = "DELETE FROM idempotency WHERE created_at < ?1";
                pen.execute(sql, [before.as_micros()])?;
                Ok(())
            })
            .await
    }

    /// Whoever may only look, looks: the writer is asked when there is something to move.
    async fn line(&self, now: Timestamp) -> Result<Line> {
        let is_stale = self
            .readers
            .read(move |connection| is_stale(connection, now));
        if is_stale.await? {
            self.writer.write(1, move |pen| freshen(pen, now)).await?;
        }
        self.readers.read(line).await
    }

    async fn claim(&self, lane: &Lane, claiming: Claiming) -> Result<Claimed> {
        let lane = lane.clone();
        let weight = claiming.limit.min(1_000);
        self.writer
            .write(weight, move |pen| claim(pen, &lane, claiming))
            .await
    }

    async fn hold<'a>(&'a self, lane: &Lane, limit: usize) -> Result<Held<'a>> {
        self.take_in_hand(lane, limit).await
    }

    async fn begin(&self, claims: &[Claim], now: Timestamp) -> Result<Vec<bool>> {
        let claims = claims.to_vec();
        self.writer
            .write(claims.len(), move |pen| {
                claims.iter().map(|claim| begin(pen, claim, now)).collect()
            })
            .await
    }

    async fn settle(
        &self,
        settled: Vec<Settled>,
        now: Timestamp,
        lesson: Option<Lesson>,
    ) -> Result<Vec<bool>> {
        let (weight, ageing) = (settled.len(), self.ageing);
        self.writer
            .write(weight, move |pen| {
                let each = |one: &Settled| settle(pen, one, CLAIMED, (now, ageing));
                let kept = settled.iter().map(each).collect::<Result<_>>()?;
                if let Some(lesson) = &lesson {
                    learn(pen, lesson)?;
                }
                Ok(kept)
            })
            .await
    }

    async fn redrive(
        &self,
        scope: Scope,
        ids: &[MessageId],
        now: Timestamp,
    ) -> Result<Vec<MessageId>> {
        let ageing = self.ageing;
        let sql = format!(
            "UPDATE queue SET stage = 0, due_at = ?2, rank = ?2 - priority * ?3, fence = fence + 1,
               before = attempts, interrupted = 0
             WHERE workspace = ?1 AND stage = 3 AND id IN {IDS}
             RETURNING id, contact, fence, attempts"
        );
        self.act(
            scope,
            ids,
            now,
            (sql, vec![now.as_micros(), ageing], Kind::MessageRedriven),
        )
        .await
    }

    async fn discard(
        &self,
        scope: Scope,
        ids: &[MessageId],
        now: Timestamp,
    ) -> Result<Vec<MessageId>> {
        let sql = format!(
            "DELETE FROM queue WHERE workspace = ?1 AND stage = 3 AND id IN {IDS}
             RETURNING id, contact, fence, attempts"
        );
        self.act(scope, ids, now, (sql, Vec::new(), Kind::MessageDiscarded))
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
                let sql = "SELECT count(*) FROM queue WHERE workspace = ?1 AND stage <> 3";
                let key = [scope.0.as_uuid().into_bytes()];
                let depth: i64 = connection.query_row(sql, key, |row| row.get(0))?;
                Ok(depth.unsigned_abs())
            })
            .await
    }
}

impl Sqlite {
    /// Does to what was put aside what an operator asks for, and tells the log.
    async fn act(
        &self,
        scope: Scope,
        ids: &[MessageId],
        now: Timestamp,
        (sql, more, kind): (String, Vec<i64>, Kind),
    ) -> Result<Vec<MessageId>> {
        let mut values = vec![blob(scope.0.as_uuid())];
        values.extend(more.into_iter().map(rusqlite::types::Value::Integer));
        values.push(id_list(ids.iter().map(|id| id.as_uuid())));
        self.writer
            .write(ids.len(), move |pen| {
                let mut statement = pen.prepare_cached(&sql)?;
                let mut rows = statement.query(params_from_iter(&values))?;
                let (mut ids, mut events) = (Vec::new(), Vec::new());
                while let Some(row) = rows.next()? {
                    let id = MessageId::from_uuid(uuid(row, 0)?);
                    let contact = optional_uuid(row, 1)?.map(ContactId::from_uuid);
                    let report = Report::new(id, row.get(3)?);
                    events.push(report.event(kind, row.get(2)?, contact, now));
                    ids.push(id);
                }
                drop(rows);
                append(pen, scope, &events)?;
                Ok(ids)
            })
            .await
    }
}

fn recall(connection: &Connection, scope: Scope, once: &Once) -> Result<Option<Asked>> {
    let sql = "SELECT fingerprint, message FROM idempotency
        WHERE workspace = ?1 AND key = ?2 AND created_at >= ?3";
    let mut statement = connection.prepare_cached(sql)?;
    let workspace = scope.0.as_uuid().into_bytes();
    let mut rows = statement.query(params![workspace, once.key, once.since.as_micros()])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let fingerprint: Vec<u8> = row.get(0)?;
    let message = MessageId::from_uuid(uuid(row, 1)?);
    Ok(Some(recalled(once, (&fingerprint, message))))
}

fn name(connection: &Connection, scope: Scope, once: &Once, event: &Event) -> Result<()> {
    let sql = "INSERT OR REPLACE INTO idempotency
        (workspace, key, fingerprint, message, created_at) VALUES (?1, ?2, ?3, ?4, ?5)";
    connection.prepare_cached(sql)?.execute(params![
        scope.0.as_uuid().as_bytes(),
        once.key,
        once.fingerprint,
        event.id.as_uuid().as_bytes(),
        event.recorded_at.as_micros(),
    ])?;
    Ok(())
}

pub(crate) fn put(connection: &Connection, rows: &[Put], ageing: i64) -> Result<usize> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO queue (workspace, id, contact, channel, priority, due_at, fence, attempts,
           payload, stage, rank)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, 0, ?7, ?8, ?9) ON CONFLICT DO NOTHING",
    )?;
    let mut new = 0;
    for Put {
        workspace,
        row,
        stage,
    } in rows
    {
        new += statement.execute(params![
            workspace.as_uuid().as_bytes(),
            row.id.as_uuid().as_bytes(),
            row.contact.map(|contact| contact.as_uuid().into_bytes()),
            row.channel,
            row.priority,
            row.due_at.as_micros(),
            row.payload,
            stage,
            row.rank(ageing),
        ])?;
    }
    Ok(new)
}

/// Whether something became due, or a worker let its lease end.
fn is_stale(connection: &Connection, now: Timestamp) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM queue WHERE stage = 1 AND due_at <= ?1)
        OR EXISTS (SELECT 1 FROM queue WHERE stage = 2 AND lease_until <= ?1)";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.query_row([now.as_micros()], |row| row.get(0))?)
}

fn freshen(connection: &Connection, now: Timestamp) -> Result<()> {
    let moves = [
        "UPDATE queue SET stage = 0 WHERE (workspace, id) IN (
           SELECT workspace, id FROM queue WHERE stage = 1 AND due_at <= ?1
           ORDER BY due_at LIMIT ?2)",
        "UPDATE queue SET stage = 0, lease_until = NULL, interrupted = interrupted OR told,
           attempts = attempts - (told = 0)
         WHERE (workspace, id) IN (
           SELECT workspace, id FROM queue WHERE stage = 2 AND lease_until <= ?1 LIMIT ?2)",
    ];
    for sql in moves {
        let mut statement = connection.prepare_cached(sql)?;
        statement.execute([now.as_micros(), MOVES_MAX])?;
    }
    Ok(())
}

/// Lane after lane, each found by the index: what stands in one is not read.
fn line(connection: &Connection) -> Result<Line> {
    let mut lanes: Vec<Lane> = Vec::new();
    let mut statement = connection.prepare_cached(
        "SELECT workspace, channel FROM queue WHERE stage = 0 AND (workspace, channel) > (?1, ?2)
         ORDER BY workspace, channel LIMIT 1",
    )?;
    let mut last = (Vec::new(), String::new());
    while lanes.len() < LANES_MAX {
        let mut rows = statement.query(params![last.0, last.1])?;
        let Some(row) = rows.next()? else { break };
        let lane = Lane {
            workspace: WorkspaceId::from_uuid(uuid(row, 0)?),
            channel: row.get(1)?,
        };
        let workspace = lane.workspace.as_uuid().as_bytes().to_vec();
        last = (workspace, lane.channel.clone());
        lanes.push(lane);
    }
    let sql = "SELECT min(at) FROM (SELECT min(due_at) AS at FROM queue WHERE stage = 1
        UNION ALL SELECT min(lease_until) FROM queue WHERE stage = 2)";
    let next: Option<i64> = connection
        .prepare_cached(sql)?
        .query_row([], |row| row.get(0))?;
    Ok(Line {
        lanes,
        next: next.map(Timestamp::from_micros),
    })
}
