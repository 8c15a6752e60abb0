//! The one writer. Callers hand it work and wait; everything that waits is done in one
//! transaction with one fsync. Each piece of work stands or falls alone, without savepoints,
//! for which SQLite would copy every page it changes: when one piece fails, the group is rolled
//! back and each is done again in a transaction of its own. An answer of success is given only
//! after the commit.

use std::thread::JoinHandle;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::{Error, Result};

/// So much work may wait before callers wait to hand it over.
const WAITING_MAX: usize = 1_024;
/// A transaction takes in work until it weighs this much (an event weighs 1).
const GROUP_WEIGHT_MAX: usize = 4_000;

pub struct Writer {
    jobs: Option<mpsc::Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub fn start(connection: Connection) -> Result<Self> {
        let (jobs, waiting) = mpsc::channel(WAITING_MAX);
        let thread = std::thread::Builder::new()
            .name("kurier-writer".into())
            .spawn(move || run(&connection, waiting))
            .map_err(|e| Error::Unavailable(format!("the writer cannot be started: {e}")))?;
        Ok(Self {
            jobs: Some(jobs),
            thread: Some(thread),
        })
    }

    /// Does `work` inside the next transaction and answers once it is durable. It may be done
    /// twice, the first time rolled back.
    pub async fn write<T, F>(&self, weight: usize, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: Fn(&Connection) -> Result<T> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let job = Work {
            weight,
            work,
            result: None,
            answer,
        };
        let stopped = || Error::Unavailable("the writer has stopped".into());
        let jobs = self.jobs.as_ref().ok_or_else(stopped)?;
        jobs.send(Box::new(job)).await.map_err(|_| stopped())?;
        answered.await.map_err(|_| stopped())?
    }
}

impl Drop for Writer {
    /// Lets the thread finish what waits, and close the file.
    fn drop(&mut self) {
        self.jobs.take();
        if let Some(thread) = self.thread.take() {
            // A panic in the thread was reported there; there is nothing left to save here.
            let _ = thread.join();
        }
    }
}

trait Job: Send {
    fn weight(&self) -> usize;
    /// Does the work, perhaps again; false if it failed and must be rolled back.
    fn run(&mut self, connection: &Connection) -> bool;
    /// Answers the caller: with its result, or with what befell the whole transaction.
    fn answer(self: Box<Self>, fate: Result<()>);
}

struct Work<T, F> {
    weight: usize,
    work: F,
    result: Option<Result<T>>,
    answer: oneshot::Sender<Result<T>>,
}

impl<T: Send, F: Fn(&Connection) -> Result<T> + Send> Job for Work<T, F> {
    fn weight(&self) -> usize {
        self.weight
    }

    fn run(&mut self, connection: &Connection) -> bool {
        self.result = Some((self.work)(connection));
        matches!(self.result, Some(Ok(_)))
    }

    fn answer(self: Box<Self>, fate: Result<()>) {
        let nothing = || Err(Error::Unavailable("the work was not begun".into()));
        let result = match (fate, self.result) {
            // A piece of work that failed by itself answers its own error.
            (_, Some(Err(own))) => Err(own),
            (Err(fate), _) => Err(fate),
            (Ok(()), result) => result.unwrap_or_else(nothing),
        };
        // A caller that went away does not need the answer.
        let _ = self.answer.send(result);
    }
}

fn run(connection: &Connection, mut waiting: mpsc::Receiver<Box<dyn Job>>) {
    while let Some(first) = waiting.blocking_recv() {
        let mut weight = first.weight();
        let mut group = vec![first];
        while weight < GROUP_WEIGHT_MAX
            && let Ok(job) = waiting.try_recv()
        {
            weight = weight.saturating_add(job.weight());
            group.push(job);
        }
        settle(connection, group);
    }
}

/// Does a group's work and answers everyone in it.
fn settle(connection: &Connection, mut group: Vec<Box<dyn Job>>) {
    let fate = commit(connection, &mut group);
    if !connection.is_autocommit() {
        // Nothing was promised yet; if even this fails, the next BEGIN says so.
        let _ = connection.execute_batch("ROLLBACK");
    }
    match fate {
        Ok(false) if group.len() > 1 => {
            let alone = |job| settle(connection, vec![job]);
            group.into_iter().for_each(alone);
        }
        fate => {
            let fate = fate.map(drop);
            group.into_iter().for_each(|job| job.answer(fate.clone()));
        }
    }
}

/// False if a piece of work failed; then nothing was committed.
fn commit(connection: &Connection, group: &mut [Box<dyn Job>]) -> Result<bool> {
    connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
    if !group.iter_mut().all(|job| job.run(connection)) {
        return Ok(false);
    }
    connection.prepare_cached("COMMIT")?.execute([])?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(connection: &Connection) -> Result<i64> {
        Ok(connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0))?)
    }

    #[tokio::test]
    async fn in_one_group_each_piece_stands_or_falls_alone() {
        let connection = Connection::open_in_memory().expect("opens");
        let table = "CREATE TABLE t (x INTEGER PRIMARY KEY)";
        connection.execute_batch(table).expect("made");
        let writer = Writer::start(connection).expect("starts");
        // The writer is held until all the others wait: then they are one group.
        let (release, held) = std::sync::mpsc::channel::<()>();
        let held = std::sync::Mutex::new(held);
        let busy = writer.write(1, move |_| {
            // Ends when the sender is dropped, also should this run a second time.
            let _ = held.lock().map(|held| held.recv());
            Ok(())
        });
        let insert = |x: i64| {
            writer.write(1, move |connection| {
                Ok(connection.execute("INSERT INTO t VALUES (?1)", [x])?)
            })
        };
        let half = writer.write(1, |connection| {
            connection.execute("INSERT INTO t VALUES (100)", [])?;
            Ok(connection.execute("INSERT INTO t VALUES (1)", [])?)
        });
        let released = async move { drop(release) };
        let (_, first, half, last, ()) = tokio::join!(busy, insert(1), half, insert(2), released);
        assert!(matches!((first, last), (Ok(1), Ok(1))));
        assert!(half.is_err());
        assert!(matches!(writer.write(1, count).await, Ok(2)));
    }
}
