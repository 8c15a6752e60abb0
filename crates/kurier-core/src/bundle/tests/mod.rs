mod batch;
mod bits;
mod bump_honest;
mod bump_rules;
mod envelope;
mod evidence;
mod forged;
mod gathered;
mod header_rules;
mod import;
mod never_panics;
mod oracle;
mod real_chain;
mod real_proofs;
mod report;
mod standing;

use std::path::Path;

use super::chain::{Chain, Header, Tree};
use super::hash::Hash256;
use super::mine::{Block, mine_block};

/// Later than every header here.
const NOW: i64 = 1_900_000_000;
const TRIES: u32 = 10_000;

/// A file of real headers or proofs, where they are at hand.
fn real(name: &str) -> Option<Vec<u8>> {
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let mut files = above.map(|folder| folder.join("shared/vectors/spv").join(name));
    let found = files.find_map(|file| std::fs::read(file).ok());
    if found.is_none() {
        println!("there is no {name}: nothing real to try");
    }
    found
}

fn real_json(name: &str) -> Option<serde_json::Value> {
    real(name).map(|bytes| serde_json::from_slice(&bytes).expect("JSON"))
}

fn text(value: &serde_json::Value) -> &str {
    value.as_str().expect("text")
}

fn unhex(value: &serde_json::Value) -> Vec<u8> {
    hex::decode(text(value)).expect("hexadecimal text")
}

fn hash(number: u64) -> Hash256 {
    Hash256::of(&number.to_le_bytes())
}

/// The first `count` made-up transactions of a block.
fn txids(count: u64) -> Vec<Hash256> {
    (0..count).map(hash).collect()
}

/// A block on top of another, ten minutes later; `salt` tells it from others there.
fn block_on(parent: &Header, salt: u64) -> Block {
    mine_block(parent, vec![hash(salt)], parent.time + 600, TRIES).expect("every second one does")
}

/// A regtest branch of so many blocks on top of a header.
fn branch_on(parent: &Header, length: u64, salt: u64) -> Vec<Header> {
    let mut headers = vec![*parent];
    for number in 0..length {
        let last = headers[headers.len() - 1];
        headers.push(block_on(&last, salt * 1_000 + number).header);
    }
    headers.split_off(1)
}

fn bytes_of(headers: &[Header]) -> Vec<u8> {
    headers.iter().flat_map(Header::bytes).collect()
}

/// A regtest tree with a chain of so many blocks on its first, and these.
fn regtest(length: u64) -> (Tree, Vec<Header>) {
    let mut tree = Tree::from_genesis(Chain::Regtest);
    let headers = branch_on(&Chain::Regtest.genesis(), length, 0);
    tree.extend(&bytes_of(&headers), NOW).expect("good headers");
    (tree, headers)
}
