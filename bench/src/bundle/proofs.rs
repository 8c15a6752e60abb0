//! Verifying by itself: proofs a second, headers a second.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use kurier::clock;
use kurier::headers::read_tree;
use kurier_core::bundle::chain::{Chain, HEADER_BYTES, Header};
use kurier_core::bundle::proof::{Bump, MerkleTree, check_anchor, check_txid, committing_tx};
use kurier_core::bundle::{Digest, Hash256, mine_block};
use serde_json::{Value, json};

/// A block of 4,096 transactions has paths of 12 levels.
const TXS: u64 = 4_096;
const PROOFS: usize = 64;
const LENGTH: Duration = Duration::from_secs(3);
const HEADERS: usize = 300_000;

struct Given {
    raw: Vec<u8>,
    bump: Vec<u8>,
    txid: Hash256,
}

pub fn measure(peer: Option<&Path>) -> anyhow::Result<(Value, Value)> {
    let (given, header) = proofs()?;
    let ours = verify_all(&given, &header)?;
    let theirs = peer
        .map(|script| beside(script, &given, &header))
        .transpose()?;
    let verified = json!({
        "microseconds": 1e6 / ours,
        "perSecond": ours,
        "bsvSdkPerSecond": theirs,
        "times": theirs.map(|theirs| ours / theirs),
    });
    Ok((verified, headers()?))
}

fn proofs() -> anyhow::Result<(Vec<Given>, Header)> {
    let root = Digest::of(b"a root");
    let txs: Vec<Vec<u8>> = (0..TXS).map(|salt| committing_tx(&root, salt)).collect();
    let tree = MerkleTree::new(txs.iter().map(|tx| Hash256::of(tx)).collect());
    let tree = tree.context("not empty")?;
    let genesis = Chain::Regtest.genesis();
    let header = Header {
        merkle_root: tree.root(),
        ..genesis
    };
    let given = (0..PROOFS).map(|number| {
        let index = number * 61;
        Ok(Given {
            bump: tree.prove(1, index)?.bytes(),
            txid: Hash256::of(&txs[index]),
            raw: txs[index].clone(),
        })
    });
    Ok((given.collect::<anyhow::Result<_>>()?, header))
}

/// From the bytes on: the transaction's id, the path read and followed, the block's root.
fn verify_all(given: &[Given], header: &Header) -> anyhow::Result<f64> {
    let (began, mut count) = (Instant::now(), 0);
    while began.elapsed() < LENGTH {
        for one in given {
            let txid = check_txid(&one.raw, Some(&one.txid))?;
            let bump = Bump::parse(&one.bump)?;
            anyhow::ensure!(bump.levels() == 12);
            check_anchor(&txid, &bump, header, 1)?;
            count += 1;
        }
    }
    Ok(f64::from(count) / began.elapsed().as_secs_f64())
}

fn beside(script: &Path, given: &[Given], header: &Header) -> anyhow::Result<f64> {
    let proofs: Vec<Value> = given
        .iter()
        .map(|one| {
            let bump: String = one.bump.iter().map(|byte| format!("{byte:02x}")).collect();
            json!({"bump": bump, "txid": one.txid, "root": header.merkle_root})
        })
        .collect();
    let file = tempfile::NamedTempFile::new()?;
    let input = json!({"proofs": proofs, "seconds": LENGTH.as_secs()});
    std::fs::write(file.path(), input.to_string())?;
    let output = Command::new("node").arg(script).arg(file.path()).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "the SDK: {said}");
    let text = String::from_utf8(output.stdout)?;
    text.trim().parse().context("the SDK's answer")
}

/// A file of headers, read and checked as at a start.
fn headers() -> anyhow::Result<Value> {
    let mut bytes = Chain::Regtest.genesis().bytes().to_vec();
    let mut last = Chain::Regtest.genesis();
    for number in 0..HEADERS as u64 {
        let txid = Hash256::of(&number.to_le_bytes());
        let block = mine_block(&last, vec![txid], last.time + 600, 1_000);
        last = block.context("no nonce was found")?.header;
        bytes.extend(last.bytes());
    }
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), &bytes)?;
    let began = Instant::now();
    let now_s = clock::now().as_millis() / 1_000;
    let tree = read_tree(file.path(), Chain::Regtest, 0, now_s)?;
    let seconds = began.elapsed().as_secs_f64();
    anyhow::ensure!(tree.headers() == bytes.len() / HEADER_BYTES);
    Ok(json!({"count": HEADERS, "perSecond": HEADERS as f64 / seconds}))
}
