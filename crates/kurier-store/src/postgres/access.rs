use async_trait::async_trait;
use kurier_core::event::Event;
use kurier_core::id::{ApiKeyId, IdentityKey, WorkspaceId};
use kurier_core::time::Timestamp;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

use super::Postgres;
use super::appender::append;
use crate::access::{Access, ApiKey, NewApiKey, Workspace};
use crate::{Error, Result, Scope};

#[async_trait]
impl Access for Postgres {
    async fn create_workspace(
        &self,
        workspace: &Workspace,
        keys: Vec<NewApiKey>,
        events: Vec<Event>,
    ) -> Result<()> {
        let mut transaction = self.pool.begin().await?;
        insert_workspace(&mut transaction, workspace).await?;
        for key in &keys {
            insert_key(&mut transaction, Scope(workspace.id), key).await?;
        }
        let batch: Vec<(WorkspaceId, &Event)> =
            events.iter().map(|event| (workspace.id, event)).collect();
        append(&mut transaction, &batch).await?;
        Ok(transaction.commit().await?)
    }

    async fn workspaces(&self) -> Result<Vec<Workspace>> {
        let sql = "SELECT w.id AS workspace_id, w.name AS workspace_name, w.secret,
                   w.created_at AS workspace_created_at
                   FROM workspace w ORDER BY w.name COLLATE \"C\"";
        let rows = sqlx::query(sql).fetch_all(&self.pool).await?;
        rows.iter().map(workspace).collect()
    }

    async fn workspace(&self, id: WorkspaceId) -> Result<Option<Workspace>> {
        let sql = "SELECT w.id AS workspace_id, w.name AS workspace_name, w.secret,
                   w.created_at AS workspace_created_at FROM workspace w WHERE w.id = $1";
        let query = sqlx::query(sql).bind(id.as_uuid());
        let row = query.fetch_optional(&self.pool).await?;
        row.as_ref().map(workspace).transpose()
    }

    async fn find_key(&self, hash: [u8; 32]) -> Result<Option<(Workspace, ApiKey)>> {
        let sql = "SELECT k.*, w.id AS workspace_id, w.name AS workspace_name, w.secret,
                   w.created_at AS workspace_created_at
                   FROM api_key k JOIN workspace w ON w.id = k.workspace
                   WHERE k.hash = $1 AND k.revoked_at IS NULL";
        let found = sqlx::query(sql)
            .bind(hash.as_slice())
            .fetch_optional(&self.pool)
            .await?;
        found
            .map(|row| Ok((workspace(&row)?, api_key(&row)?)))
            .transpose()
    }

    async fn create_key(&self, scope: Scope, key: NewApiKey, event: Event) -> Result<()> {
        let mut transaction = self.pool.begin().await?;
        insert_key(&mut transaction, scope, &key).await?;
        append(&mut transaction, &[(scope.0, &event)]).await?;
        Ok(transaction.commit().await?)
    }

    async fn keys(&self, scope: Scope) -> Result<Vec<ApiKey>> {
        let rows =
            sqlx::query("SELECT * FROM api_key WHERE workspace = $1 ORDER BY created_at, id")
                .bind(scope.0.as_uuid())
                .fetch_all(&self.pool)
                .await?;
        rows.iter().map(api_key).collect()
    }

    async fn revoke_key(&self, scope: Scope, id: ApiKeyId, event: Event) -> Result<bool> {
        let mut transaction = self.pool.begin().await?;
        let sql = "UPDATE api_key SET revoked_at = $3
                   WHERE workspace = $1 AND id = $2 AND revoked_at IS NULL";
        let revoked = sqlx::query(sql)
            .bind(scope.0.as_uuid())
            .bind(id.as_uuid())
            .bind(event.recorded_at.as_micros())
            .execute(&mut *transaction)
            .await?;
        if revoked.rows_affected() == 0 {
            return Ok(false);
        }
        append(&mut transaction, &[(scope.0, &event)]).await?;
        transaction.commit().await?;
        Ok(true)
    }
}

async fn insert_workspace(connection: &mut PgConnection, workspace: &Workspace) -> Result<()> {
    let sql = "INSERT INTO workspace (id, name, secret, created_at) VALUES ($1, $2, $3, $4)";
    let inserted = sqlx::query(sql)
        .bind(workspace.id.as_uuid())
        .bind(&workspace.name)
        .bind(workspace.key.secret().as_slice())
        .bind(workspace.created_at.as_micros())
        .execute(connection)
        .await;
    taken(inserted, "the workspace's name")
}

async fn insert_key(connection: &mut PgConnection, scope: Scope, new: &NewApiKey) -> Result<()> {
    let sql = "INSERT INTO api_key (workspace, id, name, hash, scopes, created_at, expires_at)
               VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let inserted = sqlx::query(sql)
        .bind(scope.0.as_uuid())
        .bind(new.key.id.as_uuid())
        .bind(&new.key.name)
        .bind(new.hash.as_slice())
        .bind(new.key.scopes.to_string())
        .bind(new.key.created_at.as_micros())
        .bind(new.key.expires_at.map(Timestamp::as_micros))
        .execute(connection)
        .await;
    taken(inserted, "the key")
}

pub fn taken<T>(inserted: Result<T, sqlx::Error>, what: &'static str) -> Result<()> {
    match inserted {
        Err(sqlx::Error::Database(error)) if error.is_unique_violation() => Err(Error::Taken(what)),
        other => Ok(other.map(drop)?),
    }
}

pub fn workspace(row: &PgRow) -> Result<Workspace> {
    let secret: &[u8] = row.try_get("secret")?;
    let secret = secret
        .try_into()
        .map_err(|_| Error::Damaged("a workspace's secret".into()))?;
    Ok(Workspace {
        id: WorkspaceId::from_uuid(row.try_get("workspace_id")?),
        name: row.try_get("workspace_name")?,
        key: IdentityKey::new(secret),
        created_at: Timestamp::from_micros(row.try_get("workspace_created_at")?),
    })
}

fn api_key(row: &PgRow) -> Result<ApiKey> {
    let scopes: &str = row.try_get("scopes")?;
    let time = |column: &str| -> Result<Option<Timestamp>> {
        Ok(row
            .try_get::<Option<i64>, _>(column)?
            .map(Timestamp::from_micros))
    };
    Ok(ApiKey {
        id: ApiKeyId::from_uuid(row.try_get("id")?),
        name: row.try_get("name")?,
        scopes: scopes.parse().map_err(|e| Error::Damaged(format!("{e}")))?,
        created_at: Timestamp::from_micros(row.try_get("created_at")?),
        expires_at: time("expires_at")?,
        revoked_at: time("revoked_at")?,
    })
}
