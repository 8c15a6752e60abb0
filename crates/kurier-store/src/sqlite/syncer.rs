//! Makes commits durable while the next is under way. The writer commits without waiting for
//! the disk and hands its group on; one fsync here covers every group that waits, and only
//! then are their callers answered. The frames of the write-ahead log are chained by
//! checksums, so what the disk has is always a beginning of what was committed.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use super::checkpointer::Checkpointer;
use super::writer::Group;
use crate::tail::Tail;
use crate::{Error, Result};

/// So many groups may wait for the disk before the writer does.
const GROUPS_MAX: usize = 8;

/// Brings what was committed to the disk; told how much that is.
pub type Sync = Box<dyn FnMut(usize) -> io::Result<()> + Send>;

pub struct Syncer {
    groups: Option<SyncSender<Group>>,
    thread: Option<JoinHandle<()>>,
    failed: Arc<AtomicBool>,
}

impl Syncer {
    /// What is durable is kept in `tail`.
    pub fn start(sync: Sync, tail: Arc<Tail>) -> Result<Self> {
        let (groups, waiting) = sync_channel(GROUPS_MAX);
        let failed = Arc::new(AtomicBool::new(false));
        let has_failed = failed.clone();
        let thread = std::thread::Builder::new()
            .name("kurier-syncer".into())
            .spawn(move || run(&waiting, sync, &has_failed, &tail))
            .map_err(|e| Error::Unavailable(format!("the syncer cannot be started: {e}")))?;
        Ok(Self {
            groups: Some(groups),
            thread: Some(thread),
            failed,
        })
    }

    /// After a failed fsync nobody knows what the disk has, and a later one that succeeds says
    /// nothing about it: from then on nothing is promised any more.
    pub fn check(&self) -> Result<()> {
        if self.failed.load(Ordering::Acquire) {
            return Err(refusal());
        }
        Ok(())
    }

    /// Answers a committed group once it is durable.
    pub fn hand_over(&self, group: Group) {
        let Some(groups) = &self.groups else {
            return group.answer(Err(refusal()));
        };
        if let Err(returned) = groups.send(group) {
            returned.0.answer(Err(refusal()));
        }
    }
}

impl Drop for Syncer {
    fn drop(&mut self) {
        self.groups.take();
        if let Some(thread) = self.thread.take() {
            // A panic in the thread was reported there; there is nothing left to save here.
            let _ = thread.join();
        }
    }
}

fn refusal() -> Error {
    Error::Unavailable("the disk failed to keep what was written: look at it, then restart".into())
}

fn run(waiting: &Receiver<Group>, mut sync: Sync, failed: &AtomicBool, tail: &Tail) {
    while let Ok(first) = waiting.recv() {
        let mut groups = vec![first];
        groups.extend(waiting.try_iter());
        let fate = if failed.load(Ordering::Acquire) {
            Err(refusal())
        } else {
            let weight = groups.iter().map(Group::weight).sum();
            sync(weight).map_err(|error| {
                failed.store(true, Ordering::Release);
                Error::Unavailable(format!("the disk failed to keep what was written: {error}"))
            })
        };
        if fate.is_ok() {
            let mut end = tail.open();
            groups.iter_mut().for_each(|group| group.keep(&mut end));
        }
        groups
            .into_iter()
            .for_each(|group| group.answer(fate.clone()));
    }
}

/// The fsync of a database's write-ahead log, which SQLite makes at the first commit and keeps
/// as long as a connection is open.
pub fn of_file(database: &Path) -> Result<Sync> {
    let mut checkpointer = Checkpointer::start(database)?;
    let mut name = database.as_os_str().to_owned();
    name.push("-wal");
    let mut file: Option<File> = None;
    Ok(Box::new(move |weight| {
        let file = match &mut file {
            Some(file) => file,
            none => none.insert(File::open(&name)?),
        };
        file.sync_data()?;
        checkpointer.written(weight);
        Ok(())
    }))
}
