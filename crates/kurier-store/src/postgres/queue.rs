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
use super::claims::{begin, key, settle, take};
use super::gates::{learn, lock_gate, put_gate};
use crate::queue::{
    Asked, Claim, Claimed, Claiming, Held, Lane, Lesson, Line, Once, Put, Queue, Queued, Settled,
    lost, recalled, requested, sending,
};
use crate::{Appended, Result, Scope};

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
        let mut next = next(&mut connection).await?;
        if next.is_some_and(|next| next <= now) {
            freshen(&mut connection, now).await?;
            next = self::next(&mut connection).await?;
        }
        let rows = sqlx::query(LANES).fetch_all(&mut *connection).await?;
        let lane = |row: &PgRow| -> Result<Lane> {
            Ok(Lane {
                workspace: WorkspaceId::from_uuid(row.try_get(0)?),
                channel: row.try_get(1)?,
            })
        };
        let lanes = rows.iter().map(lane).collect::<Result<_>>()?;
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
        let told = lost(&claims, claiming.now);
        let told: Vec<_> = told.iter().map(|event| (lane.workspace, event)).collect();
        append(&mut transaction, &told).await?;
        transaction.commit().await?;
        let closed = gate.closed(limits, claiming.now);
        let closed = closed.filter(|_| claims.is_empty());
        Ok(Claimed { claims, closed })
    }

    async fn hold<'a>(&'a self, lane: &Lane, limit: usize) -> Result<Held<'a>> {
        self.take_in_hand(lane, limit).await
    }

    async fn begin(&self, claims: &[Claim], now: Timestamp) -> Result<Vec<bool>> {
        let mut transaction = self.pool.begin().await?;
        let held = begin(&mut transaction, claims).await?;
        let is_held = |claim: &Claim| held.contains(&key(claim));
        let told = claims.iter().filter(|claim| is_held(claim));
        let told: Vec<_> = told.map(|it| (it.workspace, sending(it, now))).collect();
        let told: Vec<_> = told
            .iter()
            .map(|(workspace, event)| (*workspace, event))
            .collect();
        append(&mut transaction, &told).await?;
        transaction.commit().await?;
        Ok(claims.iter().map(is_held).collect())
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

/// When something becomes due, or a lease ends.
async fn next(connection: &mut PgConnection) -> Result<Option<Timestamp>> {
    let next: Option<i64> = sqlx::query_scalar(NEXT).fetch_one(connection).await?;
    Ok(next.map(Timestamp::from_micros))
}

async fn freshen(connection: &mut PgConnection, now: Timestamp) -> Result<()> {
    for sql in [DUE, ENDED] {
        sqlx::query(sql)
            .bind(now.as_micros())
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
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
    UPDATE queue q SET stage = 0, lease_until = NULL, interrupted = interrupted OR told,
      attempts = attempts - (NOT told)::int
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

pub(super) fn gather<'a, R, T>(rows: &'a [R], part: impl Fn(&'a R) -> T) -> Vec<T> {
    rows.iter().map(part).collect()
}
