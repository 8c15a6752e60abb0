//! What all processes remember together, in Redis. It may be slow, away or empty at any time: then
//! it is as if nothing were remembered, and that is counted.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use kurier_core::event::Position;
use kurier_store::kv::{Command, Error, Kv, SET_NEWER};

use crate::metrics as names;

/// Asking the store takes milliseconds: a Redis that is slower is not waited for.
const PATIENCE: Duration = Duration::from_millis(50);

#[derive(Clone)]
pub struct Remote {
    kv: Arc<dyn Kv>,
}

/// Something to be remembered: for how long, up to which position it is true, and its bytes.
pub struct Told {
    pub key: String,
    pub at: Position,
    pub bytes: Vec<u8>,
    /// Without it until someone removes it.
    pub ttl_ms: Option<u64>,
}

impl Remote {
    pub fn new(kv: Arc<dyn Kv>) -> Self {
        Self { kv }
    }

    /// What stands at each key, in one round trip; nothing where it cannot be read.
    pub async fn get(&self, keys: &[String]) -> Vec<Option<Vec<u8>>> {
        let commands = keys.iter().map(|key| Command::Get { key: key.clone() });
        let Ok(replies) = patient(self.kv.run(commands.collect())).await else {
            return vec![None; keys.len()];
        };
        let values = replies
            .into_iter()
            .map(|reply| reply.value().ok().flatten());
        values.collect()
    }

    /// What stands at each key with the position it was read at.
    pub async fn get_dated(&self, keys: &[String]) -> Vec<Option<(Position, Vec<u8>)>> {
        let values = self.get(keys).await;
        values.into_iter().map(|value| dated(value?)).collect()
    }

    /// Has these remembered, where nothing newer is. Only speed is lost if it fails.
    pub async fn put(&self, all: Vec<Told>) {
        let put = async |told: Told| {
            let (at, ttl_ms) = (told.at.to_string(), told.ttl_ms.unwrap_or(0).to_string());
            let args = [at.into_bytes(), told.bytes, ttl_ms.into_bytes()];
            patient(self.kv.script(&SET_NEWER, &[told.key], &args)).await
        };
        let replies = join_all(all.into_iter().map(put)).await;
        if let Some(error) = replies.into_iter().find_map(Result::err) {
            tracing::debug!(%error, "something is not remembered");
        }
    }

    /// Has these forgotten. Only speed is lost if it fails, and they end by themselves.
    pub async fn remove(&self, keys: Vec<String>) {
        if keys.is_empty() {
            return;
        }
        if let Err(error) = patient(self.kv.run(vec![Command::Delete { keys }])).await {
            tracing::debug!(%error, "something is still remembered");
        }
    }

    pub async fn set(&self, key: String, value: Vec<u8>, ttl_ms: Option<u64>) -> Result<(), Error> {
        let set = Command::Set {
            key,
            value,
            ttl_ms,
            if_absent: false,
        };
        patient(self.kv.run(vec![set])).await.map(drop)
    }
}

/// What is given up is counted here: whoever measures it never hears of it.
pub async fn patient<T, E: From<Error>>(
    asking: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    match tokio::time::timeout(PATIENCE, asking).await {
        Ok(answer) => answer,
        Err(_) => {
            metrics::counter!(names::KEYSPACE_ERRORS, "kind" => "slow").increment(1);
            Err(Error::Unavailable("it is slow".to_owned()).into())
        }
    }
}

fn dated(value: Vec<u8>) -> Option<(Position, Vec<u8>)> {
    let space = value.iter().position(|byte| *byte == b' ')?;
    let at = std::str::from_utf8(&value[..space]).ok()?.parse().ok()?;
    Some((Position(at), value[space + 1..].to_vec()))
}
