use std::time::Duration;

use async_trait::async_trait;
use kurier_core::event::Event;
use kurier_core::id::WorkspaceId;
use uuid::Uuid;

use super::Postgres;
use super::appender::append;
use super::queue::put;
use super::views::advance;
use crate::Result;
use crate::queue::requested;
use crate::reactions::{Reacted, Reaction, Reactions};

#[async_trait]
impl Reactions for Postgres {
    async fn lease(
        &self,
        reactor: &'static str,
        holder: Uuid,
        term: Duration,
    ) -> Result<Option<i64>> {
        self.pulse.begin(holder).await?;
        let taken = self.take(reactor, holder, term).await?;
        if taken.is_some() {
            return Ok(taken);
        }
        let other = sqlx::query_scalar("SELECT holder FROM lease WHERE name = $1")
            .bind(reactor)
            .fetch_optional(&self.pool);
        let Some(other) = other.await? else {
            return Ok(None);
        };
        if !self.pulse.is_over(other).await? {
            return Ok(None);
        }
        self.release(reactor, other).await?;
        self.take(reactor, holder, term).await
    }

    async fn release(&self, reactor: &'static str, holder: Uuid) -> Result<()> {
        self.pulse.end(holder).await?;
        let sql = "UPDATE lease SET until = 0 WHERE name = $1 AND holder = $2";
        sqlx::query(sql)
            .bind(reactor)
            .bind(holder)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    async fn react(&self, reaction: Reaction) -> Result<Reacted> {
        let mut transaction = self.pool.begin().await?;
        // The lock keeps the lease from being taken over until this is committed.
        let fence: Option<i64> =
            sqlx::query_scalar("SELECT fence FROM lease WHERE name = $1 FOR SHARE")
                .bind(reaction.reactor)
                .fetch_optional(&mut *transaction)
                .await?;
        let span = (reaction.from, reaction.to);
        if fence != Some(reaction.fence)
            || !advance(&mut transaction, reaction.reactor, span).await?
        {
            return Ok(Reacted::Overtaken);
        }
        let batch: Vec<(WorkspaceId, &Event)> = reaction
            .events
            .iter()
            .map(|(ws, event)| (*ws, event))
            .collect();
        let appended = append(&mut transaction, &batch).await?;
        let rows = requested(&reaction.events, &appended);
        put(&mut transaction, &rows, self.ageing).await?;
        transaction.commit().await?;
        Ok(Reacted::Done)
    }
}

impl Postgres {
    async fn take(&self, reactor: &str, holder: Uuid, term: Duration) -> Result<Option<i64>> {
        let sql = "
            WITH clock AS (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now)
            INSERT INTO lease (name, holder, fence, until) SELECT $1, $2, 1, now + $3 FROM clock
            ON CONFLICT (name) DO UPDATE SET
              fence = lease.fence + (lease.holder <> excluded.holder)::int,
              holder = excluded.holder, until = excluded.until
            WHERE lease.holder = excluded.holder OR lease.until < (SELECT now FROM clock)
            RETURNING fence";
        let term = i64::try_from(term.as_micros()).unwrap_or(i64::MAX);
        let taken = sqlx::query_scalar(sql)
            .bind(reactor)
            .bind(holder)
            .bind(term);
        Ok(taken.fetch_optional(&self.pool).await?)
    }
}
