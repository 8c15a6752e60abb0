use async_trait::async_trait;
use kurier_core::id::{InstanceId, JourneyId};
use kurier_core::projection::{
    Cell, InstanceSummary, JOURNEY, JOURNEY_COUNT, JOURNEY_INSTANCE, JOURNEY_PATH, JourneyCount,
    JourneySummary, JourneyVersion, Need, Passage, Table, count_of_row, instance_of_row,
    journey_of_row, passage_of_row,
};
use kurier_core::time::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, params, params_from_iter};

use super::Sqlite;
use super::cell::{IDS, blob, id_list};
use super::tables::{load, names, read_row};
use crate::journeys::{InstancePage, InstanceQuery, JourneyViews};
use crate::{Error, Result, Scope, rows_max};

#[async_trait]
impl JourneyViews for Sqlite {
    async fn journeys(&self, scope: Scope) -> Result<Vec<JourneySummary>> {
        // Drafts may be large; a list tells only whether there is one.
        let columns = names(JOURNEY.columns).join(",");
        let columns = columns.replace("draft", "substr(draft, 1, 0)");
        let rest = "WHERE workspace = ? ORDER BY name, id";
        let sql = format!("SELECT {columns} FROM journey {rest}");
        let values = vec![blob(scope.0.as_uuid())];
        let read = |row: &_| Some(journey_of_row(row)?.1);
        self.readers
            .read(move |connection| select(connection, &JOURNEY, &sql, values, read))
            .await
    }

    async fn journey(&self, scope: Scope, id: JourneyId) -> Result<Option<JourneySummary>> {
        let need = Need::new(&JOURNEY, vec![vec![scope.0.into(), Cell::Id(id.as_uuid())]]);
        let loaded = self
            .readers
            .read(move |connection| load(connection, &need))
            .await?;
        let row = loaded.rows.first();
        row.map(|row| Ok(journey_of_row(row).ok_or_else(|| unreadable(&JOURNEY))?.1))
            .transpose()
    }

    async fn draft(&self, scope: Scope, id: JourneyId) -> Result<Option<String>> {
        self.readers
            .read(move |connection| {
                let sql = "SELECT draft FROM journey WHERE workspace = ?1 AND id = ?2";
                let key = [scope.0.as_uuid().into_bytes(), id.as_uuid().into_bytes()];
                let found = connection
                    .query_row(sql, key, |row| row.get(0))
                    .optional()?;
                Ok(found.flatten())
            })
            .await
    }

    async fn versions(&self, scope: Scope, id: JourneyId) -> Result<Vec<(u32, Timestamp)>> {
        self.readers
            .read(move |connection| {
                let sql = "SELECT version, published_at FROM journey_version
                           WHERE workspace = ?1 AND journey = ?2 ORDER BY version";
                let mut statement = connection.prepare_cached(sql)?;
                let key = [scope.0.as_uuid().into_bytes(), id.as_uuid().into_bytes()];
                let rows = statement.query_map(key, |row| {
                    Ok((row.get(0)?, Timestamp::from_micros(row.get(1)?)))
                })?;
                Ok(rows.collect::<rusqlite::Result<_>>()?)
            })
            .await
    }

    async fn version(
        &self,
        scope: Scope,
        id: JourneyId,
        version: u32,
    ) -> Result<Option<JourneyVersion>> {
        self.readers
            .read(move |connection| {
                let sql = "SELECT definition, published_at FROM journey_version
                           WHERE workspace = ?1 AND journey = ?2 AND version = ?3";
                let (workspace, id) = (scope.0.as_uuid().into_bytes(), id.as_uuid().into_bytes());
                let read = |row: &rusqlite::Row<'_>| {
                    Ok(JourneyVersion {
                        version,
                        definition: row.get(0)?,
                        published_at: Timestamp::from_micros(row.get(1)?),
                    })
                };
                let found = connection.query_row(sql, params![workspace, id, version], read);
                Ok(found.optional()?)
            })
            .await
    }

    async fn counts(&self, scope: Scope, id: JourneyId) -> Result<Vec<JourneyCount>> {
        let columns = names(JOURNEY_COUNT.columns).join(",");
        let sql =
            format!("SELECT {columns} FROM journey_count WHERE workspace = ? AND journey = ?");
        let sql = format!("{sql} ORDER BY version, node, way, target");
        let values = vec![blob(scope.0.as_uuid()), blob(id.as_uuid())];
        let read = |row: &_| Some(count_of_row(row)?.1);
        self.readers
            .read(move |connection| select(connection, &JOURNEY_COUNT, &sql, values, read))
            .await
    }

    async fn instances(&self, scope: Scope, query: &InstanceQuery) -> Result<InstancePage> {
        let (sql, values) = instances_sql(scope, query);
        let read = |row: &_| Some(instance_of_row(row)?.1);
        let mut instances = self
            .readers
            .read(move |connection| select(connection, &JOURNEY_INSTANCE, &sql, values, read))
            .await?;
        let has_more = instances.len() > query.limit;
        instances.truncate(query.limit);
        Ok(InstancePage {
            instances,
            has_more,
        })
    }

    async fn instance(&self, scope: Scope, id: InstanceId) -> Result<Option<InstanceSummary>> {
        let need = Need::new(
            &JOURNEY_INSTANCE,
            vec![vec![scope.0.into(), Cell::Id(id.as_uuid())]],
        );
        let loaded = self
            .readers
            .read(move |connection| load(connection, &need))
            .await?;
        let row = loaded.rows.first();
        let damaged = || unreadable(&JOURNEY_INSTANCE);
        row.map(|row| Ok(instance_of_row(row).ok_or_else(damaged)?.1))
            .transpose()
    }

    async fn path(&self, scope: Scope, id: InstanceId) -> Result<Vec<Passage>> {
        let columns = names(JOURNEY_PATH.columns).join(",");
        let sql =
            format!("SELECT {columns} FROM journey_path WHERE workspace = ? AND instance = ?");
        let sql = format!("{sql} ORDER BY seq");
        let values = vec![blob(scope.0.as_uuid()), blob(id.as_uuid())];
        self.readers
            .read(move |connection| select(connection, &JOURNEY_PATH, &sql, values, passage_of_row))
            .await
    }
}

fn unreadable(table: &Table) -> Error {
    Error::Damaged(format!("a row of {} cannot be read", table.name))
}

/// The rows that a query answers, read.
fn select<T>(
    connection: &Connection,
    table: &Table,
    sql: &str,
    values: Vec<Value>,
    read: impl Fn(&kurier_core::projection::Row) -> Option<T>,
) -> Result<Vec<T>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params_from_iter(values))?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let row = read_row(row, table)?;
        all.push(read(&row).ok_or_else(|| unreadable(table))?);
    }
    Ok(all)
}

fn instances_sql(scope: Scope, query: &InstanceQuery) -> (String, Vec<Value>) {
    let columns = names(JOURNEY_INSTANCE.columns).join(",");
    let mut sql = format!("SELECT {columns} FROM journey_instance WHERE workspace = ?");
    let mut values = vec![blob(scope.0.as_uuid())];
    let mut and = |condition: &str, value: Option<Value>| {
        sql.push_str(" AND ");
        sql.push_str(condition);
        values.extend(value);
    };
    let filter = &query.filter;
    if let Some(journey) = filter.journey {
        and("journey = ?", Some(blob(journey.as_uuid())));
    }
    if let Some(version) = filter.version {
        and("version = ?", Some(Value::Integer(version.into())));
    }
    if let Some(node) = &filter.node {
        and("node = ?", Some(Value::Text(node.clone())));
    }
    if let Some(status) = filter.status {
        // Written out, so that it is seen which index will do.
        and(&format!("status = '{}'", status.as_str()), None);
    }
    if let Some(contacts) = &filter.contacts {
        let ids = id_list(contacts.iter().map(|id| id.as_uuid()));
        and(&format!("contact IN {IDS}"), Some(ids));
    }
    if let Some((entered_at, id)) = query.after {
        and("(entered_at, id) < (?, ?)", None);
        values.extend([Value::Integer(entered_at.as_micros()), blob(id.as_uuid())]);
    }
    let limit = rows_max(query.limit.saturating_add(1));
    sql.push_str(&format!(" ORDER BY entered_at DESC, id DESC LIMIT {limit}"));
    (sql, values)
}
