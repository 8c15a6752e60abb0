//! The keyspace inside this process: what Kurier uses when no Redis is set.

mod apply;
mod collection;
mod keyspace;
mod scan;
mod shelf;
mod sorted;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

pub use keyspace::Keyspace;
pub use shelf::Usage;

use self::shelf::Shelf;
use super::{Command, Error, Kv, Reply, Script};

/// Milliseconds since the epoch. An argument, because this crate may not read the clock.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// How many expired keys a call removes at least, if there are that many.
const REMOVALS_MIN: usize = 16;
/// How many expired keys a call removes per command. A command creates at most one key, so with
/// more than one the dead can never outgrow the living.
const REMOVALS_PER_COMMAND: usize = 2;

/// A keyspace behind one lock. One, because a script must be alone with all of its keys, and
/// because what happens inside the lock is mostly a map lookup: shards would buy little, and cost
/// an order of locking.
pub struct Memory {
    clock: Clock,
    shelf: Mutex<Shelf>,
}

impl Memory {
    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
            shelf: Mutex::default(),
        }
    }

    /// What is held right now, including expired keys that no call has removed yet.
    pub fn usage(&self) -> Usage {
        self.shelf().usage()
    }

    /// Removes expired keys, at most `removals_max`, and answers how many they were. Every call
    /// does this a little; a process that falls silent gets its memory back by a tick.
    pub fn remove_expired(&self, removals_max: usize) -> usize {
        self.shelf().remove_due((self.clock)(), removals_max)
    }

    /// A panic inside a script leaves whole entries behind, as a failing Lua script does, so a
    /// poisoned lock is no reason to lose the keyspace.
    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Kv for Memory {
    async fn run(&self, commands: Vec<Command>) -> Result<Vec<Reply>, Error> {
        let now_ms = (self.clock)();
        let mut shelf = self.shelf();
        shelf.remove_due(now_ms, REMOVALS_MIN + REMOVALS_PER_COMMAND * commands.len());
        let mut keyspace = Keyspace::new(&mut shelf, now_ms);
        Ok(commands
            .into_iter()
            .map(|command| keyspace.apply(command))
            .collect())
    }

    async fn script(
        &self,
        script: &Script,
        keys: &[String],
        args: &[Vec<u8>],
    ) -> Result<Reply, Error> {
        script.check(keys)?;
        let now_ms = (self.clock)();
        let mut shelf = self.shelf();
        shelf.remove_due(now_ms, REMOVALS_MIN + REMOVALS_PER_COMMAND * keys.len());
        match (script.local)(&mut Keyspace::new(&mut shelf, now_ms), keys, args) {
            Ok(reply) if reply.suits_script() => Ok(reply),
            Ok(_) => Err(Error::Unexpected(format!(
                "the reply of the script {}",
                script.name
            ))),
            Err(Error::WrongType { .. }) => Err(Script::wrong_type(keys)),
            Err(error) => Err(error),
        }
    }

    async fn ping(&self) -> Result<(), Error> {
        Ok(())
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
mod tests;
