use async_trait::async_trait;
use kurier_core::event::Position;
use kurier_core::projection::{
    AUDIT, AuditEntry, CHANNEL_HEALTH, ChannelHealth, DAILY_COUNT, DailyCount, Row, Table,
    audit_of_row, daily_of_row, health_of_row,
};
use kurier_core::time::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::Sqlite;
use super::cell::blob;
use super::tables::{names, read_row};
use crate::records::RecordViews;
use crate::{Error, Result, Scope, rows_max};

#[async_trait]
impl RecordViews for Sqlite {
    async fn daily(
        &self,
        scope: Scope,
        between: (Timestamp, Timestamp),
    ) -> Result<Vec<DailyCount>> {
        let clause = "workspace = ? AND day BETWEEN ? AND ? ORDER BY day, kind, channel";
        let days = [between.0, between.1].map(|day| Value::Integer(day.as_micros()));
        let values = [blob(scope.0.as_uuid())].into_iter().chain(days).collect();
        self.rows(&DAILY_COUNT, clause, values, daily_of_row).await
    }

    async fn audit(
        &self,
        scope: Scope,
        before: Option<Position>,
        limit: usize,
    ) -> Result<Vec<AuditEntry>> {
        let clause = "workspace = ? AND position < ? ORDER BY position DESC LIMIT ?";
        let before = before.map_or(i64::MAX, |before| before.0);
        let values = vec![
            blob(scope.0.as_uuid()),
            Value::Integer(before),
            Value::Integer(rows_max(limit)),
        ];
        self.rows(&AUDIT, clause, values, audit_of_row).await
    }

    async fn channel_health(&self, scope: Scope) -> Result<Vec<(String, ChannelHealth)>> {
        let values = vec![blob(scope.0.as_uuid())];
        let clause = "workspace = ? ORDER BY channel";
        self.rows(&CHANNEL_HEALTH, clause, values, health_of_row)
            .await
    }
}

impl Sqlite {
    async fn rows<T: Send + 'static>(
        &self,
        table: &'static Table,
        clause: &'static str,
        values: Vec<Value>,
        read: fn(&Row) -> Option<T>,
    ) -> Result<Vec<T>> {
        let select = move |connection: &Connection| {
            let columns = names(table.columns).join(",");
            let sql = format!("SELECT {columns} FROM {} WHERE {clause}", table.name);
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query(params_from_iter(values))?;
            let mut all = Vec::new();
            while let Some(row) = rows.next()? {
                let unreadable = || Error::Damaged(format!("a row of {}", table.name));
                all.push(read(&read_row(row, table)?).ok_or_else(unreadable)?);
            }
            Ok(all)
        };
        self.readers.read(select).await
    }
}
