use async_trait::async_trait;
use kurier_core::id::TemplateId;
use kurier_core::projection::{
    Cell, Need, Row, TEMPLATE, TEMPLATE_VERSION, Table, TemplateSummary, TemplateVersion,
    template_of_row, template_version_of_row,
};
use sqlx::AssertSqlSafe;
use uuid::Uuid;

use super::Postgres;
use super::columns::read_as;
use super::tables::{load, read_row};
use crate::templates::TemplateViews;
use crate::{Error, Result, Scope};

#[async_trait]
impl TemplateViews for Postgres {
    async fn templates(&self, scope: Scope) -> Result<Vec<TemplateSummary>> {
        // Names sort by code point, as everywhere.
        let rest = "WHERE workspace = $1 ORDER BY name COLLATE \"C\", id";
        let key = [scope.0.as_uuid()];
        let rows = self.template_rows(&TEMPLATE, rest, &key).await?;
        all(&rows, &TEMPLATE, |row| Some(template_of_row(row)?.1))
    }

    async fn template(&self, scope: Scope, id: TemplateId) -> Result<Option<TemplateSummary>> {
        let key = vec![scope.0.into(), Cell::Id(id.as_uuid())];
        let loaded = load(&self.pool, &Need::new(&TEMPLATE, vec![key])).await?;
        let read = |row: &Row| Some(template_of_row(row)?.1);
        Ok(all(&loaded.rows, &TEMPLATE, read)?.pop())
    }

    async fn template_versions(
        &self,
        scope: Scope,
        id: TemplateId,
    ) -> Result<Vec<TemplateVersion>> {
        let rest = "WHERE workspace = $1 AND template = $2 ORDER BY version";
        let key = [scope.0.as_uuid(), id.as_uuid()];
        let rows = self.template_rows(&TEMPLATE_VERSION, rest, &key).await?;
        all(&rows, &TEMPLATE_VERSION, template_version_of_row)
    }

    async fn template_version(
        &self,
        scope: Scope,
        id: TemplateId,
        version: u32,
    ) -> Result<Option<TemplateVersion>> {
        let key = vec![
            scope.0.into(),
            Cell::Id(id.as_uuid()),
            Cell::Int(i64::from(version)),
        ];
        let loaded = load(&self.pool, &Need::new(&TEMPLATE_VERSION, vec![key])).await?;
        Ok(all(&loaded.rows, &TEMPLATE_VERSION, template_version_of_row)?.pop())
    }
}

impl Postgres {
    async fn template_rows(
        &self,
        table: &'static Table,
        rest: &str,
        key: &[Uuid],
    ) -> Result<Vec<Row>> {
        let columns: Vec<String> = table.columns.iter().map(read_as).collect();
        let columns = columns.join(",");
        let sql = format!("SELECT {columns} FROM {} {rest}", table.name);
        let query = sqlx::query(AssertSqlSafe(sql));
        let query = key.iter().fold(query, |query, id| query.bind(*id));
        let rows = query.fetch_all(&self.pool).await?;
        rows.iter().map(|row| read_row(row, table)).collect()
    }
}

fn all<T>(rows: &[Row], table: &Table, read: impl Fn(&Row) -> Option<T>) -> Result<Vec<T>> {
    let unreadable = || Error::Damaged(format!("a row of {} cannot be read", table.name));
    rows.iter()
        .map(|row| read(row).ok_or_else(unreadable))
        .collect()
}
