//! Bundles in the keyspace. Whatever it fails to do is as if nothing were cached.

use std::sync::Arc;

use kurier_core::bundle::{DEPTH_MAX, Digest};
use kurier_core::event::Position;
use kurier_core::keys::bundle as keys;
use kurier_core::keys::bundle::{BUILDING_MS, BundleTtls, CachedBundle, SeenTip, Unknown};
use kurier_store::kv::{Command, Error, Kv, KvExt as _, Reply, SET_IF_SAME, TTL_MS_MAX};

use super::Asked;
use crate::cache::patient;

/// What a builder found where its bundle is to stand, or put there: it writes only while that is
/// there.
pub struct Claim(pub Vec<u8>);

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

    /// What stands where a bundle is to be written, as it is and as a bundle; an error if nobody
    /// can tell.
    pub async fn stands(&self, asked: &Asked) -> Result<(Vec<u8>, Option<CachedBundle>), Error> {
        let key = keys::envelope(&asked.version, asked.depth, &self.bundle_ttls);
        let bytes = patient(self.kv.get(key.text())).await?.unwrap_or_default();
        let bundle = key.decode(&bytes);
        Ok((bytes, bundle))
    }

    /// Takes the place of a bundle that is to be built.
    pub async fn claim(&self, asked: &Asked, token: &str) -> Result<Claim, Error> {
        let key = keys::envelope(&asked.version, asked.depth, &self.bundle_ttls);
        let claim = keys::building(token);
        let ttl_ms = Some(BUILDING_MS);
        patient(self.kv.set(key.text(), claim.clone(), ttl_ms)).await?;
        Ok(Claim(claim))
    }

    /// Gives a place back for which there is nothing.
    pub async fn give_back(&self, asked: &Asked, Claim(claim): Claim) {
        let key = keys::envelope(&asked.version, asked.depth, &self.bundle_ttls);
        let _ = patient(self.kv.compare_delete(key.text(), claim)).await;
    }

    /// Writes a bundle where its builder's claim still stands; answers whether it does not any
    /// more: someone made everybody forget, or another builder came.
    pub async fn is_overtaken(&self, asked: &Asked, claim: Claim, bundle: &CachedBundle) -> bool {
        let key = keys::envelope(&asked.version, asked.depth, &self.bundle_ttls);
        let ttl_ms = key.ttl_ms().unwrap_or(TTL_MS_MAX).to_string();
        let args = [claim.0, key.encode(bundle), ttl_ms.into_bytes()];
        let text = [key.text().to_owned()];
        let put = patient(self.kv.script(&SET_IF_SAME, &text, &args)).await;
        match put {
            Ok(reply) => reply == Reply::Integer(0),
            Err(error) => {
                tracing::debug!(%error, "a bundle is not cached");
                false
            }
        }
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

    /// Whether it was not to be found a moment ago, and no version has changed since.
    pub async fn is_unknown(&self, asked: &Asked, changed: Position) -> bool {
        let key = keys::unknown(&asked.version, &self.ttls);
        let kept = patient(self.kv.get(key.text())).await;
        let unknown = kept.ok().flatten().and_then(|bytes| key.decode(&bytes));
        // What one workspace does not know another may.
        unknown.is_some_and(|it| it.workspace == asked.workspace && it.at >= changed)
    }

    pub async fn forget_unknown(&self, asked: &Asked) {
        let key = keys::unknown(&asked.version, &self.ttls).into_text();
        let _ = patient(self.kv.delete(vec![key])).await;
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
