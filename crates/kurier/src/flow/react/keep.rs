//! The reactor's snapshots: written from time to time and at the end, loaded at the start.
//! Nothing is true in them alone: what cannot be used is discarded, and the log is folded.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use kurier_core::engine::{Decision, Engines, Snapshot};
use kurier_core::event::Position;
use kurier_store::{Error, Kept, Result, Snapshots};
use tokio::task::{JoinHandle, spawn_blocking};

use super::{NAME, Reactor, State};

/// Where snapshots are kept, and when one is written.
#[derive(Debug, Clone)]
pub struct Keeping {
    pub snapshots: Snapshots,
    /// At least so many events after the one before.
    pub events: i64,
    /// And at least so long after it.
    pub every: Duration,
}

#[derive(Debug, Default)]
pub(super) struct Progress {
    pub is_restored: bool,
    /// Where the last one was taken, and when; the start counts.
    taken: Position,
    taken_at: Option<Instant>,
    writing: Option<JoinHandle<std::io::Result<Kept>>>,
}

impl Reactor {
    /// Begins with the newest snapshot that is whole and of this log, if there is one.
    pub(super) async fn restore(&self, state: &mut State) -> Result<()> {
        if state.snapshot.is_restored {
            return Ok(());
        }
        if let Some(keeping) = &self.keeping {
            self.restore_newest(state, keeping).await?;
        }
        state.snapshot.is_restored = true;
        state.snapshot.taken_at = Some(Instant::now());
        Ok(())
    }

    async fn restore_newest(&self, state: &mut State, keeping: &Keeping) -> Result<()> {
        let snapshots = keeping.snapshots.clone();
        for kept in blocking(move || snapshots.all()).await? {
            let began = Instant::now();
            match self.load(&kept).await? {
                Ok(engines) => {
                    let (position, took_ms) = (kept.position.0, began.elapsed().as_millis());
                    tracing::info!(
                        position,
                        bytes = kept.bytes,
                        took_ms,
                        "going on from a snapshot"
                    );
                    *self.engines_mut() = engines;
                    state.position = kept.position;
                    state.snapshot.taken = kept.position;
                    self.note_kept(Some(kept));
                    return Ok(());
                }
                Err(reason) => {
                    let position = kept.position.0;
                    tracing::warn!(
                        position,
                        reason,
                        "a snapshot cannot be used and is discarded"
                    );
                    let snapshots = keeping.snapshots.clone();
                    blocking(move || snapshots.discard(&kept)).await?;
                }
            }
        }
        tracing::info!("there is no snapshot: the log is folded from its start");
        Ok(())
    }

    /// The snapshot, or why it cannot be used.
    async fn load(&self, kept: &Kept) -> Result<std::result::Result<Engines, String>> {
        let file = kept.clone();
        let read = spawn_blocking(move || Snapshot::read(&mut file.open()?));
        let (position, event, engines) = match read.await.map_err(unavailable)? {
            Ok(snapshot) => snapshot,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let there = self.store.log.read(Position(position.0 - 1), 1).await?;
        let is_ours = |recorded: &kurier_core::event::Recorded| {
            recorded.position == position && recorded.event.id == event
        };
        if position != kept.position || !there.first().is_some_and(is_ours) {
            return Ok(Err("it is of another log".into()));
        }
        if position > self.store.views.checkpoint(NAME).await? {
            return Ok(Err("it is ahead of the checkpoint".into()));
        }
        Ok(Ok(engines))
    }

    /// Starts to write a snapshot if it is time to.
    pub(super) async fn keep_sometimes(&self, state: &mut State) -> Result<()> {
        let Some(keeping) = &self.keeping else {
            return Ok(());
        };
        let writing = state.snapshot.writing.as_ref();
        if writing.is_some_and(|writing| !writing.is_finished()) {
            return Ok(());
        }
        self.finish_writing(state).await;
        let progress = &state.snapshot;
        let is_early = progress
            .taken_at
            .is_none_or(|at| at.elapsed() < keeping.every);
        if is_early || state.position.0 - progress.taken.0 < keeping.events {
            return Ok(());
        }
        self.keep(state, keeping).await
    }

    /// Writes what there is before the end.
    pub(super) async fn keep_last(&self, state: &mut State) -> Result<()> {
        let Some(keeping) = &self.keeping else {
            return Ok(());
        };
        if let Some(fence) = state.fence.filter(|_| !state.pending.is_empty()) {
            self.commit(state, fence).await?;
        }
        self.discard_erased(state).await?;
        self.finish_writing(state).await;
        if state.position > state.snapshot.taken {
            self.keep(state, keeping).await?;
            self.finish_writing(state).await;
        }
        Ok(())
    }

    /// Copies the engines, which is quick, and lets the copy be written while the loop goes on.
    /// Where nothing was decided, the checkpoint may lag: first it comes along.
    async fn keep(&self, state: &mut State, keeping: &Keeping) -> Result<()> {
        if let Some(fence) = state.fence
            && state.committed < state.position
        {
            let (to, events) = (state.position, Vec::new());
            state.pending.push_back(Decision { to, events });
            self.commit(state, fence).await?;
        }
        let position = state.position;
        if position == Position(0) {
            return Ok(());
        }
        let before = Position(position.0 - 1);
        let Some(last) = self.store.log.read(before, 1).await?.pop() else {
            return Ok(());
        };
        // Who leads has made every decision that is in the log by now.
        let known = match state.fence {
            Some(_) => self.store.log.head().await?,
            None => position,
        };
        let engines = self.engines.clone();
        let copy = move || {
            let engines = engines.read().unwrap_or_else(PoisonError::into_inner);
            Snapshot::of((position, last.event.id), known, &engines)
        };
        let snapshot = blocking(copy).await?;
        let snapshots = keeping.snapshots.clone();
        let write = move || snapshots.keep(position, |out| snapshot.write(out));
        state.snapshot.writing = Some(spawn_blocking(write));
        state.snapshot.taken = position;
        state.snapshot.taken_at = Some(Instant::now());
        Ok(())
    }

    /// Waits for a snapshot that is being written. That it fails harms nothing else.
    async fn finish_writing(&self, state: &mut State) {
        let Some(writing) = state.snapshot.writing.as_mut() else {
            return;
        };
        let written = writing.await;
        state.snapshot.writing = None;
        match written.map_err(std::io::Error::other).flatten() {
            Ok(kept) => {
                tracing::info!(
                    position = kept.position.0,
                    bytes = kept.bytes,
                    "wrote a snapshot"
                );
                self.note_kept(Some(kept));
            }
            Err(error) => tracing::warn!(%error, "a snapshot could not be written"),
        }
    }

    /// A snapshot from before an erasure still tells what was erased.
    pub(super) async fn discard_erased(&self, state: &mut State) -> Result<()> {
        let (Some(keeping), Some(position)) = (&self.keeping, state.erased) else {
            return Ok(());
        };
        self.finish_writing(state).await;
        let snapshots = keeping.snapshots.clone();
        let newest = blocking(move || {
            snapshots.discard_before(position)?;
            snapshots.newest()
        });
        let newest = newest.await?;
        state.erased = None;
        state.snapshot.taken = newest.as_ref().map_or(Position(0), |kept| kept.position);
        self.note_kept(newest);
        Ok(())
    }
}

async fn blocking<T: Send + 'static>(
    act: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T> {
    spawn_blocking(act)
        .await
        .map_err(unavailable)?
        .map_err(unavailable)
}

fn unavailable(error: impl std::fmt::Display) -> Error {
    Error::Unavailable(format!("snapshots: {error}"))
}
