//! Moves the write-ahead log into the database file while the writer goes on. Left to SQLite,
//! the writer would do it, and everybody would wait.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::connect;
use crate::{Error, Result};

/// What may be written from one move to the next; an event weighs 1 and takes a page or two.
const WEIGHT: usize = 4_000;

/// Told what was written, it moves now and then. Its thread ends with it.
pub struct Checkpointer {
    wake: SyncSender<()>,
    weight: usize,
}

impl Checkpointer {
    pub fn start(database: &Path) -> Result<Self> {
        let connection = connect(database)?;
        let (wake, woken) = sync_channel(1);
        std::thread::Builder::new()
            .name("kurier-checkpointer".into())
            .spawn(move || run(&connection, &woken))
            .map_err(|e| Error::Unavailable(format!("the checkpointer cannot be started: {e}")))?;
        Ok(Self { wake, weight: 0 })
    }

    pub fn written(&mut self, weight: usize) {
        self.weight = self.weight.saturating_add(weight);
        if self.weight >= WEIGHT && self.wake.try_send(()).is_ok() {
            self.weight = 0;
        }
    }
}

fn run(connection: &rusqlite::Connection, woken: &Receiver<()>) {
    while woken.recv().is_ok() {
        // Best effort: what is left over, SQLite moves when the log has grown large.
        let _ = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
    }
}
