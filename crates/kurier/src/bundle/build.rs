//! Building a bundle: what was published, the best of what was shown for it, and where it
//! came from; everything verified before it is cached.

use std::sync::Arc;
use std::time::Instant;

use kurier_core::bundle::chain::{Tip, Tree};
use kurier_core::bundle::{
    Digest, Envelope, Given, Lineage, Mined, Report, State, Walk, Whereabouts, standing, verify,
};
use kurier_core::keys::bundle::CachedBundle;
use kurier_core::projection::{PublishedVersion, VersionProof};
use kurier_store::{Error, Result, Scope, Verdict};
use serde_json::value::RawValue;

use super::cache::Claim;
use super::{Asked, Bundles};
use crate::fault;
use crate::metrics as names;

/// Something may be shown for a version while its bundle is built; then it is built again,
/// but not for ever.
const TRIES_MAX: usize = 3;

impl Bundles {
    /// Builds a bundle and writes it, unless it was overtaken meanwhile; then it builds again.
    pub(super) async fn build(
        &self,
        asked: &Asked,
        token: &str,
    ) -> Result<Option<Arc<CachedBundle>>> {
        let began = Instant::now();
        let mut tries = 0;
        let bundle = loop {
            // Before anything is read, so that whatever changes later takes the claim away.
            let claim = self.claim(asked, token).await;
            let Some(published) = self.published(asked).await? else {
                if let Some(claim) = claim {
                    self.shelf.give_back(asked, claim).await;
                }
                return Ok(None);
            };
            let bundle = self.assemble(asked, &published).await?;
            tries += 1;
            fault::point("bundle", "built");
            let is_overtaken = match claim {
                Some(claim) => self.shelf.is_overtaken(asked, claim, &bundle).await,
                None => false,
            };
            fault::point("bundle", "written");
            if !is_overtaken || tries == TRIES_MAX {
                break bundle;
            }
        };
        metrics::counter!(names::BUNDLE_BUILDS).increment(1);
        self.tally.built(began.elapsed());
        Ok(Some(Arc::new(bundle)))
    }

    /// Something to compare with when the bundle is written; none if there is no keyspace to
    /// write to. What can still be served stays; a bundle whose block was replaced goes, and is
    /// counted here, where one builds for all who found it.
    async fn claim(&self, asked: &Asked, token: &str) -> Option<Claim> {
        let (bytes, kept) = self.shelf.stands(asked).await.ok()?;
        if let Some(kept) = kept {
            let is_ours = kept.workspace == asked.workspace;
            if !is_ours || !kept.is_replaced(&self.look(&kept).standing) {
                return Some(Claim(bytes));
            }
            metrics::counter!(names::REORGS).increment(1);
        }
        self.shelf.claim(asked, token).await.ok()
    }

    /// The version; if it is not there after all that was said is known, that is noted.
    async fn published(&self, asked: &Asked) -> Result<Option<PublishedVersion>> {
        if let Some(found) = self.load(asked).await? {
            return Ok(Some(found));
        }
        let head = self.store.log.head().await?;
        self.versions.drain().await?;
        if let Some(found) = self.load(asked).await? {
            return Ok(Some(found));
        }
        self.shelf.put_unknown(asked, head).await;
        // Who published it meanwhile has made everybody forget before we wrote.
        let found = self.load(asked).await?;
        if found.is_some() {
            self.shelf.forget_unknown(asked).await;
        }
        Ok(found)
    }

    async fn load(&self, asked: &Asked) -> Result<Option<PublishedVersion>> {
        let (scope, ids) = (Scope(asked.workspace), [asked.version]);
        let mut found = self.store.versions.published_among(scope, &ids).await?;
        Ok(found.pop())
    }

    async fn assemble(&self, asked: &Asked, published: &PublishedVersion) -> Result<CachedBundle> {
        let scope = Scope(asked.workspace);
        let versions = &self.store.versions;
        let proofs = versions.version_proofs(scope, &asked.version).await?;
        let lineage = self.lineage(asked, published).await?;
        let chain = self.headers.chain();
        let tenant = asked.workspace.to_string();
        let (envelope, report) = self.headers.with_tree(|tree| {
            let envelope = Envelope::of(chain, &tenant, &published.version, (self.now)());
            let envelope = proven(envelope, tree, &proofs).descended(asked.depth, lineage);
            let report = verify(&envelope, &self.given(tree));
            (envelope, report)
        });
        self.note(asked, &envelope, &report).await?;
        self.cached(asked, envelope, &report)
    }

    fn given<'a>(&self, tree: Option<&'a Tree>) -> Given<'a> {
        Given {
            content: None,
            tree,
            policy: self.policy,
            unstable: false,
        }
    }

    async fn lineage(&self, asked: &Asked, published: &PublishedVersion) -> Result<Lineage> {
        let mut walk = Walk::new(&published.version, asked.depth);
        while !walk.wanted().is_empty() {
            let (scope, wanted) = (Scope(asked.workspace), walk.wanted().to_vec());
            let found = self.store.versions.published_among(scope, &wanted).await?;
            walk.supply(found.into_iter().map(|found| found.version).collect());
        }
        Ok(walk.finish())
    }

    async fn note(&self, asked: &Asked, envelope: &Envelope, report: &Report) -> Result<()> {
        let proof = envelope.bump.as_ref().map(|bump| Digest::of(&bump.0));
        let verdict = Verdict {
            state: report.standing.state,
            block: block_of(envelope),
            proof_sha256: proof,
            tip: report.standing.tip,
            reorg: report.standing.reorg,
        };
        let (scope, now) = (Scope(asked.workspace), (self.now)());
        let audit = &self.store.bundle_audit;
        audit
            .note_verdict(scope, &asked.version, &verdict, now)
            .await
    }

    fn cached(&self, asked: &Asked, envelope: Envelope, report: &Report) -> Result<CachedBundle> {
        let built_at = self.now_ms();
        Ok(CachedBundle {
            workspace: asked.workspace,
            built_at,
            soft_expires_at: built_at + self.shelf.soft_ms(),
            block: block_of(&envelope),
            is_committed: envelope.tx.is_some(),
            is_valid: report.standing.state != State::InvalidProof,
            was_off_chain: report.standing.state == State::OffChain,
            was_out_of_reach: report.standing.state == State::UnknownHeader,
            envelope: within_bounds(envelope)?,
        })
    }
}

fn block_of(envelope: &Envelope) -> Option<Tip> {
    let (height, hash) = (envelope.block_height?, envelope.block_hash?);
    Some(Tip { height, hash })
}

/// As text. Of a lineage that makes it too long only the nearest are kept.
pub(super) fn within_bounds(mut envelope: Envelope) -> Result<Box<RawValue>> {
    let damaged = |error: &dyn std::fmt::Display| Error::Damaged(error.to_string());
    loop {
        match envelope.canonical() {
            Ok(bytes) => {
                let text = String::from_utf8(bytes).map_err(|e| damaged(&e))?;
                return RawValue::from_string(text).map_err(|e| damaged(&e));
            }
            Err(fault) if envelope.lineage.is_empty() => return Err(damaged(&fault)),
            Err(_) => {
                envelope.lineage.truncate(envelope.lineage.len() / 2);
                envelope.lineage_cut = true;
            }
        }
    }
}

/// The envelope with the best of what was shown.
fn proven(envelope: Envelope, tree: Option<&Tree>, proofs: &[VersionProof]) -> Envelope {
    let Some(proof) = chosen(tree, proofs) else {
        return envelope;
    };
    let envelope = envelope.committed(proof.commitment.clone(), proof.tx.clone());
    let Some((bump, header)) = &proof.block else {
        return envelope;
    };
    let mined = Mined {
        height: bump.height(),
        hash: header.hash(),
        header: header.bytes(),
        bump: bump.clone(),
    };
    let block = Tip {
        height: mined.height,
        hash: mined.hash,
    };
    envelope.mined(&mined, tree.map_or(block, Tree::tip))
}

/// Of several proofs the one that stands best; of equals the newest, which is the first.
pub fn chosen<'a>(tree: Option<&Tree>, proofs: &'a [VersionProof]) -> Option<&'a VersionProof> {
    let rank = |proof: &VersionProof| {
        let Some((bump, header)) = &proof.block else {
            return 0;
        };
        let (height, hash) = (bump.height(), header.hash());
        let block = Whereabouts::Block { height, hash };
        match tree.map(|tree| standing(tree, block).state) {
            Some(State::Confirmed) => 3,
            Some(State::OffChain) => 1,
            _ => 2,
        }
    };
    // The last of equals wins, so they come the other way round.
    proofs.iter().rev().max_by_key(|proof| rank(proof))
}
