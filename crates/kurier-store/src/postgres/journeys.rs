use async_trait::async_trait;
use kurier_core::id::{ContactId, InstanceId, JourneyId};
use kurier_core::projection::{
    Cell, InstanceSummary, JOURNEY, JOURNEY_COUNT, JOURNEY_INSTANCE, JOURNEY_PATH, JourneyCount,
    JourneySummary, JourneyVersion, Need, Passage, Row, Table, count_of_row, instance_of_row,
    journey_of_row, passage_of_row,
};
use kurier_core::time::Timestamp;
use sqlx::QueryBuilder;

use super::Postgres;
use super::appender::uuids;
use super::columns::read_as;
use super::tables::{load, read_row};
use crate::journeys::{InstanceFilter, InstancePage, InstanceQuery, JourneyViews};
use crate::{Error, Result, Scope, rows_max};

type Builder = QueryBuilder<sqlx::Postgres>;

#[async_trait]
impl JourneyViews for Postgres {
    async fn journeys(&self, scope: Scope) -> Result<Vec<JourneySummary>> {
        // Drafts may be large; a list tells only whether there is one.
        let columns = columns(&JOURNEY).replace("draft", "substr(draft, 1, 0) AS draft");
        let mut sql = Builder::new(format!("SELECT {columns} FROM journey WHERE workspace = "));
        // Names sort by code point, as everywhere.
        sql.push_bind(scope.0.as_uuid())
            .push(" ORDER BY name COLLATE \"C\", id");
        self.select(&JOURNEY, sql, |row| Some(journey_of_row(row)?.1))
            .await
    }

    async fn journey(&self, scope: Scope, id: JourneyId) -> Result<Option<JourneySummary>> {
        let key = vec![scope.0.into(), Cell::Id(id.as_uuid())];
        let loaded = load(&self.pool, &Need::new(&JOURNEY, vec![key])).await?;
        let row = loaded.rows.first();
        row.map(|row| Ok(journey_of_row(row).ok_or_else(|| unreadable(&JOURNEY))?.1))
            .transpose()
    }

    async fn draft(&self, scope: Scope, id: JourneyId) -> Result<Option<String>> {
        let sql = "SELECT draft FROM journey WHERE workspace = $1 AND id = $2";
        let found: Option<Option<String>> = sqlx::query_scalar(sql)
            .bind(scope.0.as_uuid())
            .bind(id.as_uuid())
            .fetch_optional(&self.pool)
            .await?;
        Ok(found.flatten())
    }

    async fn versions(&self, scope: Scope, id: JourneyId) -> Result<Vec<(u32, Timestamp)>> {
        let sql = "SELECT version, published_at FROM journey_version
                   WHERE workspace = $1 AND journey = $2 ORDER BY version";
        let rows: Vec<(i64, i64)> = sqlx::query_as(sql)
            .bind(scope.0.as_uuid())
            .bind(id.as_uuid())
            .fetch_all(&self.pool)
            .await?;
        let damaged = |_| unreadable(&kurier_core::projection::JOURNEY_VERSION);
        rows.into_iter()
            .map(|(version, at)| {
                let version = u32::try_from(version).map_err(damaged)?;
                Ok((version, Timestamp::from_micros(at)))
            })
            .collect()
    }

    async fn version(
        &self,
        scope: Scope,
        id: JourneyId,
        version: u32,
    ) -> Result<Option<JourneyVersion>> {
        let sql = "SELECT definition, published_at FROM journey_version
                   WHERE workspace = $1 AND journey = $2 AND version = $3";
        let found: Option<(String, i64)> = sqlx::query_as(sql)
            .bind(scope.0.as_uuid())
            .bind(id.as_uuid())
            .bind(i64::from(version))
            .fetch_optional(&self.pool)
            .await?;
        Ok(found.map(|(definition, at)| JourneyVersion {
            version,
            definition,
            published_at: Timestamp::from_micros(at),
        }))
    }

    async fn counts(&self, scope: Scope, id: JourneyId) -> Result<Vec<JourneyCount>> {
        let columns = columns(&JOURNEY_COUNT);
        let sql = format!("SELECT {columns} FROM journey_count WHERE workspace = ");
        let mut sql = Builder::new(sql);
        sql.push_bind(scope.0.as_uuid());
        sql.push(" AND journey = ").push_bind(id.as_uuid());
        sql.push(" ORDER BY version, node COLLATE \"C\", way COLLATE \"C\", target COLLATE \"C\"");
        self.select(&JOURNEY_COUNT, sql, |row| Some(count_of_row(row)?.1))
            .await
    }

    async fn instances(&self, scope: Scope, query: &InstanceQuery) -> Result<InstancePage> {
        let columns = columns(&JOURNEY_INSTANCE);
        let sql = format!("SELECT {columns} FROM journey_instance WHERE workspace = ");
        let mut sql = Builder::new(sql);
        sql.push_bind(scope.0.as_uuid());
        filter(&mut sql, &query.filter);
        if let Some((entered_at, id)) = query.after {
            sql.push(" AND (entered_at, id) < (")
                .push_bind(entered_at.as_micros());
            sql.push(", ").push_bind(id.as_uuid()).push(")");
        }
        sql.push(" ORDER BY entered_at DESC, id DESC LIMIT ")
            .push_bind(rows_max(query.limit.saturating_add(1)));
        let read = |row: &_| Some(instance_of_row(row)?.1);
        let mut instances = self.select(&JOURNEY_INSTANCE, sql, read).await?;
        let has_more = instances.len() > query.limit;
        instances.truncate(query.limit);
        Ok(InstancePage {
            instances,
            has_more,
        })
    }

    async fn instance(&self, scope: Scope, id: InstanceId) -> Result<Option<InstanceSummary>> {
        let key = vec![scope.0.into(), Cell::Id(id.as_uuid())];
        let loaded = load(&self.pool, &Need::new(&JOURNEY_INSTANCE, vec![key])).await?;
        let row = loaded.rows.first();
        let damaged = || unreadable(&JOURNEY_INSTANCE);
        row.map(|row| Ok(instance_of_row(row).ok_or_else(damaged)?.1))
            .transpose()
    }

    async fn path(&self, scope: Scope, id: InstanceId) -> Result<Vec<Passage>> {
        let columns = columns(&JOURNEY_PATH);
        let mut sql = Builder::new(format!(
            "SELECT {columns} FROM journey_path WHERE workspace = "
        ));
        sql.push_bind(scope.0.as_uuid());
        sql.push(" AND instance = ").push_bind(id.as_uuid());
        sql.push(" ORDER BY seq");
        self.select(&JOURNEY_PATH, sql, passage_of_row).await
    }
}

impl Postgres {
    /// The rows that a query answers, read.
    async fn select<T>(
        &self,
        table: &'static Table,
        mut sql: Builder,
        read: impl Fn(&Row) -> Option<T> + Send,
    ) -> Result<Vec<T>> {
        let rows = sql.build().fetch_all(&self.pool).await?;
        let rows = rows.iter().map(|row| read_row(row, table));
        rows.map(|row| read(&row?).ok_or_else(|| unreadable(table)))
            .collect()
    }
}

fn columns(table: &Table) -> String {
    let columns: Vec<String> = table.columns.iter().map(read_as).collect();
    columns.join(",")
}

fn unreadable(table: &Table) -> Error {
    Error::Damaged(format!("a row of {} cannot be read", table.name))
}

fn filter(sql: &mut Builder, filter: &InstanceFilter) {
    if let Some(journey) = filter.journey {
        sql.push(" AND journey = ").push_bind(journey.as_uuid());
    }
    if let Some(version) = filter.version {
        sql.push(" AND version = ").push_bind(i64::from(version));
    }
    if let Some(node) = &filter.node {
        sql.push(" AND node = ").push_bind(node.clone());
    }
    if let Some(status) = filter.status {
        // Written out, so that it is seen which index will do.
        sql.push(format!(" AND status = '{}'", status.as_str()));
    }
    if let Some(contacts) = &filter.contacts {
        sql.push(" AND contact = ANY (")
            .push_bind(uuids(contacts, ContactId::as_uuid))
            .push(")");
    }
}
