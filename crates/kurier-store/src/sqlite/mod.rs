//! SQLite: one file, one writer with group commit, many readers. The default, and durable:
//! a commit is answered after an fsync of the write-ahead log, so it survives losing power.

mod access;
mod bundle_audit;
mod cell;
mod channels;
mod checkpointer;
mod claims;
mod gates;
mod hand;
mod ids;
mod journeys;
mod log;
mod messages;
mod projections;
mod pulse;
mod queue;
mod reactions;
mod readers;
mod records;
mod segments;
mod shadows;
mod suppressions;
mod syncer;
mod tables;
mod templates;
mod users;
mod versions;
mod views;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};
use tokio::sync::Mutex;

use crate::queue::AGEING_MICROS;
use crate::tail::Tail;
use crate::{Result, migration};
use pulse::Pulse;
use readers::Readers;
use writer::Writer;

/// How long to wait for another process that is writing the same file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// How the writer's connection is set. Public for the benchmark, which compares with a bare
/// loop under the same settings.
// secure_delete: what is erased or overwritten is zeroed, not left in free space.
pub const PRAGMAS: &str = "
    PRAGMA synchronous = FULL;
    PRAGMA secure_delete = ON;
    PRAGMA foreign_keys = ON;
    PRAGMA cache_size = -65536;
    PRAGMA wal_autocheckpoint = 32768;
    PRAGMA journal_size_limit = 134217728;";

pub struct Sqlite {
    path: PathBuf,
    writer: Writer,
    pub(crate) tail: Arc<Tail>,
    readers: Readers,
    pulse: Pulse,
    hand: Mutex<()>,
    ageing: i64,
}

impl Sqlite {
    /// Sets how much longer a message must be due to go before one of the next priority.
    pub fn with_ageing(self, micros: i64) -> Self {
        Self {
            ageing: micros,
            ..self
        }
    }

    /// Opens the database, making it or bringing it up to date first.
    pub fn open(path: &Path) -> Result<Self> {
        let mut connection = connect(path)?;
        migrate(&mut connection)?;
        // Here the syncer does what FULL would have the writer wait for.
        connection.execute_batch("PRAGMA synchronous = NORMAL")?;
        let tail = Arc::<Tail>::default();
        let writer = Writer::start(connection, syncer::of_file(path)?, tail.clone())?;
        Ok(Self {
            path: path.to_owned(),
            writer,
            tail,
            readers: Readers::new(path),
            pulse: Pulse::of(path.to_owned()),
            hand: Mutex::default(),
            ageing: AGEING_MICROS,
        })
    }

    /// The schema as text, to be compared with the one that is committed.
    pub async fn schema(&self) -> Result<String> {
        self.readers
            .read(|connection| {
                let sql = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name";
                let mut statement = connection.prepare(sql)?;
                let parts = statement.query_map([], |row| row.get::<_, String>(0))?;
                let parts: Vec<String> = parts.collect::<rusqlite::Result<_>>()?;
                Ok(parts.join(";\n\n") + ";\n")
            })
            .await
    }
}

fn connect(path: &Path) -> Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(64);
    use_wal(&connection)?;
    connection.execute_batch(PRAGMAS)?;
    Ok(connection)
}

/// While another process makes the same file or is the last to leave it, SQLite answers
/// "busy" here at once: the timeout does not cover this.
fn use_wal(connection: &Connection) -> Result<()> {
    const PAUSE: Duration = Duration::from_millis(10);
    let mut pauses_left = BUSY_TIMEOUT.as_millis() / PAUSE.as_millis();
    loop {
        match connection.execute_batch("PRAGMA journal_mode = WAL") {
            Err(e) if e.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && pauses_left > 0 => {
                pauses_left -= 1;
                std::thread::sleep(PAUSE);
            }
            other => return Ok(other?),
        }
    }
}

fn connect_to_read(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.execute_batch("PRAGMA query_only = ON; PRAGMA cache_size = -8192;")?;
    Ok(connection)
}

/// Takes the lock only when there is something to do: another process may be busy writing.
fn migrate(connection: &mut Connection) -> Result<()> {
    if pending(connection)?.is_empty() {
        return Ok(());
    }
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Exclusive)?;
    for step in pending(&transaction)? {
        transaction.execute_batch(step.sql)?;
        transaction.pragma_update(None, "user_version", step.version)?;
    }
    Ok(transaction.commit()?)
}

fn pending(connection: &Connection) -> Result<&'static [migration::Migration]> {
    let version = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    migration::pending(migration::SQLITE, version)
}
