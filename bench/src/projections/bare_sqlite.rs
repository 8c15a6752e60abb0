//! What SQLite alone can do: the same fold in a loop of batches of 10,000.

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use rusqlite::{Connection, Transaction, params};

use super::BARE_BATCH;
use super::own::Took;
use super::summary::Deed;

type Key = Vec<u8>;

#[derive(Default)]
struct Sums {
    contacts: HashMap<(Key, Key), (i64, i64, String)>,
    kinds: HashMap<(Key, String), i64>,
}

impl Sums {
    fn take(&mut self, workspace: Key, contact: Key, payload: &str) -> anyhow::Result<()> {
        let deed: Deed<'_> = serde_json::from_str(payload)?;
        let sum = self
            .contacts
            .entry((workspace.clone(), contact))
            .or_default();
        sum.0 += 1;
        sum.1 += deed.properties.amount;
        deed.event.clone_into(&mut sum.2);
        *self
            .kinds
            .entry((workspace, deed.event.to_owned()))
            .or_default() += 1;
        Ok(())
    }
}

pub fn run(path: &Path) -> anyhow::Result<Took> {
    let mut connection = Connection::open(path)?;
    connection.execute_batch(kurier_store::sqlite::PRAGMAS)?;
    let remembered = live(&mut connection, true)?;
    let upserted = live(&mut connection, false)?;
    let rebuilt = rebuild(&mut connection)?;
    Ok(Took {
        upserted,
        remembered,
        rebuilt,
    })
}

fn live(connection: &mut Connection, remembers: bool) -> anyhow::Result<f64> {
    connection.execute_batch(super::own::FORGET)?;
    let began = Instant::now();
    let mut after = 0;
    loop {
        let transaction = connection.transaction()?;
        let last = batch(&transaction, after, remembers)?;
        transaction.execute(
            "INSERT INTO checkpoint (name, position) VALUES ('bench', ?1)
             ON CONFLICT (name) DO UPDATE SET position = excluded.position",
            [last],
        )?;
        transaction.commit()?;
        if last == after {
            return Ok(began.elapsed().as_secs_f64());
        }
        after = last;
    }
}

fn batch(transaction: &Transaction<'_>, after: i64, remembers: bool) -> anyhow::Result<i64> {
    let mut sums = Sums::default();
    let last = read(transaction, after, &mut sums, remembers)?;
    let mut contact = transaction.prepare_cached(
        "INSERT INTO bench_summary VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO UPDATE SET
         event_count = event_count + excluded.event_count, amount = amount + excluded.amount,
         last_type = excluded.last_type, revision = excluded.revision",
    )?;
    for ((workspace, id), (count, amount, name)) in sums.contacts {
        contact.execute(params![workspace, id, count, amount, name, last])?;
    }
    let mut kind = transaction.prepare_cached(
        "INSERT INTO bench_count VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET
         total = total + excluded.total, revision = excluded.revision",
    )?;
    for ((workspace, name), count) in sums.kinds {
        kind.execute(params![workspace, name, count, last])?;
    }
    Ok(last)
}

/// Reads a batch and folds it; answers where it ends.
fn read(
    connection: &Connection,
    after: i64,
    sums: &mut Sums,
    remembers: bool,
) -> anyhow::Result<i64> {
    let mut select = connection.prepare_cached(
        "SELECT position, workspace, contact, payload, id FROM log
         WHERE position > ?1 AND position <= ?2 ORDER BY position",
    )?;
    let mut remember = connection.prepare_cached(
        "INSERT INTO processed_events VALUES ('bench', ?1, ?2) ON CONFLICT DO NOTHING",
    )?;
    let mut rows = select.query([after, after + BARE_BATCH])?;
    let mut last = after;
    while let Some(row) = rows.next()? {
        last = row.get(0)?;
        let (workspace, contact): (Key, Key) = (row.get(1)?, row.get(2)?);
        if remembers && remember.execute(params![workspace, row.get_ref(4)?.as_blob()?])? == 0 {
            continue;
        }
        let payload = row.get_ref(3)?.as_str()?;
        sums.take(workspace, contact, payload)?;
    }
    Ok(last)
}

/// All in memory, into new tables in one transaction, which then take the place of the old.
fn rebuild(connection: &mut Connection) -> anyhow::Result<f64> {
    let began = Instant::now();
    let (mut sums, mut after) = (Sums::default(), 0);
    loop {
        let last = read(connection, after, &mut sums, false)?;
        if last == after {
            break;
        }
        after = last;
    }
    let transaction = connection.transaction()?;
    let tables = super::own::sqlite_tables().replace("TABLE bench_", "TABLE bare_");
    transaction.execute_batch(&tables)?;
    let mut contact =
        transaction.prepare("INSERT INTO bare_summary VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
    for ((workspace, id), (count, amount, name)) in sums.contacts {
        contact.execute(params![workspace, id, count, amount, name, after])?;
    }
    let mut kind = transaction.prepare("INSERT INTO bare_count VALUES (?1, ?2, ?3, ?4)")?;
    for ((workspace, name), count) in sums.kinds {
        kind.execute(params![workspace, name, count, after])?;
    }
    drop((contact, kind));
    transaction.execute_batch(
        "DROP TABLE bench_summary; ALTER TABLE bare_summary RENAME TO bench_summary;
         DROP TABLE bench_count; ALTER TABLE bare_count RENAME TO bench_count;",
    )?;
    transaction.commit()?;
    Ok(began.elapsed().as_secs_f64())
}
