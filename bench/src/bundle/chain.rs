//! A chain that is mined while the load runs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use kurier_core::bundle::chain::{Chain, Header};
use kurier_core::bundle::{Block, Hash256, mine_block};

pub struct HomeChain {
    folder: tempfile::TempDir,
    headers: Vec<Header>,
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

    /// A block of so many transactions and one more, which is the first.
    pub fn mine(&mut self, txs: &[Vec<u8>]) -> anyhow::Result<Block> {
        self.salt += 1;
        let own = Hash256::of(&self.salt.to_le_bytes());
        let txids = std::iter::once(own).chain(txs.iter().map(|tx| Hash256::of(tx)));
        let parent = *self.headers.last().context("a first block")?;
        let block = mine_block(&parent, txids.collect(), parent.time + 600, 1_000);
        let block = block.context("no nonce was found")?;
        self.headers.push(block.header);
        Ok(block)
    }

    pub fn write(&self) -> anyhow::Result<()> {
        let bytes: Vec<u8> = self.headers.iter().flat_map(Header::bytes).collect();
        let path = self.path();
        let beside: &Path = &path.with_extension("new");
        std::fs::write(beside, bytes)?;
        Ok(std::fs::rename(beside, path)?)
    }

    /// A block a second; in the middle the last one with bundles in it is replaced, and all
    /// that followed.
    pub async fn moving(mut self, seconds: u64) -> anyhow::Result<Self> {
        let last = self.headers.len();
        let mut ticks = tokio::time::interval(Duration::from_secs(1));
        for second in 0..seconds {
            ticks.tick().await;
            if second == seconds / 2 {
                let length = self.headers.len();
                self.headers.truncate(last - 1);
                while self.headers.len() <= length {
                    self.mine(&[])?;
                }
            }
            self.mine(&[])?;
            self.write()?;
        }
        Ok(self)
    }
}
