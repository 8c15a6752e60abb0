//! What others hand over: transactions, TSC proofs, BEEF.

use serde_json::json;

use super::super::bytes::{Reader, put_varint};
use super::super::chain::{Chain, HEADER_BYTES};
use super::super::hash::{Digest, Hash256};
use super::super::proof::{
    Beef, Bump, Fault, MerkleTree, Target, Tsc, Tx, committing_tx, without_witnesses,
};
use super::{hash, txids};

/// The ids of the transactions of a block that has no witnesses.
pub(super) fn txids_of_block(block: &[u8]) -> Vec<Hash256> {
    let mut reader = Reader::new(&block[HEADER_BYTES..]);
    let count = reader.varint().expect("a count");
    let read = |_| Tx::read(&mut reader).expect("a transaction").txid();
    let txids = (0..count).map(read).collect();
    assert_eq!(reader.left(), 0);
    txids
}

fn script_tx(script: &[u8]) -> Vec<u8> {
    let plain = committing_tx(&Digest::default(), 1);
    let mut raw = plain[..plain.len() - 4 - 35 - 1].to_vec();
    put_varint(&mut raw, script.len() as u64);
    raw.extend(script);
    raw.extend([0; 4]);
    raw
}

#[test]
fn a_commitment_is_found_in_an_output_that_carries_data_only() {
    let root = Digest::of(b"root");
    let carries = |before: &[u8], after: &[u8]| {
        let script = [before, &root.0, after].concat();
        let raw = script_tx(&script);
        Tx::parse(&raw).expect("a transaction").commits_to(&root)
    };
    assert_eq!(carries(&[0x6a, 32], &[]), Some(0));
    assert_eq!(carries(&[0x00, 0x6a, 32], &[]), Some(0));
    assert_eq!(carries(&[0x6a, 0x4c, 32], &[]), Some(0));
    assert_eq!(carries(&[0x6a, 0x4d, 32, 0], &[]), Some(0));
    assert_eq!(carries(&[0x6a, 0x4e, 32, 0, 0, 0], &[]), Some(0));
    assert_eq!(carries(&[0x6a, 2, 1, 2, 32], &[3, 1, 2, 3]), Some(0));
    // Spendable, beside the push, a part of a longer one, behind code, cut off.
    assert_eq!(carries(&[32], &[]), None);
    assert_eq!(carries(&[0x76, 0x6a, 32], &[]), None);
    assert_eq!(carries(&[0x6a, 33, 7], &[]), None);
    assert_eq!(carries(&[0x6a, 33], &[7]), None);
    assert_eq!(carries(&[0x6a, 0x51, 32], &[]), None);
    assert_eq!(carries(&[0x6a, 33], &[]), None);
    assert_eq!(carries(&[0x6a], &[]), None);
    let whole = committing_tx(&root, 5);
    assert_eq!(Tx::parse(&whole).expect("ours").commits_to(&root), Some(0));
    assert_ne!(whole.len(), 64);
}

#[test]
fn a_transaction_is_read_to_its_last_byte_and_no_further() {
    let raw = committing_tx(&Digest::of(b"x"), 3);
    assert_eq!(Tx::parse(&raw).map(|tx| tx.txid()), Ok(Hash256::of(&raw)));
    for length in 0..raw.len() {
        assert!(Tx::parse(&raw[..length]).is_err(), "{length} bytes");
    }
    let longer = [&raw[..], &[0]].concat();
    assert_eq!(Tx::parse(&longer).map(|_| ()), Err(Fault::Trailing));
    // With witnesses the id is not the hash of the bytes.
    let witnessed = [&raw[..4], &[0, 1], &raw[4..]].concat();
    assert!(Tx::parse(&witnessed).is_err());
    let none = [&raw[..4], &[0, 0], &[0; 4]].concat();
    assert_eq!(Tx::parse(&none).map(|_| ()), Err(Fault::NoInputs));
    let bomb = [&raw[..4], &[0xfe, 0xff, 0xff, 0xff, 0x7f]].concat();
    assert_eq!(Tx::parse(&bomb).map(|_| ()), Err(Fault::Truncated));
    assert_eq!(
        Tx::parse(&vec![0; 200_000]).map(|_| ()),
        Err(Fault::TooLarge)
    );
}

#[test]
fn witnesses_are_taken_off() {
    let raw = committing_tx(&Digest::of(b"x"), 3);
    let (version, rest) = raw.split_at(4);
    let (body, lock_time) = rest.split_at(rest.len() - 4);
    let witnessed = |stack: &[u8]| [version, &[0, 1], body, stack, lock_time].concat();
    assert_eq!(without_witnesses(&raw), Ok(raw.clone()));
    assert_eq!(
        without_witnesses(&witnessed(&[2, 0, 3, 7, 7, 7])),
        Ok(raw.clone())
    );
    assert_eq!(without_witnesses(&witnessed(&[0])), Ok(raw.clone()));
    assert_eq!(without_witnesses(&witnessed(&[0, 0])), Err(Fault::Trailing));
    let bomb = witnessed(&[0xfe, 0xff, 0xff, 0xff, 0x7f]);
    assert_eq!(without_witnesses(&bomb), Err(Fault::Truncated));
    for length in 0..raw.len() {
        assert!(without_witnesses(&raw[..length]).is_err());
    }
}

fn tsc(change: impl Fn(&mut serde_json::Value)) -> Result<Bump, Fault> {
    let [a, b, c] = [hash(0), hash(1), hash(2)];
    let tree = MerkleTree::new(txids(3)).expect("three");
    let mut proof = json!({
        "index": 2,
        "txOrId": c.to_string(),
        "nodes": ["*", Hash256::of_pair(&a, &b).to_string()],
        "target": tree.root().to_string(),
        "targetType": "merkleRoot",
        "proofType": "branch",
        "composite": false,
    });
    change(&mut proof);
    Tsc::parse(proof.to_string().as_bytes())?.to_bump(7)
}

#[test]
fn a_tsc_proof_becomes_the_same_bump() {
    let tree = MerkleTree::new(txids(3)).expect("three");
    let bump = tree.prove(7, 2).expect("the third");
    assert_eq!(tsc(|_| ()), Ok(bump.clone()));
    // A duplicate that is written out is the same on the right side.
    let written = |proof: &mut serde_json::Value| proof["nodes"][0] = json!(hash(2).to_string());
    assert_eq!(tsc(written), Ok(bump.clone()));
    let mut header = Chain::Regtest.genesis();
    header.merkle_root = tree.root();
    let by_header = |proof: &mut serde_json::Value| {
        proof["targetType"] = json!("header");
        proof["target"] = json!(hex::encode(header.bytes()));
    };
    assert_eq!(tsc(by_header), Ok(bump.clone()));
    let by_height = |proof: &mut serde_json::Value| {
        proof["targetType"] = json!("height");
        proof["target"] = json!(7);
    };
    assert_eq!(tsc(by_height), Ok(bump));
}

#[test]
fn a_forged_tsc_proof_is_refused() {
    let refused = |field: &str, value: serde_json::Value, fault| {
        assert_eq!(
            tsc(|proof| proof[field] = value.clone()),
            Err(fault),
            "{field} {value}"
        );
    };
    refused("index", json!(3), Fault::DuplicateLeft);
    refused("index", json!(6), Fault::Offset);
    refused("index", json!(0), Fault::Phantom);
    refused("index", json!(-1), Fault::Unreadable);
    refused("target", json!(hash(9).to_string()), Fault::OtherRoot);
    refused("target", json!(8), Fault::OtherHeight);
    refused("targetType", json!("moon"), Fault::Unreadable);
    refused("txOrId", json!(hash(9).to_string()), Fault::OtherRoot);
    refused("txOrId", json!("00".repeat(64)), Fault::SixtyFourBytes);
    refused("composite", json!(true), Fault::Composite);
    refused("proofType", json!("tree"), Fault::Composite);
    refused("nodes", json!(vec!["*"; 33]), Fault::TreeHeight(33));
    let phantom = |proof: &mut serde_json::Value| {
        proof["index"] = json!(3);
        proof["nodes"][0] = json!(hash(2).to_string());
    };
    assert_eq!(tsc(phantom), Err(Fault::LeftEqualsWorking));
    assert_eq!(Tsc::parse(&vec![b' '; 400_000]), Err(Fault::TooLarge));
    let block = hash(2).to_string();
    let lone = json!({"index": 0, "txOrId": hash(1).to_string(), "nodes": [], "target": block});
    let target = Tsc::parse(lone.to_string().as_bytes());
    assert_eq!(
        target.expect("one transaction").target,
        Some(Target::Block(hash(2)))
    );
}

/// A transaction that spends another.
fn spending(txid: &Hash256) -> Vec<u8> {
    let mut raw = committing_tx(&Digest::of(b"child"), 1);
    raw[5..37].copy_from_slice(&txid.0);
    raw
}

/// A mined transaction and one that spends it, in a wallet's format.
fn beef(magic: u8, entries: impl Fn(&[u8], &[u8]) -> Vec<u8>) -> Vec<u8> {
    let mined = committing_tx(&Digest::of(b"parent"), 1);
    let child = spending(&Hash256::of(&mined));
    let block = vec![hash(1), Hash256::of(&mined), hash(2)];
    let bump = MerkleTree::new(block)
        .expect("three")
        .prove(40, 1)
        .expect("the second");
    let head = [magic, 0x00, 0xbe, 0xef, 1];
    [&head[..], &bump.bytes(), &entries(&mined, &child)].concat()
}

fn v1(mined: &[u8], child: &[u8]) -> Vec<u8> {
    [&[2], mined, &[1, 0], child, &[0]].concat()
}

#[test]
fn a_beef_gives_mined_transactions_with_their_proofs() {
    let v2 = |mined: &[u8], child: &[u8]| [&[2, 1, 0], mined, &[0], child].concat();
    for bytes in [beef(1, v1), beef(2, v2)] {
        let beef = Beef::parse(&bytes).expect("good");
        let proven: Vec<_> = beef.proven().collect();
        assert_eq!((proven.len(), beef.unproven().count()), (1, 1));
        assert_eq!(proven[0].txid, Hash256::of(proven[0].raw));
        assert_eq!(proven[0].bump.height(), 40);
        assert!(proven[0].bump.txids().eq([proven[0].txid]));
    }
    let plain = beef(1, v1);
    let subject = Beef::parse(&plain)
        .expect("good")
        .unproven()
        .next()
        .expect("the child")
        .0;
    let atomic = |txid: Hash256| [&[1; 4][..], &txid.0, &plain].concat();
    let bytes = atomic(subject);
    assert_eq!(Beef::parse(&bytes).expect("good").subject, Some(subject));
    let other = atomic(hash(77));
    assert_eq!(Beef::parse(&other).map(|_| ()), Err(Fault::SubjectMissing));
}

#[test]
fn a_beef_that_does_not_hold_is_refused() {
    let refused = |bytes: Vec<u8>, fault| {
        assert_eq!(Beef::parse(&bytes).map(|_| ()), Err(fault));
    };
    assert!(Beef::parse(&beef(1, v1)).is_ok());
    refused(beef(3, v1), Fault::Unreadable);
    refused([&beef(1, v1)[..], &[0]].concat(), Fault::Trailing);
    let no_such = |mined: &[u8], _: &[u8]| [&[1], mined, &[1, 1]].concat();
    refused(beef(1, no_such), Fault::NoSuchProof);
    let other = |_: &[u8], child: &[u8]| [&[1], child, &[1, 0]].concat();
    refused(beef(1, other), Fault::OtherMarked);
    let later = |mined: &[u8], child: &[u8]| [&[2], child, &[0], mined, &[1, 0]].concat();
    refused(beef(1, later), Fault::ParentLater);
    let flag = |mined: &[u8], _: &[u8]| [&[1], mined, &[2]].concat();
    refused(beef(1, flag), Fault::Flag(2));
    let only_id = |mined: &[u8], _: &[u8]| [&[2, 1, 0][..], mined, &[2], &[0; 70]].concat();
    refused(beef(2, only_id), Fault::TxidOnly);
    refused(
        vec![1, 0, 0xbe, 0xef, 0xfe, 0xff, 0xff, 0xff, 0x7f],
        Fault::Truncated,
    );
    let mut forged = beef(1, v1);
    forged[9] ^= 1;
    assert!(Beef::parse(&forged).is_err());
    refused(vec![0; 2_000_000], Fault::TooLarge);
}
