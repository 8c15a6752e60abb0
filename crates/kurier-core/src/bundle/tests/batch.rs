//! The batch's tree, held against RFC 6962's own definition of it.

use proptest::prelude::*;

use super::super::batch::{Batch, BatchPath};
use super::super::hash::Digest;

fn leaves(count: usize) -> Vec<Digest> {
    (0..count).map(|n| Digest::of(&n.to_le_bytes())).collect()
}

/// The definition: the left part is the largest power of two that is smaller.
fn defined(leaves: &[Digest]) -> Digest {
    match leaves {
        [leaf] => Digest::of_parts(&[&[0], &leaf.0]),
        _ => {
            let (left, right) = leaves.split_at(leaves.len().next_power_of_two() / 2);
            Digest::of_parts(&[&[1], &defined(left).0, &defined(right).0])
        }
    }
}

#[test]
fn the_root_is_the_one_of_rfc_6962() {
    for count in 1..130 {
        let leaves = leaves(count);
        let batch = Batch::new(&leaves).expect("some");
        assert_eq!(batch.root(), defined(&leaves), "{count} leaves");
    }
    assert!(Batch::new(&[]).is_none());
}

#[test]
fn every_leaf_leads_to_the_root_and_no_other_does() {
    for count in 1..70 {
        let leaves = leaves(count);
        let batch = Batch::new(&leaves).expect("some");
        for (index, leaf) in leaves.iter().enumerate() {
            let path = batch.path(index).expect("one of them");
            assert_eq!(path.root(leaf), Some(batch.root()));
            let other = Digest::of(b"other");
            assert_ne!(path.root(&other), Some(batch.root()));
        }
        assert!(batch.path(count).is_none());
    }
}

/// An odd leaf is not doubled: a batch of three has another root than one whose last leaf
/// stands there twice.
#[test]
fn an_odd_leaf_is_not_doubled() {
    let three = leaves(3);
    let four = [three[0], three[1], three[2], three[2]];
    let root = |leaves: &[Digest]| Batch::new(leaves).expect("some").root();
    assert_ne!(root(&three), root(&four));
}

/// A node is hashed otherwise than a leaf, so it cannot be shown as one.
#[test]
fn a_node_is_no_leaf() {
    let leaves = leaves(4);
    let batch = Batch::new(&leaves).expect("some");
    let path = batch.path(0).expect("the first");
    let left = BatchPath {
        index: 0,
        size: 4,
        path: path.path[..1].to_vec(),
    };
    assert_eq!(left.root(&leaves[0]), None);
    let node = BatchPath {
        index: 0,
        size: 2,
        path: path.path[1..].to_vec(),
    };
    let inner = Digest::of_parts(&[
        &[1],
        &Digest::of_parts(&[&[0], &leaves[0].0]).0,
        &path.path[0].0,
    ]);
    assert_ne!(node.root(&inner), Some(batch.root()));
}

proptest! {
    #[test]
    fn a_path_of_another_place_or_size_does_not_hold(
        count in 2..200_usize, index in 0..200_usize, other in 0..220_u32,
    ) {
        let (leaves, index) = (leaves(count), index % count);
        let batch = Batch::new(&leaves).expect("some");
        let path = batch.path(index).expect("one of them");
        let moved = BatchPath { index: other, ..path.clone() };
        if other as usize != index {
            prop_assert_ne!(moved.root(&leaves[index]), Some(batch.root()));
        }
        let mut longer = path.clone();
        longer.path.push(leaves[0]);
        prop_assert_eq!(longer.root(&leaves[index]), None);
        let mut shorter = path;
        if shorter.path.pop().is_some() {
            prop_assert_eq!(shorter.root(&leaves[index]), None);
        }
    }
}
