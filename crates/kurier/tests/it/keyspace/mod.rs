//! What is kept in Redis, and how an operator looks after it. Tests of what the key architecture
//! promises are named after its sections.

mod metrics;
mod remembered;
mod tls;
mod upkeep;

use crate::cli::{Output, kurier};
use crate::edge::Place;

/// Runs `kurier keys …` on this Redis.
fn keys(place: &Place, arguments: &[&str]) -> Output {
    let url = place.url().expect("Redis");
    let all = [&["keys"], arguments, &["--redis-url", &url]].concat();
    kurier(&all)
}
