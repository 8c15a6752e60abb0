use async_trait::async_trait;
use kurier_core::id::TemplateId;
use kurier_core::projection::{
    Cell, Need, Row, TEMPLATE, TEMPLATE_VERSION, TemplateSummary, TemplateVersion, template_of_row,
    template_version_of_row,
};

use super::Sqlite;
use super::cell::blob;
use super::tables::{load, select, unreadable};
use crate::templates::TemplateViews;
use crate::{Result, Scope};

#[async_trait]
impl TemplateViews for Sqlite {
    async fn templates(&self, scope: Scope) -> Result<Vec<TemplateSummary>> {
        let values = vec![blob(scope.0.as_uuid())];
        let rest = "WHERE workspace = ? ORDER BY name, id";
        let read = |row: &_| Some(template_of_row(row)?.1);
        self.readers
            .read(move |connection| select(connection, &TEMPLATE, rest, values, read))
            .await
    }

    async fn template(&self, scope: Scope, id: TemplateId) -> Result<Option<TemplateSummary>> {
        let key = vec![scope.0.into(), Cell::Id(id.as_uuid())];
        let need = Need::new(&TEMPLATE, vec![key]);
        let loaded = self
            .readers
            .read(move |connection| load(connection, &need))
            .await?;
        let read = |row: &Row| template_of_row(row).ok_or_else(|| unreadable(&TEMPLATE));
        loaded.rows.first().map(|row| Ok(read(row)?.1)).transpose()
    }

    async fn template_versions(
        &self,
        scope: Scope,
        id: TemplateId,
    ) -> Result<Vec<TemplateVersion>> {
        let values = vec![blob(scope.0.as_uuid()), blob(id.as_uuid())];
        let rest = "WHERE workspace = ? AND template = ? ORDER BY version";
        let (table, read) = (&TEMPLATE_VERSION, template_version_of_row);
        self.readers
            .read(move |connection| select(connection, table, rest, values, read))
            .await
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
        let need = Need::new(&TEMPLATE_VERSION, vec![key]);
        let loaded = self
            .readers
            .read(move |connection| load(connection, &need))
            .await?;
        let read =
            |row: &Row| template_version_of_row(row).ok_or_else(|| unreadable(&TEMPLATE_VERSION));
        loaded.rows.first().map(read).transpose()
    }
}
