//! A queue on PostgreSQL as it is written by hand: one table, two workers that lease 1,000
//! rows at a time and delete them when they are done. It keeps no log, no lanes and no gates.

use std::time::Instant;

use anyhow::ensure;
use sqlx::{Connection as _, PgConnection};

use super::BATCH;
use crate::clock::now;

const WORKERS: usize = 2;
const LEASE_MICROS: i64 = 10_000_000;

const TABLE: &str = "
    CREATE TABLE job (
      id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      priority    smallint NOT NULL,
      due_at      bigint   NOT NULL,
      lease_until bigint,
      attempts    int      NOT NULL DEFAULT 0,
      payload     text     NOT NULL);
    CREATE INDEX job_due ON job (priority DESC, due_at) WHERE lease_until IS NULL";
const INSERT: &str = "
    INSERT INTO job (priority, due_at, payload)
    SELECT p, $2, t FROM unnest($1::smallint[], $3::text[]) AS new (p, t)";
const LEASE: &str = "
    WITH due AS MATERIALIZED (
      SELECT id FROM job WHERE lease_until IS NULL AND due_at <= $1
      ORDER BY priority DESC, due_at LIMIT $2 FOR UPDATE SKIP LOCKED)
    UPDATE job SET lease_until = $3, attempts = attempts + 1 FROM due WHERE job.id = due.id
    RETURNING job.id, payload";
const DELETE: &str = "DELETE FROM job WHERE id = ANY ($1)";

/// The seconds that it takes to bring payloads into the queue, and out of it.
pub async fn run(url: &str, payloads: &[String]) -> anyhow::Result<(f64, f64)> {
    let mut connection = PgConnection::connect(url).await?;
    sqlx::raw_sql(TABLE).execute(&mut connection).await?;
    let began = Instant::now();
    for batch in payloads.chunks(BATCH) {
        let priorities: Vec<i16> = (0..batch.len() as i16).map(|n| n % 10 + 1).collect();
        let insert = sqlx::query(INSERT).bind(priorities);
        let insert = insert.bind(now().as_micros()).bind(batch);
        insert.execute(&mut connection).await?;
    }
    let enqueue = began.elapsed();
    let settle = sqlx::raw_sql("VACUUM ANALYZE job");
    settle.execute(&mut connection).await?;
    let began = Instant::now();
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..WORKERS {
        workers.spawn(work(url.to_owned()));
    }
    let mut done = 0;
    while let Some(worked) = workers.join_next().await {
        done += worked??;
    }
    let drain = began.elapsed();
    ensure!(done == payloads.len(), "{done} jobs were done");
    Ok((enqueue.as_secs_f64(), drain.as_secs_f64()))
}

async fn work(url: String) -> anyhow::Result<usize> {
    let mut connection = PgConnection::connect(&url).await?;
    let mut done = 0;
    loop {
        let at = now().as_micros();
        let leased: Vec<(i64, String)> = sqlx::query_as(LEASE)
            .bind(at)
            .bind(BATCH as i64)
            .bind(at + LEASE_MICROS)
            .fetch_all(&mut connection)
            .await?;
        if leased.is_empty() {
            return Ok(done);
        }
        done += leased.len();
        let ids: Vec<i64> = leased.into_iter().map(|(id, _)| id).collect();
        sqlx::query(DELETE)
            .bind(ids)
            .execute(&mut connection)
            .await?;
    }
}
