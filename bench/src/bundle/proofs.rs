//! Verifying by itself: proofs a second, beside others that read them.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use kurier_core::bundle::chain::{Chain, Header};
use kurier_core::bundle::proof::{Bump, MerkleTree, check_anchor, check_txid, committing_tx};
use kurier_core::bundle::{Digest, Hash256};
use serde::Serialize;
use serde_json::json;

use super::Args;
use super::forged::{self, Refused};
use crate::outcome::median;

/// A block of so many transactions has paths of 12 levels.
const TXS: u64 = 4_096;
const LEVELS: usize = 12;
const PROOFS: usize = 64;
const LENGTH: Duration = Duration::from_secs(2);

pub struct Given {
    raw: Vec<u8>,
    pub bump: Vec<u8>,
    pub txid: Hash256,
}

/// Proofs a second.
#[derive(Serialize)]
pub struct Verified {
    pub own: f64,
    pub sdk: Option<f64>,
    #[serde(rename = "crate")]
    pub other_crate: Option<f64>,
    pub refused: Refused,
}

/// Medians of rounds in which each has its turn.
pub fn measure(args: &Args) -> anyhow::Result<Verified> {
    let (given, header) = proofs()?;
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), for_others(&given, &header))?;
    let (mut own, mut sdk, mut other_crate) = (Vec::new(), Vec::new(), Vec::new());
    for round in 1..=args.rounds {
        eprintln!("==> proofs, round {round}");
        own.push(verify_all(&given, &header)?);
        if let Some(script) = &args.sdk {
            sdk.push(beside(Command::new("node").arg(script), file.path())?);
        }
        if let Some(program) = &args.peer_crate {
            other_crate.push(beside(&mut Command::new(program), file.path())?);
        }
    }
    let of = |rates: Vec<f64>| (!rates.is_empty()).then(|| median(rates));
    Ok(Verified {
        own: median(own),
        sdk: of(sdk),
        other_crate: of(other_crate),
        refused: forged::measure(&given[1], &header)?,
    })
}

fn proofs() -> anyhow::Result<(Vec<Given>, Header)> {
    let root = Digest::of(b"a root");
    let txs: Vec<Vec<u8>> = (0..TXS).map(|salt| committing_tx(&root, salt)).collect();
    let tree = MerkleTree::new(txs.iter().map(|tx| Hash256::of(tx)).collect());
    let tree = tree.context("not empty")?;
    let header = Header {
        merkle_root: tree.root(),
        ..Chain::Regtest.genesis()
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

/// From the bytes on: the transaction's id, the path read and followed by all rules, the
/// block's root.
fn verify_all(given: &[Given], header: &Header) -> anyhow::Result<f64> {
    let (began, mut count) = (Instant::now(), 0);
    while began.elapsed() < LENGTH {
        for one in given {
            let txid = check_txid(&one.raw, Some(&one.txid))?;
            let bump = Bump::parse(&one.bump)?;
            ensure!(bump.levels() == LEVELS);
            check_anchor(&txid, &bump, header, 1)?;
            count += 1;
        }
    }
    Ok(f64::from(count) / began.elapsed().as_secs_f64())
}

fn for_others(given: &[Given], header: &Header) -> String {
    let proof = |one: &Given| {
        let bump: String = one.bump.iter().map(|byte| format!("{byte:02x}")).collect();
        json!({"bump": bump, "txid": one.txid, "root": header.merkle_root})
    };
    let proofs: Vec<_> = given.iter().map(proof).collect();
    json!({"proofs": proofs, "seconds": LENGTH.as_secs()}).to_string()
}

/// The rate that another program prints.
fn beside(command: &mut Command, file: &Path) -> anyhow::Result<f64> {
    let output = command.arg(file).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "a peer: {said}");
    let text = String::from_utf8(output.stdout)?;
    text.trim().parse().context("the rate of a peer")
}
