//! The steps of a verification, one function each.

use super::chain::{Header, Tree};
use super::commitment::leaf;
use super::envelope::{Envelope, TxPart};
use super::hash::Digest;
use super::proof::{Bump, Fault, Tx, check_anchor, check_txid};
use super::report::{Checked, NotSo};
use super::standing::{Standing, State};

const NO_TX: NotSo = NotSo::NotChecked("no transaction commits to it yet");
pub(super) const BROKEN: NotSo = NotSo::NotChecked("something above does not hold");
const NO_BLOCK: NotSo = NotSo::NotChecked("it is in no block yet");

fn fails<T>(why: impl ToString) -> Result<T, NotSo> {
    Err(NotSo::Fails(why.to_string()))
}

impl From<Fault> for NotSo {
    fn from(fault: Fault) -> Self {
        Self::Fails(fault.to_string())
    }
}

pub(super) fn content(envelope: &Envelope, content: Option<&[u8]>) -> Checked {
    let content = content.ok_or(NotSo::NotChecked("the content was not given"))?;
    let found = Digest::of(content);
    match found == envelope.content_sha256 {
        true => Ok(format!("its SHA-256 is {found}")),
        false => fails(format!(
            "its SHA-256 is {found}, not {}",
            envelope.content_sha256
        )),
    }
}

pub(super) fn version(envelope: &Envelope) -> Checked {
    let version = envelope.version();
    if let Err(fault) = version.check() {
        return fails(fault);
    }
    let id = version.id();
    match id == envelope.version_id {
        true => Ok(format!("its record has the id {id}")),
        false => fails(format!(
            "its record has the id {id}, not {}",
            envelope.version_id
        )),
    }
}

/// Every ancestor is named by one before it, and is what its name says.
pub(super) fn lineage(envelope: &Envelope) -> Checked {
    let mut named = envelope.parents.clone();
    for (number, ancestor) in envelope.lineage.iter().enumerate() {
        let id = ancestor.id();
        if ancestor.check().is_err() || !named.contains(&id) {
            return fails(format!("ancestor {} ({id}) is no one's parent", number + 1));
        }
        named.retain(|known| *known != id);
        named.extend(&ancestor.parents);
    }
    let more = match envelope.lineage_cut {
        true => "; there are more than a bundle has room for",
        false => "",
    };
    Ok(match envelope.lineage.len() {
        0 => format!("no ancestors come with it{more}"),
        count => format!("every ancestor ({count}) is the parent of one before it{more}"),
    })
}

pub(super) fn transaction(envelope: &Envelope) -> Checked {
    let TxPart { txid, raw } = envelope.tx.as_ref().ok_or(NO_TX)?;
    check_txid(&raw.0, Some(txid))?;
    Tx::parse(&raw.0)?;
    Ok(format!("its {} bytes have the id {txid}", raw.0.len()))
}

pub(super) fn commitment(envelope: &Envelope) -> Checked {
    let (Some(part), Some(commitment)) = (&envelope.tx, &envelope.commitment) else {
        return match (&envelope.tx, &envelope.commitment) {
            (None, None) => Err(NO_TX),
            _ => fails("a commitment without a transaction, or the other way round"),
        };
    };
    let leaf = leaf(
        &envelope.tenant,
        &envelope.version_id,
        &envelope.content_sha256,
    );
    let Some(root) = commitment.root(&leaf) else {
        return fails("the batch's path is none of a leaf at its place");
    };
    match Tx::parse(&part.raw.0)?.commits_to(&root) {
        Some(output) => Ok(format!("output {output} carries {root}")),
        None => fails(format!("no output carries {root}")),
    }
}

fn read_header(envelope: &Envelope) -> Result<Header, NotSo> {
    let bytes = envelope.header.as_ref().ok_or(NO_BLOCK)?;
    Header::parse(&bytes.0).or_else(fails)
}

/// All that is said of a block is there or nothing is.
pub(super) fn header(envelope: &Envelope) -> Checked {
    let said = [
        envelope.header.is_some(),
        envelope.bump.is_some(),
        envelope.block_height.is_some(),
        envelope.block_hash.is_some(),
    ];
    if said.contains(&true) && (said.contains(&false) || envelope.tx.is_none()) {
        return fails("of its transaction, block hash, height, header and path some are missing");
    }
    let (header, hash) = (read_header(envelope)?, envelope.block_hash.ok_or(NO_BLOCK)?);
    match header.hash() == hash {
        true => Ok(format!("its hash is {hash}")),
        false => fails(format!("its hash is {}, not {hash}", header.hash())),
    }
}

pub(super) fn proof(envelope: &Envelope) -> Checked {
    let part = envelope.tx.as_ref().ok_or(NO_TX)?;
    let bump = Bump::parse(&envelope.bump.as_ref().ok_or(NO_BLOCK)?.0)?;
    let (header, height) = (
        read_header(envelope)?,
        envelope.block_height.ok_or(NO_BLOCK)?,
    );
    check_anchor(&part.txid, &bump, &header, height)?;
    Ok(format!(
        "its path, {} high, leads to the block's root {}",
        bump.levels(),
        header.merkle_root
    ))
}

pub(super) fn chain(envelope: &Envelope, tree: Option<&Tree>, standing: &Standing) -> Checked {
    let tree = tree.ok_or(NotSo::NotChecked("no headers were given"))?;
    let (ours, theirs) = (tree.chain().name(), envelope.chain.name());
    if ours != theirs {
        return fails(format!("the headers are those of {ours}, not of {theirs}"));
    }
    let tip = tree.tip();
    match standing.state {
        State::Confirmed => Ok(format!("its block leads to the tip at {}", tip.height)),
        State::OffChain => fails("another block is in the place of its own"),
        State::UnknownHeader => Err(NotSo::NotChecked("the headers do not reach its block")),
        State::Unmined => Err(NO_BLOCK),
        State::InvalidProof if moved(envelope, tree) => fails("its block has another height"),
        State::InvalidProof => Err(BROKEN),
    }
}

fn moved(envelope: &Envelope, tree: &Tree) -> bool {
    let known = envelope.block_hash.and_then(|hash| tree.height_of(&hash));
    known.is_some() && known != envelope.block_height
}
