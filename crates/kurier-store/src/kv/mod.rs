//! The keyspace: what Kurier keeps warm, counted or locked, but never as the only truth.
//!
//! Reading order: [`Command`] says what may be asked, [`Reply`] what comes back, [`Script`] how
//! several steps become one, [`Kv`] who answers. [`KvExt`] is what callers normally use.
//!
//! **Invariant:** there is no command that looks at the whole keyspace at once (no `KEYS`), none
//! that empties it, and none that reads a clock of ours: time comes from the backend.

mod command;
mod error;
mod memory;
mod redis;
mod reply;
mod script;
mod typed;

use async_trait::async_trait;

pub use command::{Command, Cursor, Order, ScoreRange, Scored, TTL_MS_MAX};
pub use error::Error;
pub use memory::{Clock, Keyspace, Memory, Usage};
pub use redis::{Node, Redis, Timeouts, Weighed};
pub use reply::{Page, Reply, Ttl};
pub use script::{DELETE_ETERNAL, Local, SET_IF_SAME, SET_NEWER, Script};
pub use typed::KvExt;

/// A keyspace with expiry. Backends: [`Memory`] (in process) and [`Redis`].
#[async_trait]
pub trait Kv: Send + Sync {
    /// Runs a pipeline: one round trip, in order, exactly one reply per command.
    ///
    /// A command that fails answers [`Reply::Failed`] in its place; the others run and answer as
    /// if it had not been there. `Err` means the round trip itself failed, and then any prefix of
    /// the commands may have run; on a cluster, whose masters are asked side by side, any of them.
    /// No command is run twice. A pipeline is not atomic: for that there is [`Kv::script`].
    async fn run(&self, commands: Vec<Command>) -> Result<Vec<Reply>, Error>;

    /// Runs one atomic step: nobody sees or changes any of its keys while it runs.
    ///
    /// Atomic is not transactional: what a script wrote before it failed stays written. Its keys
    /// must lie in one slot of a cluster, that is, have the same part in braces: every backend
    /// refuses others, so that what works on one works on all.
    async fn script(
        &self,
        script: &Script,
        keys: &[String],
        args: &[Vec<u8>],
    ) -> Result<Reply, Error>;

    /// Answers when the backend does. The caller, who may read a clock, measures how long it took.
    async fn ping(&self) -> Result<(), Error>;
}
