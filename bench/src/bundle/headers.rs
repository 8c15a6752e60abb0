//! A file of headers, read and checked as at a start.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use kurier::clock;
use kurier::headers::read_tree;
use kurier_core::bundle::chain::{Chain, HEADER_BYTES};
use kurier_core::bundle::{Hash256, mine_block};
use serde::Serialize;

use super::Args;
use crate::outcome::median;

const TRIES_MAX: u32 = 1_000;

/// A file of 80-byte headers, given as CHAIN:START:FILE.
#[derive(Debug, Clone)]
pub struct HeaderFile {
    chain: Chain,
    start: u32,
    path: PathBuf,
}

impl FromStr for HeaderFile {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let mut parts = text.splitn(3, ':');
        let mut next = || parts.next().context("it is given as CHAIN:START:FILE");
        let chain = next()?;
        Ok(Self {
            chain: Chain::named(chain).context("the chains are btc, bsv and regtest")?,
            start: next()?.parse()?,
            path: next()?.into(),
        })
    }
}

#[derive(Serialize)]
pub struct Checked {
    pub name: String,
    pub count: usize,
    pub per_second: f64,
}

/// A chain made here, and one that was given.
pub fn measure(args: &Args) -> anyhow::Result<Vec<Checked>> {
    eprintln!("==> headers");
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), mined(args.headers)?)?;
    let own = HeaderFile {
        chain: Chain::Regtest,
        start: 0,
        path: file.path().to_owned(),
    };
    let files = std::iter::once(&own).chain(&args.header_file);
    files.map(|file| check(file, args.rounds)).collect()
}

fn mined(count: usize) -> anyhow::Result<Vec<u8>> {
    let mut last = Chain::Regtest.genesis();
    let mut bytes = last.bytes().to_vec();
    for number in 0..count as u64 {
        let txid = Hash256::of(&number.to_le_bytes());
        let block = mine_block(&last, vec![txid], last.time + 60, TRIES_MAX);
        last = block.context("no nonce was found")?.header;
        bytes.extend(last.bytes());
    }
    Ok(bytes)
}

fn check(file: &HeaderFile, rounds: usize) -> anyhow::Result<Checked> {
    let count = count_of(&file.path)?;
    let mut rates = Vec::new();
    for _ in 0..rounds {
        let (began, now_s) = (Instant::now(), clock::now().as_millis() / 1_000);
        let tree = read_tree(&file.path, file.chain, file.start, now_s)?;
        rates.push(count as f64 / began.elapsed().as_secs_f64());
        ensure!(tree.headers() == count, "{} were taken", tree.headers());
    }
    Ok(Checked {
        name: format!("{} from {}", file.chain.name(), file.start),
        count,
        per_second: median(rates),
    })
}

fn count_of(path: &Path) -> anyhow::Result<usize> {
    let length = std::fs::metadata(path).with_context(|| path.display().to_string())?;
    Ok(length.len() as usize / HEADER_BYTES)
}
