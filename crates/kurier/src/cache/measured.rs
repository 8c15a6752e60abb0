//! A keyspace that counts what is asked of it, how long that takes, and what fails.

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use kurier_store::kv::{Command, Error, Kv, Reply, Script};

use crate::metrics as names;

pub struct Measured {
    kv: Arc<dyn Kv>,
}

impl Measured {
    pub fn new(kv: Arc<dyn Kv>) -> Self {
        Self { kv }
    }
}

#[async_trait]
impl Kv for Measured {
    async fn run(&self, commands: Vec<Command>) -> Result<Vec<Reply>, Error> {
        let began = Instant::now();
        let count = commands.len() as u64;
        let replies = self.kv.run(commands).await;
        told("run", count, began, replies.as_ref().err());
        for reply in replies.iter().flatten() {
            if let Reply::Failed(error) = reply {
                failed(error);
            }
        }
        replies
    }

    async fn script(
        &self,
        script: &Script,
        keys: &[String],
        args: &[Vec<u8>],
    ) -> Result<Reply, Error> {
        let began = Instant::now();
        let reply = self.kv.script(script, keys, args).await;
        told("script", 1, began, reply.as_ref().err());
        reply
    }

    async fn ping(&self) -> Result<(), Error> {
        let began = Instant::now();
        let reply = self.kv.ping().await;
        told("ping", 1, began, reply.as_ref().err());
        reply
    }
}

fn told(call: &'static str, commands: u64, began: Instant, error: Option<&Error>) {
    metrics::counter!(names::KEYSPACE_OPERATIONS, "call" => call).increment(commands);
    metrics::histogram!(names::KEYSPACE_SECONDS, "call" => call).record(began.elapsed());
    if let Some(error) = error {
        failed(error);
    }
}

fn failed(error: &Error) {
    let kind = match error {
        Error::Unavailable(_) => "unavailable",
        Error::WrongType { .. } => "wrong_type",
        Error::Refused(_) => "refused",
        Error::Unexpected(_) => "unexpected",
    };
    metrics::counter!(names::KEYSPACE_ERRORS, "kind" => kind).increment(1);
}
