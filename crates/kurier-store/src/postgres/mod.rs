//! PostgreSQL: any number of processes over one log.

mod access;
mod appender;
mod bundle_audit;
mod channels;
mod claims;
mod columns;
mod failure;
mod gates;
mod hand;
mod ids;
mod index;
mod journeys;
mod line;
mod log;
mod messages;
mod partition;
mod pipe;
mod projections;
mod pulse;
mod queue;
mod reactions;
mod records;
mod segments;
mod shadows;
mod small;
mod suppressions;
mod tables;
mod templates;
mod users;
mod versions;
mod views;

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, PgPool, Row};
use tokio::sync::Semaphore;

use crate::queue::AGEING_MICROS;
use crate::tail::Tail;
use crate::{Error, Result, migration};
use appender::Appender;
use pulse::Pulse;

const CONNECTIONS_MAX: u32 = 16;
/// A connection that was used so shortly ago is taken to be alive: asking costs a round trip.
const TRUSTED: Duration = Duration::from_secs(1);
/// A megabyte once asked for and given back: from then on glibc's allocator, in that server process,
/// gives memory back to the system by the megabyte only, and not what each statement of a hundred
/// kilobytes used, to ask for it again with the next.
const KEEP_MEMORY: &str = "SELECT length(repeat(' ', 1000000))";
/// Any number will do as long as no other program picks it: "kurier" in ASCII.
const MIGRATION_LOCK: i64 = 0x6b75_7269_6572;

/// For a filter of log lines. PostgreSQL warns of a rollback without a transaction if a query is given up as the server
/// stops, which is nothing to look after.
pub const LOG_FILTER: &str = "sqlx::postgres::notice=error";

pub struct Postgres {
    pool: PgPool,
    appender: Appender,
    pub(crate) tail: Arc<Tail>,
    pulse: Pulse,
    hands: Semaphore,
    ageing: i64,
}

impl Postgres {
    /// Sets how much longer a message must be due to go before one of the next priority.
    pub fn with_ageing(self, micros: i64) -> Self {
        Self {
            ageing: micros,
            ..self
        }
    }

    /// Connects, and makes the schema or brings it up to date first.
    pub async fn open(url: &str) -> Result<Self> {
        let options: PgConnectOptions = url
            .parse()
            .map_err(|e| Error::Unusable(format!("the database URL: {e}")))?;
        // A transaction left open would hold back the vacuum of every table.
        let options = options.application_name("kurier").options([
            ("idle_in_transaction_session_timeout", "60s"),
            ("lock_timeout", "30s"),
        ]);
        let pool = pool_options().connect_with(options.clone()).await;
        let pool = match pool {
            // The pool tries again until its time is up and forgets why; once more, to hear it.
            Err(sqlx::Error::PoolTimedOut) => return Err(reason(&options).await),
            pool => pool?,
        };
        migrate(&pool).await?;
        let tail = Arc::<Tail>::default();
        Ok(Self {
            appender: Appender::start(pool.clone(), tail.clone()),
            tail,
            pulse: Pulse::of(pool.clone()),
            hands: Semaphore::new(hand::HANDS_MAX),
            ageing: AGEING_MICROS,
            pool,
        })
    }

    /// The schema as text, to be compared with the one that is committed.
    pub async fn schema(&self) -> Result<String> {
        let rows = sqlx::query(SCHEMA).fetch_all(&self.pool).await?;
        let lines: Vec<String> = rows.iter().map(|row| row.get::<String, _>(0)).collect();
        Ok(lines.join("\n") + "\n")
    }
}

fn pool_options() -> PgPoolOptions {
    PgPoolOptions::new()
        .max_connections(CONNECTIONS_MAX)
        .acquire_timeout(Duration::from_secs(10))
        .test_before_acquire(false)
        .after_connect(|connection, _| {
            Box::pin(async move {
                sqlx::query(KEEP_MEMORY).execute(connection).await?;
                Ok(())
            })
        })
        .before_acquire(|connection, meta| {
            Box::pin(async move {
                if meta.idle_for >= TRUSTED {
                    connection.ping().await?;
                }
                Ok(true)
            })
        })
}

async fn reason(options: &PgConnectOptions) -> Error {
    match options.connect().await {
        Err(error) => error.into(),
        Ok(_) => sqlx::Error::PoolTimedOut.into(),
    }
}

async fn migrate(pool: &PgPool) -> Result<()> {
    let mut transaction = pool.begin().await?;
    sqlx::query("SELECT pg_advisory_xact_lock($1)")
        .bind(MIGRATION_LOCK)
        .execute(&mut *transaction)
        .await?;
    sqlx::raw_sql("CREATE TABLE IF NOT EXISTS schema_version (version bigint NOT NULL)")
        .execute(&mut *transaction)
        .await?;
    let version: i64 = sqlx::query_scalar("SELECT coalesce(max(version), 0) FROM schema_version")
        .fetch_one(&mut *transaction)
        .await?;
    for step in migration::pending(migration::POSTGRES, version)? {
        sqlx::raw_sql(AssertSqlSafe(step.sql))
            .execute(&mut *transaction)
            .await?;
        sqlx::query("INSERT INTO schema_version (version) VALUES ($1)")
            .bind(step.version)
            .execute(&mut *transaction)
            .await?;
    }
    Ok(transaction.commit().await?)
}

/// Tables with columns, defaults and constraints, how they are partitioned, indexes and
/// functions. Partitions look like their parents and come and go: they are left out.
const SCHEMA: &str = "
SELECT line FROM (
  SELECT format('table %s: %s %s%s%s', c.relname, a.attname,
                format_type(a.atttypid, a.atttypmod),
                CASE WHEN a.attnotnull THEN ' not null' ELSE '' END,
                ' default ' || pg_get_expr(d.adbin, d.adrelid)) AS line,
         1 AS part, c.relname AS name, a.attnum::int AS number
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
  LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
    AND NOT c.relispartition AND a.attnum > 0 AND NOT a.attisdropped
  UNION ALL
  SELECT format('table %s: partition by %s', c.relname, pg_get_partkeydef(c.oid)),
         1, c.relname, 10000
  FROM pg_class c
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'p'
  UNION ALL
  SELECT format('table %s: %s %s', c.relname, k.conname, pg_get_constraintdef(k.oid)),
         1, c.relname, 10001
  FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
  WHERE c.relnamespace = 'public'::regnamespace AND NOT c.relispartition
    AND k.contype IN ('c', 'f')
  UNION ALL
  SELECT pg_get_indexdef(i.indexrelid), 2, c.relname, 0
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
  WHERE c.relnamespace = 'public'::regnamespace AND NOT c.relispartition
  UNION ALL
  SELECT pg_get_functiondef(p.oid), 3, p.proname, 0
  FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace
) AS all_parts ORDER BY part, name, number, line COLLATE \"C\"";
