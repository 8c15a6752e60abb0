//! A chain that is mined while the load runs.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use kurier_core::bundle::chain::{Chain, Header};
use kurier_core::bundle::{Block, Hash256, mine_block};

const TRIES_MAX: u32 = 1_000;

pub struct HomeChain {
    folder: tempfile::TempDir,
    headers: Vec<Header>,
    /// No two blocks are alike.
    salt: u64,
}

impl HomeChain {
    pub fn new() -> anyhow::Result<Self> {
        let mut chain = Self {
            folder: tempfile::tempdir()?,
            headers: vec![Chain::Regtest.genesis()],
            salt: 0,
        };
        chain.mine(&[])?;
        chain.write()?;
        Ok(chain)
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("chain.headers")
    }

    pub fn height(&self) -> u32 {
        self.headers.len() as u32 - 1
    }

    /// A block of these transactions, after one more that no other block has.
    pub fn mine(&mut self, txs: &[Vec<u8>]) -> anyhow::Result<Block> {
        self.salt += 1;
        let own = Hash256::of(&self.salt.to_le_bytes());
        let txids = std::iter::once(own).chain(txs.iter().map(|tx| Hash256::of(tx)));
        let parent = *self.headers.last().context("a first block")?;
        let block = mine_block(&parent, txids.collect(), parent.time + 600, TRIES_MAX);
        let block = block.context("no nonce was found")?;
        self.headers.push(block.header);
        Ok(block)
    }

    /// At once, so that nobody reads half a file.
    pub fn write(&self) -> anyhow::Result<()> {
        let bytes: Vec<u8> = self.headers.iter().flat_map(Header::bytes).collect();
        let path = self.path();
        let beside = path.with_extension("new");
        std::fs::write(&beside, bytes)?;
        Ok(std::fs::rename(beside, path)?)
    }

    /// A block a second; half way the last block with bundles in it is replaced, and all that
    /// followed.
    pub async fn moving(mut self, seconds: u64) -> anyhow::Result<Self> {
        let last = self.height() as usize;
        let mut ticks = tokio::time::interval(Duration::from_secs(1));
        for second in 0..seconds {
            ticks.tick().await;
            if second == seconds / 2 {
                self.reorganise(last)?;
            }
            self.mine(&[])?;
            self.write()?;
        }
        Ok(self)
    }

    /// As many blocks again from a height on: with the next one they have more work.
    fn reorganise(&mut self, from: usize) -> anyhow::Result<()> {
        let count = self.headers.len() - from;
        self.headers.truncate(from);
        for _ in 0..count {
            self.mine(&[])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reorg_replaces_the_block_and_ends_as_high() {
        let mut chain = HomeChain::new().expect("a chain");
        chain.mine(&[]).expect("mined");
        chain.mine(&[]).expect("mined");
        let before = chain.headers.clone();
        chain.reorganise(2).expect("mined");
        assert_eq!(chain.headers.len(), before.len());
        assert_eq!(chain.headers[..2], before[..2]);
        assert_ne!(chain.headers[2], before[2]);
        assert_eq!(chain.headers[3].prev, chain.headers[2].hash());
    }
}
