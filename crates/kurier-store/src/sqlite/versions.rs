use async_trait::async_trait;
use kurier_core::bundle::Digest;
use kurier_core::event::Position;
use kurier_core::id::WorkspaceId;
use kurier_core::projection::{
    Cell, Need, PUBLISHED_VERSION, PublishedVersion, Row, VERSION_PROOF, VersionProof,
    published_of_row, version_proof_of_row,
};
use rusqlite::types::Value;
use rusqlite::{Connection, params};

use super::Sqlite;
use super::cell::{blob, uuid};
use super::tables::{load, select, unreadable};
use crate::versions::{PROOFS_MAX, VersionPage, VersionQuery, VersionViews};
use crate::{Result, Scope, rows_max};

#[async_trait]
impl VersionViews for Sqlite {
    async fn published(&self, scope: Scope, query: &VersionQuery) -> Result<VersionPage> {
        let (rest, values) = listing(scope, query);
        let limit = query.limit;
        let read = |row: &Row| Some(published_of_row(row)?.1);
        let rows = self
            .readers
            .read(move |connection| select(connection, &PUBLISHED_VERSION, &rest, values, read));
        Ok(VersionPage::of(rows.await?, limit))
    }

    async fn published_among(&self, scope: Scope, ids: &[Digest]) -> Result<Vec<PublishedVersion>> {
        let key = |id: &Digest| vec![scope.0.into(), Cell::Text(id.to_string())];
        let need = Need::new(&PUBLISHED_VERSION, ids.iter().map(key).collect());
        let loaded = self
            .readers
            .read(move |connection| load(connection, &need))
            .await?;
        let read = |row: &Row| published_of_row(row).map(|(_, known)| known);
        let rows = loaded.rows.iter();
        rows.map(|row| read(row).ok_or_else(|| unreadable(&PUBLISHED_VERSION)))
            .collect()
    }

    async fn version_proofs(&self, scope: Scope, id: &Digest) -> Result<Vec<VersionProof>> {
        let values = vec![
            blob(scope.0.as_uuid()),
            Value::Text(id.to_string()),
            Value::Integer(rows_max(PROOFS_MAX)),
        ];
        let rest = "WHERE workspace = ? AND version = ? ORDER BY revision DESC, proof LIMIT ?";
        let read = version_proof_of_row;
        self.readers
            .read(move |connection| select(connection, &VERSION_PROOF, rest, values, read))
            .await
    }

    async fn changed_versions(
        &self,
        after: Position,
        max: usize,
    ) -> Result<Vec<(WorkspaceId, Digest, Position)>> {
        self.readers
            .read(move |connection| changed(connection, after, max))
            .await
    }
}

fn listing(scope: Scope, query: &VersionQuery) -> (String, Vec<Value>) {
    let mut rest = String::from("WHERE workspace = ?");
    let mut values = vec![blob(scope.0.as_uuid())];
    let mut add = |condition: &str, own: Vec<Value>| {
        rest.push_str(condition);
        values.extend(own);
    };
    if let Some(kind) = query.kind {
        add(" AND kind = ?", vec![Value::Text(kind.as_str().into())]);
    }
    if let Some(anchor) = query.anchor {
        add(" AND anchor = ?", vec![Value::Text(anchor.as_str().into())]);
    }
    if let Some((at, id)) = query.after {
        let place = vec![Value::Integer(at.as_micros()), Value::Text(id.to_string())];
        add(" AND (published_at, id) < (?, ?)", place);
    }
    let limit = Value::Integer(rows_max(query.limit.saturating_add(1)));
    add(" ORDER BY published_at DESC, id DESC LIMIT ?", vec![limit]);
    (rest, values)
}

fn changed(
    connection: &Connection,
    after: Position,
    max: usize,
) -> Result<Vec<(WorkspaceId, Digest, Position)>> {
    let sql = "SELECT workspace, id, revision FROM published_version WHERE revision > ?1
               ORDER BY revision, workspace, id LIMIT ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![after.0, rows_max(max)])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let id: String = row.get(1)?;
        let id = id.parse().map_err(|_| unreadable(&PUBLISHED_VERSION))?;
        let workspace = WorkspaceId::from_uuid(uuid(row, 0)?);
        all.push((workspace, id, Position(row.get(2)?)));
    }
    Ok(all)
}
