//! The edge: on the keyspace in memory, with its virtual clock, and on a Redis of each test's
//! own, which it may empty.

mod api;
mod contacts;
mod crash;
mod ground;
mod loss;
mod redis;
mod seed_004;

/// Runs each named test, an `async fn(Ground)`, on memory and on Redis.
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
    };
}
use on_keyspaces;
