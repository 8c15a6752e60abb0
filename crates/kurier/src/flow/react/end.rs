//! How reacting ends: with a snapshot, and with the lease given up.

use super::{NAME, RELEASE_LIMIT, Reactor};

impl Reactor {
    /// Writes a last snapshot and gives the lease up. The loop has ended before.
    pub async fn stop(&self) {
        let mut state = self.state.lock().await;
        if let Err(error) = self.keep_last(&mut state).await {
            tracing::warn!(%error, "no snapshot could be written before the end");
        }
        self.release().await;
    }

    /// The same, but nothing after an instant: then the next start folds what the snapshot
    /// would have told it, and the lease is given up if that can be had at once.
    pub async fn stop_by(&self, until: tokio::time::Instant) {
        if tokio::time::timeout_at(until, self.stop()).await.is_err() {
            tracing::warn!("the last snapshot was not written when the time was up");
            let _released = tokio::time::timeout(RELEASE_LIMIT, self.release()).await;
        }
    }

    /// Gives the lease up, so that another process need not wait for its end.
    pub async fn release(&self) {
        if let Err(error) = self.store.reactions.release(NAME, self.holder).await {
            tracing::warn!(%error, "the lease could not be given up");
        }
    }
}
