use std::collections::HashSet;

use async_trait::async_trait;
use kurier_core::event::Position;
use kurier_core::id::{EventId, WorkspaceId};
use kurier_core::projection::{Loaded, Need, Projection, Writes};
use kurier_core::time::Timestamp;
use sqlx::{PgConnection, Row as _};
use uuid::Uuid;

use super::Postgres;
use super::shadows;
use super::tables::{load_from, write};
use crate::projections::{Progress, Projections, SetAside, Side, Swap, Swapped, Visit, shadow_of};
use crate::{Result, rows_max};

#[async_trait]
impl Projections for Postgres {
    async fn progress(&self, name: &str) -> Result<Progress> {
        let sql = "SELECT position, paused, failed_at, failure, last_failed_at, last_failure
                   FROM checkpoint WHERE name = $1";
        let found = sqlx::query(sql)
            .bind(name)
            .fetch_optional(&self.pool)
            .await?;
        let Some(row) = found else {
            return Ok(Progress::default());
        };
        let failure = |at: &str, text: &str| -> Result<Option<(Timestamp, String)>> {
            let at: Option<i64> = row.try_get(at)?;
            let text: Option<String> = row.try_get(text)?;
            Ok(at.map(Timestamp::from_micros).zip(text))
        };
        Ok(Progress {
            position: Position(row.try_get("position")?),
            is_paused: row.try_get("paused")?,
            failure: failure("failed_at", "failure")?,
            last_failure: failure("last_failed_at", "last_failure")?,
        })
    }

    async fn pause(&self, name: &str, is_paused: bool) -> Result<()> {
        let sql = "INSERT INTO checkpoint (name, position, paused) VALUES ($1, 0, $2)
                   ON CONFLICT (name) DO UPDATE SET paused = excluded.paused";
        let paused = sqlx::query(sql).bind(name).bind(is_paused);
        paused.execute(&self.pool).await?;
        Ok(())
    }

    async fn note_failure(&self, name: &str, failure: Option<(Timestamp, String)>) -> Result<()> {
        let (at, text) = failure.unzip();
        let sql =
            "INSERT INTO checkpoint (name, position, failed_at, failure, last_failed_at, last_failure)
                   VALUES ($1, 0, $2, $3, $2, $3)
                   ON CONFLICT (name) DO UPDATE
                   SET failed_at = excluded.failed_at, failure = excluded.failure,
                     last_failed_at = coalesce(excluded.failed_at, checkpoint.last_failed_at),
                     last_failure = coalesce(excluded.failure, checkpoint.last_failure)";
        sqlx::query(sql)
            .bind(name)
            .bind(at.map(|at| at.as_micros()))
            .bind(text)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    async fn set_aside(&self, name: &str, limit: usize) -> Result<Vec<SetAside>> {
        let sql = "SELECT position, reason FROM poison WHERE projection = $1
                   ORDER BY position LIMIT $2";
        let rows: Vec<(i64, String)> = sqlx::query_as(sql)
            .bind(name)
            .bind(rows_max(limit))
            .fetch_all(&self.pool)
            .await?;
        let aside = |(position, reason)| SetAside {
            position: Position(position),
            reason,
        };
        Ok(rows.into_iter().map(aside).collect())
    }

    async fn processed(
        &self,
        name: &str,
        events: &[(WorkspaceId, EventId)],
    ) -> Result<HashSet<(WorkspaceId, EventId)>> {
        let sql = "SELECT workspace, event FROM processed_events
                   JOIN unnest($2::uuid[], $3::uuid[]) AS asked (workspace, event)
                   USING (workspace, event) WHERE projection = $1";
        let (workspaces, ids) = columns(events);
        let rows: Vec<(Uuid, Uuid)> = sqlx::query_as(sql)
            .bind(name)
            .bind(workspaces)
            .bind(ids)
            .fetch_all(&self.pool)
            .await?;
        let key = |(w, e)| (WorkspaceId::from_uuid(w), EventId::from_uuid(e));
        Ok(rows.into_iter().map(key).collect())
    }

    async fn open_shadow(&self, projection: &'static dyn Projection) -> Result<()> {
        let mut transaction = self.pool.begin().await?;
        shadows::open(&mut transaction, projection).await?;
        Ok(transaction.commit().await?)
    }

    async fn load_shadow(&self, needs: Vec<Need>) -> Result<Vec<Loaded>> {
        let mut loaded = Vec::with_capacity(needs.len());
        for need in &needs {
            loaded.push(load_from(&self.pool, Side::Shadow, need).await?);
        }
        Ok(loaded)
    }

    async fn write_shadow(&self, writes: Vec<Writes>) -> Result<()> {
        let mut transaction = self.pool.begin().await?;
        write(&mut transaction, Side::Shadow, &writes).await?;
        Ok(transaction.commit().await?)
    }

    async fn fill_shadow(&self, rows: Writes) -> Result<()> {
        let mut connection = self.pool.acquire().await?;
        shadows::fill(&mut connection, rows.table, &rows.puts).await
    }

    async fn process_shadow(
        &self,
        projection: &'static dyn Projection,
        events: Vec<(WorkspaceId, EventId)>,
    ) -> Result<()> {
        let mut connection = self.pool.acquire().await?;
        process(&mut connection, &shadow_of(projection.name()), &events).await
    }

    async fn swap(&self, swap: Swap) -> Result<Swapped> {
        let mut connection = self.pool.acquire().await?;
        shadows::index(&mut connection, swap.projection).await?;
        drop(connection);
        let mut transaction = self.pool.begin().await?;
        let swapped = shadows::swap(&mut transaction, &swap).await?;
        transaction.commit().await?;
        Ok(swapped)
    }

    async fn has_shadows(&self) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM pg_class WHERE relkind = 'r'
                   AND relnamespace = current_schema()::regnamespace
                   AND starts_with(relname, 'shadow_'))";
        Ok(sqlx::query_scalar(sql).fetch_one(&self.pool).await?)
    }

    async fn drop_shadow(&self, projection: &'static dyn Projection) -> Result<()> {
        let mut transaction = self.pool.begin().await?;
        shadows::drop_all(&mut transaction, projection).await?;
        Ok(transaction.commit().await?)
    }

    async fn survey(
        &self,
        side: Side,
        projection: &'static dyn Projection,
        visit: Visit,
    ) -> Result<Position> {
        let mut transaction = self.pool.begin().await?;
        shadows::survey(&mut transaction, side, projection, visit).await
    }
}

/// Remembers events as counted.
pub async fn process(
    connection: &mut PgConnection,
    name: &str,
    events: &[(WorkspaceId, EventId)],
) -> Result<()> {
    if events.is_empty() {
        return Ok(());
    }
    let sql = "INSERT INTO processed_events (projection, workspace, event)
               SELECT $1, * FROM unnest($2::uuid[], $3::uuid[]) ON CONFLICT DO NOTHING";
    let (workspaces, ids) = columns(events);
    let insert = sqlx::query(sql).bind(name).bind(workspaces).bind(ids);
    insert.execute(connection).await?;
    Ok(())
}

fn columns(events: &[(WorkspaceId, EventId)]) -> (Vec<Uuid>, Vec<Uuid>) {
    let pairs = events.iter();
    pairs.map(|(w, e)| (w.as_uuid(), e.as_uuid())).unzip()
}
