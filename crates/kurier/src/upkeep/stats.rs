//! How many keys there are of what, what they take, and which should expire and do not.

use std::collections::BTreeMap;

use kurier_core::keys::Ttls;
use kurier_core::keys::family::{Family, is_version_hint};
use kurier_store::kv::{Error, Redis, Ttl};

use super::{Budget, Walked, walk};

/// Of one family.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    pub keys: u64,
    pub bytes: u64,
    /// That live for ever, although they should not.
    pub without_ttl: u64,
}

#[derive(Debug)]
pub struct Stats {
    pub families: BTreeMap<Family, Tally>,
    pub walked: Walked,
}

pub async fn stats(
    redis: &Redis,
    ttls: &Ttls,
    budget: Budget,
    mut on_page: impl FnMut(u64),
) -> Result<Stats, Error> {
    let mut families: BTreeMap<Family, Tally> = BTreeMap::new();
    let visit = async |keys: Vec<String>, looked_at: u64| {
        let weighed = redis.weigh(&keys).await?;
        for (key, weighed) in keys.iter().zip(weighed) {
            // It may have expired since it was found.
            if weighed.ttl != Ttl::Missing {
                let tally = families.entry(Family::of(key)).or_default();
                tally.keys += 1;
                tally.bytes += weighed.bytes;
                let is_eternal = weighed.ttl == Ttl::Forever;
                tally.without_ttl += u64::from(is_eternal && should_expire(key, ttls));
            }
        }
        on_page(looked_at);
        Ok(())
    };
    let walked = walk(redis, &[String::new()], budget, visit).await?;
    Ok(Stats { families, walked })
}

fn should_expire(key: &str, ttls: &Ttls) -> bool {
    match Family::of(key) {
        Family::Dedup => ttls.dedup.ttl_ms().is_some(),
        Family::Hint => is_version_hint(key) && ttls.version_hint.ttl_ms().is_some(),
        Family::Cache => true,
        _ => false,
    }
}
