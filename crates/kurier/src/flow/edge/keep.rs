//! How far the edge came: known in this process after every step, kept now and then.

use kurier_core::edge::Module;
use kurier_core::event::Position;
use kurier_store::kv::Command;

use super::{Edge, Result};

/// The checkpoint of record is written at least after so many events: what came after it is seen
/// again after a crash, and known by its hints.
const UNKEPT_EVENTS_MAX: i64 = 10_000;

impl<M: Module> Edge<M> {
    /// Notes how far it came; and keeps the checkpoint now and then.
    pub(super) async fn settle(&self, to: Position, is_quiet: bool) -> Result<()> {
        let kept = {
            let mut state = self.state();
            (state.applied, state.scanned) = (Some(to), to);
            state.pending.clear();
            state.rests_until = None;
            state.owes |= !is_quiet;
            state.kept
        };
        if to.0 - kept.0 >= UNKEPT_EVENTS_MAX {
            self.keep(to).await?;
        }
        self.reached.send_replace(to);
        Ok(())
    }

    /// There is time for it: nothing else is to be done.
    pub(super) async fn keep_owed(&self) -> Result<()> {
        let owed = {
            let state = self.state();
            state.applied.filter(|_| state.owes)
        };
        match owed {
            Some(applied) => self.keep(applied).await,
            None => Ok(()),
        }
    }

    /// The checkpoint is told to operators, and kept where it counts.
    async fn keep(&self, to: Position) -> Result<()> {
        self.tell_checkpoint(to).await?;
        Self::fault_point("told");
        self.store.views.set_checkpoint(&Self::name(), to).await?;
        Self::fault_point("kept");
        let mut state = self.state();
        (state.kept, state.owes) = (to, false);
        Ok(())
    }

    async fn tell_checkpoint(&self, to: Position) -> Result<()> {
        let environment = &self.settings.environment;
        let key = M::NAMESPACE.checkpoint(environment, M::GROUP)?.into_text();
        let fields = vec![("position".to_owned(), to.to_string().into_bytes())];
        let told = self.keyspace.run(vec![Command::HashSet { key, fields }]);
        for reply in told.await? {
            reply.integer()?;
        }
        Ok(())
    }
}
