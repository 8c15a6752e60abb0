//! Bundles in the keyspace. Whatever it fails to do is as if nothing were cached.

use std::sync::Arc;

use kurier_core::bundle::{DEPTH_MAX, Digest};
use kurier_core::event::Position;
use kurier_core::keys::bundle as keys;
use kurier_core::keys::bundle::{BundleTtls, CachedBundle, SeenTip, Unknown};
use kurier_store::kv::{Command, Error, Kv, KvExt as _};

use super::Asked;
use crate::cache::patient;

pub struct Shelf {
    kv: Arc<dyn Kv>,
    ttls: BundleTtls,
    /// Of bundles: where nothing old is served, nothing old is kept.
    bundle_ttls: BundleTtls,
}

impl Shelf {
    pub fn new(kv: Arc<dyn Kv>, ttls: BundleTtls, swr: bool) -> Self {
        let kept = if swr { ttls.stale_while_revalidate } else { 0 };
        Self {
            kv,
            ttls,
            bundle_ttls: BundleTtls {
                stale_while_revalidate: kept,
                ..ttls
            },
        }
    }

    pub const fn soft_ms(&self) -> u64 {
        self.ttls.soft_ms()
    }

    /// The bundle, if it is there and of this workspace; and the tip, in the same round trip.
    pub async fn look(&self, asked: &Asked) -> (Option<CachedBundle>, Option<SeenTip>) {
        let bundle = keys::envelope(&asked.version, asked.depth, &self.bundle_ttls);
        let tip = keys::tip(&self.ttls);
        let get = |key: &str| Command::Get {
            key: key.to_owned(),
        };
        let commands = vec![get(bundle.text()), get(tip.text())];
        let Ok(mut replies) = patient(self.kv.run(commands)).await else {
            return (None, None);
        };
        let mut last = || replies.pop()?.value().ok().flatten();
        let (seen, kept) = (last(), last());
        let kept = kept.and_then(|bytes| bundle.decode(&bytes));
        let kept = kept.filter(|kept| kept.workspace == asked.workspace);
        (kept, seen.and_then(|bytes| tip.decode(&bytes)))
    }

    pub async fn get(&self, asked: &Asked) -> Option<CachedBundle> {
        self.look(asked).await.0
    }

    pub async fn put(&self, asked: &Asked, bundle: &CachedBundle) {
        let key = keys::envelope(&asked.version, asked.depth, &self.bundle_ttls);
        let value = key.encode(bundle);
        let put = patient(self.kv.set(key.text(), value, key.ttl_ms())).await;
        if let Err(error) = put {
            tracing::debug!(%error, "a bundle is not cached");
        }
    }

    pub async fn forget(&self, version: &Digest, depth: u32) {
        let key = keys::envelope(version, depth, &self.bundle_ttls).into_text();
        let _ = patient(self.kv.delete(vec![key])).await;
    }

    /// All that is cached of versions: their bundles at any depth, and that they are unknown.
    pub async fn forget_all(&self, versions: &[Digest]) -> Result<(), Error> {
        for version in versions {
            let depths = 0..=DEPTH_MAX;
            let mut all: Vec<String> = depths
                .map(|depth| keys::envelope(version, depth, &self.bundle_ttls).into_text())
                .collect();
            all.push(keys::unknown(version, &self.ttls).into_text());
            self.kv.delete(all).await?;
        }
        Ok(())
    }

    /// Whether it was not to be found a moment ago.
    pub async fn is_unknown(&self, asked: &Asked) -> bool {
        let key = keys::unknown(&asked.version, &self.ttls);
        let kept = patient(self.kv.get(key.text())).await;
        let unknown = kept.ok().flatten().and_then(|bytes| key.decode(&bytes));
        // What one workspace does not know another may.
        unknown.is_some_and(|unknown| unknown.workspace == asked.workspace)
    }

    pub async fn put_unknown(&self, asked: &Asked, at: Position) {
        let key = keys::unknown(&asked.version, &self.ttls);
        let value = key.encode(&Unknown {
            workspace: asked.workspace,
            at,
        });
        let _ = patient(self.kv.set(key.text(), value, key.ttl_ms())).await;
    }

    pub async fn put_tip(&self, seen: &SeenTip) {
        let key = keys::tip(&self.ttls);
        let _ = patient(self.kv.set(key.text(), key.encode(seen), key.ttl_ms())).await;
    }

    /// Whether nobody else builds it, and we may; an error if nobody can tell.
    pub async fn lock(&self, asked: &Asked, token: &str) -> Result<bool, Error> {
        let key = keys::lock(&asked.version, asked.depth);
        let value = key.encode(&token.to_owned());
        patient(self.kv.set_if_absent(key.text(), value, key.ttl_ms())).await
    }

    /// Lets go of our own lock, and of no other.
    pub async fn unlock(&self, asked: &Asked, token: &str) {
        let key = keys::lock(&asked.version, asked.depth);
        let value = key.encode(&token.to_owned());
        let _ = patient(self.kv.compare_delete(key.text(), value)).await;
    }
}
