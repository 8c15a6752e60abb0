//! Blocks made at home, for the regtest chain: to try everything without a network, and
//! without anyone's leave.

use super::chain::{Chain, Header, proven_work};
use super::hash::Hash256;
use super::proof::MerkleTree;

/// A header with the tree of its transactions, which proves each of them.
#[derive(Debug, Clone)]
pub struct Block {
    pub header: Header,
    pub txs: MerkleTree,
}

/// The header with the first nonce from its own on that meets its target; none if no one of
/// so many does. On the regtest chain every second one does.
pub fn mine(chain: Chain, mut header: Header, tries_max: u32) -> Option<Header> {
    for _ in 0..tries_max {
        if proven_work(chain, header.bits, &header.hash()).is_ok() {
            return Some(header);
        }
        header.nonce = header.nonce.wrapping_add(1);
    }
    None
}

/// A block of these transactions on top of another, of the same difficulty.
pub fn mine_block(
    parent: &Header,
    txids: Vec<Hash256>,
    time: u32,
    tries_max: u32,
) -> Option<Block> {
    let txs = MerkleTree::new(txids)?;
    let header = Header {
        version: parent.version,
        prev: parent.hash(),
        merkle_root: txs.root(),
        time,
        bits: parent.bits,
        nonce: 0,
    };
    let header = mine(Chain::Regtest, header, tries_max)?;
    Some(Block { header, txs })
}
