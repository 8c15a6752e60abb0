//! Where real servers keep their keys: in their memory, in a Redis or in a Redis Cluster of the
//! test's own.

use super::cluster::Cluster;
use crate::harness::{ADMIN_KEY, Database, Redis, Server, WRITE_KEY};

pub enum Place {
    Memory,
    Redis(Redis),
    Cluster(Cluster),
}

/// Runs each named test, an `async fn(Place)`, on Redis and on a Redis Cluster.
macro_rules! on_places {
    ($($name:ident),* $(,)?) => {
        mod redis {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                super::$name(crate::edge::Place::redis()).await;
            })*
        }
        mod cluster {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                super::$name(crate::edge::Place::cluster().await).await;
            })*
        }
    };
}
pub(crate) use on_places;

impl Place {
    pub fn redis() -> Self {
        Self::Redis(Redis::start())
    }

    pub async fn cluster() -> Self {
        Self::Cluster(Cluster::start().await)
    }

    pub fn url(&self) -> Option<String> {
        match self {
            Self::Memory => None,
            Self::Redis(redis) => Some(redis.url()),
            Self::Cluster(cluster) => Some(cluster.url()),
        }
    }

    /// A server with its keys here.
    pub async fn serve(&self, database: Database, more: &[(&str, &str)]) -> Server {
        let url = self.url();
        let mut variables = vec![
            ("KURIER_BOOTSTRAP_WRITE_KEY", WRITE_KEY),
            ("KURIER_BOOTSTRAP_ADMIN_KEY", ADMIN_KEY),
        ];
        variables.extend(url.as_deref().map(|url| ("KURIER_REDIS_URL", url)));
        variables.extend(more);
        Server::start_with(database, &variables).await
    }

    /// What is answered to a command about one key.
    pub fn cli(&self, words: &[&str]) -> String {
        match self {
            Self::Memory => panic!("nobody can ask the memory of a process"),
            Self::Redis(redis) => redis.cli(words),
            Self::Cluster(cluster) => cluster.cli(words),
        }
    }

    /// What each server says.
    fn each(&self, words: &[&str]) -> Vec<String> {
        match self {
            Self::Memory => Vec::new(),
            Self::Redis(redis) => vec![redis.cli(words)],
            Self::Cluster(cluster) => cluster.each(words),
        }
    }

    /// The keys like this.
    pub fn keys(&self, pattern: &str) -> Vec<String> {
        let told = self.each(&["--scan", "--pattern", pattern]);
        let keys = told.iter().flat_map(|told| told.lines());
        keys.map(str::to_owned).collect()
    }

    /// How many keys there are.
    pub fn count(&self) -> usize {
        let counts = self.each(&["DBSIZE"]).into_iter();
        counts.map(|it| it.parse::<usize>().expect("a count")).sum()
    }

    pub fn empty(&self) {
        for said in self.each(&["FLUSHALL"]) {
            assert_eq!(said, "OK");
        }
    }

    /// All that is kept, as it is kept.
    pub fn dumps(&self) -> Vec<u8> {
        // Texts stand in a dump as they are.
        self.each(&["CONFIG", "SET", "rdbcompression", "no"]);
        assert!(self.each(&["SAVE"]).iter().all(|said| said == "OK"));
        match self {
            Self::Memory => Vec::new(),
            Self::Redis(redis) => redis.dump(),
            Self::Cluster(cluster) => cluster.dumps(),
        }
    }

    pub fn stop(&mut self) {
        match self {
            Self::Memory => {}
            Self::Redis(redis) => redis.stop(),
            Self::Cluster(cluster) => cluster.stop(),
        }
    }

    /// Empty, as after a loss.
    pub async fn start_again(&mut self) {
        match self {
            Self::Memory => {}
            Self::Redis(redis) => redis.start_again(),
            Self::Cluster(cluster) => cluster.start_again().await,
        }
    }
}
