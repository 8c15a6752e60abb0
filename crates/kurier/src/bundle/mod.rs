//! Bundles as they are served: the envelope from a cache, how deep its block lies asked anew
//! of the headers each time. The keyspace may be slow, away or empty: then bundles are built,
//! which takes longer and answers the same.

mod answer;
mod build;
mod cache;
mod flight;
mod follow;
mod tally;

pub use answer::{Answer, CacheView, TipView};
pub use build::chosen;
pub use tally::Tally;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use kurier_core::bundle::{Digest, Policy, Standing, capped_depth};
use kurier_core::event::Position;
use kurier_core::keys::bundle::{BundleTtls, CachedBundle};
use kurier_core::time::Timestamp;
use kurier_store::kv::Kv;
use kurier_store::{Result, Scope, Store};

use crate::flow::Projector;
use crate::headers::{Headers, Look, Setting};
use crate::metrics as names;
use cache::Shelf;
use flight::Flights;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Asked {
    pub workspace: kurier_core::id::WorkspaceId,
    pub version: Digest,
    pub depth: u32,
}

/// How bundles are served. Without it they are not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleSettings {
    pub headers: Setting,
    pub policy: Policy,
    pub ttls: BundleTtls,
    /// Whether something old is served while it is looked at again.
    pub swr: bool,
}

pub struct Bundles {
    store: Store,
    versions: Arc<Projector>,
    headers: Headers,
    policy: Policy,
    shelf: Shelf,
    flights: Flights,
    tally: Tally,
    swr: bool,
    /// Where in the log versions last changed, as far as this process knows.
    changed: AtomicI64,
    now: fn() -> Timestamp,
}

/// A bundle and how it was come by.
struct Found {
    bundle: Arc<CachedBundle>,
    /// One look, by which it was found good and of which all of the answer is.
    look: Look,
    is_hit: bool,
    is_reorg: bool,
}

impl Bundles {
    pub fn new(
        store: Store,
        kv: Arc<dyn Kv>,
        versions: Arc<Projector>,
        settings: &BundleSettings,
        now: fn() -> Timestamp,
    ) -> std::result::Result<Self, String> {
        let ttls = settings.ttls;
        let every = Duration::from_secs(ttls.headers);
        let limit = Duration::from_millis(ttls.tip_limit_ms());
        Ok(Self {
            headers: Headers::new(&settings.headers, every, limit, now)?,
            store,
            versions,
            policy: settings.policy,
            shelf: Shelf::new(kv, ttls, settings.swr),
            flights: Flights::default(),
            tally: Tally::default(),
            swr: settings.swr,
            changed: AtomicI64::new(0),
            now,
        })
    }

    pub const fn headers(&self) -> &Headers {
        &self.headers
    }

    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// A version's bundle; none if there is no such version.
    pub async fn answer(
        self: &Arc<Self>,
        scope: Scope,
        version: Digest,
        depth: u32,
    ) -> Result<Option<Answer>> {
        let began = Instant::now();
        let asked = Asked {
            workspace: scope.0,
            version,
            depth: capped_depth(depth),
        };
        let Some(found) = self.find(&asked).await? else {
            return Ok(None);
        };
        let answer = Answer::of(&found, &self.policy, self.now_ms());
        self.tally.answered(&asked, &answer);
        answer.log(&asked, began.elapsed());
        Ok(Some(answer))
    }

    async fn find(self: &Arc<Self>, asked: &Asked) -> Result<Option<Found>> {
        let (kept, seen) = self.shelf.look(asked).await;
        self.compare(seen);
        let Some(bundle) = kept else {
            self.tally.bundle(false);
            if self.shelf.is_unknown(asked, self.changed()).await {
                return Ok(None);
            }
            return self.built(asked, false).await;
        };
        let is_old = self.now_ms() >= bundle.soft_expires_at;
        let look = self.look(&bundle);
        // Its block was replaced by another: perhaps there is a proof for the other.
        let is_reorg = bundle.is_replaced(&look.standing);
        if is_reorg || (is_old && !self.swr) || bundle.is_reached(&look.standing) {
            self.tally.bundle(false);
            return self.built(asked, is_reorg).await;
        }
        self.tally.bundle(true);
        if is_old {
            self.revalidate(asked);
        }
        Ok(Some(Found {
            bundle: Arc::new(bundle),
            look,
            is_hit: true,
            is_reorg: false,
        }))
    }

    async fn built(self: &Arc<Self>, asked: &Asked, is_reorg: bool) -> Result<Option<Found>> {
        let built = self.fly(asked).await?;
        Ok(built.map(|bundle| Found {
            look: self.look(&bundle),
            bundle,
            is_hit: false,
            is_reorg,
        }))
    }

    /// Old, but served: someone looks at it again meanwhile.
    fn revalidate(self: &Arc<Self>, asked: &Asked) {
        metrics::counter!(names::STALE_SERVED).increment(1);
        let (bundles, asked) = (self.clone(), *asked);
        tokio::spawn(async move {
            let done = bundles.fly(&asked).await;
            if let Err(error) = done {
                tracing::warn!(%error, "an old bundle could not be built anew");
            }
        });
    }

    fn look(&self, bundle: &CachedBundle) -> Look {
        let look = self.headers.look(bundle.whereabouts());
        match bundle.is_valid {
            true => look,
            false => Look {
                standing: Standing::invalid(look.standing.tip).shaken(look.standing.unstable),
                ..look
            },
        }
    }

    fn changed(&self) -> Position {
        Position(self.changed.load(Ordering::Acquire))
    }

    fn now_ms(&self) -> u64 {
        u64::try_from((self.now)().as_millis()).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
