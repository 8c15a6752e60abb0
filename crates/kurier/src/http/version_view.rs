//! Versions as the API shows them.

use kurier_core::projection::{PublishedVersion, VersionProof};
use kurier_store::NotedVerdict;
use serde::Serialize;
use utoipa::ToSchema;

/// A version that was published.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct VersionView {
    /// SHA-256 of its record.
    pub version_id: String,
    #[schema(example = "journey")]
    pub kind: &'static str,
    #[schema(example = "welcome@3")]
    pub name: String,
    /// SHA-256 of the artefact's canonical JSON.
    #[schema(example = "5f1c9c0d6c9b7e0e4a8f4bb6a3a1f6f1d2c3b4a5968778695a4b3c2d1e0f0a1b")]
    pub content_sha256: String,
    /// What it came from.
    #[schema(example = json!(["5f1c9c0d6c9b7e0e4a8f4bb6a3a1f6f1d2c3b4a5968778695a4b3c2d1e0f0a1b"]))]
    pub parents: Vec<String>,
    /// `none`, `committed` or `mined`: how far it was ever anchored.
    #[schema(example = "mined")]
    pub anchor: &'static str,
    #[schema(example = "2026-11-19T09:30:00.000Z")]
    pub published_at: String,
}

impl From<&PublishedVersion> for VersionView {
    fn from(known: &PublishedVersion) -> Self {
        let version = &known.version;
        Self {
            version_id: known.id.to_string(),
            kind: version.kind.as_str(),
            name: version.name.clone(),
            content_sha256: version.content_sha256.to_string(),
            parents: version.parents.iter().map(ToString::to_string).collect(),
            anchor: known.anchor.as_str(),
            published_at: known.published_at.to_string(),
        }
    }
}

/// What was shown for a version.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProofView {
    #[schema(example = "5f1c9c0d6c9b7e0e4a8f4bb6a3a1f6f1d2c3b4a5968778695a4b3c2d1e0f0a1b")]
    pub txid: String,
    /// None while it was not seen in a block.
    #[schema(example = "5f1c9c0d6c9b7e0e4a8f4bb6a3a1f6f1d2c3b4a5968778695a4b3c2d1e0f0a1b")]
    pub block_hash: Option<String>,
    pub block_height: Option<u32>,
    #[schema(example = "2026-11-19T09:30:00.000Z")]
    pub attached_at: String,
}

impl From<&VersionProof> for ProofView {
    fn from(proof: &VersionProof) -> Self {
        let block = proof.block.as_ref();
        Self {
            txid: proof.txid().to_string(),
            block_hash: block.map(|(_, header)| header.hash().to_string()),
            block_height: block.map(|(bump, _)| bump.height()),
            attached_at: proof.attached_at.to_string(),
        }
    }
}

/// What a verification found.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct VerdictNote {
    #[schema(example = "confirmed")]
    pub verdict: &'static str,
    #[schema(example = "5f1c9c0d6c9b7e0e4a8f4bb6a3a1f6f1d2c3b4a5968778695a4b3c2d1e0f0a1b")]
    pub block_hash: Option<String>,
    pub block_height: Option<u32>,
    pub reorg: bool,
    #[schema(example = "2026-11-19T09:30:00.000Z")]
    pub created_at: String,
    /// When it was last found so.
    #[schema(example = "2026-11-19T09:30:00.000Z")]
    pub verified_at: String,
}

impl From<&NotedVerdict> for VerdictNote {
    fn from(noted: &NotedVerdict) -> Self {
        let verdict = &noted.verdict;
        Self {
            verdict: verdict.state.as_str(),
            block_hash: verdict.block.map(|block| block.hash.to_string()),
            block_height: verdict.block.map(|block| block.height),
            reorg: verdict.reorg,
            created_at: noted.created_at.to_string(),
            verified_at: noted.verified_at.to_string(),
        }
    }
}

/// A version with all that is known of it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct VersionDetail {
    #[serde(flatten)]
    pub version: VersionView,
    /// The newest first.
    pub proofs: Vec<ProofView>,
    /// What verifications of its bundle found, the first one first.
    pub audit: Vec<VerdictNote>,
}
