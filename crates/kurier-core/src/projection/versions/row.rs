//! Versions and what was shown for them as rows, and back.

use super::super::{Cell, Row};
use super::Named;
use crate::bundle::chain::Header;
use crate::bundle::proof::Bump;
use crate::bundle::{
    Commitment, Digest, Hash256, Hex, Kind as Artefact, Proving, Subject, Version,
};
use crate::event::{Position, Recorded};
use crate::id::WorkspaceId;
use crate::time::Timestamp;

/// A version as it was published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedVersion {
    pub id: Digest,
    pub version: Version,
    pub anchor: Anchor,
    pub published_at: Timestamp,
    /// When something was last shown for it.
    pub changed_at: Timestamp,
    /// Where that stands in the log.
    pub revision: Position,
}

/// How far a version was anchored at best; where it stands now is asked of the headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Anchor {
    /// No transaction commits to it.
    None,
    /// One does, and was not seen in a block.
    Committed,
    Mined,
}

impl Anchor {
    pub const ALL: [Self; 3] = [Self::None, Self::Committed, Self::Mined];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Committed => "committed",
            Self::Mined => "mined",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|anchor| anchor.as_str() == name)
    }

    pub(super) const fn of(proving: &Proving) -> Self {
        match proving.bump {
            Some(_) => Self::Mined,
            None => Self::Committed,
        }
    }
}

/// What was shown for a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionProof {
    pub commitment: Commitment,
    pub tx: Vec<u8>,
    pub block: Option<(Bump, Header)>,
    pub attached_at: Timestamp,
    pub revision: Position,
}

impl VersionProof {
    pub fn txid(&self) -> Hash256 {
        Hash256::of(&self.tx)
    }
}

pub(super) fn row_of(workspace: WorkspaceId, known: &PublishedVersion) -> Row {
    let version = &known.version;
    let parents = serde_json::to_string(&version.parents).expect("a list of texts serialises");
    vec![
        workspace.into(),
        known.id.to_string().into(),
        version.kind.as_str().into(),
        version.name.as_str().into(),
        version.content_sha256.to_string().into(),
        parents.into(),
        known.anchor.as_str().into(),
        known.published_at.into(),
        known.changed_at.into(),
        known.revision.0.into(),
    ]
}

/// Reads a row of [`super::PUBLISHED_VERSION`]; `None` if it is not one that this version wrote.
pub fn published_of_row(row: &Row) -> Option<(WorkspaceId, PublishedVersion)> {
    let text = |column: usize| row.get(column)?.as_text();
    let number = |column: usize| row.get(column)?.as_int();
    let version = Version {
        kind: Artefact::named(text(2)?)?,
        name: text(3)?.to_owned(),
        content_sha256: text(4)?.parse().ok()?,
        parents: serde_json::from_str(text(5)?).ok()?,
    };
    let known = PublishedVersion {
        id: text(1)?.parse().ok()?,
        version,
        anchor: Anchor::named(text(6)?)?,
        published_at: Timestamp::from_micros(number(7)?),
        changed_at: Timestamp::from_micros(number(8)?),
        revision: Position(number(9)?),
    };
    Some((WorkspaceId::from_uuid(row.first()?.as_id()?), known))
}

pub(super) fn head_of_row(row: &Row) -> Option<(WorkspaceId, Named, Digest)> {
    let text = |column: usize| row.get(column)?.as_text();
    let named = (Artefact::named(text(1)?)?, text(2)?.to_owned());
    let workspace = WorkspaceId::from_uuid(row.first()?.as_id()?);
    Some((workspace, named, text(3)?.parse().ok()?))
}

/// What was shown twice has one row: it is named by its hash.
pub(super) fn proof_row(recorded: &Recorded, subject: &Subject, proving: &Proving) -> Row {
    let bytes = |hex: &Option<Hex>| hex.as_ref().map_or(Vec::new(), |hex| hex.0.clone());
    let commitment = serde_json::to_string(&subject.commitment).expect("numbers and digests");
    let (bump, header) = (bytes(&proving.bump), bytes(&proving.header));
    let parts: [&[u8]; 4] = [
        &Digest::of(&proving.tx.0).0,
        &header,
        commitment.as_bytes(),
        &bump,
    ];
    let hex = |hex: &Option<Hex>| -> Cell { hex.as_ref().map(|hex| hex::encode(&hex.0)).into() };
    vec![
        recorded.workspace.into(),
        subject.version.to_string().into(),
        Digest::of_parts(&parts).to_string().into(),
        commitment.into(),
        hex::encode(&proving.tx.0).into(),
        hex(&proving.bump),
        hex(&proving.header),
        recorded.event.recorded_at.into(),
        recorded.position.0.into(),
    ]
}

/// Reads a row of [`super::VERSION_PROOF`].
pub fn version_proof_of_row(row: &Row) -> Option<VersionProof> {
    let text = |column: usize| row.get(column)?.as_text();
    let block = match (text(5), text(6)) {
        (Some(bump), Some(header)) => {
            let bump = Bump::parse(&hex::decode(bump).ok()?).ok()?;
            Some((bump, Header::parse(&hex::decode(header).ok()?).ok()?))
        }
        _ => None,
    };
    Some(VersionProof {
        commitment: serde_json::from_str(text(3)?).ok()?,
        tx: hex::decode(text(4)?).ok()?,
        block,
        attached_at: Timestamp::from_micros(row.get(7)?.as_int()?),
        revision: Position(row.get(8)?.as_int()?),
    })
}
