//! The tree of a whole block, for those who have its transactions: its root, and a proof
//! for each of them.

use super::super::hash::Hash256;
use super::bump::Bump;
use super::fault::Fault;

/// All levels of a block's tree, the transactions first, the root last.
#[derive(Debug, Clone)]
pub struct MerkleTree(Vec<Vec<Hash256>>);

impl MerkleTree {
    /// None of no transactions.
    pub fn new(txids: Vec<Hash256>) -> Option<Self> {
        let mut levels = vec![txids];
        while levels.last()?.len() > 1 {
            let above = levels.last()?.chunks(2).map(join).collect();
            levels.push(above);
        }
        let whole = !levels.last()?.is_empty();
        whole.then_some(Self(levels))
    }

    pub fn root(&self) -> Hash256 {
        self.0.last().map_or(Hash256::default(), |top| top[0])
    }

    /// The proof of one transaction, for a block of a height.
    pub fn prove(&self, height: u32, index: usize) -> Result<Bump, Fault> {
        let txid = self.0[0].get(index).ok_or(Fault::Offset)?;
        let below_root = &self.0[..self.0.len() - 1];
        let sibling =
            |(level, nodes): (usize, &Vec<Hash256>)| nodes.get((index >> level) ^ 1).copied();
        let siblings: Vec<_> = below_root.iter().enumerate().map(sibling).collect();
        Bump::of_path(height, index as u64, *txid, &siblings)
    }
}

/// A node without a sibling is paired with itself.
fn join(pair: &[Hash256]) -> Hash256 {
    Hash256::of_pair(&pair[0], pair.get(1).unwrap_or(&pair[0]))
}
