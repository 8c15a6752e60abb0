//! Honest headers, targets, proofs and transactions, read by the `bitcoin` crate as well: both
//! say the same. Real ones are tried where they are at hand.

use bitcoin::block::Header as TheirHeader;
use bitcoin::consensus::{deserialize, serialize};
use bitcoin::hashes::Hash as _;
use bitcoin::merkle_tree::{PartialMerkleTree, calculate_root};
use bitcoin::{CompactTarget, Target, Transaction, Txid};

use super::super::chain::target::{compact, expand, work};
use super::super::chain::{Chain, HEADER_BYTES, Header, U256, proven_work};
use super::super::hash::{Digest, Hash256};
use super::super::proof::{Beef, Mark, MerkleTree, Tx, committing_tx};
use super::{block_on, hash, real, real_json, unhex};

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

fn check_header(chain: Chain, bytes: &[u8]) {
    let ours = Header::parse(bytes).expect("80 bytes");
    let theirs: TheirHeader = deserialize(bytes).expect("80 bytes");
    assert_eq!(ours.hash().to_string(), theirs.block_hash().to_string());
    assert_eq!(ours.prev.0, theirs.prev_blockhash.to_byte_array());
    assert_eq!(ours.merkle_root.0, theirs.merkle_root.to_byte_array());
    assert_eq!(
        (ours.version.cast_signed(), ours.time, ours.bits, ours.nonce),
        (
            theirs.version.to_consensus(),
            theirs.time,
            theirs.bits.to_consensus(),
            theirs.nonce
        )
    );
    let target = expand(ours.bits).expect("a target");
    assert_eq!(target.to_be_bytes(), theirs.target().to_be_bytes());
    let proven = proven_work(chain, ours.bits, &ours.hash()).expect("enough work");
    assert_eq!(proven.to_be_bytes(), theirs.work().to_be_bytes());
    theirs.validate_pow(theirs.target()).expect("enough work");
}

#[test]
fn headers_agree_in_hash_target_and_work() {
    let mut last = Chain::Regtest.genesis();
    for number in 0..500 {
        last = block_on(&last, number).header;
        check_header(Chain::Regtest, &last.bytes());
    }
    for name in [
        "bsv-mainnet-900000-916817.headers",
        "btc-mainnet-0-10236.headers",
        "alt-mainnet-1-2016.headers",
        "bch-bsv-478552-478576.headers",
    ] {
        let bytes = real(name).unwrap_or_default();
        let headers = bytes.chunks_exact(HEADER_BYTES);
        headers.for_each(|header| check_header(Chain::Btc, header));
    }
}

#[test]
fn targets_agree_in_both_forms_and_in_work() {
    let (mut dice, mut agreed) = (Dice(88_172_645_463_325_252), 0);
    for _ in 0..100_000 {
        // An exponent of up to 34, as all have that fit into 256 bits.
        let bits = (dice.roll() as u32 & 0x00ff_ffff) | ((dice.roll() % 35) as u32) << 24;
        let Ok(ours) = expand(bits) else { continue };
        let theirs = Target::from_compact(CompactTarget::from_consensus(bits));
        assert_eq!(ours.to_be_bytes(), theirs.to_be_bytes(), "{bits:08x}");
        // Of a target of 1 the crate says endless work; a node says 2^256 / 2, as we do.
        if ours != U256::ONE {
            assert_eq!(work(ours).to_be_bytes(), theirs.to_work().to_be_bytes());
        }
        assert_eq!(compact(ours), theirs.to_compact_lossy().to_consensus());
        agreed += 1;
    }
    assert!(agreed > 10_000, "{agreed}");
    let half = U256::from_words([1 << 63, 0, 0, 0]);
    assert_eq!(work(U256::ONE), half);
}

#[test]
fn proofs_agree_in_root_and_place() {
    let mut dice = Dice(362_436_069);
    for size in 1..200_usize {
        let number = |at: usize| hash((at * 1_000 + size) as u64);
        let ids: Vec<Hash256> = (0..size).map(number).collect();
        let theirs: Vec<Txid> = ids.iter().map(|id| Txid::from_byte_array(id.0)).collect();
        let tree = MerkleTree::new(ids.clone()).expect("not empty");
        let root = calculate_root(theirs.iter().copied()).expect("not empty");
        assert_eq!(tree.root().0, root.to_byte_array());
        let at = dice.roll() as usize % size;
        check_proof(&tree, &theirs, at);
    }
}

fn check_proof(tree: &MerkleTree, theirs: &[Txid], at: usize) {
    let wanted: Vec<bool> = (0..theirs.len()).map(|n| n == at).collect();
    let partial = PartialMerkleTree::from_txids(theirs, &wanted);
    let (mut found, mut places) = (Vec::new(), Vec::new());
    let root = partial.extract_matches(&mut found, &mut places);
    let bump = tree.prove(5, at).expect("one of them");
    let ours = bump.root().expect("a root").0;
    assert_eq!(ours, root.expect("a root").to_byte_array());
    assert_eq!((found[0], places[0] as usize), (theirs[at], at));
    let marked: Vec<u64> = bump
        .level(0)
        .iter()
        .filter(|leaf| leaf.mark == Mark::Txid)
        .map(|leaf| leaf.offset)
        .collect();
    assert_eq!(marked, [at as u64]);
}

fn check_tx(raw: &[u8]) {
    let theirs: Transaction = deserialize(raw).expect("a transaction");
    let ours = Tx::parse(raw).expect("a transaction");
    assert_eq!(theirs.compute_txid().to_byte_array(), ours.txid().0);
    assert_eq!(serialize(&theirs), raw);
    let spent: Vec<[u8; 32]> = theirs
        .input
        .iter()
        .map(|input| input.previous_output.txid.to_byte_array())
        .collect();
    assert_eq!(
        spent,
        ours.spends().iter().map(|it| it.0).collect::<Vec<_>>()
    );
    assert_eq!(theirs.output.len(), ours.scripts().len());
    for (output, script) in theirs.output.iter().zip(ours.scripts()) {
        if !output.script_pubkey.is_op_return() {
            continue;
        }
        let pushes = output.script_pubkey.instructions().skip(1);
        let pushes = pushes.filter_map(|it| Some(it.ok()?.push_bytes()?.as_bytes().to_vec()));
        let own: Vec<Vec<u8>> = script.pushes().map(<[u8]>::to_vec).collect();
        assert_eq!(pushes.collect::<Vec<_>>(), own);
    }
}

#[test]
fn transactions_agree_in_id_inputs_outputs_and_pushes() {
    for n in 0..50_u8 {
        check_tx(&committing_tx(&Digest::of(&[n]), u64::from(n)));
    }
    let Some(file) = real_json("bsv-beef-with-headers.json") else {
        return;
    };
    for beef in file["beefs"].as_array().expect("a list") {
        let raw = unhex(&beef["beef"]);
        let beef = Beef::parse(&raw).expect("a real BEEF");
        beef.proven().for_each(|proven| check_tx(proven.raw));
        beef.unproven().for_each(|(_, raw)| check_tx(raw));
    }
}

#[test]
fn whole_blocks_agree_in_every_transaction_and_their_root() {
    let Some(file) = real_json("core-bloom-blocks.json") else {
        return;
    };
    let items = file["items"].as_array().expect("a list");
    let blocks: Vec<_> = items
        .iter()
        .filter(|item| item["kind"] == "block")
        .collect();
    assert_eq!(blocks.len(), 3);
    for item in blocks {
        let raw = unhex(&item["hex"]);
        let block: bitcoin::Block = deserialize(&raw).expect("a block");
        check_header(Chain::Btc, &raw[..HEADER_BYTES]);
        let theirs: Vec<Txid> = block.txdata.iter().map(Transaction::compute_txid).collect();
        block.txdata.iter().for_each(|tx| check_tx(&serialize(tx)));
        let ids = theirs.iter().map(|id| Hash256(id.to_byte_array()));
        let tree = MerkleTree::new(ids.collect()).expect("not empty");
        assert_eq!(tree.root().0, block.header.merkle_root.to_byte_array());
        (0..theirs.len()).for_each(|at| check_proof(&tree, &theirs, at));
    }
}
