use async_trait::async_trait;
use kurier_core::message::{ContactLimit, Gate, Window};
use kurier_core::time::Timestamp;
use sqlx::{PgConnection, Row};
use uuid::Uuid;

use super::Postgres;
use crate::gates::{Allowance, Gates};
use crate::queue::{Lane, Lesson};
use crate::{Error, Result, Scope};

#[async_trait]
impl Gates for Postgres {
    async fn gates(&self, scope: Scope) -> Result<Vec<(String, Gate)>> {
        let sql = "SELECT channel, state FROM gate WHERE workspace = $1 ORDER BY channel";
        let rows = sqlx::query(sql)
            .bind(scope.0.as_uuid())
            .fetch_all(&self.pool)
            .await?;
        let gate = |row: &sqlx::postgres::PgRow| {
            let state: String = row.try_get(1)?;
            Ok((row.try_get(0)?, read_gate(&state)?))
        };
        rows.iter().map(gate).collect()
    }

    async fn allow(
        &self,
        lane: &Lane,
        limit: ContactLimit,
        wants: &[(Uuid, u32)],
        now: Timestamp,
    ) -> Result<Vec<Allowance>> {
        let mut transaction = self.pool.begin().await?;
        let recipients: Vec<Uuid> = wants.iter().map(|(recipient, _)| *recipient).collect();
        let known = lock_windows(&mut transaction, lane, &recipients).await?;
        let mut allowances = Vec::with_capacity(wants.len());
        let mut windows = Vec::with_capacity(wants.len());
        for (recipient, want) in wants {
            let (granted, window) = limit.grant(known.get(recipient).copied(), *want, now);
            let until = limit.ends(window);
            allowances.push(Allowance { granted, until });
            windows.push(window);
        }
        put_windows(&mut transaction, lane, &recipients, &windows).await?;
        transaction.commit().await?;
        Ok(allowances)
    }
}

type Windows = std::collections::HashMap<Uuid, Window>;

/// Locks the windows, making those that are missing with nothing in them: a row that is not
/// there cannot be locked. In the order of recipients, so that nobody waits in a circle.
async fn lock_windows(
    connection: &mut PgConnection,
    lane: &Lane,
    recipients: &[Uuid],
) -> Result<Windows> {
    let make = "
        INSERT INTO contact_window (workspace, channel, recipient, since, count)
        SELECT $1, $2, r, 0, 0 FROM unnest($3::uuid[]) AS r ORDER BY r
        ON CONFLICT DO NOTHING";
    let lock = "
        SELECT recipient, since, count FROM contact_window
        WHERE workspace = $1 AND channel = $2 AND recipient = ANY ($3)
        ORDER BY recipient FOR UPDATE";
    let bind = |sql| {
        sqlx::query(sql)
            .bind(lane.workspace.as_uuid())
            .bind(lane.channel.clone())
            .bind(recipients.to_vec())
    };
    bind(make).execute(&mut *connection).await?;
    let rows = bind(lock).fetch_all(connection).await?;
    let window = |row: &sqlx::postgres::PgRow| {
        let since = Timestamp::from_micros(row.try_get(1)?);
        let count = row.try_get::<i32, _>(2)? as u32;
        Ok((row.try_get(0)?, Window { since, count }))
    };
    rows.iter().map(window).collect()
}

async fn put_windows(
    connection: &mut PgConnection,
    lane: &Lane,
    recipients: &[Uuid],
    windows: &[Window],
) -> Result<()> {
    let sql = "
        UPDATE contact_window w SET since = n.since, count = n.count
        FROM unnest($3::uuid[], $4::bigint[], $5::int[]) AS n (recipient, since, count)
        WHERE w.workspace = $1 AND w.channel = $2 AND w.recipient = n.recipient";
    let since: Vec<i64> = windows.iter().map(|it| it.since.as_micros()).collect();
    let count: Vec<i32> = windows.iter().map(|it| it.count as i32).collect();
    sqlx::query(sql)
        .bind(lane.workspace.as_uuid())
        .bind(&lane.channel)
        .bind(recipients)
        .bind(since)
        .bind(count)
        .execute(connection)
        .await?;
    Ok(())
}

/// The gate of a lane, locked until the transaction ends. Where there is none yet, the lane
/// itself is locked, so that two who come first do not both find a full bucket.
pub async fn lock_gate(connection: &mut PgConnection, lane: &Lane) -> Result<Gate> {
    let make = "INSERT INTO gate (workspace, channel, state) VALUES ($1, $2, '{}')
        ON CONFLICT DO NOTHING";
    let lock = "SELECT state FROM gate WHERE workspace = $1 AND channel = $2 FOR UPDATE";
    let find = || {
        sqlx::query_scalar::<_, String>(lock)
            .bind(lane.workspace.as_uuid())
            .bind(lane.channel.clone())
    };
    if let Some(state) = find().fetch_optional(&mut *connection).await? {
        return read_gate(&state);
    }
    sqlx::query(make)
        .bind(lane.workspace.as_uuid())
        .bind(&lane.channel)
        .execute(&mut *connection)
        .await?;
    let state = find().fetch_one(connection).await?;
    read_gate(&state)
}

pub async fn put_gate(connection: &mut PgConnection, lane: &Lane, gate: &Gate) -> Result<()> {
    let state = serde_json::to_string(gate).expect("a gate serialises");
    sqlx::query("UPDATE gate SET state = $3 WHERE workspace = $1 AND channel = $2")
        .bind(lane.workspace.as_uuid())
        .bind(&lane.channel)
        .bind(state)
        .execute(connection)
        .await?;
    Ok(())
}

/// A gate without complaints that hears of none is left as it is, and is not waited for.
pub async fn learn(connection: &mut PgConnection, lesson: &Lesson) -> Result<()> {
    if lesson.is_calm() && is_calm(connection, &lesson.lane).await? {
        return Ok(());
    }
    let known = lock_gate(connection, &lesson.lane).await?;
    let mut gate = known.clone();
    gate.learn(
        &lesson.signals,
        lesson.rests_until,
        lesson.limits,
        lesson.now,
    );
    match gate == known {
        true => Ok(()),
        false => put_gate(connection, &lesson.lane, &gate).await,
    }
}

async fn is_calm(connection: &mut PgConnection, lane: &Lane) -> Result<bool> {
    let sql = "SELECT state FROM gate WHERE workspace = $1 AND channel = $2";
    let state: Option<String> = sqlx::query_scalar(sql)
        .bind(lane.workspace.as_uuid())
        .bind(&lane.channel)
        .fetch_optional(connection)
        .await?;
    match state {
        Some(state) => Ok(read_gate(&state)?.is_calm()),
        None => Ok(true),
    }
}

fn read_gate(state: &str) -> Result<Gate> {
    serde_json::from_str(state).map_err(|e| Error::Damaged(format!("a gate: {e}")))
}
