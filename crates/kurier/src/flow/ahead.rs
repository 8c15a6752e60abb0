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

#[cfg(test)]
mod tests {
    use kurier_core::event::Event;
    use kurier_core::id::EventId;
    use kurier_store::{Scope, Sqlite, Store};

    use super::*;
    use crate::{clock, keyring};

    const MAX: usize = 4;

    struct Stage {
        _home: tempfile::TempDir,
        store: Store,
        scope: Scope,
        /// Behind what founding a workspace says.
        begin: Position,
    }

    impl Stage {
        async fn of(kinds: &[Kind]) -> Self {
            let home = tempfile::tempdir().expect("a folder");
            let sqlite = Sqlite::open(&home.path().join("kurier.db")).expect("opened");
            let store = Store::from(sqlite);
            let made = keyring::found(store.access.as_ref(), "default", None, None).await;
            made.expect("founded");
            let workspaces = store.access.workspaces().await.expect("listed");
            let stage = Self {
                begin: store.log.head().await.expect("read"),
                _home: home,
                store,
                scope: Scope(workspaces[0].id),
            };
            for (number, kind) in kinds.iter().enumerate() {
                stage.append(*kind, number).await;
            }
            stage
        }

        async fn append(&self, kind: Kind, number: usize) {
            let (payload, now) = (format!("{{\"number\":{number}}}"), clock::now());
            let event = Event {
                id: EventId::of_message(&payload),
                kind,
                contact: None,
                occurred_at: now,
                recorded_at: now,
                payload,
            };
            let appended = self.store.log.append(self.scope, vec![event]).await;
            appended.expect("appended");
        }

        const fn at(&self, number: i64) -> Position {
            Position(self.begin.0 + number)
        }
    }

    async fn read_all(ahead: &Ahead, begin: Position) -> Vec<Position> {
        let (mut seen, mut after) = (Vec::new(), begin);
        loop {
            let batch = ahead.read(after, MAX).await.expect("read");
            let Some(last) = batch.last() else {
                return seen;
            };
            after = last.position;
            ahead.begin(&batch, MAX);
            seen.extend(batch.iter().map(|recorded| recorded.position));
        }
    }

    #[tokio::test]
    async fn what_is_read_ahead_is_what_the_log_says() {
        let stage = Stage::of(&[Kind::Track; 2 * MAX]).await;
        let ahead = Ahead::new(stage.store.log.clone());
        let all: Vec<Position> = (1..=8).map(|number| stage.at(number)).collect();
        assert_eq!(read_all(&ahead, stage.begin).await, all);
        // From elsewhere, and with what came since.
        stage.append(Kind::Track, 2 * MAX).await;
        let batch = ahead.read(stage.at(6), MAX).await.expect("read");
        let positions: Vec<Position> = batch.iter().map(|it| it.position).collect();
        assert_eq!(positions, [stage.at(7), stage.at(8), stage.at(9)]);
    }

    #[tokio::test]
    async fn nothing_is_read_ahead_of_an_erasure() {
        let mut kinds = vec![Kind::Track; 2 * MAX];
        kinds[1] = Kind::ContactErased;
        let stage = Stage::of(&kinds).await;
        let ahead = Ahead::new(stage.store.log.clone());
        let batch = ahead.read(stage.begin, MAX).await.expect("read");
        ahead.begin(&batch, MAX);
        // Whatever was begun has been read by now.
        tokio::task::yield_now().await;
        let next = [stage.at(5)];
        let buried = stage.store.log.tombstone(stage.scope, &next);
        assert_eq!(buried.await.expect("buried"), 1);
        let batch = ahead.read(stage.at(4), MAX).await.expect("read");
        assert!(!batch[0].event.payload.contains("number"), "{batch:?}");
    }
}
