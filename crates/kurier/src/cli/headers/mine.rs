//! `kurier headers mine`: blocks of the regtest chain, with the proofs of what is in them.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use kurier_core::bundle::chain::{Chain, HEADER_BYTES, Header};
use kurier_core::bundle::proof::{check_txid, committing_tx};
use kurier_core::bundle::{Block, Digest, Hash256, mine_block};
use serde_json::json;

use crate::clock;
use crate::headers::read_tree;

/// Every second nonce will do.
const TRIES_MAX: u32 = 100_000;
const BLOCK_SECONDS: u32 = 600;
const BLOCKS_MAX: u32 = 1_000_000;

#[derive(Debug, Args)]
pub struct MineArgs {
    /// The file of headers, made if it is missing
    file: PathBuf,
    /// How many blocks
    #[arg(long, default_value_t = 1)]
    blocks: u32,
    /// Put a transaction that carries these 32 bytes into the first of them, and prove it
    #[arg(long, value_name = "ROOT", conflicts_with = "tx")]
    commit: Option<Digest>,
    /// Put this transaction into the first of them, and prove it
    #[arg(long, value_name = "HEX")]
    tx: Option<String>,
    /// Mine on top of the block at this height instead of the last one: what came after it is
    /// replaced
    #[arg(long, value_name = "HEIGHT")]
    fork: Option<u32>,
}

/// What was mined first, and the transaction in it.
struct Mined {
    height: u32,
    block: Block,
    tx: Option<Vec<u8>>,
}

pub fn run(args: &MineArgs, as_json: bool) -> anyhow::Result<ExitCode> {
    if !(1..=BLOCKS_MAX).contains(&args.blocks) {
        bail!("--blocks has 1 to {BLOCKS_MAX}");
    }
    let mut headers = read(&args.file)?;
    if let Some(height) = args.fork {
        let kept = height as usize + 1;
        if kept > headers.len() {
            bail!(
                "there is no block at height {height}; the last one is at {}",
                headers.len() - 1
            );
        }
        headers.truncate(kept);
    }
    let first = mine_on(&mut headers, transaction(args)?)?;
    for _ in 1..args.blocks {
        mine_on(&mut headers, None)?;
    }
    write(&args.file, &headers)?;
    tell(&first, &headers, as_json)
}

fn read(path: &Path) -> anyhow::Result<Vec<Header>> {
    if !path.exists() {
        return Ok(vec![Chain::Regtest.genesis()]);
    }
    let now_s = clock::now().as_millis() / 1_000;
    let tree = read_tree(path, Chain::Regtest, 0, now_s)?;
    let heights = 0..=tree.tip().height;
    Ok(heights.filter_map(|height| tree.best_at(height)).collect())
}

fn transaction(args: &MineArgs) -> anyhow::Result<Option<Vec<u8>>> {
    let salt = u64::from_le_bytes(clock::random());
    if let Some(root) = &args.commit {
        return Ok(Some(committing_tx(root, salt)));
    }
    let raw = args.tx.as_ref().map(hex::decode);
    raw.transpose().context("--tx is not hexadecimal text")
}

/// Beside the transaction stands another, so that the proof has a path.
fn mine_on(headers: &mut Vec<Header>, tx: Option<Vec<u8>>) -> anyhow::Result<Mined> {
    let parent = *headers.last().context("a chain has a first block")?;
    let other = committing_tx(&Digest(clock::random()), 0);
    let mut txids = vec![Hash256::of(&other)];
    if let Some(tx) = &tx {
        txids.push(check_txid(tx, None)?);
    }
    let time = parent.time + BLOCK_SECONDS;
    let block = mine_block(&parent, txids, time, TRIES_MAX).context("no nonce was found")?;
    headers.push(block.header);
    Ok(Mined {
        height: headers.len() as u32 - 1,
        block,
        tx,
    })
}

/// Who reads the file meanwhile finds the old one or the new one.
fn write(path: &Path, headers: &[Header]) -> anyhow::Result<()> {
    let mut bytes = Vec::with_capacity(headers.len() * HEADER_BYTES);
    headers
        .iter()
        .for_each(|header| bytes.extend(header.bytes()));
    let beside = path.with_extension("new");
    std::fs::write(&beside, bytes).with_context(|| format!("cannot write {}", beside.display()))?;
    std::fs::rename(&beside, path).with_context(|| format!("cannot write {}", path.display()))
}

fn tell(first: &Mined, headers: &[Header], as_json: bool) -> anyhow::Result<ExitCode> {
    let tip = headers.last().context("a chain has a first block")?;
    let tip_height = headers.len() - 1;
    let mut answer = json!({"tip": {"height": tip_height, "hash": tip.hash()}});
    if let Some(tx) = &first.tx {
        let bump = first.block.txs.prove(first.height, 1)?;
        answer["txid"] = json!(Hash256::of(tx));
        answer["tx"] = json!(hex::encode(tx));
        answer["bump"] = json!(hex::encode(bump.bytes()));
        answer["header"] = json!(hex::encode(first.block.header.bytes()));
        answer["height"] = json!(first.height);
    }
    if as_json {
        println!("{answer}");
        return Ok(ExitCode::SUCCESS);
    }
    println!("the tip is at {tip_height}: {}", tip.hash());
    if let Some(tx) = &first.tx {
        println!(
            "transaction {} is in block {}",
            Hash256::of(tx),
            first.height
        );
    }
    Ok(ExitCode::SUCCESS)
}
