//! What is kept in Redis, and how an operator looks after it. Tests of what the key architecture
//! promises are named after its sections.

mod metrics;
mod remembered;
mod tls;
mod upkeep;

use crate::cli::{Output, kurier};
use crate::harness::Redis;

/// Runs `kurier keys …` on this Redis.
fn keys(redis: &Redis, arguments: &[&str]) -> Output {
    let url = redis.url();
    let all = [&["keys"], arguments, &["--redis-url", &url]].concat();
    kurier(&all)
}
