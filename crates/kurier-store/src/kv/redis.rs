//! The keyspace in Redis, for several processes or a keyspace that outlives them.

mod address;
mod alone;
mod cluster;
mod decode;
mod encode;
mod inspect;

use std::time::Duration;

use ::redis::{Client, ErrorKind, RedisError};
use async_trait::async_trait;

pub use self::inspect::{Node, Weighed};

use self::address::Address;
use self::alone::Alone;
use self::cluster::Cluster;
use super::{Command, Error, Kv, Reply, Script};

/// How long to wait before Redis counts as unavailable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    pub connect: Duration,
    pub response: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(2),
            response: Duration::from_secs(2),
        }
    }
}

/// A Redis server, the master that sentinels name, or a cluster: whichever the URL means.
pub struct Redis {
    servers: Servers,
}

enum Servers {
    Alone(Box<Alone>),
    Cluster(Box<Cluster>),
}

impl Redis {
    /// Prepares a connection; the first call opens it. Kurier starts without Redis, because only
    /// warmth is lost. A URL that nothing could be found at is refused here: `redis://host:port`,
    /// `redis+cluster://host:port,host:port` or `redis+sentinel://host:port,host:port/master`,
    /// each with `rediss` for TLS. Asynchronous although it waits for nothing: the connection
    /// needs a runtime around it, and would panic without.
    pub async fn open(url: &str, timeouts: Timeouts) -> Result<Self, Error> {
        let refused = |error| classify(&error);
        let servers = match Address::parse(url)? {
            Address::Alone(node) => {
                let client = Client::open(*node).map_err(refused)?;
                Servers::Alone(Box::new(Alone::at(client, timeouts)))
            }
            Address::Sentinel(known) => {
                let alone = Alone::found_by(known, timeouts).map_err(refused)?;
                Servers::Alone(Box::new(alone))
            }
            Address::Cluster(nodes) => {
                Servers::Cluster(Box::new(Cluster::of(nodes, timeouts).map_err(refused)?))
            }
        };
        Ok(Self { servers })
    }
}

#[async_trait]
impl Kv for Redis {
    async fn run(&self, commands: Vec<Command>) -> Result<Vec<Reply>, Error> {
        match &self.servers {
            Servers::Alone(alone) => alone.run(&commands).await,
            Servers::Cluster(cluster) => cluster.run(&commands).await,
        }
    }

    async fn script(
        &self,
        script: &Script,
        keys: &[String],
        args: &[Vec<u8>],
    ) -> Result<Reply, Error> {
        script.check(keys)?;
        match &self.servers {
            Servers::Alone(alone) => alone.script(script, keys, args).await,
            Servers::Cluster(cluster) => cluster.script(script, keys, args).await,
        }
    }

    async fn ping(&self) -> Result<(), Error> {
        match &self.servers {
            Servers::Alone(alone) => alone.ping().await,
            Servers::Cluster(cluster) => cluster.ping().await,
        }
    }
}

/// What a failed round trip means to the caller. The message of the crate names addresses, but
/// never a password.
fn classify(error: &RedisError) -> Error {
    let text = error.to_string();
    match error.kind() {
        ErrorKind::Io | ErrorKind::ClusterConnectionNotFound => Error::Unavailable(text),
        ErrorKind::Parse | ErrorKind::UnexpectedReturnType => Error::Unexpected(text),
        _ if error.code().is_some_and(decode::is_passing) => Error::Unavailable(text),
        _ => Error::Refused(text),
    }
}
