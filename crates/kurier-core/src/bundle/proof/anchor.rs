//! What binds a transaction to a block.

use super::super::chain::Header;
use super::super::hash::Hash256;
use super::bump::Bump;
use super::fault::Fault;

/// An inner node of a block's tree is the hash of so many bytes. A transaction of that
/// length could be one, and the other way round.
const NODE_BYTES: usize = 64;

/// The id of a raw transaction, which is the one that was claimed if one was.
pub fn check_txid(raw: &[u8], claimed: Option<&Hash256>) -> Result<Hash256, Fault> {
    if raw.len() == NODE_BYTES {
        return Err(Fault::SixtyFourBytes);
    }
    let txid = Hash256::of(raw);
    match claimed.is_none_or(|claimed| *claimed == txid) {
        true => Ok(txid),
        false => Err(Fault::OtherTxid),
    }
}

/// Whether a transaction is in the block of a header at a height: the proof is of it alone,
/// for that height, and leads to the block's root. That its id is the hash of its bytes is
/// not said here, and needed: see [`check_txid`].
pub fn check_anchor(
    txid: &Hash256,
    bump: &Bump,
    header: &Header,
    height: u32,
) -> Result<(), Fault> {
    let mut marked = bump.txids();
    match (marked.next(), marked.next()) {
        (None, _) => return Err(Fault::NoneMarked),
        (Some(only), None) if only == *txid => (),
        _ => return Err(Fault::OtherMarked),
    }
    if bump.height() != height {
        return Err(Fault::OtherHeight);
    }
    match bump.root()? == header.merkle_root {
        true => Ok(()),
        false => Err(Fault::OtherRoot),
    }
}
