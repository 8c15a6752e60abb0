//! Dedup keys expire by themselves. Some may have lost their time to live, restored from a backup
//! say: they would stay for ever, and are removed. No other key is touched.

use kurier_core::keys::Tenant;
use kurier_core::keys::family::{MODULES, dedups};
use kurier_store::kv::{Command, DELETE_ETERNAL, Error, Kv, Ttl};

use super::{Budget, Walked, walk};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cleaned {
    pub looked_at: u64,
    pub removed: u64,
    /// Whether the budget ended before the keys did.
    pub is_cut: bool,
}

/// Of one tenant or of all. `on_page` is told how many were looked at and removed so far.
pub async fn cleanup(
    kv: &dyn Kv,
    tenant: Option<&Tenant>,
    budget: Budget,
    mut on_page: impl FnMut(u64, u64),
) -> Result<Cleaned, Error> {
    let prefixes = MODULES.map(|module| dedups(&module, tenant));
    let mut removed = 0;
    let visit = async |keys: Vec<String>, looked_at: u64| {
        for key in eternal(kv, keys).await? {
            removed += kv.script(&DELETE_ETERNAL, &[key], &[]).await?.count()?;
        }
        on_page(looked_at, removed);
        Ok(())
    };
    let Walked { keys, is_cut } = walk(kv, &prefixes, budget, visit).await?;
    Ok(Cleaned {
        looked_at: keys,
        removed,
        is_cut,
    })
}

/// Those that will not expire, asked in one round trip.
async fn eternal(kv: &dyn Kv, keys: Vec<String>) -> Result<Vec<String>, Error> {
    let questions = keys.iter().map(|key| Command::TtlMs { key: key.clone() });
    let replies = kv.run(questions.collect()).await?;
    let mut eternal = Vec::new();
    for (key, reply) in keys.into_iter().zip(replies) {
        if reply.ttl()? == Ttl::Forever {
            eternal.push(key);
        }
    }
    Ok(eternal)
}
