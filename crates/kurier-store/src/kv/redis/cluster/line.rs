//! The crate's client, replaced when it has fallen silent.
//!
//! While it reads anew who has which slot, the client looks at nothing else, and what it is
//! reconnecting may hold the very lock that this waits for: then it answers nothing ever again.
//! A master that is away is no such silence, since others answer.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ::redis::cluster::{ClusterClient, ClusterConfig};
use ::redis::cluster_async::ClusterConnection;
use ::redis::cluster_routing::{RoutingInfo, SingleNodeRoutingInfo};
use ::redis::{Cmd, Pipeline, RedisResult, Value};

/// So many requests in a row without any answer, and the client is replaced.
const SILENT_MAX: u32 = 3;

pub(super) struct Line {
    client: ClusterClient,
    current: Mutex<Arc<Spoken>>,
}

/// A client, and how many requests it left without an answer since the last one it gave.
struct Spoken {
    connection: ClusterConnection,
    silent: AtomicU32,
}

impl Line {
    pub(super) fn of(client: ClusterClient) -> Self {
        let current = Mutex::new(Spoken::over(&client));
        Self { client, current }
    }

    pub(super) async fn command(&self, cmd: Cmd, routing: RoutingInfo) -> RedisResult<Value> {
        let spoken = self.current().clone();
        let mut connection = spoken.connection.clone();
        let answer = connection.route_command(cmd, routing).await;
        self.heed(&spoken, &answer);
        answer
    }

    pub(super) async fn pipeline(
        &self,
        pipeline: Pipeline,
        (skip, count): (usize, usize),
        route: SingleNodeRoutingInfo,
    ) -> RedisResult<Vec<Value>> {
        let spoken = self.current().clone();
        let mut connection = spoken.connection.clone();
        let answer = connection
            .route_pipeline(pipeline, skip, count, route)
            .await;
        self.heed(&spoken, &answer);
        answer
    }

    /// What was asked of a client that was replaced meanwhile replaces no other.
    fn heed<T>(&self, spoken: &Spoken, answer: &RedisResult<T>) {
        match answer {
            Err(error) if error.is_timeout() => {
                if spoken.silent.fetch_add(1, Ordering::Relaxed) + 1 == SILENT_MAX {
                    *self.current() = Spoken::over(&self.client);
                }
            }
            _ => spoken.silent.store(0, Ordering::Relaxed),
        }
    }

    fn current(&self) -> MutexGuard<'_, Arc<Spoken>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Spoken {
    /// It connects by itself, and what is asked meanwhile waits.
    fn over(client: &ClusterClient) -> Arc<Self> {
        let config = ClusterConfig::new();
        Arc::new(Self {
            connection: client.get_pending_async_connection_with_config(config),
            silent: AtomicU32::new(0),
        })
    }
}
