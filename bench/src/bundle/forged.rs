//! Proofs that do not hold: how long the slowest takes to be refused, and what it takes meanwhile.

use std::time::Instant;

use anyhow::{Context as _, ensure};
use kurier_core::bundle::Hash256;
use kurier_core::bundle::chain::Header;
use kurier_core::bundle::proof::{BUMP_BYTES_MAX, Bump, check_anchor};
use serde::Serialize;

use super::proofs::Given;
use crate::server::memory_of;

/// The best of so many tries: what interrupts one does not interrupt all.
const TRIES: usize = 5;

#[derive(Serialize)]
pub struct Refused {
    pub count: usize,
    pub slowest_micros: f64,
    /// What the process grew by at most.
    pub grown_mb: f64,
}

/// All forgeries of one honest proof.
pub fn measure(given: &Given, header: &Header) -> anyhow::Result<Refused> {
    let forged = forgeries(&given.bump);
    forget_peak()?;
    let before = memory_of(std::process::id())?.1;
    let mut slowest: f64 = 0.0;
    for bytes in &forged {
        let mut best = f64::INFINITY;
        for _ in 0..TRIES {
            let began = Instant::now();
            let holds = check(bytes, &given.txid, header);
            best = best.min(began.elapsed().as_secs_f64() * 1e6);
            ensure!(!holds, "a forged proof holds: {bytes:02x?}");
        }
        slowest = slowest.max(best);
    }
    Ok(Refused {
        count: forged.len(),
        slowest_micros: slowest,
        grown_mb: memory_of(std::process::id())?.1 - before,
    })
}

fn check(bytes: &[u8], txid: &Hash256, header: &Header) -> bool {
    Bump::parse(bytes).is_ok_and(|bump| check_anchor(txid, &bump, header, 1).is_ok())
}

/// Each bit of it flipped, each end cut off, something behind it, and counts that promise more
/// than there is; and the largest that is read at all, full of leaves.
fn forgeries(honest: &[u8]) -> Vec<Vec<u8>> {
    let mut forged = Vec::new();
    for bit in 0..honest.len() * 8 {
        let mut bytes = honest.to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        forged.push(bytes);
    }
    forged.extend((0..honest.len()).map(|length| honest[..length].to_vec()));
    forged.push([honest, &[0]].concat());
    forged.push(vec![1, 12, 0xfe, 0xff, 0xff, 0xff, 0x7f]);
    forged.push([vec![1, 12], vec![0xff; 9]].concat());
    forged.push(full_of_duplicates());
    forged.push(full_of_hashes(0));
    forged.push(full_of_hashes(2));
    forged
}

/// Two bytes each, and more to keep.
fn full_of_duplicates() -> Vec<u8> {
    let count = 120_u8;
    let mut bytes = vec![1, 32, count];
    for number in 0..count {
        bytes.extend([number * 2 + 1, 1]);
    }
    bytes
}

/// All of the lowest level, siblings or transactions, as many as are read at all.
fn full_of_hashes(flag: u8) -> Vec<u8> {
    let levels = 11;
    let count = ((BUMP_BYTES_MAX - 16) / 36) as u16;
    let mut bytes = vec![1, levels, 0xfd];
    bytes.extend(count.to_le_bytes());
    for number in 0..count {
        match u8::try_from(number) {
            Ok(small) if small < 0xfd => bytes.push(small),
            _ => {
                bytes.push(0xfd);
                bytes.extend(number.to_le_bytes());
            }
        }
        bytes.push(flag);
        bytes.extend(Hash256::of(&number.to_le_bytes()).0);
    }
    // Nothing above it.
    bytes.extend(vec![0; usize::from(levels) - 1]);
    bytes
}

/// From now on the most that was resident is counted anew.
fn forget_peak() -> anyhow::Result<()> {
    std::fs::write("/proc/self/clear_refs", "5").context("the peak of memory cannot be reset")
}
