use std::collections::HashSet;

use async_trait::async_trait;
use kurier_core::event::{Event, Kind};
use kurier_core::id::{ContactId, MessageId, WorkspaceId};
use kurier_core::message::Report;
use kurier_core::time::Timestamp;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};
use uuid::Uuid;

use super::Postgres;
use super::appender::{append, uuids};
use super::gates::{learn, lock_gate, put_gate};
use crate::queue::{
    Asked, Claim, Claimed, Claiming, Lane, Lesson, Line, Once, Put, Queue, Queued, Settled, left,
    rank, recalled, requested, sending,
};
use crate::{Appended, Result, Scope, rows_max};

#[async_trait]
impl Queue for Postgres {
    async fn put(&self, scope: Scope, messages: Vec<Queued>, now: Timestamp) -> Result<usize> {
        let rows = messages.into_iter().map(|row| Put::new(scope.0, row, now));
        let rows: Vec<Put> = rows.collect();
        put(&mut *self.pool.acquire().await?, &rows, self.ageing).await
    }

    async fn request(&self, scope: Scope, events: Vec<Event>) -> Result<Vec<Appended>> {
        let mut transaction = self.pool.begin().await?;
        let batch: Vec<_> = events.iter().map(|event| (scope.0, event)).collect();
        let appended = append(&mut transaction, &batch).await?;
        let owned: Vec<_> = events.into_iter().map(|event| (scope.0, event)).collect();
        let rows = requested(&owned, &appended);
        put(&mut transaction, &rows, self.ageing).await?;
        transaction.commit().await?;
        Ok(appended)
    }

    async fn request_once(&self, scope: Scope, event: Event, once: Once) -> Result<Asked> {
        let mut transaction = self.pool.begin().await?;
        if let Some(known) = name(&mut transaction, scope, &once, &event).await? {
            return Ok(known);
        }
        let appended = append(&mut transaction, &[(scope.0, &event)]).await?;
        let rows = requested(&[(scope.0, event)], &appended);
        put(&mut transaction, &rows, self.ageing).await?;
        transaction.commit().await?;
        Ok(Asked::New)
    }

    async fn prune(&self, before: Timestamp) -> Result<()> {
        sqlx::query("DELETE FROM idempotency WHERE created_at < $1")
            .bind(before.as_micros())
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    async fn line(&self, now: Timestamp) -> Result<Line> {
        let mut connection = self.pool.acquire().await?;
        for sql in [DUE, ENDED] {
            sqlx::query(sql)
                .bind(now.as_micros())
                .execute(&mut *connection)
                .await?;
        }
        let rows = sqlx::query(LANES).fetch_all(&mut *connection).await?;
        let lane = |row: &PgRow| -> Result<Lane> {
            Ok(Lane {
                workspace: WorkspaceId::from_uuid(row.try_get(0)?),
                channel: row.try_get(1)?,
            })
        };
        let lanes = rows.iter().map(lane).collect::<Result<_>>()?;
        let next: Option<i64> = sqlx::query_scalar(NEXT).fetch_one(&mut *connection).await?;
        let next = next.map(Timestamp::from_micros);
        Ok(Line { lanes, next })
    }

    async fn claim(&self, lane: &Lane, claiming: Claiming) -> Result<Claimed> {
        let Some(limits) = claiming.gate else {
            let mut connection = self.pool.acquire().await?;
            let claims = take(&mut connection, lane, claiming, claiming.limit).await?;
            let closed = None;
            return Ok(Claimed { claims, closed });
        };
        let mut transaction = self.pool.begin().await?;
        let known = lock_gate(&mut transaction, lane).await?;
        let mut gate = known.clone();
        let times = (claiming.now, claiming.lease_until);
        let admitted = gate.admit(claiming.limit, limits, times);
        let claims = take(&mut transaction, lane, claiming, admitted).await?;
        gate.passed(claims.len());
        if gate != known {
            put_gate(&mut transaction, lane, &gate).await?;
        }
        let told = sending(&claims, claiming.now);
        let told: Vec<_> = told.iter().map(|event| (lane.workspace, event)).collect();
        append(&mut transaction, &told).await?;
        transaction.commit().await?;
        let closed = gate.closed(limits, claiming.now);
        let closed = closed.filter(|_| claims.is_empty());
        Ok(Claimed { claims, closed })
    }

    async fn settle(
        &self,
        settled: Vec<Settled>,
        now: Timestamp,
        lesson: Option<Lesson>,
    ) -> Result<Vec<bool>> {
        let mut transaction = self.pool.begin().await?;
        let kept = settle(&mut transaction, &settled, now, self.ageing).await?;
        let is_kept = |one: &Settled| kept.contains(&key(&one.claim));
        let told = settled.iter().filter(|one| is_kept(one));
        let told = told.flat_map(|one| {
            let workspace = one.claim.workspace;
            one.events.iter().map(move |event| (workspace, event))
        });
        let told: Vec<_> = told.collect();
        // Gates are locked before the log, here as in `claim`: so nobody waits in a circle.
        if let Some(lesson) = &lesson {
            learn(&mut transaction, lesson).await?;
        }
        append(&mut transaction, &told).await?;
        transaction.commit().await?;
        Ok(settled.iter().map(is_kept).collect())
    }

    async fn redrive(
        &self,
        scope: Scope,
        ids: &[MessageId],
        now: Timestamp,
    ) -> Result<Vec<MessageId>> {
        let sql = "
            UPDATE queue SET stage = 0, due_at = $3, rank = $3 - priority::bigint * $4,
              fence = fence + 1, before = attempts, interrupted = false
            WHERE workspace = $1 AND id = ANY ($2) AND stage = 3
            RETURNING id, contact, fence, attempts";
        self.act(scope, ids, now, (sql, Kind::MessageRedriven))
            .await
    }

    async fn discard(
        &self,
        scope: Scope,
        ids: &[MessageId],
        now: Timestamp,
    ) -> Result<Vec<MessageId>> {
        let sql = "
            DELETE FROM queue WHERE workspace = $1 AND id = ANY ($2) AND stage = 3
              AND $3::bigint IS NOT NULL AND $4::bigint IS NOT NULL
            RETURNING id, contact, fence, attempts";
        self.act(scope, ids, now, (sql, Kind::MessageDiscarded))
            .await
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
        let sql = "SELECT count(*) FROM queue WHERE workspace = $1 AND stage <> 3";
        let depth: i64 = sqlx::query_scalar(sql)
            .bind(scope.0.as_uuid())
            .fetch_one(&self.pool)
            .await?;
        Ok(depth.unsigned_abs())
    }
}

impl Postgres {
    /// Does to what was put aside what an operator asks for, and tells the log.
    async fn act(
        &self,
        scope: Scope,
        ids: &[MessageId],
        now: Timestamp,
        (sql, kind): (&'static str, Kind),
    ) -> Result<Vec<MessageId>> {
        let mut transaction = self.pool.begin().await?;
        let rows = sqlx::query(sql)
            .bind(scope.0.as_uuid())
            .bind(uuids(ids, MessageId::as_uuid))
            .bind(now.as_micros())
            .bind(self.ageing)
            .fetch_all(&mut *transaction)
            .await?;
        let (mut ids, mut events) = (Vec::new(), Vec::new());
        for row in rows {
            let id = MessageId::from_uuid(row.try_get(0)?);
            let contact: Option<Uuid> = row.try_get(1)?;
            let report = Report::new(id, row.try_get::<i32, _>(3)? as u32);
            let contact = contact.map(ContactId::from_uuid);
            events.push(report.event(kind, row.try_get(2)?, contact, now));
            ids.push(id);
        }
        let told: Vec<_> = events.iter().map(|event| (scope.0, event)).collect();
        append(&mut transaction, &told).await?;
        transaction.commit().await?;
        Ok(ids)
    }
}

/// Takes a name, unless it stands for something already: then answers what. Who comes second
/// waits here for the first to commit.
async fn name(
    connection: &mut PgConnection,
    scope: Scope,
    once: &Once,
    event: &Event,
) -> Result<Option<Asked>> {
    let sql = "
        INSERT INTO idempotency AS i (workspace, key, fingerprint, message, created_at)
        VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (workspace, key) DO UPDATE SET fingerprint = excluded.fingerprint,
          message = excluded.message, created_at = excluded.created_at
        WHERE i.created_at < $6
        RETURNING 1";
    let taken = sqlx::query(sql)
        .bind(scope.0.as_uuid())
        .bind(&once.key)
        .bind(once.fingerprint.as_slice())
        .bind(event.id.as_uuid())
        .bind(event.recorded_at.as_micros())
        .bind(once.since.as_micros())
        .fetch_optional(&mut *connection)
        .await?;
    if taken.is_some() {
        return Ok(None);
    }
    let sql = "SELECT fingerprint, message FROM idempotency WHERE workspace = $1 AND key = $2";
    let row = sqlx::query(sql)
        .bind(scope.0.as_uuid())
        .bind(&once.key)
        .fetch_one(connection)
        .await?;
    let fingerprint: Vec<u8> = row.try_get(0)?;
    let message = MessageId::from_uuid(row.try_get(1)?);
    Ok(Some(recalled(once, (&fingerprint, message))))
}

/// So many rows change their stage at once. Locks are taken where they are free: who holds
/// one is moving the same rows.
const DUE: &str = "
    WITH due AS MATERIALIZED (
      SELECT workspace, id FROM queue WHERE stage = 1 AND due_at <= $1
      ORDER BY due_at LIMIT 10000 FOR UPDATE SKIP LOCKED)
    UPDATE queue q SET stage = 0 FROM due WHERE q.workspace = due.workspace AND q.id = due.id";
const ENDED: &str = "
    WITH ended AS MATERIALIZED (
      SELECT workspace, id FROM queue WHERE stage = 2 AND lease_until <= $1
      LIMIT 10000 FOR UPDATE SKIP LOCKED)
    UPDATE queue q SET stage = 0, lease_until = NULL, interrupted = interrupted OR told
    FROM ended WHERE q.workspace = ended.workspace AND q.id = ended.id";
/// Lane after lane, each found by the index: what stands in one is not read.
const LANES: &str = "
    WITH RECURSIVE lane AS (
      (SELECT workspace, channel FROM queue WHERE stage = 0 ORDER BY workspace, channel LIMIT 1)
      UNION ALL
      SELECT next.workspace, next.channel FROM lane, LATERAL (
        SELECT workspace, channel FROM queue
        WHERE stage = 0 AND (workspace, channel) > (lane.workspace, lane.channel)
        ORDER BY workspace, channel LIMIT 1) next)
    SELECT workspace, channel FROM lane LIMIT 10000";
const NEXT: &str = "
    SELECT least((SELECT min(due_at) FROM queue WHERE stage = 1),
                 (SELECT min(lease_until) FROM queue WHERE stage = 2))";

/// In the order of ids, so that two of these never wait for each other in a circle.
pub(crate) async fn put(connection: &mut PgConnection, rows: &[Put], ageing: i64) -> Result<usize> {
    if rows.is_empty() {
        return Ok(0);
    }
    let sql = "
        INSERT INTO queue (workspace, id, contact, channel, priority, due_at, fence, attempts,
          payload, stage, rank)
        SELECT w, i, c, ch, p, d, 0, 0, t, s, r
        FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::smallint[], $6::bigint[],
          $7::text[], $8::smallint[], $9::bigint[])
          WITH ORDINALITY AS new (w, i, c, ch, p, d, t, s, r, o)
        ORDER BY i, o
        ON CONFLICT DO NOTHING";
    let put = sqlx::query(sql)
        .bind(gather(rows, |put| put.workspace.as_uuid()))
        .bind(gather(rows, |put| put.row.id.as_uuid()))
        .bind(gather(rows, |put| put.row.contact.map(ContactId::as_uuid)))
        .bind(gather(rows, |put| put.row.channel.as_str()))
        .bind(gather(rows, |put| i16::from(put.row.priority)))
        .bind(gather(rows, |put| put.row.due_at.as_micros()))
        .bind(gather(rows, |put| put.row.payload.as_str()))
        .bind(gather(rows, |put| put.stage))
        .bind(gather(rows, |put| put.row.rank(ageing)))
        .execute(connection)
        .await?;
    Ok(put.rows_affected() as usize)
}

fn gather<'a, R, T>(rows: &'a [R], part: impl Fn(&'a R) -> T) -> Vec<T> {
    rows.iter().map(part).collect()
}

/// Rows are locked from one table only: with a join, SKIP LOCKED hands the same row to two
/// workers. And they are locked once: a plan may run a subquery again for every row.
async fn take(
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
          attempts = attempts + 1, told = $5
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
        .bind(claiming.gate.is_some())
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

/// What tells one claim from every other, of the same message too.
type ClaimKey = (Uuid, Uuid, i64);

fn key(claim: &Claim) -> ClaimKey {
    let (workspace, id) = (claim.workspace.as_uuid(), claim.message.id.as_uuid());
    (workspace, id, claim.fence)
}

/// A claim that stays in the queue: in which stage, when due, with what rank and attempts.
struct Stay {
    key: ClaimKey,
    stage: i16,
    due_at: i64,
    rank: i64,
    attempts: i32,
}

/// Settles in two statements, however many there are; answers which claims were still held.
async fn settle(
    connection: &mut PgConnection,
    settled: &[Settled],
    now: Timestamp,
    ageing: i64,
) -> Result<HashSet<ClaimKey>> {
    let (mut gone, mut stays) = (Vec::new(), Vec::new());
    for one in settled {
        let key = key(&one.claim);
        match left(&one.claim, one.then, now) {
            None => gone.push(key),
            Some((stage, due_at, attempts)) => stays.push(Stay {
                key,
                stage,
                due_at: due_at.as_micros(),
                rank: rank(due_at, one.claim.message.priority, ageing),
                attempts: attempts as i32,
            }),
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

/// Rows are locked in the order of ids, so that two of these never wait for each other.
async fn remove(connection: &mut PgConnection, gone: &[ClaimKey]) -> Result<Vec<PgRow>> {
    let sql = "
        WITH held AS MATERIALIZED (
          SELECT q.workspace, q.id, q.fence FROM queue q
          JOIN unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS s (w, i, f)
            ON q.workspace = s.w AND q.id = s.i AND q.fence = s.f
          WHERE q.stage = 2 ORDER BY q.workspace, q.id FOR UPDATE OF q)
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
          WHERE q.stage = 2 ORDER BY q.workspace, q.id FOR UPDATE OF q)
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

fn read_claim(lane: &Lane, row: &PgRow) -> Result<Claim> {
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
