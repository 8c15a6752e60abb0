//! What the tests share: databases of their own, the binary as a child, a client for it.

pub mod api;
pub mod contract;
pub mod database;
pub mod kit;
pub mod redis;
pub mod request;
pub mod schema;
pub mod server;
// The store's tests and these copy one template.
#[path = "../../../../kurier-store/tests/it/contract/template.rs"]
mod template;

use std::time::Duration;

pub use api::{Answer, Api};
pub use database::Database;
pub use redis::Redis;
pub use request::Request;
pub use server::Server;

pub const WRITE_KEY: &str = "test-write-key-0123456789";
pub const ADMIN_KEY: &str = "test-admin-key-0123456789";

/// Runs each named test, an `async fn(Database)`, on SQLite and on PostgreSQL.
macro_rules! on_both {
    ($($name:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                super::$name(crate::harness::Database::sqlite()).await;
            })*
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                super::$name(crate::harness::Database::postgres().await).await;
            })*
        }
    };
}
pub(crate) use on_both;

/// Asks again and again until the answer is there; fails after `limit`.
pub async fn eventually<T>(
    what: &str,
    limit: Duration,
    mut ask: impl AsyncFnMut() -> Option<T>,
) -> T {
    let mut ticks = tokio::time::interval(Duration::from_millis(10));
    let asking = async {
        loop {
            ticks.tick().await;
            if let Some(answer) = ask().await {
                return answer;
            }
        }
    };
    let answer = tokio::time::timeout(limit, asking).await;
    answer.unwrap_or_else(|_| panic!("{what}: not within {} s", limit.as_secs()))
}

/// A name no other test uses.
pub fn unique(prefix: &str) -> String {
    let bytes: [u8; 8] = kurier::clock::random();
    format!(
        "{prefix}{}",
        bytes.map(|byte| format!("{byte:02x}")).concat()
    )
}
