//! The edge: on the keyspace in memory, with its virtual clock, on a Redis of each test's own,
//! which it may empty, and on such a Redis Cluster.

mod api;
mod cluster;
mod contacts;
mod crash;
mod ground;
mod kill;
mod loss;
mod place;
mod redis;
mod seed_004;

pub use place::Place;
pub(crate) use place::on_places;

/// Runs each named test, an `async fn(Ground)`, on memory, on Redis and on a Redis Cluster.
macro_rules! on_keyspaces {
    ($($name:ident),* $(,)?) => {
        mod memory {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                super::$name(crate::edge::ground::Ground::memory().await).await;
            })*
        }
        mod redis {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                super::$name(crate::edge::ground::Ground::redis().await).await;
            })*
        }
        mod cluster {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                super::$name(crate::edge::ground::Ground::cluster().await).await;
            })*
        }
    };
}
use on_keyspaces;
