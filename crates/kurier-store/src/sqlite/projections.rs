use std::collections::HashSet;

use async_trait::async_trait;
use kurier_core::event::Position;
use kurier_core::id::{EventId, WorkspaceId};
use kurier_core::projection::{Loaded, Need, Projection, Row, Table, Writes};
use kurier_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::Sqlite;
use super::shadows;
use super::tables::{load_from, put, write};
use super::writer::Pen;
use crate::projections::{Progress, Projections, SetAside, Side, Swap, Swapped, Visit, shadow_of};
use crate::{Result, rows_max};

/// So many rows are written to a shadow at once: others want to write as well.
const PORTION: usize = 2_000;

type Failure = Option<(Timestamp, String)>;

impl Sqlite {
    /// Writes rows into a shadow table, a portion at a time: others write in between.
    async fn fill(&self, table: &'static Table, rows: Vec<Row>) -> Result<()> {
        let mut rows = rows.into_iter();
        loop {
            let portion: Vec<Row> = rows.by_ref().take(PORTION).collect();
            if portion.is_empty() {
                return Ok(());
            }
            self.writer
                .write(portion.len(), move |pen| {
                    put(pen, Side::Shadow, table, &portion)
                })
                .await?;
        }
    }
}

#[async_trait]
impl Projections for Sqlite {
    async fn progress(&self, name: &str) -> Result<Progress> {
        let name = name.to_owned();
        let read = move |connection: &Connection| progress(connection, &name);
        self.readers.read(read).await
    }

    async fn pause(&self, name: &str, is_paused: bool) -> Result<()> {
        let name = name.to_owned();
        let sql = "INSERT INTO checkpoint (name, position, paused) VALUES (?1, 0, ?2)
                   ON CONFLICT (name) DO UPDATE SET paused = excluded.paused";
        self.writer
            .write(1, move |pen| {
                pen.execute(sql, params![name, is_paused])?;
                Ok(())
            })
            .await
    }

    async fn note_failure(&self, name: &str, failure: Option<(Timestamp, String)>) -> Result<()> {
        let name = name.to_owned();
        let (at, text) = failure.unzip();
        let at = at.map(|at| at.as_micros());
        let sql =
            "INSERT INTO checkpoint (name, position, failed_at, failure, last_failed_at, last_failure)
                   VALUES (?1, 0, ?2, ?3, ?2, ?3)
                   ON CONFLICT (name) DO UPDATE
                   SET failed_at = excluded.failed_at, failure = excluded.failure,
                     last_failed_at = coalesce(excluded.failed_at, last_failed_at),
                     last_failure = coalesce(excluded.failure, last_failure)";
        self.writer
            .write(1, move |pen| {
                pen.execute(sql, params![name, at, text])?;
                Ok(())
            })
            .await
    }

    async fn set_aside(&self, name: &str, limit: usize) -> Result<Vec<SetAside>> {
        let name = name.to_owned();
        self.readers
            .read(move |connection| {
                let sql = "SELECT position, reason FROM poison WHERE projection = ?1
                           ORDER BY position LIMIT ?2";
                let mut statement = connection.prepare_cached(sql)?;
                let rows = statement.query_map(params![name, rows_max(limit)], |row| {
                    Ok(SetAside {
                        position: Position(row.get(0)?),
                        reason: row.get(1)?,
                    })
                })?;
                Ok(rows.collect::<rusqlite::Result<_>>()?)
            })
            .await
    }

    async fn processed(
        &self,
        name: &str,
        events: &[(WorkspaceId, EventId)],
    ) -> Result<HashSet<(WorkspaceId, EventId)>> {
        let (name, events) = (name.to_owned(), events.to_vec());
        self.readers
            .read(move |connection| {
                let sql = "SELECT 1 FROM processed_events
                           WHERE projection = ?1 AND workspace = ?2 AND event = ?3";
                let mut statement = connection.prepare_cached(sql)?;
                let mut seen = HashSet::new();
                for (workspace, event) in events {
                    if statement.exists(key(&name, workspace, event))? {
                        seen.insert((workspace, event));
                    }
                }
                Ok(seen)
            })
            .await
    }

    async fn open_shadow(&self, projection: &'static dyn Projection) -> Result<()> {
        self.writer
            .write(1, move |pen| shadows::open(pen, projection))
            .await
    }

    async fn load_shadow(&self, needs: Vec<Need>) -> Result<Vec<Loaded>> {
        let find = move |connection: &Connection| {
            let loaded = needs
                .iter()
                .map(|need| load_from(connection, Side::Shadow, need));
            loaded.collect()
        };
        self.readers.read(find).await
    }

    async fn write_shadow(&self, writes: Vec<Writes>) -> Result<()> {
        for mut one in writes {
            let (table, rows) = (one.table, std::mem::take(&mut one.puts));
            let weight = one.prefixes.len() + one.gone.len();
            if weight > 0 {
                let work = move |pen: &Pen| write(pen, Side::Shadow, &one);
                self.writer.write(weight, work).await?;
            }
            self.fill(table, rows).await?;
        }
        Ok(())
    }

    async fn fill_shadow(&self, rows: Writes) -> Result<()> {
        self.fill(rows.table, rows.puts).await
    }

    async fn process_shadow(
        &self,
        projection: &'static dyn Projection,
        events: Vec<(WorkspaceId, EventId)>,
    ) -> Result<()> {
        for portion in events.chunks(PORTION) {
            let (name, portion) = (shadow_of(projection.name()), portion.to_vec());
            self.writer
                .write(portion.len(), move |pen| process(pen, &name, &portion))
                .await?;
        }
        Ok(())
    }

    async fn swap(&self, swap: Swap) -> Result<Swapped> {
        self.writer
            .write(1, move |pen| shadows::swap(pen, &swap))
            .await
    }

    async fn has_shadows(&self) -> Result<bool> {
        let sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name GLOB 'shadow_*'";
        self.readers
            .read(move |connection| Ok(connection.prepare_cached(sql)?.exists([])?))
            .await
    }

    async fn drop_shadow(&self, projection: &'static dyn Projection) -> Result<()> {
        self.writer
            .write(1, move |pen| shadows::drop_all(pen, projection))
            .await
    }

    async fn survey(
        &self,
        side: Side,
        projection: &'static dyn Projection,
        visit: Visit,
    ) -> Result<Position> {
        self.readers
            .read(move |connection| shadows::survey(connection, side, projection, visit))
            .await
    }
}

fn key(name: &str, workspace: WorkspaceId, event: EventId) -> (&str, [u8; 16], [u8; 16]) {
    let workspace = workspace.as_uuid().into_bytes();
    (name, workspace, event.as_uuid().into_bytes())
}

/// Remembers events as counted.
pub fn process(
    connection: &Connection,
    name: &str,
    events: &[(WorkspaceId, EventId)],
) -> Result<()> {
    let sql = "INSERT INTO processed_events (projection, workspace, event) VALUES (?1, ?2, ?3)
               ON CONFLICT DO NOTHING";
    let mut statement = connection.prepare_cached(sql)?;
    for (workspace, event) in events {
        statement.execute(key(name, *workspace, *event))?;
    }
    Ok(())
}

/// What failed and when, in two columns.
fn failure(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Failure> {
    let (at, text): (Option<i64>, Option<String>) = (row.get(column)?, row.get(column + 1)?);
    Ok(at.map(Timestamp::from_micros).zip(text))
}

fn progress(connection: &Connection, name: &str) -> Result<Progress> {
    let sql = "SELECT position, paused, failed_at, failure, last_failed_at, last_failure
               FROM checkpoint WHERE name = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement
        .query_row([name], |row| {
            Ok(Progress {
                position: Position(row.get(0)?),
                is_paused: row.get(1)?,
                failure: failure(row, 2)?,
                last_failure: failure(row, 4)?,
            })
        })
        .optional()?;
    Ok(found.unwrap_or_default())
}
