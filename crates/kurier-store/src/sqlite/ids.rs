//! Which ids the log has, so that a repeat is dropped. Ids are hashes: an index that took each
//! one in at once would have every event change a page of its own, and the write-ahead log
//! would hold little else. So the newest are remembered here, and the index (`log_id`) takes
//! them in by the thousand and in its own order. Nothing is lost with the memory: the log has
//! the ids as well, and the checkpoint says from where on they are not in the index yet.

use std::collections::HashSet;

use kurier_core::event::Position;
use kurier_core::id::{EventId, WorkspaceId};
use rusqlite::{Connection, params};

use super::cell::uuid;
use super::log::head;
use super::views::{checkpoint, put_checkpoint};
use crate::Result;

/// How far the index has come.
const CHECKPOINT: &str = "log_id";
/// So many are gathered before the index takes them in: more lie closer together in it.
const YOUNG_MAX: usize = 16_384;
/// It takes them in by slices, each after half as many new ones: nobody waits long, and the
/// index keeps up.
const SLICE: usize = 2_048;

pub type Key = (WorkspaceId, EventId);

#[derive(Default)]
pub struct Ids {
    young: HashSet<Key>,
    /// In order; those before `taken` are in the index.
    ripe: Vec<Key>,
    taken: usize,
    /// Where the last of the ripe stands in the log.
    ripe_to: Position,
    /// Up to here every id is young, ripe or in the index.
    seen: Position,
    since_slice: usize,
}

impl Ids {
    /// Reads what was appended elsewhere: by another process, or before the start.
    pub fn catch_up(&mut self, connection: &Connection) -> Result<()> {
        let head = Position(head(connection)?);
        if head > self.seen {
            let indexed = checkpoint(connection, CHECKPOINT)?;
            self.read(connection, self.seen.max(indexed))?;
            self.seen = head;
        }
        Ok(())
    }

    fn read(&mut self, connection: &Connection, after: Position) -> Result<()> {
        let sql = "SELECT workspace, id FROM log WHERE position > ?1";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([after.0])?;
        while let Some(row) = rows.next()? {
            let key = (
                WorkspaceId::from_uuid(uuid(row, 0)?),
                EventId::from_uuid(uuid(row, 1)?),
            );
            self.young.insert(key);
        }
        Ok(())
    }

    /// Whether an id is remembered; if not, it may still be in the index.
    pub fn remembers(&self, key: &Key) -> bool {
        self.young.contains(key) || self.ripe.binary_search(key).is_ok()
    }

    pub fn add(&mut self, key: Key, position: Position) {
        self.young.insert(key);
        self.seen = position;
        self.since_slice += 1;
    }

    /// Brings a slice into the index, if one is due.
    pub fn settle(&mut self, connection: &Connection) -> Result<()> {
        if self.ripe.is_empty() && self.young.len() >= YOUNG_MAX {
            self.ripe = self.young.drain().collect();
            self.ripe.sort_unstable();
            self.ripe_to = self.seen;
            self.since_slice = 0;
        }
        while !self.ripe.is_empty() && self.since_slice >= SLICE / 2 {
            self.since_slice -= SLICE / 2;
            self.take_slice(connection)?;
        }
        Ok(())
    }

    fn take_slice(&mut self, connection: &Connection) -> Result<()> {
        let sql = "INSERT OR IGNORE INTO log_id (workspace, id) VALUES (?1, ?2)";
        let mut statement = connection.prepare_cached(sql)?;
        let to = self.ripe.len().min(self.taken + SLICE);
        for (workspace, id) in &self.ripe[self.taken..to] {
            let (workspace, id) = (workspace.as_uuid(), id.as_uuid());
            statement.execute(params![workspace.as_bytes(), id.as_bytes()])?;
        }
        self.taken = to;
        if to == self.ripe.len() {
            put_checkpoint(connection, CHECKPOINT, self.ripe_to)?;
            self.ripe = Vec::new();
            self.taken = 0;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use kurier_core::event::{Event, Kind};
    use kurier_core::time::Timestamp;
    use uuid::Uuid;

    use super::super::log::append;
    use super::super::{Sqlite, connect};
    use crate::{Appended, Error, Log as _, Scope, migration};

    const SCOPE: Scope = Scope(super::WorkspaceId::from_uuid(Uuid::nil()));

    fn event(message: &str) -> Event {
        Event {
            id: super::EventId::of_message(message),
            kind: Kind::Track,
            contact: None,
            occurred_at: Timestamp::from_micros(0),
            recorded_at: Timestamp::from_micros(0),
            payload: "{}".to_owned(),
        }
    }

    async fn is_new(store: &Sqlite, message: &str) -> bool {
        let appended = store.append(SCOPE, vec![event(message)]).await;
        appended.expect("appended") != [Appended::Duplicate]
    }

    #[tokio::test]
    async fn what_was_rolled_back_is_no_repeat() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Sqlite::open(&folder.path().join("kurier.db")).expect("opened");
        assert!(is_new(&store, "kept").await);
        let failing = store.writer.write(1, |pen| {
            append(pen, SCOPE, &[event("undone")])?;
            Err::<(), _>(Error::Unavailable("no".into()))
        });
        assert!(failing.await.is_err());
        assert!(is_new(&store, "undone").await);
        assert!(!is_new(&store, "kept").await && !is_new(&store, "undone").await);
    }

    #[tokio::test]
    async fn ids_from_before_the_table_of_ids_are_known() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("kurier.db");
        let older = connect(&path).expect("opened");
        for step in &migration::SQLITE[..5] {
            older.execute_batch(step.sql).expect("migrated");
        }
        older.pragma_update(None, "user_version", 5).expect("set");
        let id = event("old").id.as_uuid().into_bytes();
        let row = "INSERT INTO log VALUES (1, ?1, ?2, 'track', NULL, 0, 0, 0, '{}')";
        older.execute(row, [[0; 16], id]).expect("inserted");
        drop(older);
        let store = Sqlite::open(&path).expect("opened");
        assert!(!is_new(&store, "old").await && is_new(&store, "new").await);
    }
}
