//! What an operator does to the keyspace: look, count, clean up, move what is left from before.
//! Everything walks it by pages; nothing asks for all keys at once.

mod cleanup;
mod health;
mod migrate;
mod stats;

use kurier_store::kv::{Error, Kv, KvExt as _};

pub use cleanup::{Cleaned, cleanup};
pub use health::{Health, health};
pub use migrate::{Fate, Migrated, migrate};
pub use stats::{Stats, Tally, stats};

/// How much a walk may look at, and how much at once.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// A hint to the keyspace: how many keys a page has.
    pub batch: u32,
    /// After so many keys the walk ends, if there are so many.
    pub keys_max: u64,
}

/// How a walk ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Walked {
    pub keys: u64,
    /// Whether the budget ended before the keys did.
    pub is_cut: bool,
}

/// Hands every key of the prefixes to `visit`, a page at a time. A key may come twice.
async fn walk(
    kv: &dyn Kv,
    prefixes: &[String],
    budget: Budget,
    mut visit: impl AsyncFnMut(Vec<String>, u64) -> Result<(), Error>,
) -> Result<Walked, Error> {
    let mut walked = Walked::default();
    for prefix in prefixes {
        let mut cursor = None;
        loop {
            let mut page = kv.scan(prefix, cursor, budget.batch).await?;
            let room = usize::try_from(budget.keys_max - walked.keys).unwrap_or(usize::MAX);
            walked.is_cut = page.keys.len() > room;
            page.keys.truncate(room);
            walked.keys += page.keys.len() as u64;
            visit(page.keys, walked.keys).await?;
            cursor = page.next;
            let is_spent = walked.keys == budget.keys_max;
            walked.is_cut |= is_spent && cursor.is_some();
            if walked.is_cut {
                return Ok(walked);
            }
            if cursor.is_none() {
                break;
            }
        }
    }
    Ok(walked)
}
