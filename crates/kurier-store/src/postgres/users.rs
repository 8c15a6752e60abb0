use async_trait::async_trait;
use kurier_core::event::Event;
use kurier_core::id::{UserId, WorkspaceId};
use kurier_core::time::Timestamp;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

use super::Postgres;
use super::access::{taken, workspace};
use super::appender::append;
use crate::users::{Edited, NewSession, NewUser, Role, SignedIn, User, UserEdit, Users};
use crate::{Error, Result, Scope};

#[async_trait]
impl Users for Postgres {
    async fn has_users(&self) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM portal_user)";
        Ok(sqlx::query_scalar(sql).fetch_one(&self.pool).await?)
    }

    async fn users(&self, scope: Scope) -> Result<Vec<User>> {
        let sql = "SELECT * FROM portal_user WHERE workspace = $1 ORDER BY email COLLATE \"C\"";
        let rows = sqlx::query(sql).bind(scope.0.as_uuid());
        let rows = rows.fetch_all(&self.pool).await?;
        rows.iter().map(user).collect()
    }

    async fn user(&self, scope: Scope, id: UserId) -> Result<Option<User>> {
        let sql = "SELECT * FROM portal_user WHERE workspace = $1 AND id = $2";
        let row = sqlx::query(sql).bind(scope.0.as_uuid()).bind(id.as_uuid());
        let row = row.fetch_optional(&self.pool).await?;
        row.as_ref().map(user).transpose()
    }

    async fn find_user(&self, email: &str) -> Result<Option<(Scope, NewUser)>> {
        let row = sqlx::query("SELECT * FROM portal_user WHERE email = $1").bind(email);
        let Some(row) = row.fetch_optional(&self.pool).await? else {
            return Ok(None);
        };
        let scope = Scope(WorkspaceId::from_uuid(row.try_get("workspace")?));
        let (user, password) = (user(&row)?, row.try_get("password")?);
        Ok(Some((scope, NewUser { user, password })))
    }

    async fn create_user(&self, scope: Scope, user: NewUser, event: Event) -> Result<()> {
        let mut transaction = self.pool.begin().await?;
        insert(&mut transaction, scope, &user).await?;
        append(&mut transaction, &[(scope.0, &event)]).await?;
        Ok(transaction.commit().await?)
    }

    async fn create_first_user(&self, scope: Scope, user: NewUser, event: Event) -> Result<bool> {
        let mut transaction = self.pool.begin().await?;
        // Appending is done by one at a time: who comes second sees what the first one wrote.
        append(&mut transaction, &[(scope.0, &event)]).await?;
        let sql = "SELECT EXISTS (SELECT 1 FROM portal_user WHERE workspace = $1)";
        let there = sqlx::query_scalar(sql).bind(scope.0.as_uuid());
        if there.fetch_one(&mut *transaction).await? {
            transaction.rollback().await?;
            return Ok(false);
        }
        insert(&mut transaction, scope, &user).await?;
        transaction.commit().await?;
        Ok(true)
    }

    async fn edit_user(
        &self,
        scope: Scope,
        id: UserId,
        edit: UserEdit,
        event: Event,
    ) -> Result<Edited> {
        let mut transaction = self.pool.begin().await?;
        // As above: of two owners who leave at once, one stays.
        append(&mut transaction, &[(scope.0, &event)]).await?;
        let is_leaving = edit.role.is_some_and(|role| role != Role::Owner);
        if let Some(refused) = refusal(&mut transaction, scope, id, is_leaving).await? {
            transaction.rollback().await?;
            return Ok(refused);
        }
        change(&mut transaction, scope, id, &edit).await?;
        transaction.commit().await?;
        Ok(Edited::Done)
    }

    async fn delete_user(&self, scope: Scope, id: UserId, event: Event) -> Result<Edited> {
        let mut transaction = self.pool.begin().await?;
        append(&mut transaction, &[(scope.0, &event)]).await?;
        if let Some(refused) = refusal(&mut transaction, scope, id, true).await? {
            transaction.rollback().await?;
            return Ok(refused);
        }
        sqlx::query("DELETE FROM portal_user WHERE workspace = $1 AND id = $2")
            .bind(scope.0.as_uuid())
            .bind(id.as_uuid())
            .execute(&mut *transaction)
            .await?;
        end_sessions(&mut transaction, scope, id).await?;
        transaction.commit().await?;
        Ok(Edited::Done)
    }

    async fn begin_session(&self, scope: Scope, session: NewSession) -> Result<()> {
        let sql = "INSERT INTO session (hash, workspace, \"user\", created_at, expires_at)
                   VALUES ($1, $2, $3, $4, $5)";
        sqlx::query(sql)
            .bind(session.hash.as_slice())
            .bind(scope.0.as_uuid())
            .bind(session.user.as_uuid())
            .bind(session.created_at.as_micros())
            .bind(session.expires_at.as_micros())
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    async fn find_session(&self, hash: [u8; 32], now: Timestamp) -> Result<Option<SignedIn>> {
        let sql = "SELECT u.*, s.expires_at, w.id AS workspace_id, w.name AS workspace_name,
                   w.secret, w.created_at AS workspace_created_at FROM session s
                   JOIN portal_user u ON u.workspace = s.workspace AND u.id = s.\"user\"
                   JOIN workspace w ON w.id = s.workspace
                   WHERE s.hash = $1 AND s.expires_at > $2";
        let row = sqlx::query(sql).bind(hash.as_slice()).bind(now.as_micros());
        let Some(row) = row.fetch_optional(&self.pool).await? else {
            return Ok(None);
        };
        Ok(Some(SignedIn {
            workspace: workspace(&row)?,
            user: user(&row)?,
            expires_at: Timestamp::from_micros(row.try_get("expires_at")?),
        }))
    }

    async fn extend_session(&self, hash: [u8; 32], expires_at: Timestamp) -> Result<()> {
        let sql = "UPDATE session SET expires_at = $2 WHERE hash = $1 AND expires_at < $2";
        let update = sqlx::query(sql)
            .bind(hash.as_slice())
            .bind(expires_at.as_micros());
        update.execute(&self.pool).await?;
        Ok(())
    }

    async fn end_session(&self, hash: [u8; 32]) -> Result<bool> {
        let ended = sqlx::query("DELETE FROM session WHERE hash = $1").bind(hash.as_slice());
        Ok(ended.execute(&self.pool).await?.rows_affected() == 1)
    }

    async fn prune_sessions(&self, now: Timestamp) -> Result<u64> {
        let ended = sqlx::query("DELETE FROM session WHERE expires_at <= $1").bind(now.as_micros());
        Ok(ended.execute(&self.pool).await?.rows_affected())
    }
}

async fn insert(connection: &mut PgConnection, scope: Scope, new: &NewUser) -> Result<()> {
    let sql = "INSERT INTO portal_user (workspace, id, email, name, role, password, created_at)
               VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let inserted = sqlx::query(sql)
        .bind(scope.0.as_uuid())
        .bind(new.user.id.as_uuid())
        .bind(&new.user.email)
        .bind(&new.user.name)
        .bind(new.user.role.as_str())
        .bind(&new.password)
        .bind(new.user.created_at.as_micros())
        .execute(connection)
        .await;
    taken(inserted, "the e-mail address")
}

/// Why a user stays as they are; `is_leaving`, if they would no longer be an owner.
async fn refusal(
    connection: &mut PgConnection,
    scope: Scope,
    id: UserId,
    is_leaving: bool,
) -> Result<Option<Edited>> {
    let sql = "SELECT role FROM portal_user WHERE workspace = $1 AND id = $2";
    let role = sqlx::query_scalar(sql)
        .bind(scope.0.as_uuid())
        .bind(id.as_uuid());
    let role: Option<String> = role.fetch_optional(&mut *connection).await?;
    let Some(role) = role else {
        return Ok(Some(Edited::Unknown));
    };
    if !is_leaving || role != Role::Owner.as_str() {
        return Ok(None);
    }
    let sql = "SELECT EXISTS (SELECT 1 FROM portal_user
               WHERE workspace = $1 AND id <> $2 AND role = 'owner')";
    let other = sqlx::query_scalar(sql)
        .bind(scope.0.as_uuid())
        .bind(id.as_uuid());
    let has_other: bool = other.fetch_one(connection).await?;
    Ok((!has_other).then_some(Edited::LastOwner))
}

async fn change(
    connection: &mut PgConnection,
    scope: Scope,
    id: UserId,
    edit: &UserEdit,
) -> Result<()> {
    let sql = "UPDATE portal_user SET name = coalesce($3, name), role = coalesce($4, role),
               password = coalesce($5, password) WHERE workspace = $1 AND id = $2";
    sqlx::query(sql)
        .bind(scope.0.as_uuid())
        .bind(id.as_uuid())
        .bind(&edit.name)
        .bind(edit.role.map(Role::as_str))
        .bind(&edit.password)
        .execute(&mut *connection)
        .await?;
    match &edit.password {
        Some(_) => end_sessions(connection, scope, id).await,
        None => Ok(()),
    }
}

async fn end_sessions(connection: &mut PgConnection, scope: Scope, id: UserId) -> Result<()> {
    let sql = "DELETE FROM session WHERE workspace = $1 AND \"user\" = $2";
    let ended = sqlx::query(sql).bind(scope.0.as_uuid()).bind(id.as_uuid());
    ended.execute(connection).await?;
    Ok(())
}

fn user(row: &PgRow) -> Result<User> {
    let role: &str = row.try_get("role")?;
    Ok(User {
        id: UserId::from_uuid(row.try_get("id")?),
        email: row.try_get("email")?,
        name: row.try_get("name")?,
        role: role.parse().map_err(|e| Error::Damaged(format!("{e}")))?,
        created_at: Timestamp::from_micros(row.try_get("created_at")?),
    })
}
