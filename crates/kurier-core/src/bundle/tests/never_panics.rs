//! Any bytes: they are read or refused.

use proptest::prelude::*;

use super::super::chain::{Chain, Header, Tree};
use super::super::envelope::Envelope;
use super::super::proof::{Beef, Bump, MerkleTree, Tsc, Tx, committing_tx, without_witnesses};
use super::super::{Digest, Hash256};
use super::{NOW, txids};

/// Bytes that lead further in than chance would: a good beginning, cut and changed.
fn near(good: Vec<u8>) -> impl Strategy<Value = Vec<u8>> {
    let length = good.len();
    let changes = prop::collection::vec((0..length, any::<u8>()), 0..6);
    (
        changes,
        0..=length,
        prop::collection::vec(any::<u8>(), 0..40),
    )
        .prop_map(move |(changes, keep, more)| {
            let mut bytes = good.clone();
            changes.iter().for_each(|(at, byte)| bytes[*at] = *byte);
            bytes.truncate(keep);
            bytes.extend(more);
            bytes
        })
}

fn bump() -> Vec<u8> {
    let tree = MerkleTree::new(txids(21)).expect("not empty");
    tree.prove(9, 20).expect("the last").bytes()
}

fn beef() -> Vec<u8> {
    let raw = committing_tx(&Digest::of(b"x"), 1);
    let tree = MerkleTree::new(vec![Hash256::of(&raw)]).expect("one");
    let bump = tree.prove(9, 0).expect("it").bytes();
    [&[1, 0, 0xbe, 0xef, 1][..], &bump, &[1], &raw, &[1, 0]].concat()
}

/// All that reads bytes; what is read is written as the same bytes.
fn read_all(bytes: &[u8]) {
    if let Ok(bump) = Bump::parse(bytes) {
        assert_eq!(bump.bytes(), bytes);
        let root = bump.root();
        for txid in bump.txids() {
            let only = bump.only(&txid);
            assert_eq!(only.is_ok(), root.is_ok());
            if let Ok(only) = only {
                assert_eq!(only.root(), root);
            }
        }
    }
    if let Ok(bump) = Bump::import(bytes) {
        assert!(bump.root().is_ok());
        assert_eq!(Bump::parse(&bump.bytes()), Ok(bump));
    }
    if let Ok(tx) = Tx::parse(bytes) {
        assert_eq!(tx.raw(), bytes);
        tx.scripts()
            .iter()
            .for_each(|script| assert!(script.pushes().count() <= bytes.len()));
    }
    if let Ok(stripped) = without_witnesses(bytes) {
        assert!(stripped.len() <= bytes.len());
    }
    if let Ok(beef) = Beef::parse(bytes) {
        beef.proven()
            .for_each(|proven| assert!(proven.bump.only(&proven.txid).is_ok()));
    }
    if let Ok(tsc) = Tsc::parse(bytes) {
        assert!(tsc.to_bump(1).is_err() || tsc.to_bump(1).and_then(|bump| bump.root()).is_ok());
    }
    if let Ok(envelope) = Envelope::parse(bytes) {
        let again = envelope.canonical().expect("what was read can be written");
        assert_eq!(Envelope::parse(&again), Ok(envelope));
    }
    if let Ok(header) = Header::parse(bytes) {
        assert_eq!(header.bytes(), bytes);
    }
    let mut tree = Tree::from_genesis(Chain::Regtest);
    let _ = (tree.accept(bytes, NOW), tree.extend(bytes, NOW));
}

proptest! {
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        read_all(&bytes);
    }

    #[test]
    fn nearly_a_bump(bytes in near(bump())) {
        read_all(&bytes);
    }

    #[test]
    fn nearly_a_beef(bytes in near(beef())) {
        read_all(&bytes);
    }

    #[test]
    fn nearly_a_transaction(bytes in near(committing_tx(&Digest::of(b"x"), 1))) {
        read_all(&bytes);
    }

    #[test]
    fn nearly_a_header(bytes in near(Chain::Regtest.genesis().bytes().to_vec())) {
        read_all(&bytes);
    }
}

#[test]
fn what_these_begin_with_is_good() {
    assert!(Bump::parse(&bump()).is_ok());
    let beef = beef();
    assert_eq!(Beef::parse(&beef).map(|beef| beef.proven().count()), Ok(1));
    read_all(&beef);
}
