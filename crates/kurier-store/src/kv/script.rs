//! Several steps as one.

use ::redis::cluster_routing::Slot;

use super::{Error, Keyspace, Reply};

/// The Rust half of a [`Script`]: the keyspace, the keys, the arguments.
pub type Local = fn(&mut Keyspace<'_>, &[String], &[Vec<u8>]) -> Result<Reply, Error>;

/// The same atomic step written twice: in Lua for Redis, in Rust for memory.
///
/// Both must touch only the keys they are given, take time as an argument, and answer with
/// [`Reply::Integer`], [`Reply::Value`] or a [`Reply::List`] of these. A script is only finished
/// when a contract case runs it on both backends.
#[derive(Debug, Clone, Copy)]
pub struct Script {
    pub name: &'static str,
    pub lua: &'static str,
    pub local: Local,
}

impl Script {
    /// A cluster can run a script only where all of its keys are.
    pub(super) fn check(&self, keys: &[String]) -> Result<(), Error> {
        let Some((first, others)) = keys.split_first() else {
            return Ok(());
        };
        let slot = Slot::for_key(first);
        match others.iter().find(|key| Slot::for_key(key) != slot) {
            None => Ok(()),
            Some(other) => Err(Error::Refused(format!(
                "the script {} takes {first} and {other}, which lie in two slots of a cluster: \
                 give them the same {{part in braces}}",
                self.name
            ))),
        }
    }

    /// Redis does not say which key had the wrong type, so no backend does.
    pub(super) fn wrong_type(keys: &[String]) -> Error {
        Error::WrongType {
            key: keys.join(", "),
        }
    }
}
