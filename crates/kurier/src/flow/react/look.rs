//! For commands beside a server or without one: how far others have come, and the log as it is.

use kurier_core::event::Position;
use kurier_core::realm::Role;
use kurier_store::Result;

use super::{BATCH_MAX, LEASE_TERM, NAME, Reactor};

impl Reactor {
    /// How far the log was reacted to, by whichever process.
    pub async fn committed(&self) -> Result<Position> {
        self.store.views.checkpoint(NAME).await
    }

    /// Whether another process reacts to the log. If none does, this one has the lease now.
    pub async fn is_led_elsewhere(&self) -> Result<bool> {
        let reactions = &self.store.reactions;
        let fence = reactions.lease(NAME, self.holder, LEASE_TERM).await?;
        Ok(fence.is_none())
    }

    /// Follows the whole log, reacting to nothing: for commands that only look.
    pub async fn look(&self) -> Result<()> {
        let mut state = self.state.lock().await;
        self.restore(&mut state).await?;
        loop {
            let batch = self.store.log.read(state.position, BATCH_MAX).await?;
            let Some(last) = batch.last() else {
                return Ok(());
            };
            state.position = last.position;
            self.each_engine(&batch, |engine, recorded| {
                drop(engine.fold(recorded, Role::Follow))
            });
            self.say_reached(state.position);
        }
    }
}
