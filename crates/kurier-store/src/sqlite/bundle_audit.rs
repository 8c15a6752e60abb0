use async_trait::async_trait;
use kurier_core::bundle::Digest;
use kurier_core::time::Timestamp;
use rusqlite::{Connection, params};

use super::Sqlite;
use crate::bundle_audit::{BundleAudit, Columns, NotedVerdict, Verdict, hash_of, height_of};
use crate::{Result, Scope};

#[async_trait]
impl BundleAudit for Sqlite {
    async fn note_verdict(
        &self,
        scope: Scope,
        version: &Digest,
        verdict: &Verdict,
        at: Timestamp,
    ) -> Result<()> {
        let (version, verdict) = (*version, verdict.clone());
        self.writer
            .write(1, move |pen| {
                let noted = read(pen, scope, &version)?;
                let repeats = noted
                    .last()
                    .is_some_and(|last| verdict.repeats(&last.verdict));
                match repeats {
                    true => confirm(pen, scope, &version, (noted.len(), &verdict), at),
                    false => insert(pen, scope, &version, (noted.len() + 1, &verdict), at),
                }
            })
            .await
    }

    async fn verdicts(&self, scope: Scope, version: &Digest) -> Result<Vec<NotedVerdict>> {
        let version = *version;
        self.readers
            .read(move |connection| read(connection, scope, &version))
            .await
    }
}

fn read(connection: &Connection, scope: Scope, version: &Digest) -> Result<Vec<NotedVerdict>> {
    let sql = "SELECT verdict, block_hash, block_height, proof_sha256, tip_hash, tip_height,
               reorg_flag, verified_at, created_at FROM bundle_audit
               WHERE workspace = ?1 AND version_id = ?2 ORDER BY number";
    let mut statement = connection.prepare_cached(sql)?;
    let workspace = scope.0.as_uuid().into_bytes();
    let mut rows = statement.query(params![workspace, version.to_string()])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let columns = Columns {
            verdict: row.get(0)?,
            block: (row.get(1)?, row.get(2)?),
            proof_sha256: row.get(3)?,
            tip: (row.get(4)?, row.get(5)?),
            reorg: row.get(6)?,
            verified_at: row.get(7)?,
            created_at: row.get(8)?,
        };
        all.push(columns.read()?);
    }
    Ok(all)
}

fn confirm(
    pen: &Connection,
    scope: Scope,
    version: &Digest,
    (number, verdict): (usize, &Verdict),
    at: Timestamp,
) -> Result<()> {
    let sql = "UPDATE bundle_audit SET verified_at = ?4, tip_hash = ?5, tip_height = ?6
               WHERE workspace = ?1 AND version_id = ?2 AND number = ?3";
    pen.prepare_cached(sql)?.execute(params![
        scope.0.as_uuid().into_bytes(),
        version.to_string(),
        number as i64,
        at.as_micros(),
        hash_of(verdict.tip),
        height_of(verdict.tip),
    ])?;
    Ok(())
}

fn insert(
    pen: &Connection,
    scope: Scope,
    version: &Digest,
    (number, verdict): (usize, &Verdict),
    at: Timestamp,
) -> Result<()> {
    let sql = "INSERT INTO bundle_audit (workspace, version_id, number, verdict, block_hash,
               block_height, proof_sha256, tip_hash, tip_height, reorg_flag, verified_at,
               created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?11)";
    pen.prepare_cached(sql)?.execute(params![
        scope.0.as_uuid().into_bytes(),
        version.to_string(),
        number as i64,
        verdict.state.as_str(),
        hash_of(verdict.block),
        height_of(verdict.block),
        verdict.proof_sha256.map(|hash| hash.to_string()),
        hash_of(verdict.tip),
        height_of(verdict.tip),
        verdict.reorg,
        at.as_micros(),
    ])?;
    Ok(())
}
