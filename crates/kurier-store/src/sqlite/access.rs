use async_trait::async_trait;
use kurier_core::event::Event;
use kurier_core::id::{ApiKeyId, IdentityKey, WorkspaceId};
use kurier_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::Sqlite;
use super::cell::uuid;
use super::log::append;
use crate::access::{Access, ApiKey, NewApiKey, Workspace};
use crate::{Error, Result, Scope};

const KEY_COLUMNS: &str = "k.id, k.name, k.scopes, k.created_at, k.expires_at, k.revoked_at";
pub const WORKSPACE_COLUMNS: &str = "w.id, w.name, w.secret, w.created_at";

#[async_trait]
impl Access for Sqlite {
    async fn create_workspace(
        &self,
        workspace: &Workspace,
        keys: Vec<NewApiKey>,
        events: Vec<Event>,
    ) -> Result<()> {
        let workspace = workspace.clone();
        self.writer
            .write(events.len(), move |connection| {
                insert_workspace(connection, &workspace)?;
                let scope = Scope(workspace.id);
                keys.iter()
                    .try_for_each(|key| insert_key(connection, scope, key))?;
                append(connection, scope, &events).map(drop)
            })
            .await
    }

    async fn workspaces(&self) -> Result<Vec<Workspace>> {
        self.readers
            .read(|connection| {
                let sql = format!("SELECT {WORKSPACE_COLUMNS} FROM workspace w ORDER BY w.name");
                let mut statement = connection.prepare(&sql)?;
                let mut rows = statement.query([])?;
                let mut all = Vec::new();
                while let Some(row) = rows.next()? {
                    all.push(workspace(row, 0)?);
                }
                Ok(all)
            })
            .await
    }

    async fn workspace(&self, id: WorkspaceId) -> Result<Option<Workspace>> {
        self.readers
            .read(move |connection| {
                let sql = format!("SELECT {WORKSPACE_COLUMNS} FROM workspace w WHERE w.id = ?1");
                let mut statement = connection.prepare_cached(&sql)?;
                let mut rows = statement.query([id.as_uuid().as_bytes()])?;
                rows.next()?.map(|row| workspace(row, 0)).transpose()
            })
            .await
    }

    async fn find_key(&self, hash: [u8; 32]) -> Result<Option<(Workspace, ApiKey)>> {
        self.readers
            .read(move |connection| {
                let sql = format!(
                    "SELECT {KEY_COLUMNS}, {WORKSPACE_COLUMNS} FROM api_key k
                     JOIN workspace w ON w.id = k.workspace
                     WHERE k.hash = ?1 AND k.revoked_at IS NULL"
                );
                let mut statement = connection.prepare_cached(&sql)?;
                let mut rows = statement.query([hash])?;
                let Some(row) = rows.next()? else {
                    return Ok(None);
                };
                Ok(Some((workspace(row, 6)?, api_key(row)?)))
            })
            .await
    }

    async fn create_key(&self, scope: Scope, key: NewApiKey, event: Event) -> Result<()> {
        self.writer
            .write(1, move |connection| {
                insert_key(connection, scope, &key)?;
                append(connection, scope, std::slice::from_ref(&event)).map(drop)
            })
            .await
    }

    async fn keys(&self, scope: Scope) -> Result<Vec<ApiKey>> {
        self.readers
            .read(move |connection| {
                let sql = format!(
                    "SELECT {KEY_COLUMNS} FROM api_key k WHERE k.workspace = ?1 ORDER BY k.created_at, k.id"
                );
                let mut statement = connection.prepare(&sql)?;
                let mut rows = statement.query([scope.0.as_uuid().as_bytes()])?;
                let mut keys = Vec::new();
                while let Some(row) = rows.next()? {
                    keys.push(api_key(row)?);
                }
                Ok(keys)
            })
            .await
    }

    async fn revoke_key(&self, scope: Scope, id: ApiKeyId, event: Event) -> Result<bool> {
        self.writer
            .write(1, move |connection| {
                let sql = "UPDATE api_key SET revoked_at = ?3
                           WHERE workspace = ?1 AND id = ?2 AND revoked_at IS NULL";
                let (workspace, id) = (scope.0.as_uuid().into_bytes(), id.as_uuid().into_bytes());
                let at = event.recorded_at.as_micros();
                let revoked = connection.execute(sql, params![workspace, id, at])? == 1;
                if revoked {
                    append(connection, scope, std::slice::from_ref(&event))?;
                }
                Ok(revoked)
            })
            .await
    }
}

fn insert_workspace(connection: &Connection, workspace: &Workspace) -> Result<()> {
    let taken = connection
        .query_row(
            "SELECT 1 FROM workspace WHERE name = ?1",
            [&workspace.name],
            |_| Ok(()),
        )
        .optional()?;
    if taken.is_some() {
        return Err(Error::Taken("the workspace's name"));
    }
    let sql = "INSERT INTO workspace (id, name, secret, created_at) VALUES (?1, ?2, ?3, ?4)";
    let (id, at) = (
        workspace.id.as_uuid().into_bytes(),
        workspace.created_at.as_micros(),
    );
    connection.execute(sql, params![id, workspace.name, workspace.key.secret(), at])?;
    Ok(())
}

fn insert_key(connection: &Connection, scope: Scope, new: &NewApiKey) -> Result<()> {
    let sql = "INSERT INTO api_key (workspace, id, name, hash, scopes, created_at, expires_at)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let inserted = connection.execute(
        sql,
        params![
            scope.0.as_uuid().into_bytes(),
            new.key.id.as_uuid().into_bytes(),
            new.key.name,
            new.hash,
            new.key.scopes.to_string(),
            new.key.created_at.as_micros(),
            new.key.expires_at.map(Timestamp::as_micros),
        ],
    );
    match inserted {
        Err(error) if is_repeat(&error) => Err(Error::Taken("the key")),
        other => Ok(other.map(drop)?),
    }
}

pub fn is_repeat(error: &rusqlite::Error) -> bool {
    use rusqlite::ffi::{SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE};
    let code = error.sqlite_error().map(|error| error.extended_code);
    matches!(
        code,
        Some(SQLITE_CONSTRAINT_PRIMARYKEY | SQLITE_CONSTRAINT_UNIQUE)
    )
}

pub fn workspace(row: &Row<'_>, at: usize) -> Result<Workspace> {
    Ok(Workspace {
        id: WorkspaceId::from_uuid(uuid(row, at)?),
        name: row.get(at + 1)?,
        key: IdentityKey::new(row.get(at + 2)?),
        created_at: Timestamp::from_micros(row.get(at + 3)?),
    })
}

fn api_key(row: &Row<'_>) -> Result<ApiKey> {
    let scopes: String = row.get(2)?;
    Ok(ApiKey {
        id: ApiKeyId::from_uuid(uuid(row, 0)?),
        name: row.get(1)?,
        scopes: scopes.parse().map_err(|e| Error::Damaged(format!("{e}")))?,
        created_at: Timestamp::from_micros(row.get(3)?),
        expires_at: row.get::<_, Option<i64>>(4)?.map(Timestamp::from_micros),
        revoked_at: row.get::<_, Option<i64>>(5)?.map(Timestamp::from_micros),
    })
}
