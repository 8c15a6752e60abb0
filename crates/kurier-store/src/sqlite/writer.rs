//! The one writer. Callers hand it work and wait; everything that waits is done in one
//! transaction, and the syncer answers when it is durable. Each piece of work stands or falls alone, without savepoints,
//! for which SQLite would copy every page it changes: when one piece fails, the group is rolled
//! back and each is done again in a transaction of its own.

use std::cell::{Cell, RefCell, RefMut};
use std::ops::Deref;
use std::sync::Arc;
use std::thread::JoinHandle;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::ids::Ids;
use super::syncer::{Sync, Syncer};
use crate::tail::{End, Tail};
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
    /// `sync` brings to the disk what the connection has committed; events that are there are
    /// kept in `tail`.
    pub fn start(connection: Connection, sync: Sync, tail: Arc<Tail>) -> Result<Self> {
        let (jobs, waiting) = mpsc::channel(WAITING_MAX);
        let syncer = Syncer::start(sync, tail)?;
        let thread = std::thread::Builder::new()
            .name("kurier-writer".into())
            .spawn(move || run(&Pen::new(connection), &syncer, waiting))
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
        F: Fn(&Pen) -> Result<T> + Send + 'static,
    {
        let (job, answered) = Asked::of(Act { weight, work });
        self.done(job, answered).await
    }

    /// The same for work that leaves something at the end of the log.
    pub async fn perform<W: Work>(&self, work: W) -> Result<W::Done> {
        let (job, answered) = Asked::of(work);
        self.done(job, answered).await
    }

    async fn done<T>(&self, job: Box<dyn Job>, answered: Answered<T>) -> Result<T> {
        let stopped = || Error::Unavailable("the writer has stopped".into());
        let jobs = self.jobs.as_ref().ok_or_else(stopped)?;
        jobs.send(job).await.map_err(|_| stopped())?;
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

/// What work is done with: the connection, and which ids the log has.
pub struct Pen {
    connection: Connection,
    ids: RefCell<Ids>,
    /// Whether the transaction under way needed the ids.
    needs_ids: Cell<bool>,
}

impl Deref for Pen {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl Pen {
    fn new(connection: Connection) -> Self {
        Self {
            connection,
            ids: RefCell::default(),
            needs_ids: Cell::new(false),
        }
    }

    /// The ids as of the transaction under way.
    pub fn ids(&self) -> Result<RefMut<'_, Ids>> {
        let mut ids = self.ids.borrow_mut();
        if !self.needs_ids.replace(true) {
            ids.begin(&self.connection)?;
        }
        Ok(ids)
    }

    fn begin(&self) -> Result<()> {
        self.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        self.needs_ids.set(false);
        Ok(())
    }

    fn commit(&self) -> Result<()> {
        if self.needs_ids.get() {
            self.ids.borrow_mut().settle(&self.connection)?;
        }
        self.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }

    /// Undoes a transaction that was not committed.
    fn abandon(&self) {
        if !self.connection.is_autocommit() {
            // Nothing was promised yet; if even this fails, the next BEGIN says so.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        if self.needs_ids.replace(false) {
            self.ids.borrow_mut().undo();
        }
    }
}

/// What is done within a transaction, and answered when it is durable.
pub trait Work: Send + 'static {
    type Done: Send + 'static;

    /// An event weighs 1.
    fn weight(&self) -> usize;

    /// May be done twice, the first time rolled back.
    fn run(&self, pen: &Pen) -> Result<Self::Done>;

    /// It is durable: events go to the end of the log, before anyone is told of them.
    fn keep(&mut self, _done: &Self::Done, _end: &mut End) {}
}

/// Work that is a function.
struct Act<F> {
    weight: usize,
    work: F,
}

impl<T: Send + 'static, F: Fn(&Pen) -> Result<T> + Send + 'static> Work for Act<F> {
    type Done = T;

    fn weight(&self) -> usize {
        self.weight
    }

    fn run(&self, pen: &Pen) -> Result<T> {
        (self.work)(pen)
    }
}

/// Work that somebody waits for.
trait Job: Send {
    fn weight(&self) -> usize;
    /// Does the work, perhaps again; false if it failed and must be rolled back.
    fn run(&mut self, pen: &Pen) -> bool;
    fn keep(&mut self, end: &mut End);
    /// Answers the caller: with its result, or with what befell the whole transaction.
    fn answer(self: Box<Self>, fate: Result<()>);
}

/// Work that goes into one transaction.
pub struct Group(Vec<Box<dyn Job>>);

impl Group {
    pub fn weight(&self) -> usize {
        self.0.iter().map(|job| job.weight()).sum()
    }

    pub fn keep(&mut self, end: &mut End) {
        self.0.iter_mut().for_each(|job| job.keep(end));
    }

    pub fn answer(self, fate: Result<()>) {
        self.0.into_iter().for_each(|job| job.answer(fate.clone()));
    }
}

type Answered<T> = oneshot::Receiver<Result<T>>;

struct Asked<W: Work> {
    work: W,
    result: Option<Result<W::Done>>,
    answer: oneshot::Sender<Result<W::Done>>,
}

impl<W: Work> Asked<W> {
    fn of(work: W) -> (Box<dyn Job>, Answered<W::Done>) {
        let (answer, answered) = oneshot::channel();
        let job = Self {
            work,
            result: None,
            answer,
        };
        (Box::new(job), answered)
    }
}

impl<W: Work> Job for Asked<W> {
    fn weight(&self) -> usize {
        self.work.weight()
    }

    fn run(&mut self, pen: &Pen) -> bool {
        self.result = Some(self.work.run(pen));
        matches!(self.result, Some(Ok(_)))
    }

    fn keep(&mut self, end: &mut End) {
        if let Some(Ok(done)) = &self.result {
            self.work.keep(done, end);
        }
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

fn run(pen: &Pen, syncer: &Syncer, mut waiting: mpsc::Receiver<Box<dyn Job>>) {
    while let Some(first) = waiting.blocking_recv() {
        let mut weight = first.weight();
        let mut group = vec![first];
        while weight < GROUP_WEIGHT_MAX
            && let Ok(job) = waiting.try_recv()
        {
            weight = weight.saturating_add(job.weight());
            group.push(job);
        }
        settle(pen, syncer, Group(group));
    }
}

/// Does a group's work and sees to it that everyone in it is answered.
fn settle(pen: &Pen, syncer: &Syncer, mut group: Group) {
    let fate = syncer.check().and_then(|()| commit(pen, &mut group));
    if !matches!(fate, Ok(true)) {
        pen.abandon();
    }
    match fate {
        Ok(true) => syncer.hand_over(group),
        Ok(false) if group.0.len() > 1 => {
            let alone = |job| settle(pen, syncer, Group(vec![job]));
            group.0.into_iter().for_each(alone);
        }
        fate => group.answer(fate.map(drop)),
    }
}

/// False if a piece of work failed; then nothing was committed.
fn commit(pen: &Pen, group: &mut Group) -> Result<bool> {
    pen.begin()?;
    if !group.0.iter_mut().all(|job| job.run(pen)) {
        return Ok(false);
    }
    pen.commit()?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(connection: &Connection) -> Result<i64> {
        Ok(connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0))?)
    }

    fn writer(sync: Sync) -> Writer {
        let connection = Connection::open_in_memory().expect("opens");
        let table = "CREATE TABLE t (x INTEGER PRIMARY KEY)";
        connection.execute_batch(table).expect("made");
        Writer::start(connection, sync, Arc::default()).expect("starts")
    }

    fn insert(writer: &Writer, x: i64) -> impl Future<Output = Result<usize>> {
        writer.write(1, move |connection| {
            Ok(connection.execute("INSERT INTO t VALUES (?1)", [x])?)
        })
    }

    #[tokio::test]
    async fn nobody_is_answered_before_the_disk_has_it() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let synced = std::sync::Arc::new(AtomicUsize::new(0));
        let at_the_disk = synced.clone();
        let writer = writer(Box::new(move |_| {
            // Slow enough that whoever did not wait would be seen.
            (0..1_000).for_each(|_| std::thread::yield_now());
            at_the_disk.fetch_add(1, Ordering::SeqCst);
            Ok(())
        }));
        for x in 1..=20 {
            assert!(matches!(insert(&writer, x).await, Ok(1)));
            assert_eq!(synced.load(Ordering::SeqCst) as i64, x);
        }
    }

    #[tokio::test]
    async fn after_a_failed_sync_nothing_is_promised_any_more() {
        let mut syncs = 0;
        let writer = writer(Box::new(move |_| {
            syncs += 1;
            if syncs == 2 {
                return Err(std::io::Error::other("no"));
            }
            Ok(())
        }));
        assert!(matches!(insert(&writer, 1).await, Ok(1)));
        for x in 2..5 {
            assert!(matches!(
                insert(&writer, x).await,
                Err(Error::Unavailable(_))
            ));
        }
    }

    #[tokio::test]
    async fn in_one_group_each_piece_stands_or_falls_alone() {
        let writer = writer(Box::new(|_| Ok(())));
        // The writer is held until all the others wait: then they are one group.
        let (release, held) = std::sync::mpsc::channel::<()>();
        let held = std::sync::Mutex::new(held);
        let busy = writer.write(1, move |_| {
            // Ends when the sender is dropped, also should this run a second time.
            let _ = held.lock().map(|held| held.recv());
            Ok(())
        });
        let half = writer.write(1, |connection| {
            connection.execute("INSERT INTO t VALUES (100)", [])?;
            Ok(connection.execute("INSERT INTO t VALUES (1)", [])?)
        });
        let released = async move { drop(release) };
        let (_, first, half, last, ()) =
            tokio::join!(busy, insert(&writer, 1), half, insert(&writer, 2), released);
        assert!(matches!((first, last), (Ok(1), Ok(1))));
        assert!(half.is_err());
        assert!(matches!(writer.write(1, |pen| count(pen)).await, Ok(2)));
    }
}
