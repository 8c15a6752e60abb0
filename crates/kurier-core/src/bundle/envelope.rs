//! A bundle as it is handed out and cached: all that is needed to verify a version offline,
//! but headers. How many confirmations it has does not belong here.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::chain::{Chain, HEADER_BYTES, Tip};
use super::commitment::Commitment;
use super::hash::{Digest, Hash256};
use super::lineage::{DEPTH_MAX, LINEAGE_MAX, Lineage};
use super::proof::Bump;
use super::standing::Whereabouts;
use super::version::{Kind, Version};
use crate::time::Timestamp;

pub const ENVELOPE_BYTES_MAX: usize = 256 * 1024;
const FORMAT: u8 = 1;
const TENANT_BYTES_MAX: usize = 128;

/// Everything in it is a claim until [`super::verify`] has looked at it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Envelope {
    pub v: u8,
    pub chain: Chain,
    pub tenant: String,
    pub version_id: Digest,
    pub kind: Kind,
    pub name: String,
    pub content_sha256: Digest,
    pub parents: Vec<Digest>,
    pub commitment: Option<Commitment>,
    pub tx: Option<TxPart>,
    /// The Merkle path from the transaction to the block's root.
    pub bump: Option<Hex>,
    pub block_hash: Option<Hash256>,
    pub block_height: Option<u32>,
    pub header: Option<Hex>,
    pub built_at: Timestamp,
    pub built_from_tip: Option<Tip>,
    /// Generations of ancestors that were asked for.
    pub depth: u32,
    pub lineage: Vec<Version>,
    /// Whether there are more ancestors than a bundle has room for; said only if so.
    #[serde(default, skip_serializing_if = "is_whole")]
    pub lineage_cut: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TxPart {
    pub txid: Hash256,
    pub raw: Hex,
}

/// A transaction's block, as it is put into an envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mined {
    pub height: u32,
    pub hash: Hash256,
    pub header: [u8; HEADER_BYTES],
    pub bump: Bump,
}

/// Bytes that are written as hexadecimal text, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hex(pub Vec<u8>);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeFault {
    #[error("a bundle has at most 256 KiB")]
    TooLarge,
    #[error("it is no bundle: {0}")]
    Unreadable(String),
    #[error("a bundle of format {0}; 1 is read")]
    Format(u8),
    #[error("a tenant has 1 to 128 bytes")]
    Tenant,
    #[error("it has more ancestors, or more generations of them, than a bundle may have")]
    Lineage,
}

impl Envelope {
    /// A bundle of a version that is not committed to anywhere yet.
    pub fn of(chain: Chain, tenant: &str, version: &Version, built_at: Timestamp) -> Self {
        Self {
            v: FORMAT,
            chain,
            tenant: tenant.to_owned(),
            version_id: version.id(),
            kind: version.kind,
            name: version.name.clone(),
            content_sha256: version.content_sha256,
            parents: version.parents.clone(),
            commitment: None,
            tx: None,
            bump: None,
            block_hash: None,
            block_height: None,
            header: None,
            built_at,
            built_from_tip: None,
            depth: 0,
            lineage: Vec::new(),
            lineage_cut: false,
        }
    }

    /// Committed to by a transaction.
    #[must_use]
    pub fn committed(mut self, commitment: Commitment, raw_tx: Vec<u8>) -> Self {
        self.commitment = Some(commitment);
        self.tx = Some(TxPart {
            txid: Hash256::of(&raw_tx),
            raw: Hex(raw_tx),
        });
        self
    }

    /// In a block.
    #[must_use]
    pub fn mined(mut self, mined: &Mined, tip: Tip) -> Self {
        self.bump = Some(Hex(mined.bump.bytes()));
        self.block_hash = Some(mined.hash);
        self.block_height = Some(mined.height);
        self.header = Some(Hex(mined.header.to_vec()));
        self.built_from_tip = Some(tip);
        self
    }

    /// With what it came from.
    #[must_use]
    pub fn descended(mut self, depth: u32, lineage: Lineage) -> Self {
        self.depth = depth;
        self.lineage = lineage.versions;
        self.lineage_cut = lineage.cut;
        self
    }

    pub fn version(&self) -> Version {
        Version {
            kind: self.kind,
            name: self.name.clone(),
            content_sha256: self.content_sha256,
            parents: self.parents.clone(),
        }
    }

    /// Where it says that its transaction is.
    pub fn whereabouts(&self) -> Whereabouts {
        match (self.block_height, self.block_hash, &self.tx) {
            (Some(height), Some(hash), _) => Whereabouts::Block { height, hash },
            (_, _, Some(_)) => Whereabouts::Unmined,
            _ => Whereabouts::Pending,
        }
    }

    pub fn parse(bytes: &[u8]) -> Result<Self, EnvelopeFault> {
        if bytes.len() > ENVELOPE_BYTES_MAX {
            return Err(EnvelopeFault::TooLarge);
        }
        let read = serde_json::from_slice(bytes);
        let envelope: Self = read.map_err(|e| EnvelopeFault::Unreadable(e.to_string()))?;
        envelope.check().map(|()| envelope)
    }

    fn check(&self) -> Result<(), EnvelopeFault> {
        if self.v != FORMAT {
            return Err(EnvelopeFault::Format(self.v));
        }
        if self.tenant.is_empty() || self.tenant.len() > TENANT_BYTES_MAX {
            return Err(EnvelopeFault::Tenant);
        }
        match self.depth <= DEPTH_MAX && self.lineage.len() <= LINEAGE_MAX {
            true => Ok(()),
            false => Err(EnvelopeFault::Lineage),
        }
    }

    /// The one form of it: JSON without spaces, the fields in the order of this struct.
    pub fn canonical(&self) -> Result<Vec<u8>, EnvelopeFault> {
        self.check()?;
        let bytes = serde_json::to_vec(self);
        let bytes = bytes.map_err(|e| EnvelopeFault::Unreadable(e.to_string()))?;
        match bytes.len() <= ENVELOPE_BYTES_MAX {
            true => Ok(bytes),
            false => Err(EnvelopeFault::TooLarge),
        }
    }
}

fn is_whole(cut: &bool) -> bool {
    !cut
}

impl Serialize for Hex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex::encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let lower = !text.bytes().any(|byte| byte.is_ascii_uppercase());
        match hex::decode(&text) {
            Ok(bytes) if lower => Ok(Self(bytes)),
            _ => Err(de::Error::custom(
                "hexadecimal digits in lower case are wanted",
            )),
        }
    }
}
