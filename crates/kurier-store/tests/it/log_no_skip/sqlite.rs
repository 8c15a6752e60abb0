//! The store appends, and another process writes to the same file: it holds the lock,
//! pauses, and rolls half of its work back. One is enough: SQLite's lock is not fair, and with
//! many who take it by turns somebody may wait longer than a store does.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use kurier_core::event::Event;
use kurier_store::{Sqlite, Store};
use rusqlite::{Connection, params};

use super::backend::with_sqlite;
use super::dice::Dice;
use super::{BATCHES, BATCHES_SLOW, Committed, WRITERS, Work, append, batch, pause, race, scope};

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn a_reader_misses_nothing() {
    race_on_sqlite(BATCHES).await;
}

mod long_run {
    #[tokio::test(flavor = "multi_thread", worker_threads = 8)]
    async fn a_reader_misses_nothing() {
        super::race_on_sqlite(super::BATCHES_SLOW).await;
    }
}

async fn race_on_sqlite(batches: usize) {
    with_sqlite(async |path| {
        let (store, work) = (open(&path), Work::of(batches));
        let writers = (0..WRITERS)
            .map(|n| match n {
                0 => tokio::spawn(transact(path.clone(), work.clone(), n)),
                n => tokio::spawn(append(store.clone(), work.clone(), n)),
            })
            .collect();
        race(open(&path), writers).await;
    })
    .await;
}

fn open(path: &Path) -> Store {
    Sqlite::open(path).expect("opened").into()
}

/// Writes as the store's writer does, from outside, and rolls some back.
async fn transact(path: PathBuf, work: Arc<Work>, seed: u64) -> Committed {
    let connection = Connection::open(path).expect("opened");
    connection
        .busy_timeout(Duration::from_secs(30))
        .expect("set");
    let mut dice = Dice::new(seed);
    let mut committed = Committed::new();
    while let Some(number) = work.take() {
        let events = batch(&mut dice, &format!("transaction {number}"));
        connection.execute_batch("BEGIN IMMEDIATE").expect("begun");
        insert(&connection, &events);
        pause(&mut dice).await;
        if dice.below(2) == 0 {
            connection.execute_batch("ROLLBACK").expect("rolled back");
        } else {
            connection.execute_batch("COMMIT").expect("committed");
            committed.extend(events.iter().map(|event| event.id));
        }
        pause(&mut dice).await;
    }
    committed
}

fn insert(connection: &Connection, events: &[Event]) {
    let sql = "INSERT INTO log SELECT coalesce(max(position), 0) + 1, ?1, ?2, 'track', NULL, 0,
               ?3, ?3, '{}' FROM log";
    for event in events {
        let (workspace, id) = (
            scope().0.as_uuid().into_bytes(),
            event.id.as_uuid().into_bytes(),
        );
        let at = event.recorded_at.as_micros();
        let inserted = connection.execute(sql, params![workspace, id, at]);
        assert_eq!(inserted.expect("inserted"), 1);
    }
}
