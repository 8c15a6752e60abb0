use async_trait::async_trait;
use kurier_core::event::{Event, Position};
use kurier_core::message::Gate;
use kurier_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::Sqlite;
use super::gates::put_gate;
use super::log::append;
use crate::channels::{Channels, KeptChannel, NewChannel, position, read, written};
use crate::queue::Lane;
use crate::{Result, Scope};

const COLUMNS: &str = "name, settings, secrets, revision, changed_at";

#[async_trait]
impl Channels for Sqlite {
    async fn channels(&self, scope: Scope) -> Result<Vec<KeptChannel>> {
        self.readers
            .read(move |connection| {
                let sql =
                    format!("SELECT {COLUMNS} FROM channel WHERE workspace = ?1 ORDER BY name");
                let mut statement = connection.prepare_cached(&sql)?;
                let mut rows = statement.query([scope.0.as_uuid().as_bytes()])?;
                let mut all = Vec::new();
                while let Some(row) = rows.next()? {
                    all.push(channel(row)?);
                }
                Ok(all)
            })
            .await
    }

    async fn channel(&self, scope: Scope, name: &str) -> Result<Option<KeptChannel>> {
        let name = name.to_owned();
        self.readers
            .read(move |connection| {
                let sql =
                    format!("SELECT {COLUMNS} FROM channel WHERE workspace = ?1 AND name = ?2");
                let mut statement = connection.prepare_cached(&sql)?;
                let mut rows = statement.query(params![scope.0.as_uuid().as_bytes(), name])?;
                rows.next()?.map(channel).transpose()
            })
            .await
    }

    async fn channel_revisions(&self, scope: Scope) -> Result<Vec<(String, Position)>> {
        self.readers
            .read(move |connection| {
                let sql = "SELECT name, revision FROM channel WHERE workspace = ?1 ORDER BY name";
                let mut statement = connection.prepare_cached(sql)?;
                let rows = statement.query_map([scope.0.as_uuid().as_bytes()], |row| {
                    Ok((row.get(0)?, Position(row.get(1)?)))
                })?;
                Ok(rows.collect::<rusqlite::Result<_>>()?)
            })
            .await
    }

    async fn set_channel(
        &self,
        scope: Scope,
        channel: NewChannel,
        seen: Option<Position>,
        event: Event,
    ) -> Result<Option<Position>> {
        self.writer
            .write(1, move |pen| {
                if revision(pen, scope, &channel.name)? != seen {
                    return Ok(None);
                }
                let at = position(&append(pen, scope, std::slice::from_ref(&event))?)?;
                write(pen, scope, &channel, at, event.recorded_at)?;
                put_gate(pen, &Lane::new(scope, &channel.name), &Gate::new(at))?;
                Ok(Some(at))
            })
            .await
    }

    async fn remove_channel(&self, scope: Scope, name: &str, event: Event) -> Result<bool> {
        let name = name.to_owned();
        self.writer
            .write(1, move |pen| {
                let sql = "DELETE FROM channel WHERE workspace = ?1 AND name = ?2";
                let workspace = scope.0.as_uuid().into_bytes();
                let removed = pen.execute(sql, params![workspace, name])? == 1;
                if removed {
                    append(pen, scope, std::slice::from_ref(&event))?;
                }
                Ok(removed)
            })
            .await
    }
}

fn revision(connection: &Connection, scope: Scope, name: &str) -> Result<Option<Position>> {
    let sql = "SELECT revision FROM channel WHERE workspace = ?1 AND name = ?2";
    let workspace = scope.0.as_uuid().into_bytes();
    let found = connection.query_row(sql, params![workspace, name], |row| row.get(0));
    Ok(found.optional()?.map(Position))
}

fn write(
    connection: &Connection,
    scope: Scope,
    channel: &NewChannel,
    at: Position,
    changed_at: Timestamp,
) -> Result<()> {
    let sql = "INSERT INTO channel (workspace, name, settings, secrets, revision, changed_at)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6)
               ON CONFLICT (workspace, name) DO UPDATE SET settings = excluded.settings,
               secrets = excluded.secrets, revision = excluded.revision,
               changed_at = excluded.changed_at";
    connection.execute(
        sql,
        params![
            scope.0.as_uuid().into_bytes(),
            channel.name,
            written(&channel.settings)?,
            channel.secrets,
            at.0,
            changed_at.as_micros(),
        ],
    )?;
    Ok(())
}

fn channel(row: &Row<'_>) -> Result<KeptChannel> {
    Ok(KeptChannel {
        name: row.get(0)?,
        settings: read(&row.get::<_, String>(1)?)?,
        secrets: row.get(2)?,
        revision: Position(row.get(3)?),
        changed_at: Timestamp::from_micros(row.get(4)?),
    })
}
