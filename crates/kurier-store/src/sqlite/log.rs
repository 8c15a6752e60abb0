use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use kurier_core::event::{Event, Kind, Position, Recorded, lane, tombstone};
use kurier_core::id::{ContactId, EventId, WorkspaceId};
use kurier_core::time::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, Statement, params, params_from_iter};

use super::cell::{IDS, blob, id_list, optional_uuid, uuid};
use super::writer::{Pen, Work};
use super::{Sqlite, connect};
use crate::log::{Appended, Log, READ_BYTES_MAX, Scrub};
use crate::tail::End;
use crate::{Error, Result, Scope, rows_max};

/// How long to wait for readers of older pages. Writers wait as well meanwhile.
const SCRUB_TIMEOUT: Duration = Duration::from_secs(2);
/// A file up to this size is written anew in passing: about a second.
const QUICK_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// The columns [`recorded`] reads, in its order.
pub const COLUMNS: &str =
    "l.position, l.workspace, l.id, l.kind, l.contact, l.occurred_at, l.recorded_at, l.payload";

#[async_trait]
impl Log for Sqlite {
    async fn append(&self, scope: Scope, events: Vec<Event>) -> Result<Vec<Appended>> {
        self.writer.perform(Events { scope, events }).await
    }

    async fn read(&self, after: Position, max: usize) -> Result<Vec<Recorded>> {
        self.readers
            .read(move |connection| {
                let sql = format!(
                    "SELECT {COLUMNS} FROM log l WHERE position > ?1 ORDER BY position LIMIT ?2"
                );
                let mut statement = connection.prepare_cached(&sql)?;
                let mut rows = statement.query(params![after.0, rows_max(max)])?;
                let (mut events, mut bytes) = (Vec::new(), 0);
                while bytes < READ_BYTES_MAX
                    && let Some(row) = rows.next()?
                {
                    let recorded = recorded(row)?;
                    bytes += recorded.event.payload.len();
                    events.push(recorded);
                }
                Ok(events)
            })
            .await
    }

    async fn without(&self, after: Position, max: usize, kinds: &[Kind]) -> Result<Position> {
        // Names of kinds are ours, and have nothing in them that would have to be quoted.
        let kinds: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
        let sql = format!(
            "SELECT position FROM log WHERE position > ?1 AND position <= ?2 AND kind IN ('{}')
             ORDER BY position LIMIT 1",
            kinds.join("','")
        );
        let max = rows_max(max);
        self.readers
            .read(move |connection| {
                // First, so that what is appended meanwhile is not passed over.
                let end = head(connection)?
                    .min(after.0.saturating_add(max))
                    .max(after.0);
                let mut statement = connection.prepare_cached(&sql)?;
                let first = statement.query_row([after.0, end], |row| row.get::<_, i64>(0));
                Ok(Position(first.optional()?.map_or(end, |first| first - 1)))
            })
            .await
    }

    async fn head(&self) -> Result<Position> {
        self.readers
            .read(|connection| Ok(Position(head(connection)?)))
            .await
    }

    async fn positions(
        &self,
        scope: Scope,
        contacts: &[ContactId],
        between: (Position, Position),
    ) -> Result<Vec<Position>> {
        let sql = format!(
            "SELECT position FROM log
             WHERE position > ? AND position < ? AND workspace = ? AND contact IN {IDS}
               AND kind NOT LIKE 'segment.%'
             ORDER BY position"
        );
        let values = vec![
            Value::Integer(between.0.0),
            Value::Integer(between.1.0),
            blob(scope.0.as_uuid()),
            id_list(contacts.iter().map(|id| id.as_uuid())),
        ];
        self.readers
            .read(move |connection| select_positions(connection, &sql, values))
            .await
    }

    async fn tombstone(&self, scope: Scope, positions: &[Position]) -> Result<u64> {
        let positions = positions.to_vec();
        self.writer
            .write(positions.len(), move |connection| {
                bury(connection, scope, &positions)
            })
            .await
    }

    /// Writes the file anew and empties the write-ahead log. `secure_delete` alone is not
    /// enough: when a page is split, copies of rows stay in its unused part. A large file is
    /// written anew only on request: nobody can write meanwhile.
    async fn scrub(&self, how: Scrub) -> Result<()> {
        let path = self.path.clone();
        let task = tokio::task::spawn_blocking(move || scrub(&path, how));
        task.await.map_err(|e| Error::Unavailable(e.to_string()))?
    }

    /// One table holds all months here.
    async fn maintain(&self, _now: Timestamp) -> Result<()> {
        Ok(())
    }

    async fn archive(&self, _before: Timestamp) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}

/// Events on their way into the log.
struct Events {
    scope: Scope,
    events: Vec<Event>,
}

impl Work for Events {
    type Done = Vec<Appended>;

    fn weight(&self) -> usize {
        self.events.len()
    }

    fn run(&self, pen: &Pen) -> Result<Vec<Appended>> {
        append(pen, self.scope, &self.events)
    }

    fn keep(&mut self, appended: &Vec<Appended>, end: &mut End) {
        end.keep(self.scope, std::mem::take(&mut self.events), appended);
    }
}

fn scrub(path: &Path, how: Scrub) -> Result<()> {
    let connection = connect(path)?;
    connection.busy_timeout(SCRUB_TIMEOUT)?;
    let bytes = std::fs::metadata(path)
        .map_err(|e| Error::Unavailable(e.to_string()))?
        .len();
    if how == Scrub::Whole || bytes <= QUICK_BYTES_MAX {
        connection.execute_batch("VACUUM")?;
    }
    let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
    let was_busy: bool = connection.query_row(sql, [], |row| row.get(0))?;
    if was_busy {
        let reason = "a long read keeps older pages in use; scrub again later";
        return Err(Error::Unavailable(reason.into()));
    }
    Ok(())
}

pub fn append(pen: &Pen, scope: Scope, events: &[Event]) -> Result<Vec<Appended>> {
    let mut ids = pen.ids()?;
    let mut plain = pen.prepare_cached(INSERT)?;
    let mut appended = Vec::with_capacity(events.len());
    for event in events {
        let key = (scope.0, event.id);
        let is_new = !ids.remembers(&key)
            && match ids.must_ask(&key) {
                true => insert(&mut *pen.prepare_cached(INSERT_IF_NEW)?, scope, event)?,
                false => insert(&mut plain, scope, event)?,
            };
        appended.push(if is_new {
            let position = Position(pen.last_insert_rowid());
            ids.add(key, position, event.recorded_at);
            Appended::At(position)
        } else {
            Appended::Duplicate
        });
    }
    Ok(appended)
}

/// SQLite gives the position: the last one and one more, since no row ever leaves.
const INSERT: &str =
    "INSERT INTO log (workspace, id, kind, contact, lane, occurred_at, recorded_at, payload)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
/// The same, unless the index has its id.
const INSERT_IF_NEW: &str =
    "INSERT INTO log (workspace, id, kind, contact, lane, occurred_at, recorded_at, payload)
     SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8
     WHERE NOT EXISTS (SELECT 1 FROM log_id WHERE workspace = ?1 AND id = ?2)";

fn insert(statement: &mut Statement<'_>, scope: Scope, event: &Event) -> Result<bool> {
    let added = statement.execute(params![
        scope.0.as_uuid().as_bytes(),
        event.id.as_uuid().as_bytes(),
        event.kind.as_str(),
        event.contact.map(|contact| contact.as_uuid().into_bytes()),
        lane(scope.0, event.contact),
        event.occurred_at.as_micros(),
        event.recorded_at.as_micros(),
        event.payload,
    ])?;
    Ok(added == 1)
}

pub fn head(connection: &Connection) -> Result<i64> {
    let mut statement =
        connection.prepare_cached("SELECT position FROM log ORDER BY position DESC LIMIT 1")?;
    Ok(statement
        .query_row([], |row| row.get(0))
        .optional()?
        .unwrap_or(0))
}

pub fn recorded(row: &Row<'_>) -> Result<Recorded> {
    let kind = row
        .get_ref(3)?
        .as_str()
        .map_err(|e| Error::Damaged(e.to_string()))?
        .parse()?;
    Ok(Recorded {
        position: Position(row.get(0)?),
        workspace: WorkspaceId::from_uuid(uuid(row, 1)?),
        event: Event {
            id: EventId::from_uuid(uuid(row, 2)?),
            kind,
            contact: optional_uuid(row, 4)?.map(ContactId::from_uuid),
            occurred_at: Timestamp::from_micros(row.get(5)?),
            recorded_at: Timestamp::from_micros(row.get(6)?),
            payload: row.get(7)?,
        }
        .into(),
    })
}

pub fn select_positions(
    connection: &Connection,
    sql: &str,
    values: Vec<Value>,
) -> Result<Vec<Position>> {
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map(params_from_iter(values), |row| row.get(0).map(Position))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn bury(connection: &Connection, scope: Scope, positions: &[Position]) -> Result<u64> {
    let workspace = scope.0.as_uuid().into_bytes();
    let mut select = connection.prepare_cached(
        "SELECT payload FROM log
             WHERE position = ?1 AND workspace = ?2 AND kind NOT LIKE 'address.%'",
    )?;
    let mut update =
        connection.prepare_cached("UPDATE log SET payload = ?2 WHERE position = ?1")?;
    let mut buried = 0;
    for position in positions {
        let payload: Option<String> = select
            .query_row(params![position.0, workspace], |row| row.get(0))
            .optional()?;
        if let Some(payload) = payload {
            buried += update.execute(params![position.0, tombstone(&payload)])? as u64;
        }
    }
    Ok(buried)
}
