//! Reads the log ahead: while one batch is folded and written, the next one is read.

use std::sync::{Arc, Mutex, PoisonError};

use kurier_core::event::{Kind, Position, Recorded};
use kurier_store::{Error, Log, Result};
use tokio::task::JoinHandle;

pub struct Ahead {
    log: Arc<dyn Log>,
    next: Mutex<Option<Next>>,
}

/// What comes after a position, on its way.
struct Next {
    after: Position,
    read: JoinHandle<Result<Vec<Recorded>>>,
}

impl Drop for Next {
    fn drop(&mut self) {
        self.read.abort();
    }
}

impl Ahead {
    pub const fn new(log: Arc<dyn Log>) -> Self {
        Self {
            log,
            next: Mutex::new(None),
        }
    }

    /// The events after a position: those read ahead, if there are any.
    pub async fn read(&self, after: Position, max: usize) -> Result<Vec<Recorded>> {
        if let Some(mut next) = self.swap(None).filter(|next| next.after == after) {
            let read = (&mut next.read).await;
            let events = read.map_err(|e| Error::Unavailable(e.to_string()))??;
            // There may be some by now.
            if !events.is_empty() {
                return Ok(events);
            }
        }
        self.log.read(after, max).await
    }

    /// Begins to read what comes after a full batch. Not behind an erasure, which is about to
    /// change what is in the log.
    pub fn begin(&self, batch: &[Recorded], max: usize) {
        let erases = |it: &Recorded| it.event.kind == Kind::ContactErased;
        let Some(last) = batch.last().filter(|_| batch.len() == max) else {
            return;
        };
        if batch.iter().any(erases) {
            return;
        }
        let (log, after) = (self.log.clone(), last.position);
        let read = tokio::spawn(async move { log.read(after, max).await });
        self.swap(Some(Next { after, read }));
    }

    fn swap(&self, next: Option<Next>) -> Option<Next> {
        let mut held = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *held, next)
    }
}
