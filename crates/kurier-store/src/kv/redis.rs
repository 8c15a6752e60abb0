//! The keyspace in Redis, for several processes or a keyspace that outlives them.

mod decode;
mod encode;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ::redis::aio::{ConnectionManager, ConnectionManagerConfig};
use ::redis::{Client, ErrorKind, Pipeline, RedisError, RedisResult, Value};
use async_trait::async_trait;

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

/// One multiplexed connection that reconnects by itself. Needs no cluster and uses none.
pub struct Redis {
    client: Client,
    timeouts: Timeouts,
    connection: Mutex<ConnectionManager>,
}

impl Redis {
    /// Prepares a connection to a `redis://` address; the first call opens it. Kurier starts
    /// without Redis, because only warmth is lost. Asynchronous although it waits for nothing:
    /// the connection needs a runtime around it, and would panic without.
    pub async fn open(url: &str, timeouts: Timeouts) -> Result<Self, Error> {
        let client = Client::open(url).map_err(|error| classify(&error))?;
        let connection = Mutex::new(prepare(&client, timeouts).map_err(|error| classify(&error))?);
        Ok(Self {
            client,
            timeouts,
            connection,
        })
    }

    fn connection(&self) -> MutexGuard<'_, ConnectionManager> {
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The manager reconnects after input and output errors only; any other failure to connect,
    /// a refused password say, it would repeat for ever without asking Redis again.
    fn failed(&self, error: &RedisError) -> Error {
        let may_stick = !matches!(
            error.kind(),
            ErrorKind::Io | ErrorKind::Server(_) | ErrorKind::Extension
        );
        if may_stick && let Ok(fresh) = prepare(&self.client, self.timeouts) {
            *self.connection() = fresh;
        }
        classify(error)
    }

    async fn send(&self, pipeline: &Pipeline) -> Result<Vec<Value>, Error> {
        if pipeline.is_empty() {
            return Ok(Vec::new());
        }
        let mut connection = self.connection().clone();
        let values = connection
            .send_packed_commands(pipeline, 0, pipeline.len())
            .await
            .map_err(|error| self.failed(&error))?;
        if values.len() != pipeline.len() {
            let counts = format!("{} replies to {} commands", values.len(), pipeline.len());
            return Err(Error::Unexpected(counts));
        }
        Ok(values)
    }
}

#[async_trait]
impl Kv for Redis {
    async fn run(&self, commands: Vec<Command>) -> Result<Vec<Reply>, Error> {
        let mut pipeline = Pipeline::with_capacity(commands.len());
        let settled: Vec<Option<Reply>> = commands
            .iter()
            .map(|command| {
                let encoded = command
                    .settled()
                    .map_or_else(|| encode::encode(command), Err);
                encoded.map(|encoded| pipeline.add_command(encoded)).err()
            })
            .collect();
        let mut values = self.send(&pipeline).await?.into_iter();
        let mut answer = |command| match values.next() {
            Some(value) => decode::reply(command, value),
            None => Reply::Failed(Error::Unexpected("no reply".to_owned())),
        };
        let replies = commands.iter().zip(settled);
        Ok(replies
            .map(|(command, settled)| settled.unwrap_or_else(|| answer(command)))
            .collect())
    }

    async fn script(
        &self,
        script: &Script,
        keys: &[String],
        args: &[Vec<u8>],
    ) -> Result<Reply, Error> {
        let lua = ::redis::Script::new(script.lua);
        let mut invocation = lua.prepare_invoke();
        keys.iter().for_each(|key| {
            invocation.key(key);
        });
        args.iter().for_each(|arg| {
            invocation.arg(arg);
        });
        let mut connection = self.connection().clone();
        // Sends only the hash of the script; the text follows when Redis does not know it (yet,
        // or since its restart).
        match invocation.invoke_async::<Value>(&mut connection).await {
            Ok(value) => decode::script_reply(value),
            Err(error) if decode::is_wrong_type(error.code(), error.detail()) => {
                Err(Script::wrong_type(keys))
            }
            Err(error) => Err(self.failed(&error)),
        }
    }

    async fn ping(&self) -> Result<(), Error> {
        let mut pipeline = Pipeline::new();
        pipeline.cmd("PING");
        match self.send(&pipeline).await?.pop() {
            Some(Value::ServerError(error)) => Err(decode::server_error(&error, "")),
            _ => Ok(()),
        }
    }
}

/// Without retries: a call that finds the connection broken fails at once and has it reopened
/// behind its back, so that a dead Redis costs callers one timeout and not many.
fn prepare(client: &Client, timeouts: Timeouts) -> RedisResult<ConnectionManager> {
    let config = ConnectionManagerConfig::new()
        .set_number_of_retries(0)
        .set_connection_timeout(Some(timeouts.connect))
        .set_response_timeout(Some(timeouts.response));
    ConnectionManager::new_lazy_with_config(client.clone(), config)
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
