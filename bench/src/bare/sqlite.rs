//! SQLite: a prepared INSERT a row, a transaction every 1,000.

use std::path::Path;
use std::time::{Duration, Instant};

use kurier_core::event::{Event, lane};
use kurier_core::id::WorkspaceId;
use kurier_store::Sqlite;
use rusqlite::{Connection, params};

use super::{BATCH, Maker};

/// Events a second into the file, which Kurier makes.
pub fn run(path: &Path, seconds: f64) -> anyhow::Result<f64> {
    drop(Sqlite::open(path)?);
    let mut connection = Connection::open(path)?;
    connection.execute_batch(kurier_store::sqlite::PRAGMAS)?;
    // A loop has nothing but an index to drop repeats with.
    connection.execute_batch("CREATE UNIQUE INDEX bare_id ON log (workspace, id)")?;
    let mut maker = Maker::new();
    let (mut position, mut spent) = (0, Duration::ZERO);
    while spent.as_secs_f64() < seconds {
        let events = maker.chunk();
        let began = Instant::now();
        for batch in events.chunks(BATCH) {
            insert(&mut connection, maker.workspace, position, batch)?;
            position += batch.len() as i64;
        }
        spent += began.elapsed();
    }
    Ok(position as f64 / spent.as_secs_f64())
}

fn insert(
    connection: &mut Connection,
    workspace: WorkspaceId,
    mut position: i64,
    batch: &[Event],
) -> anyhow::Result<()> {
    let transaction = connection.transaction()?;
    let mut statement = transaction.prepare_cached(
        "INSERT INTO log (position, workspace, id, kind, contact, lane, occurred_at, recorded_at, payload)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    for event in batch {
        position += 1;
        statement.execute(params![
            position,
            workspace.as_uuid().as_bytes(),
            event.id.as_uuid().as_bytes(),
            event.kind.as_str(),
            event.contact.map(|contact| contact.as_uuid().into_bytes()),
            lane(workspace, event.contact),
            event.occurred_at.as_micros(),
            event.recorded_at.as_micros(),
            event.payload,
        ])?;
    }
    drop(statement);
    Ok(transaction.commit()?)
}
