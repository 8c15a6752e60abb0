//! Months. A partition of the log holds one, made before it begins; old ones move into the
//! archive whole, and nothing ever drops one.

use kurier_core::time::{Month, Timestamp};
use sqlx::{AssertSqlSafe, PgConnection};

use super::{MIGRATION_LOCK, Postgres};
use crate::Result;

/// So many months are there ahead of time.
const MONTHS_AHEAD: u32 = 3;
/// Another process's clock may be behind ours when a month begins.
const SKEW_DAYS: i64 = 20;
const DAY_MICROS: i64 = 86_400_000_000;

impl Postgres {
    pub(super) async fn make_partitions(&self, now: Timestamp) -> Result<()> {
        let start = now.shifted(-SKEW_DAYS * DAY_MICROS);
        // The skew may reach back into the month before; it may not cost one ahead.
        let months = (0..=MONTHS_AHEAD + 1).map(|n| (start.month(n), start.month(n + 1).1));
        let last = now.month(MONTHS_AHEAD).0;
        for ((month, from), to) in months.filter(|((month, _), _)| *month <= last) {
            self.make_partition(month, from, to).await?;
        }
        Ok(())
    }

    async fn make_partition(&self, month: Month, from: Timestamp, to: Timestamp) -> Result<()> {
        if self.partition_exists(month).await? {
            return Ok(());
        }
        let mut transaction = self.pool.begin().await?;
        lock(&mut transaction).await?;
        let sql = format!(
            "CREATE TABLE IF NOT EXISTS log_{month} PARTITION OF log
             FOR VALUES FROM ({}) TO ({})",
            from.as_micros(),
            to.as_micros()
        );
        sqlx::raw_sql(AssertSqlSafe(sql))
            .execute(&mut *transaction)
            .await?;
        Ok(transaction.commit().await?)
    }

    async fn partition_exists(&self, month: Month) -> Result<bool> {
        let exists = sqlx::query_scalar("SELECT to_regclass($1) IS NOT NULL");
        Ok(exists
            .bind(format!("public.log_{month}"))
            .fetch_one(&self.pool)
            .await?)
    }

    /// Moves the months that end before the month of `before` begins.
    pub(super) async fn archive_partitions(&self, before: Timestamp) -> Result<Vec<String>> {
        let (first_kept, _) = before.month(0);
        let names: Vec<String> = sqlx::query_scalar(
            "SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
             WHERE i.inhparent = 'log'::regclass AND c.relname < $1 ORDER BY 1",
        )
        .bind(format!("log_{first_kept}"))
        .fetch_all(&self.pool)
        .await?;
        let mut moved = Vec::with_capacity(names.len());
        for name in names {
            if self.archive_partition(&name).await? {
                moved.push(name);
            }
        }
        Ok(moved)
    }

    /// False if another process has moved it meanwhile.
    async fn archive_partition(&self, name: &str) -> Result<bool> {
        let mut transaction = self.pool.begin().await?;
        lock(&mut transaction).await?;
        let bound: Option<String> = sqlx::query_scalar(
            "SELECT pg_get_expr(c.relpartbound, c.oid)
             FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
             WHERE i.inhparent = 'log'::regclass AND c.relname = $1",
        )
        .bind(name)
        .fetch_optional(&mut *transaction)
        .await?;
        let Some(bound) = bound else {
            return Ok(false);
        };
        let sql = format!(
            "ALTER TABLE log DETACH PARTITION {name};
             ALTER TABLE log_archive ATTACH PARTITION {name} {bound}"
        );
        sqlx::raw_sql(AssertSqlSafe(sql))
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(true)
    }
}

/// One process at a time changes partitions.
async fn lock(connection: &mut PgConnection) -> Result<()> {
    sqlx::query("SELECT pg_advisory_xact_lock($1)")
        .bind(MIGRATION_LOCK)
        .execute(connection)
        .await?;
    Ok(())
}
