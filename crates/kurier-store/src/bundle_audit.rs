//! What verifications of bundles found, for those who look back. Whatever changes is a new
//! row; that it was found again is noted in the last one.

use async_trait::async_trait;
use kurier_core::bundle::chain::Tip;
use kurier_core::bundle::{Digest, State};
use kurier_core::time::Timestamp;

use crate::{Error, Result, Scope};

/// What one verification found. How many confirmations there were is not kept: that is true
/// of one moment only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub state: State,
    pub block: Option<Tip>,
    pub proof_sha256: Option<Digest>,
    /// The tip that was asked.
    pub tip: Option<Tip>,
    /// A block was replaced by another.
    pub reorg: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotedVerdict {
    pub verdict: Verdict,
    pub created_at: Timestamp,
    /// When it was last found so.
    pub verified_at: Timestamp,
}

impl Verdict {
    /// Whether it says the same; another tip alone says nothing new.
    pub(crate) fn repeats(&self, last: &Self) -> bool {
        let said = |it: &Self| (it.state, it.block, it.proof_sha256, it.reorg);
        said(self) == said(last)
    }
}

#[async_trait]
pub trait BundleAudit: Send + Sync {
    async fn note_verdict(
        &self,
        scope: Scope,
        version: &Digest,
        verdict: &Verdict,
        at: Timestamp,
    ) -> Result<()>;

    /// The first one first.
    async fn verdicts(&self, scope: Scope, version: &Digest) -> Result<Vec<NotedVerdict>>;
}

/// The columns of a row, as both databases have them.
pub(crate) struct Columns {
    pub verdict: String,
    pub block: (Option<String>, Option<i64>),
    pub proof_sha256: Option<String>,
    pub tip: (Option<String>, Option<i64>),
    pub reorg: bool,
    pub verified_at: i64,
    pub created_at: i64,
}

impl Columns {
    pub fn read(self) -> Result<NotedVerdict> {
        let state = State::named(&self.verdict).ok_or_else(damaged)?;
        let proof = self.proof_sha256.map(|text| text.parse());
        Ok(NotedVerdict {
            verdict: Verdict {
                state,
                block: place(self.block)?,
                proof_sha256: proof.transpose().map_err(|_| damaged())?,
                tip: place(self.tip)?,
                reorg: self.reorg,
            },
            created_at: Timestamp::from_micros(self.created_at),
            verified_at: Timestamp::from_micros(self.verified_at),
        })
    }
}

fn damaged() -> Error {
    Error::Damaged("a row of bundle_audit cannot be read".to_owned())
}

fn place((hash, height): (Option<String>, Option<i64>)) -> Result<Option<Tip>> {
    let (Some(hash), Some(height)) = (hash, height) else {
        return Ok(None);
    };
    let hash = hash.parse().map_err(|_| damaged())?;
    let height = u32::try_from(height).map_err(|_| damaged())?;
    Ok(Some(Tip { height, hash }))
}

pub(crate) fn hash_of(tip: Option<Tip>) -> Option<String> {
    tip.map(|tip| tip.hash.to_string())
}

pub(crate) fn height_of(tip: Option<Tip>) -> Option<i64> {
    tip.map(|tip| i64::from(tip.height))
}
