use async_trait::async_trait;
use kurier_core::bundle::Digest;
use kurier_core::time::Timestamp;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row as _};

use super::Postgres;
use crate::bundle_audit::{BundleAudit, Columns, NotedVerdict, Verdict, hash_of, height_of};
use crate::{Result, Scope};

#[async_trait]
impl BundleAudit for Postgres {
    async fn note_verdict(
        &self,
        scope: Scope,
        version: &Digest,
        verdict: &Verdict,
        at: Timestamp,
    ) -> Result<()> {
        let mut transaction = self.pool.begin().await?;
        // One at a time for each version: the next one sees what this one noted.
        sqlx::query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))")
            .bind(format!("bundle_audit:{}:{version}", scope.0))
            .execute(&mut *transaction)
            .await?;
        let noted = read(&mut transaction, scope, version).await?;
        let repeats = noted
            .last()
            .is_some_and(|last| verdict.repeats(&last.verdict));
        match repeats {
            true => {
                let last = (noted.len(), verdict);
                confirm(&mut transaction, scope, version, last, at).await?;
            }
            false => {
                let next = (noted.len() + 1, verdict);
                insert(&mut transaction, scope, version, next, at).await?;
            }
        }
        Ok(transaction.commit().await?)
    }

    async fn verdicts(&self, scope: Scope, version: &Digest) -> Result<Vec<NotedVerdict>> {
        let mut connection = self.pool.acquire().await?;
        read(&mut connection, scope, version).await
    }
}

async fn read(
    connection: &mut PgConnection,
    scope: Scope,
    version: &Digest,
) -> Result<Vec<NotedVerdict>> {
    let sql = "SELECT * FROM bundle_audit WHERE workspace = $1 AND version_id = $2 ORDER BY number";
    let rows = sqlx::query(sql)
        .bind(scope.0.as_uuid())
        .bind(version.to_string())
        .fetch_all(connection)
        .await?;
    rows.iter().map(noted).collect()
}

fn noted(row: &PgRow) -> Result<NotedVerdict> {
    let columns = Columns {
        verdict: row.try_get("verdict")?,
        block: (row.try_get("block_hash")?, row.try_get("block_height")?),
        proof_sha256: row.try_get("proof_sha256")?,
        tip: (row.try_get("tip_hash")?, row.try_get("tip_height")?),
        reorg: row.try_get("reorg_flag")?,
        verified_at: row.try_get("verified_at")?,
        created_at: row.try_get("created_at")?,
    };
    columns.read()
}

async fn confirm(
    connection: &mut PgConnection,
    scope: Scope,
    version: &Digest,
    (number, verdict): (usize, &Verdict),
    at: Timestamp,
) -> Result<()> {
    let sql = "UPDATE bundle_audit SET verified_at = $4, tip_hash = $5, tip_height = $6
               WHERE workspace = $1 AND version_id = $2 AND number = $3";
    sqlx::query(sql)
        .bind(scope.0.as_uuid())
        .bind(version.to_string())
        .bind(number as i64)
        .bind(at.as_micros())
        .bind(hash_of(verdict.tip))
        .bind(height_of(verdict.tip))
        .execute(connection)
        .await?;
    Ok(())
}

async fn insert(
    connection: &mut PgConnection,
    scope: Scope,
    version: &Digest,
    (number, verdict): (usize, &Verdict),
    at: Timestamp,
) -> Result<()> {
    let sql = "INSERT INTO bundle_audit (workspace, version_id, number, verdict, block_hash,
               block_height, proof_sha256, tip_hash, tip_height, reorg_flag, verified_at,
               created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11)";
    sqlx::query(sql)
        .bind(scope.0.as_uuid())
        .bind(version.to_string())
        .bind(number as i64)
        .bind(verdict.state.as_str())
        .bind(hash_of(verdict.block))
        .bind(height_of(verdict.block))
        .bind(verdict.proof_sha256.map(|hash| hash.to_string()))
        .bind(hash_of(verdict.tip))
        .bind(height_of(verdict.tip))
        .bind(verdict.reorg)
        .bind(at.as_micros())
        .execute(connection)
        .await?;
    Ok(())
}
