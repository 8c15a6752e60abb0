use async_trait::async_trait;
use kurier_core::bundle::Digest;
use kurier_core::event::Position;
use kurier_core::id::WorkspaceId;
use kurier_core::projection::{
    Cell, Need, PUBLISHED_VERSION, PublishedVersion, Row, Table, VERSION_PROOF, VersionProof,
    published_of_row, version_proof_of_row,
};
use sqlx::{AssertSqlSafe, Row as _};

use super::Postgres;
use super::columns::read_as;
use super::tables::{load, read_row};
use crate::versions::{PROOFS_MAX, VersionPage, VersionQuery, VersionViews};
use crate::{Error, Result, Scope, rows_max};

#[async_trait]
impl VersionViews for Postgres {
    async fn published(&self, scope: Scope, query: &VersionQuery) -> Result<VersionPage> {
        let rest = "WHERE workspace = $1 AND ($2::text IS NULL OR kind = $2)
                    AND ($3::text IS NULL OR anchor = $3)
                    AND ($4::bigint IS NULL OR (published_at, id COLLATE \"C\") < ($4, $5))
                    ORDER BY published_at DESC, id COLLATE \"C\" DESC LIMIT $6";
        let (at, id) = query.after.unzip();
        let rows = sqlx::query(AssertSqlSafe(selecting(&PUBLISHED_VERSION, rest)))
            .bind(scope.0.as_uuid())
            .bind(query.kind.map(|kind| kind.as_str()))
            .bind(query.anchor.map(|anchor| anchor.as_str()))
            .bind(at.map(|at| at.as_micros()))
            .bind(id.map(|id| id.to_string()))
            .bind(rows_max(query.limit.saturating_add(1)))
            .fetch_all(&self.pool)
            .await?;
        let rows: Result<Vec<Row>> = rows
            .iter()
            .map(|row| read_row(row, &PUBLISHED_VERSION))
            .collect();
        Ok(VersionPage::of(published(&rows?)?, query.limit))
    }

    async fn published_among(&self, scope: Scope, ids: &[Digest]) -> Result<Vec<PublishedVersion>> {
        let key = |id: &Digest| vec![scope.0.into(), Cell::Text(id.to_string())];
        let need = Need::new(&PUBLISHED_VERSION, ids.iter().map(key).collect());
        published(&load(&self.pool, &need).await?.rows)
    }

    async fn version_proofs(&self, scope: Scope, id: &Digest) -> Result<Vec<VersionProof>> {
        let rest = "WHERE workspace = $1 AND version = $2
                    ORDER BY revision DESC, proof COLLATE \"C\" LIMIT $3";
        let rows = sqlx::query(AssertSqlSafe(selecting(&VERSION_PROOF, rest)))
            .bind(scope.0.as_uuid())
            .bind(id.to_string())
            .bind(rows_max(PROOFS_MAX))
            .fetch_all(&self.pool)
            .await?;
        let read = |row| -> Result<VersionProof> {
            let row = read_row(row, &VERSION_PROOF)?;
            version_proof_of_row(&row).ok_or_else(|| unreadable(&VERSION_PROOF))
        };
        rows.iter().map(read).collect()
    }

    async fn changed_versions(
        &self,
        after: Position,
        max: usize,
    ) -> Result<Vec<(WorkspaceId, Digest, Position)>> {
        let sql = "SELECT workspace, id, revision FROM published_version WHERE revision > $1
                   ORDER BY revision, workspace, id COLLATE \"C\" LIMIT $2";
        let rows = sqlx::query(sql)
            .bind(after.0)
            .bind(rows_max(max))
            .fetch_all(&self.pool)
            .await?;
        let mut all = Vec::new();
        for row in &rows {
            let id: String = row.try_get("id")?;
            let id = id.parse().map_err(|_| unreadable(&PUBLISHED_VERSION))?;
            let workspace = WorkspaceId::from_uuid(row.try_get("workspace")?);
            all.push((workspace, id, Position(row.try_get("revision")?)));
        }
        Ok(all)
    }
}

fn selecting(table: &'static Table, rest: &str) -> String {
    let columns: Vec<String> = table.columns.iter().map(read_as).collect();
    format!("SELECT {} FROM {} {rest}", columns.join(","), table.name)
}

fn published(rows: &[Row]) -> Result<Vec<PublishedVersion>> {
    let read = |row: &Row| published_of_row(row).map(|(_, known)| known);
    rows.iter()
        .map(|row| read(row).ok_or_else(|| unreadable(&PUBLISHED_VERSION)))
        .collect()
}

fn unreadable(table: &Table) -> Error {
    Error::Damaged(format!("a row of {} cannot be read", table.name))
}
