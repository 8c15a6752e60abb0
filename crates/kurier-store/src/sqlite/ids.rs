//! Which ids the log has, so that a repeat is dropped. Ids are hashes: an index that took each
//! one in at once would have every event change a page of its own, and the write-ahead log
//! would hold little else. So the newest are remembered here, and the index (`log_id`) takes
//! them in by the thousand and in its own order. Nothing is lost with the memory: the log has
//! the ids as well, and the checkpoint says from where on they are not in the index yet.

use std::collections::HashSet;

use kurier_core::event::Position;
use kurier_core::id::{EventId, WorkspaceId};
use kurier_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::cell::uuid;
use super::log::head;
use super::views::{checkpoint, put_checkpoint};
use crate::Result;
use crate::flood::Flood;
use crate::indexed::Indexed;

/// How far the index has come.
const CHECKPOINT: &str = "log_id";
/// So many are gathered in calm times before the index takes them in,
const CALM_IDS: usize = if cfg!(test) { 8 } else { 16_384 };
/// and in a flood so many (25 MB): more lie closer together in it, and the flood may pass before.
const FLOOD_IDS: usize = if cfg!(test) { 24 } else { 262_144 };
/// It takes them in by slices; in a flood each after half as many new ones: nobody waits long, and
/// the index keeps up.
const SLICE: usize = if cfg!(test) { 8 } else { 2_048 };
/// In calm times there is one with every transaction.
const CALM_SLICE: usize = SLICE / 4;
/// So much of the index is read into the filter with one transaction.
const PORTION: i64 = if cfg!(test) { 3 } else { 1_024 };
/// Where another process has brought more than this into the index, it is not known any more.
const MISSED_MAX: i64 = if cfg!(test) { 12 } else { 100_000 };

pub type Key = (WorkspaceId, EventId);

#[derive(Default)]
pub struct Ids {
    /// Those that are not in the index yet.
    recent: HashSet<Key>,
    /// Those of them that it takes in next, in its order; those before `taken` it has.
    ripe: Vec<Key>,
    taken: usize,
    /// Where the last of the ripe stands in the log.
    ripe_to: Position,
    /// Up to here every id is recent or in the index; unknown until it was looked up.
    seen: Option<Position>,
    since_slice: usize,
    indexed: Indexed,
    /// Up to here the index was read into the filter.
    read_to: Option<Key>,
    flood: Flood,
    turn: Turn,
}

/// What the transaction under way has brought.
#[derive(Default)]
struct Turn {
    before: Option<Position>,
    added: Vec<Key>,
    last_at: Timestamp,
    is_settled: bool,
}

impl Ids {
    /// Begins a transaction. What was appended elsewhere is read: by another process, or before the
    /// start.
    pub fn begin(&mut self, connection: &Connection) -> Result<()> {
        let head = Position(head(connection)?);
        match self.seen {
            Some(seen) if seen == head => {}
            Some(seen) => self.catch_up(connection, seen)?,
            None => self.load(connection)?,
        }
        self.seen = Some(head);
        self.turn = Turn {
            before: self.seen,
            ..Turn::default()
        };
        Ok(())
    }

    fn load(&mut self, connection: &Connection) -> Result<()> {
        let first = "SELECT 1 FROM log_id LIMIT 1";
        let is_empty = connection.query_row(first, [], |_| Ok(()));
        if is_empty.optional()?.is_none() {
            self.indexed = Indexed::nothing();
        }
        let indexed = checkpoint(connection, CHECKPOINT)?;
        self.read(connection, indexed, indexed)
    }

    fn catch_up(&mut self, connection: &Connection, seen: Position) -> Result<()> {
        let indexed = checkpoint(connection, CHECKPOINT)?;
        if indexed.0 - seen.0 > MISSED_MAX {
            (self.indexed, self.read_to) = (Indexed::default(), None);
            return self.read(connection, indexed, indexed);
        }
        self.read(connection, seen, indexed)
    }

    /// Reads what stands in the log after a position; the index has all up to another.
    fn read(&mut self, connection: &Connection, after: Position, indexed: Position) -> Result<()> {
        let sql = "SELECT workspace, id, position FROM log WHERE position > ?1";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([after.0])?;
        while let Some(row) = rows.next()? {
            let key = key((uuid(row, 0)?, uuid(row, 1)?));
            if row.get::<_, i64>(2)? <= indexed.0 {
                self.indexed.add(key.1);
            } else {
                self.recent.insert(key);
            }
        }
        Ok(())
    }

    /// Whether an id is one of those that the index does not have.
    pub fn remembers(&self, key: &Key) -> bool {
        self.recent.contains(key)
    }

    /// Whether the index may have an id.
    pub fn must_ask(&mut self, key: &Key) -> bool {
        self.indexed.must_ask(key.1)
    }

    pub fn add(&mut self, key: Key, position: Position, at: Timestamp) {
        self.recent.insert(key);
        self.seen = Some(position);
        self.turn.added.push(key);
        self.turn.last_at = at;
    }

    /// Ends a transaction: brings a slice into the index, if one is due.
    pub fn settle(&mut self, connection: &Connection) -> Result<()> {
        self.turn.is_settled = true;
        let added = self.turn.added.len();
        let is_flood = self.flood.count(added, self.turn.last_at);
        self.since_slice += added;
        let many = if is_flood { FLOOD_IDS } else { CALM_IDS };
        if self.ripe.is_empty() && self.recent.len() >= many {
            self.ripen();
        }
        if !is_flood && !self.ripe.is_empty() {
            self.take_slice(connection, CALM_SLICE)?;
        }
        while !self.ripe.is_empty() && self.since_slice >= SLICE / 2 {
            self.since_slice -= SLICE / 2;
            self.take_slice(connection, SLICE)?;
        }
        match self.indexed.is_worth_reading() {
            true => self.fill(connection),
            false => Ok(()),
        }
    }

    fn ripen(&mut self) {
        self.ripe = self.recent.iter().copied().collect();
        self.ripe.sort_unstable();
        self.ripe_to = self.seen.unwrap_or_default();
        self.since_slice = 0;
    }

    fn take_slice(&mut self, connection: &Connection, size: usize) -> Result<()> {
        let sql = "INSERT OR IGNORE INTO log_id (workspace, id) VALUES (?1, ?2)";
        let mut statement = connection.prepare_cached(sql)?;
        let to = self.ripe.len().min(self.taken + size);
        for key in &self.ripe[self.taken..to] {
            let (workspace, id) = (key.0.as_uuid(), key.1.as_uuid());
            statement.execute(params![workspace.as_bytes(), id.as_bytes()])?;
            self.recent.remove(key);
            self.indexed.add(key.1);
        }
        self.taken = to;
        if to == self.ripe.len() {
            put_checkpoint(connection, CHECKPOINT, self.ripe_to)?;
            (self.ripe, self.taken) = (Vec::new(), 0);
            self.recent.shrink_to(CALM_IDS);
        }
        Ok(())
    }

    /// Reads a portion of the index into the filter.
    fn fill(&mut self, connection: &Connection) -> Result<()> {
        let sql = "SELECT workspace, id FROM log_id WHERE (workspace, id) > (?1, ?2)
                   ORDER BY workspace, id LIMIT ?3";
        let bytes = |uuid: uuid::Uuid| uuid.as_bytes().to_vec();
        // Nothing is less than empty.
        let after = self.read_to.map_or_else(Default::default, |key| {
            (bytes(key.0.as_uuid()), bytes(key.1.as_uuid()))
        });
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![after.0, after.1, PORTION])?;
        let mut read = 0;
        while let Some(row) = rows.next()? {
            let key = key((uuid(row, 0)?, uuid(row, 1)?));
            self.indexed.add(key.1);
            self.read_to = Some(key);
            read += 1;
        }
        if read < PORTION {
            self.indexed.filled();
        }
        Ok(())
    }

    /// The transaction was undone, and with it what it brought.
    pub fn undo(&mut self) {
        let turn = std::mem::take(&mut self.turn);
        if !turn.is_settled {
            for key in &turn.added {
                self.recent.remove(key);
            }
            self.seen = turn.before.or(self.seen);
            return;
        }
        // What the index took in is not known one by one: all of this is read anew.
        *self = Self::default();
    }
}

fn key((workspace, id): (uuid::Uuid, uuid::Uuid)) -> Key {
    (WorkspaceId::from_uuid(workspace), EventId::from_uuid(id))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::path::Path;

    use kurier_core::event::{Event, Kind};
    use kurier_core::time::Timestamp;
    use proptest::collection::vec;
    use proptest::prelude::*;
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

    fn open(path: &Path) -> Sqlite {
        Sqlite::open(path).expect("opened")
    }

    async fn is_new(store: &Sqlite, message: &str) -> bool {
        let appended = store.append(SCOPE, vec![event(message)]).await;
        appended.expect("appended") != [Appended::Duplicate]
    }

    /// Appends, and has the transaction undone.
    async fn fail(store: &Sqlite, events: Vec<Event>) {
        let failing = store.writer.write(1, move |pen| {
            append(pen, SCOPE, &events)?;
            Err::<(), _>(Error::Unavailable("no".into()))
        });
        assert!(failing.await.is_err());
    }

    /// The same, with everything done but the commit.
    async fn fail_late(store: &Sqlite, events: Vec<Event>) {
        let failing = store.writer.write(1, move |pen| {
            append(pen, SCOPE, &events)?;
            pen.execute_batch(ORPHAN)?;
            Ok(())
        });
        assert!(failing.await.is_err());
    }

    /// Refused at the commit.
    const ORPHAN: &str = "
        CREATE TABLE parent (id INTEGER PRIMARY KEY);
        CREATE TABLE orphan (parent INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
        INSERT INTO orphan VALUES (1);";

    #[tokio::test]
    async fn what_was_rolled_back_is_no_repeat() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = open(&folder.path().join("kurier.db"));
        assert!(is_new(&store, "kept").await);
        fail(&store, vec![event("undone")]).await;
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
        let store = open(&path);
        assert!(!is_new(&store, "old").await && is_new(&store, "new").await);
    }

    #[derive(Debug, Clone)]
    enum Step {
        /// A process appends, some seconds after the last did.
        Append(usize, Vec<u8>, i64),
        /// A process appends, and its transaction is undone, or even refused at its end.
        Fail(usize, Vec<u8>),
        FailLate(usize, Vec<u8>),
        /// A process ends, and another takes its place.
        Restart(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        let (process, numbers) = (0..2_usize, vec(0..120_u8, 1..9));
        prop_oneof![
            8 => (process.clone(), numbers.clone(), 0..3_i64)
                .prop_map(|(process, numbers, later)| Step::Append(process, numbers, later)),
            1 => (process.clone(), numbers.clone()).prop_map(|(p, n)| Step::Fail(p, n)),
            1 => (process.clone(), numbers).prop_map(|(p, n)| Step::FailLate(p, n)),
            1 => process.prop_map(Step::Restart),
        ]
    }

    fn events(numbers: &[u8], second: i64) -> Vec<Event> {
        let event = |number: &u8| Event {
            recorded_at: Timestamp::from_millis(second * 1_000),
            ..event(&number.to_string())
        };
        numbers.iter().map(event).collect()
    }

    /// What is new of what is appended, by a model that knows every id.
    async fn live(path: &Path, steps: Vec<Step>) {
        let mut processes = [open(path), open(path)];
        let (mut kept, mut now) = (HashSet::new(), 0);
        for step in steps {
            match step {
                Step::Append(process, numbers, later) => {
                    now += later;
                    let appended = processes[process].append(SCOPE, events(&numbers, now));
                    let appended = appended.await;
                    for (number, appended) in numbers.iter().zip(appended.expect("appended")) {
                        let is_new = appended != Appended::Duplicate;
                        assert_eq!(is_new, kept.insert(*number), "{number}");
                    }
                }
                Step::Fail(process, numbers) => {
                    fail(&processes[process], events(&numbers, now)).await
                }
                Step::FailLate(process, numbers) => {
                    fail_late(&processes[process], events(&numbers, now)).await;
                }
                Step::Restart(process) => processes[process] = open(path),
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// However two processes take turns, in calm times and in floods, and whatever is undone:
        /// each id is new once.
        #[test]
        fn each_id_is_new_once(steps in vec(step(), 1..80)) {
            let folder = tempfile::tempdir().expect("a folder");
            let runtime = tokio::runtime::Builder::new_current_thread().build().expect("built");
            runtime.block_on(live(&folder.path().join("kurier.db"), steps));
        }
    }
}
