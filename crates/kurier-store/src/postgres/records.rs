use async_trait::async_trait;
use kurier_core::event::Position;
use kurier_core::projection::{
    AUDIT, AuditEntry, CHANNEL_HEALTH, ChannelHealth, DAILY_COUNT, DailyCount, Row, Table,
    audit_of_row, daily_of_row, health_of_row,
};
use kurier_core::time::Timestamp;
use sqlx::QueryBuilder;

use super::Postgres;
use super::tables::{names, read_row};
use crate::records::RecordViews;
use crate::{Error, Result, Scope, rows_max};

type Builder = QueryBuilder<sqlx::Postgres>;

#[async_trait]
impl RecordViews for Postgres {
    async fn daily(
        &self,
        scope: Scope,
        between: (Timestamp, Timestamp),
    ) -> Result<Vec<DailyCount>> {
        let mut sql = select(&DAILY_COUNT, scope);
        sql.push(" AND day BETWEEN ")
            .push_bind(between.0.as_micros());
        sql.push(" AND ").push_bind(between.1.as_micros());
        sql.push(" ORDER BY day, kind COLLATE \"C\", channel COLLATE \"C\"");
        self.rows(sql, &DAILY_COUNT, daily_of_row).await
    }

    async fn audit(
        &self,
        scope: Scope,
        before: Option<Position>,
        limit: usize,
    ) -> Result<Vec<AuditEntry>> {
        let mut sql = select(&AUDIT, scope);
        let before = before.map_or(i64::MAX, |before| before.0);
        sql.push(" AND position < ").push_bind(before);
        sql.push(" ORDER BY position DESC LIMIT ");
        sql.push_bind(rows_max(limit));
        self.rows(sql, &AUDIT, audit_of_row).await
    }

    async fn channel_health(&self, scope: Scope) -> Result<Vec<(String, ChannelHealth)>> {
        let mut sql = select(&CHANNEL_HEALTH, scope);
        sql.push(" ORDER BY channel COLLATE \"C\"");
        self.rows(sql, &CHANNEL_HEALTH, health_of_row).await
    }
}

fn select(table: &Table, scope: Scope) -> Builder {
    let columns = names(table.columns);
    let mut sql = Builder::new(format!("SELECT {columns} FROM {}", table.name));
    sql.push(" WHERE workspace = ").push_bind(scope.0.as_uuid());
    sql
}

impl Postgres {
    async fn rows<T>(
        &self,
        mut sql: Builder,
        table: &'static Table,
        read: fn(&Row) -> Option<T>,
    ) -> Result<Vec<T>> {
        let rows = sql.build().fetch_all(&self.pool).await?;
        let read = |row| {
            let unreadable = || Error::Damaged(format!("a row of {}", table.name));
            read(&read_row(row, table)?).ok_or_else(unreadable)
        };
        rows.iter().map(read).collect()
    }
}
