//! What an operator wants to know of Redis, and nobody else asks.

use ::redis::{Cmd, InfoDict, Pipeline, Value, cmd, from_redis_value};

use super::{Redis, Servers, decode};
use crate::kv::{Error, Ttl};

/// A server that answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Where it listens, as far as it is known.
    pub address: String,
    /// `master` or `slave`, as Redis says.
    pub role: String,
    pub version: String,
    pub memory_bytes: u64,
    pub replicas: u64,
}

/// What a key takes, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weighed {
    pub bytes: u64,
    pub ttl: Ttl,
}

impl Redis {
    /// How the servers are set up: `single`, `sentinel` or `cluster`.
    pub fn topology(&self) -> &'static str {
        match &self.servers {
            Servers::Alone(alone) if alone.is_found_by_sentinels() => "sentinel",
            Servers::Alone(_) => "single",
            Servers::Cluster(_) => "cluster",
        }
    }

    /// Every server that holds a part of the keys.
    pub async fn nodes(&self) -> Result<Vec<Node>, Error> {
        match &self.servers {
            Servers::Alone(alone) => {
                let address = alone.address().await?;
                Ok(vec![node(address, alone.one(cmd("INFO")).await?)?])
            }
            Servers::Cluster(cluster) => {
                let mut nodes = Vec::new();
                for master in cluster.masters().await? {
                    let info = cluster.at(&master, cmd("INFO")).await?;
                    nodes.push(node(master, info)?);
                }
                Ok(nodes)
            }
        }
    }

    /// What each key takes; a key that is no longer there takes nothing and is
    /// [`Ttl::Missing`].
    pub async fn weigh(&self, keys: &[String]) -> Result<Vec<Weighed>, Error> {
        let questions = keys.iter().flat_map(|key| {
            let usage = cmd("MEMORY").arg("USAGE").arg(key).take();
            [usage, cmd("PTTL").arg(key).take()].map(|cmd| (key.clone(), cmd))
        });
        let values = self.each(questions.collect()).await?;
        values.chunks(2).map(weighed).collect()
    }

    async fn each(&self, cmds: Vec<(String, Cmd)>) -> Result<Vec<Value>, Error> {
        match &self.servers {
            Servers::Cluster(cluster) => cluster.each(cmds).await,
            Servers::Alone(alone) => {
                let mut pipeline = Pipeline::with_capacity(cmds.len());
                for (_, cmd) in cmds {
                    pipeline.add_command(cmd);
                }
                alone.send(&pipeline).await
            }
        }
    }
}

fn weighed(values: &[Value]) -> Result<Weighed, Error> {
    let [usage, ttl] = values else {
        return Err(unexpected());
    };
    let bytes: Option<u64> = from_redis_value(usage.clone()).map_err(|_| unexpected())?;
    let ttl = from_redis_value(ttl.clone()).map_err(|_| unexpected())?;
    Ok(Weighed {
        bytes: bytes.unwrap_or(0),
        ttl: decode::ttl(ttl),
    })
}

fn node(address: String, info: Value) -> Result<Node, Error> {
    if let Value::ServerError(error) = &info {
        return Err(decode::server_error(error, ""));
    }
    let info: InfoDict = from_redis_value(info).map_err(|_| unexpected())?;
    let text = |name| info.get::<String>(name).unwrap_or_default();
    Ok(Node {
        address,
        role: text("role"),
        version: text("redis_version"),
        memory_bytes: info.get("used_memory").unwrap_or(0),
        replicas: info.get("connected_slaves").unwrap_or(0),
    })
}

fn unexpected() -> Error {
    Error::Unexpected("what Redis says of itself".to_owned())
}
