//! What `/bundle` answers. Confirmations, readiness and tip are of the moment; only the
//! envelope comes from a cache.

use std::time::Duration;

use kurier_core::bundle::chain::Tip;
use kurier_core::bundle::{Hash256, Policy, State};
use serde::Serialize;
use serde_json::value::RawValue;

use super::{Asked, Found};

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    pub envelope: Box<RawValue>,
    pub confs: Option<i64>,
    pub tip: Option<TipView>,
    /// The headers are old or disputed, so the answer may soon be another.
    pub unstable: bool,
    pub state: State,
    pub ready: bool,
    pub policy_min_confs: u32,
    /// A block was found to be replaced while this was answered.
    pub reorg: bool,
    pub cache: CacheView,
}

/// The tip that was asked.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TipView {
    pub height: u32,
    pub hash: Hash256,
    /// How long ago it was last found to be the tip; none if never.
    pub age_sec: Option<u64>,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CacheView {
    pub hit: bool,
    pub age_sec: u64,
}

/// Longer ago than this means never.
const NEVER_MS: u64 = 100 * 365 * 24 * 3_600 * 1_000;

impl TipView {
    pub fn of(tip: Tip, age_ms: u64) -> Self {
        let is_known = age_ms < NEVER_MS / 2;
        Self {
            height: tip.height,
            hash: tip.hash,
            age_sec: is_known.then_some(age_ms / 1_000),
        }
    }
}

impl Answer {
    pub(super) fn of(found: &Found, policy: &Policy, now_ms: u64) -> Self {
        let (look, standing) = (&found.look, found.look.standing);
        Self {
            envelope: found.bundle.envelope.clone(),
            confs: standing.confs,
            tip: standing.tip.map(|tip| TipView::of(tip, look.tip_age_ms)),
            unstable: standing.unstable,
            state: standing.state,
            ready: standing.ready(policy),
            policy_min_confs: policy.min_confs(),
            reorg: found.is_reorg,
            cache: CacheView {
                hit: found.is_hit,
                age_sec: now_ms.saturating_sub(found.bundle.built_at) / 1_000,
            },
        }
    }

    /// What is built or replaced is told; a hit is told to those who ask for more.
    pub(super) fn log(&self, asked: &Asked, took: Duration) {
        let (version, depth) = (asked.version, asked.depth);
        let tip_height = self.tip.as_ref().map(|tip| tip.height);
        let latency_ms = took.as_micros() as f64 / 1e3;
        let (confs, reorg) = (self.confs, self.reorg);
        match self.cache.hit {
            true => tracing::debug!(
                versionId = %version, depth, cache = "hit", confs, tipHeight = tip_height, reorg,
                latencyMs = latency_ms, "bundle"
            ),
            false => tracing::info!(
                versionId = %version, depth, cache = "miss", confs, tipHeight = tip_height, reorg,
                latencyMs = latency_ms, "bundle"
            ),
        }
    }
}
