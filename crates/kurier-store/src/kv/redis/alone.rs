//! One Redis server: at an address, or wherever sentinels say the master is.

use std::sync::{Mutex, MutexGuard, PoisonError};

use ::redis::aio::{ConnectionManager, ConnectionManagerConfig};
use ::redis::sentinel::{SentinelClient, SentinelNodeConnectionInfo, SentinelServerType};
use ::redis::{Client, Cmd, ErrorKind, Pipeline, RedisError, RedisResult, TlsMode, Value};
use tokio::sync;
use tokio::time::timeout;

use super::address::Sentinels;
use super::{Timeouts, classify, decode, encode};
use crate::kv::{Command, Error, Reply, Script};

/// One multiplexed connection that reconnects by itself.
pub(super) struct Alone {
    source: Source,
    timeouts: Timeouts,
    connection: Mutex<Option<ConnectionManager>>,
}

/// Where the address comes from.
enum Source {
    Fixed(Box<Client>),
    /// Asked again whenever the master no longer answers as one.
    Sentinel(Box<sync::Mutex<SentinelClient>>),
}

impl Alone {
    pub(super) fn at(client: Client, timeouts: Timeouts) -> Self {
        Self::new(Source::Fixed(Box::new(client)), timeouts)
    }

    pub(super) fn found_by(known: Box<Sentinels>, timeouts: Timeouts) -> RedisResult<Self> {
        let settings = known.node.redis_settings().clone();
        let mut node = SentinelNodeConnectionInfo::default().set_redis_connection_info(settings);
        if known.is_secure {
            node = node.set_tls_mode(TlsMode::Secure);
        }
        let role = SentinelServerType::Master;
        let client = SentinelClient::build(known.sentinels, known.master, Some(node), role)?;
        let source = Source::Sentinel(Box::new(sync::Mutex::new(client)));
        Ok(Self::new(source, timeouts))
    }

    fn new(source: Source, timeouts: Timeouts) -> Self {
        Self {
            source,
            timeouts,
            connection: Mutex::default(),
        }
    }

    fn held(&self) -> MutexGuard<'_, Option<ConnectionManager>> {
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) const fn is_found_by_sentinels(&self) -> bool {
        matches!(self.source, Source::Sentinel(_))
    }

    /// Where the server is.
    pub(super) async fn address(&self) -> Result<String, Error> {
        let client = self.client().await?;
        Ok(client.get_connection_info().addr().to_string())
    }

    async fn client(&self) -> Result<Client, Error> {
        match &self.source {
            Source::Fixed(client) => Ok(Client::clone(client)),
            Source::Sentinel(sentinel) => self.master(sentinel).await,
        }
    }

    async fn connection(&self) -> Result<ConnectionManager, Error> {
        if let Some(connection) = self.held().clone() {
            return Ok(connection);
        }
        let fresh =
            prepare(&self.client().await?, self.timeouts).map_err(|error| classify(&error))?;
        *self.held() = Some(fresh.clone());
        Ok(fresh)
    }

    async fn master(&self, sentinel: &sync::Mutex<SentinelClient>) -> Result<Client, Error> {
        let asking = async { sentinel.lock().await.async_get_client().await };
        let answer = timeout(self.timeouts.connect + self.timeouts.response, asking).await;
        let silence = |_| Error::Unavailable("no sentinel answers".to_owned());
        // Also a name nobody knows (yet): the sentinels may be told it later.
        let unknown = |error: RedisError| Error::Unavailable(format!("the sentinels: {error}"));
        answer.map_err(silence)?.map_err(unknown)
    }

    /// The manager reconnects after input and output errors only; any other failure to connect,
    /// a refused password say, it would repeat for ever without asking Redis again. And it
    /// reconnects to where it was, which after a failover is not where the master is.
    fn failed(&self, error: &RedisError) -> Error {
        let may_stick = match &self.source {
            Source::Sentinel(_) => true,
            Source::Fixed(_) => !matches!(
                error.kind(),
                ErrorKind::Io | ErrorKind::Server(_) | ErrorKind::Extension
            ),
        };
        if may_stick {
            *self.held() = None;
        }
        classify(error)
    }

    pub(super) async fn send(&self, pipeline: &Pipeline) -> Result<Vec<Value>, Error> {
        if pipeline.is_empty() {
            return Ok(Vec::new());
        }
        let mut connection = self.connection().await?;
        let values = connection
            .send_packed_commands(pipeline, 0, pipeline.len())
            .await
            .map_err(|error| self.failed(&error))?;
        if values.len() != pipeline.len() {
            let counts = format!("{} replies to {} commands", values.len(), pipeline.len());
            return Err(Error::Unexpected(counts));
        }
        if values.iter().any(is_demoted) {
            *self.held() = None;
        }
        Ok(values)
    }

    pub(super) async fn run(&self, commands: &[Command]) -> Result<Vec<Reply>, Error> {
        let mut pipeline = Pipeline::with_capacity(commands.len());
        let settled: Vec<Option<Reply>> = commands
            .iter()
            .map(|command| {
                let encoded = encode::unsettled(command);
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

    /// Sends only the hash of the script; the text follows when Redis does not know it (yet, or
    /// since its restart).
    pub(super) async fn script(
        &self,
        script: &Script,
        keys: &[String],
        args: &[Vec<u8>],
    ) -> Result<Reply, Error> {
        let lua = ::redis::Script::new(script.lua);
        let known = self.one(encode::script("EVALSHA", lua.get_hash(), keys, args));
        let value = match known.await? {
            Value::ServerError(error) if error.code() == "NOSCRIPT" => {
                self.one(encode::script("EVAL", script.lua, keys, args))
                    .await?
            }
            value => value,
        };
        decode::script_reply(value, keys)
    }

    pub(super) async fn one(&self, cmd: Cmd) -> Result<Value, Error> {
        let mut pipeline = Pipeline::with_capacity(1);
        pipeline.add_command(cmd);
        let value = self.send(&pipeline).await?.pop();
        value.ok_or_else(|| Error::Unexpected("no reply".to_owned()))
    }

    pub(super) async fn ping(&self) -> Result<(), Error> {
        decode::no_error(self.one(::redis::cmd("PING")).await?)
    }
}

/// A master that has become a replica takes no writes.
fn is_demoted(value: &Value) -> bool {
    matches!(value, Value::ServerError(error) if error.code() == "READONLY")
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
