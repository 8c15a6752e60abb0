//! Proofs of whole blocks' transactions, which hold, and the same with a bit flipped, which
//! do not.

use proptest::prelude::*;

use super::super::proof::{Bump, MerkleTree, check_anchor};
use super::bump_rules::{HEIGHT, header};
use super::txids;

proptest! {
    /// The proof of every transaction of every small block leads to its root, alone and
    /// together with another, and survives being written and read.
    #[test]
    fn honest_proofs_hold(count in 1..70_u64, pick in any::<prop::sample::Index>()) {
        let txids = txids(count);
        let tree = MerkleTree::new(txids.clone()).expect("not empty");
        let index = pick.index(txids.len());
        let bump = tree.prove(HEIGHT, index).expect("one of them");
        prop_assert_eq!(bump.root(), Ok(tree.root()));
        prop_assert_eq!(Bump::parse(&bump.bytes()), Ok(bump.clone()));
        prop_assert_eq!(Bump::import(&bump.bytes()), Ok(bump.clone()));
        prop_assert_eq!(bump.only(&txids[index]), Ok(bump.clone()));
        let block = header(tree.root());
        prop_assert_eq!(check_anchor(&txids[index], &bump, &block, HEIGHT), Ok(()));
    }

    #[test]
    fn a_flipped_bit_of_any_proof_is_refused(
        count in 1..70_u64,
        pick in any::<prop::sample::Index>(),
        bit in any::<prop::sample::Index>(),
    ) {
        let txids = txids(count);
        let tree = MerkleTree::new(txids.clone()).expect("not empty");
        let index = pick.index(txids.len());
        let mut bytes = tree.prove(HEIGHT, index).expect("one of them").bytes();
        let bit = bit.index(bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        let holds = Bump::parse(&bytes)
            .and_then(|bump| check_anchor(&txids[index], &bump, &header(tree.root()), HEIGHT));
        prop_assert!(holds.is_err(), "{:?}", holds);
    }
}
