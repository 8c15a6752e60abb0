//! TSC Merkle proofs (BRC-10, and BRC-11 with a height): read, and turned into BUMP.

use serde::Deserialize;

use super::super::chain::{HEADER_BYTES, Header};
use super::super::hash::Hash256;
use super::anchor::check_txid;
use super::bump::{BUMP_BYTES_MAX, Bump, TREE_HEIGHT_MAX};
use super::fault::Fault;
use super::tx::TX_BYTES_MAX;

/// Hexadecimal text of a transaction and of a path.
const TSC_BYTES_MAX: usize = TX_BYTES_MAX * 2 + BUMP_BYTES_MAX;

/// One transaction's path, as it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tsc {
    pub index: u64,
    pub txid: Hash256,
    /// The transaction itself, where it was given instead of its id.
    pub raw: Option<Vec<u8>>,
    pub target: Option<Target>,
    siblings: Vec<Option<Hash256>>,
}

/// What the path is said to lead to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    Block(Hash256),
    Header(Header),
    Root(Hash256),
    Height(u32),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Text {
    index: u64,
    tx_or_id: String,
    nodes: Vec<String>,
    target: Option<TargetText>,
    target_type: Option<String>,
    proof_type: Option<String>,
    composite: Option<bool>,
    height: Option<u32>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum TargetText {
    Height(u32),
    Text(String),
}

impl Tsc {
    pub fn parse(json: &[u8]) -> Result<Self, Fault> {
        if json.len() > TSC_BYTES_MAX {
            return Err(Fault::TooLarge);
        }
        let text: Text = serde_json::from_slice(json).map_err(|_| Fault::Unreadable)?;
        let other = text
            .proof_type
            .as_deref()
            .is_some_and(|kind| kind != "branch");
        if other || text.composite == Some(true) {
            return Err(Fault::Composite);
        }
        if text.nodes.len() > usize::from(TREE_HEIGHT_MAX) {
            return Err(Fault::TreeHeight(text.nodes.len().min(255) as u8));
        }
        let (txid, raw) = read_tx(&text.tx_or_id)?;
        let siblings: Result<_, _> = text.nodes.iter().map(|node| read_node(node)).collect();
        Ok(Self {
            index: text.index,
            txid,
            raw,
            target: read_target(&text)?,
            siblings: siblings?,
        })
    }

    /// The same path as a BUMP for a block of this height, once it leads to the root that
    /// it was given with, if it was.
    pub fn to_bump(&self, height: u32) -> Result<Bump, Fault> {
        if matches!(self.target, Some(Target::Height(stated)) if stated != height) {
            return Err(Fault::OtherHeight);
        }
        let bump = Bump::of_path(height, self.index, self.txid, &self.duplicates_named())?;
        let root = bump.root()?;
        let stated = match &self.target {
            Some(Target::Root(root)) => Some(*root),
            Some(Target::Header(header)) => Some(header.merkle_root),
            _ => None,
        };
        match stated.is_none_or(|stated| stated == root) {
            true => Ok(bump),
            false => Err(Fault::OtherRoot),
        }
    }

    /// Some write a duplicate out; on the right side it can be nothing else.
    fn duplicates_named(&self) -> Vec<Option<Hash256>> {
        let mut working = self.txid;
        let mut siblings = self.siblings.clone();
        for (level, sibling) in siblings.iter_mut().enumerate() {
            let is_left = (self.index >> level) & 1 == 0;
            let other = sibling.unwrap_or(working);
            if is_left && other == working {
                *sibling = None;
            }
            working = match is_left {
                true => Hash256::of_pair(&working, &other),
                false => Hash256::of_pair(&other, &working),
            };
        }
        siblings
    }
}

fn read_hash(text: &str) -> Result<Hash256, Fault> {
    text.parse().map_err(|_| Fault::Unreadable)
}

fn read_tx(text: &str) -> Result<(Hash256, Option<Vec<u8>>), Fault> {
    if text.len() == 64 {
        return Ok((read_hash(text)?, None));
    }
    let raw = hex::decode(text).map_err(|_| Fault::Unreadable)?;
    Ok((check_txid(&raw, None)?, Some(raw)))
}

fn read_node(text: &str) -> Result<Option<Hash256>, Fault> {
    match text {
        "*" => Ok(None),
        hash => read_hash(hash).map(Some),
    }
}

fn read_target(text: &Text) -> Result<Option<Target>, Fault> {
    let kind = text.target_type.as_deref().unwrap_or("hash");
    let target = match (&text.target, kind) {
        (None, _) => return Ok(text.height.map(Target::Height)),
        (Some(TargetText::Height(height)), _) => Target::Height(*height),
        (Some(TargetText::Text(target)), "hash") => Target::Block(read_hash(target)?),
        (Some(TargetText::Text(target)), "merkleRoot") => Target::Root(read_hash(target)?),
        (Some(TargetText::Text(target)), "header") => Target::Header(read_header(target)?),
        (Some(TargetText::Text(target)), "height") => {
            Target::Height(target.parse().map_err(|_| Fault::BlockHeight)?)
        }
        _ => return Err(Fault::Unreadable),
    };
    Ok(Some(target))
}

fn read_header(text: &str) -> Result<Header, Fault> {
    let mut bytes = [0; HEADER_BYTES];
    hex::decode_to_slice(text, &mut bytes).map_err(|_| Fault::Unreadable)?;
    Ok(Header::of(&bytes))
}
