use async_trait::async_trait;
use kurier_core::event::Event;
use kurier_core::id::{UserId, WorkspaceId};
use kurier_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::Sqlite;
use super::access::{WORKSPACE_COLUMNS, is_repeat, workspace};
use super::cell::uuid;
use super::log::append;
use super::writer::Pen;
use crate::users::{Edited, NewSession, NewUser, Role, SignedIn, User, UserEdit, Users};
use crate::{Error, Result, Scope};

const COLUMNS: &str = "u.id, u.email, u.name, u.role, u.created_at";

#[async_trait]
impl Users for Sqlite {
    async fn has_users(&self) -> Result<bool> {
        let read = self.readers.read(|connection| {
            let sql = "SELECT EXISTS (SELECT 1 FROM portal_user)";
            Ok(connection.query_row(sql, [], |row| row.get(0))?)
        });
        read.await
    }

    async fn users(&self, scope: Scope) -> Result<Vec<User>> {
        let read = self.readers.read(move |connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM portal_user u WHERE u.workspace = ?1 ORDER BY u.email"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query([scope.0.as_uuid().as_bytes()])?;
            let mut users = Vec::new();
            while let Some(row) = rows.next()? {
                users.push(user(row, 0)?);
            }
            Ok(users)
        });
        read.await
    }

    async fn user(&self, scope: Scope, id: UserId) -> Result<Option<User>> {
        let read = self.readers.read(move |connection| {
            let sql =
                format!("SELECT {COLUMNS} FROM portal_user u WHERE u.workspace = ?1 AND u.id = ?2");
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query(key(scope, id))?;
            rows.next()?.map(|row| user(row, 0)).transpose()
        });
        read.await
    }

    async fn find_user(&self, email: &str) -> Result<Option<(Scope, NewUser)>> {
        let email = email.to_owned();
        let read = self.readers.read(move |connection| {
            let sql = format!(
                "SELECT {COLUMNS}, u.password, u.workspace FROM portal_user u WHERE u.email = ?1"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query([&email])?;
            let Some(row) = rows.next()? else {
                return Ok(None);
            };
            let scope = Scope(WorkspaceId::from_uuid(uuid(row, 6)?));
            let (user, password) = (user(row, 0)?, row.get(5)?);
            Ok(Some((scope, NewUser { user, password })))
        });
        read.await
    }

    async fn create_user(&self, scope: Scope, user: NewUser, event: Event) -> Result<()> {
        let write = self.writer.write(1, move |pen| {
            insert(pen, scope, &user)?;
            append(pen, scope, std::slice::from_ref(&event)).map(drop)
        });
        write.await
    }

    async fn create_first_user(&self, scope: Scope, user: NewUser, event: Event) -> Result<bool> {
        let write = self.writer.write(1, move |pen| {
            let sql = "SELECT EXISTS (SELECT 1 FROM portal_user WHERE workspace = ?1)";
            let workspace = scope.0.as_uuid().into_bytes();
            if pen.query_row(sql, [workspace], |row| row.get(0))? {
                return Ok(false);
            }
            insert(pen, scope, &user)?;
            append(pen, scope, std::slice::from_ref(&event))?;
            Ok(true)
        });
        write.await
    }

    async fn edit_user(
        &self,
        scope: Scope,
        id: UserId,
        edit: UserEdit,
        event: Event,
    ) -> Result<Edited> {
        let write = self.writer.write(1, move |pen| {
            let is_leaving = edit.role.is_some_and(|role| role != Role::Owner);
            let refused = refusal(pen, scope, id, is_leaving)?;
            if let Some(refused) = refused {
                return Ok(refused);
            }
            change(pen, scope, id, &edit)?;
            append(pen, scope, std::slice::from_ref(&event))?;
            Ok(Edited::Done)
        });
        write.await
    }

    async fn delete_user(&self, scope: Scope, id: UserId, event: Event) -> Result<Edited> {
        let write = self.writer.write(1, move |pen| {
            if let Some(refused) = refusal(pen, scope, id, true)? {
                return Ok(refused);
            }
            let sql = "DELETE FROM portal_user WHERE workspace = ?1 AND id = ?2";
            pen.execute(sql, key(scope, id))?;
            end_sessions(pen, scope, id)?;
            append(pen, scope, std::slice::from_ref(&event))?;
            Ok(Edited::Done)
        });
        write.await
    }

    async fn begin_session(&self, scope: Scope, session: NewSession) -> Result<()> {
        let write = self.writer.write(1, move |pen| {
            let sql = "INSERT INTO session (hash, workspace, user, created_at, expires_at)
                       VALUES (?1, ?2, ?3, ?4, ?5)";
            let [workspace, user] = key(scope, session.user);
            let times = (
                session.created_at.as_micros(),
                session.expires_at.as_micros(),
            );
            pen.execute(
                sql,
                params![session.hash, workspace, user, times.0, times.1],
            )?;
            Ok(())
        });
        write.await
    }

    async fn find_session(&self, hash: [u8; 32], now: Timestamp) -> Result<Option<SignedIn>> {
        let read = self.readers.read(move |connection| {
            let sql = format!(
                "SELECT {COLUMNS}, s.expires_at, {WORKSPACE_COLUMNS} FROM session s
                 JOIN portal_user u ON u.workspace = s.workspace AND u.id = s.user
                 JOIN workspace w ON w.id = s.workspace
                 WHERE s.hash = ?1 AND s.expires_at > ?2"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query(params![hash, now.as_micros()])?;
            let Some(row) = rows.next()? else {
                return Ok(None);
            };
            Ok(Some(SignedIn {
                user: user(row, 0)?,
                expires_at: Timestamp::from_micros(row.get(5)?),
                workspace: workspace(row, 6)?,
            }))
        });
        read.await
    }

    async fn extend_session(&self, hash: [u8; 32], expires_at: Timestamp) -> Result<()> {
        let write = self.writer.write(1, move |pen| {
            let sql = "UPDATE session SET expires_at = ?2 WHERE hash = ?1 AND expires_at < ?2";
            pen.execute(sql, params![hash, expires_at.as_micros()])?;
            Ok(())
        });
        write.await
    }

    async fn end_session(&self, hash: [u8; 32]) -> Result<bool> {
        let write = self.writer.write(1, move |pen| {
            let sql = "DELETE FROM session WHERE hash = ?1";
            Ok(pen.execute(sql, [hash])? == 1)
        });
        write.await
    }

    async fn prune_sessions(&self, now: Timestamp) -> Result<u64> {
        let write = self.writer.write(1, move |pen| {
            let sql = "DELETE FROM session WHERE expires_at <= ?1";
            Ok(pen.execute(sql, [now.as_micros()])? as u64)
        });
        write.await
    }
}

fn key(scope: Scope, id: UserId) -> [[u8; 16]; 2] {
    [scope.0.as_uuid().into_bytes(), id.as_uuid().into_bytes()]
}

fn insert(pen: &Pen, scope: Scope, new: &NewUser) -> Result<()> {
    let sql = "INSERT INTO portal_user (workspace, id, email, name, role, password, created_at)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let [workspace, id] = key(scope, new.user.id);
    let User {
        email, name, role, ..
    } = &new.user;
    let at = new.user.created_at.as_micros();
    let values = params![workspace, id, email, name, role.as_str(), new.password, at];
    match pen.execute(sql, values) {
        Err(error) if is_repeat(&error) => Err(Error::Taken("the e-mail address")),
        other => Ok(other.map(drop)?),
    }
}

/// Why a user stays as they are; `is_leaving`, if they would no longer be an owner.
fn refusal(
    connection: &Connection,
    scope: Scope,
    id: UserId,
    is_leaving: bool,
) -> Result<Option<Edited>> {
    let sql = "SELECT role FROM portal_user WHERE workspace = ?1 AND id = ?2";
    let role: Option<String> = connection
        .query_row(sql, key(scope, id), |row| row.get(0))
        .optional()?;
    let Some(role) = role else {
        return Ok(Some(Edited::Unknown));
    };
    if !is_leaving || role != Role::Owner.as_str() {
        return Ok(None);
    }
    let sql = "SELECT EXISTS (SELECT 1 FROM portal_user
               WHERE workspace = ?1 AND id <> ?2 AND role = 'owner')";
    let has_other: bool = connection.query_row(sql, key(scope, id), |row| row.get(0))?;
    Ok((!has_other).then_some(Edited::LastOwner))
}

fn change(pen: &Pen, scope: Scope, id: UserId, edit: &UserEdit) -> Result<()> {
    let sql = "UPDATE portal_user SET name = coalesce(?3, name), role = coalesce(?4, role),
               password = coalesce(?5, password) WHERE workspace = ?1 AND id = ?2";
    let [workspace, user] = key(scope, id);
    let role = edit.role.map(Role::as_str);
    pen.execute(
        sql,
        params![workspace, user, edit.name, role, edit.password],
    )?;
    match &edit.password {
        Some(_) => end_sessions(pen, scope, id),
        None => Ok(()),
    }
}

fn end_sessions(pen: &Pen, scope: Scope, id: UserId) -> Result<()> {
    let sql = "DELETE FROM session WHERE workspace = ?1 AND user = ?2";
    pen.execute(sql, key(scope, id))?;
    Ok(())
}

fn user(row: &Row<'_>, at: usize) -> Result<User> {
    let role: String = row.get(at + 3)?;
    Ok(User {
        id: UserId::from_uuid(uuid(row, at)?),
        email: row.get(at + 1)?,
        name: row.get(at + 2)?,
        role: role.parse().map_err(|e| Error::Damaged(format!("{e}")))?,
        created_at: Timestamp::from_micros(row.get(at + 4)?),
    })
}
