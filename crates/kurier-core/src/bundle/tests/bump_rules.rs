//! The rules of a proof, one test each. Every test begins with an honest proof that holds.

use super::super::bytes::put_varint;
use super::super::chain::{Chain, Header};
use super::super::hash::Hash256;
use super::super::proof::{Bump, Fault, MerkleTree, check_anchor, check_txid};
use super::{hash, txids};

type Leaf = (u64, u8, Hash256);

pub(super) const HEIGHT: u32 = 7;

/// A proof as whoever made it wrote it.
fn raw(levels: &[&[Leaf]]) -> Vec<u8> {
    let mut out = vec![HEIGHT as u8, levels.len() as u8];
    for leaves in levels {
        put_varint(&mut out, leaves.len() as u64);
        for (offset, flag, hash) in *leaves {
            put_varint(&mut out, *offset);
            out.push(*flag);
            if *flag != 1 {
                out.extend(hash.0);
            }
        }
    }
    out
}

fn root(levels: &[&[Leaf]]) -> Result<Hash256, Fault> {
    Bump::parse(&raw(levels))?.root()
}

fn pair(left: Hash256, right: Hash256) -> Hash256 {
    Hash256::of_pair(&left, &right)
}

/// A block of three transactions: a, b, c, and its root.
fn three() -> [Hash256; 4] {
    let [a, b, c] = [hash(0), hash(1), hash(2)];
    [a, b, c, pair(pair(a, b), pair(c, c))]
}

/// The honest proof of the third of three.
fn honest() -> (Vec<u8>, Hash256) {
    let [a, b, c, top] = three();
    let bytes = raw(&[&[(2, 2, c), (3, 1, c)], &[(0, 0, pair(a, b))]]);
    assert_eq!(Bump::parse(&bytes).and_then(|bump| bump.root()), Ok(top));
    (bytes, top)
}

#[track_caller]
fn refused(bytes: &[u8], fault: Fault) {
    let found = Bump::parse(bytes).and_then(|bump| bump.root());
    assert_eq!(found, Err(fault));
}

#[test]
fn rule_1_numbers_are_written_in_one_way() {
    let (bytes, _) = honest();
    for longer in [
        vec![0xfd, 7, 0],
        vec![0xfe, 7, 0, 0, 0],
        vec![0xff, 7, 0, 0, 0, 0, 0, 0, 0],
    ] {
        refused(&[&longer, &bytes[1..]].concat(), Fault::Varint);
    }
    let mut offset = bytes.clone();
    offset.splice(3..4, [0xfd, 2, 0]);
    refused(&offset, Fault::Varint);
    let mut count = bytes;
    count.splice(2..3, [0xfd, 2, 0]);
    refused(&count, Fault::Varint);
}

#[test]
fn rule_2_there_are_1_to_32_levels() {
    let (mut bytes, _) = honest();
    for levels in [0, 33, 64, 65, 255] {
        bytes[1] = levels;
        refused(&bytes, Fault::TreeHeight(levels));
    }
    let siblings: Vec<_> = (0..32).map(|n| Some(hash(n))).collect();
    let high = Bump::of_path(1, (1 << 32) - 1, hash(99), &siblings).expect("32 levels");
    assert_eq!(Bump::parse(&high.bytes()), Ok(high.clone()));
    assert!(high.root().is_ok());
    let siblings: Vec<_> = (0..33).map(|n| Some(hash(n))).collect();
    assert_eq!(
        Bump::of_path(1, 0, hash(99), &siblings),
        Err(Fault::TreeHeight(33))
    );
}

#[test]
fn rule_3_the_lowest_level_is_not_empty() {
    honest();
    refused(&raw(&[&[], &[(0, 0, hash(1))]]), Fault::Empty);
    refused(&raw(&[&[]]), Fault::Empty);
}

#[test]
fn rule_4_flags_are_0_1_or_2() {
    let (bytes, _) = honest();
    for flag in [3, 4, 0x82, 0xff] {
        let mut forged = bytes.clone();
        forged[4] = flag;
        refused(&forged, Fault::Flag(flag));
    }
}

#[test]
fn rule_5_offsets_ascend() {
    let [a, b, c, top] = three();
    let above: &[Leaf] = &[(0, 0, pair(a, b))];
    assert_eq!(root(&[&[(2, 2, c), (3, 1, c)], above]), Ok(top));
    assert_eq!(root(&[&[(3, 1, c), (2, 2, c)], above]), Err(Fault::Order));
    assert_eq!(
        root(&[&[(2, 2, c), (2, 2, c), (3, 1, c)], above]),
        Err(Fault::Order)
    );
    // A wallet's is put in order; one place twice is still refused.
    let import = |levels: &[&[Leaf]]| Bump::import(&raw(levels)).and_then(|bump| bump.root());
    assert_eq!(import(&[&[(3, 1, c), (2, 2, c)], above]), Ok(top));
    assert_eq!(
        import(&[&[(2, 2, c), (3, 1, c), (2, 2, c)], above]),
        Err(Fault::Order)
    );
}

#[test]
fn rule_6_offsets_are_within_their_level() {
    let [a, b, c, top] = three();
    assert_eq!(
        root(&[&[(0, 2, a), (1, 0, b)], &[(1, 0, pair(c, c))]]),
        Ok(top)
    );
    for offset in [4, 5, 1 << 32, u64::MAX - 1] {
        let forged = raw(&[&[(offset, 2, a), (offset + 1, 0, b)], &[(1, 0, pair(c, c))]]);
        refused(&forged, Fault::Offset);
    }
    let inside = raw(&[&[(0, 2, a), (1, 0, b)], &[(3, 0, pair(c, c))]]);
    refused(&inside, Fault::Offset);
    assert_eq!(
        Bump::of_path(1, 4, a, &[Some(b), Some(c)]),
        Err(Fault::Offset)
    );
}

#[test]
fn rule_7_a_duplicate_is_on_the_right() {
    honest();
    let [a, b, _, _] = three();
    refused(&raw(&[&[(0, 1, a), (1, 2, b)]]), Fault::DuplicateLeft);
    refused(
        &raw(&[&[(0, 2, a), (1, 0, b)], &[(0, 1, a)]]),
        Fault::DuplicateLeft,
    );
    assert_eq!(Bump::of_path(1, 1, a, &[None]), Err(Fault::DuplicateLeft));
}

#[test]
fn rule_8_a_right_sibling_that_equals_its_left_is_said_to_be_a_duplicate() {
    let [a, b, c, top] = three();
    let above: &[Leaf] = &[(0, 0, pair(a, b))];
    let written_out: &[&[Leaf]] = &[&[(2, 2, c), (3, 0, c)], above];
    assert_eq!(root(written_out), Err(Fault::RightEqualsLeft));
    // In its upper levels as well.
    let inner: &[&[Leaf]] = &[&[(0, 2, a), (1, 0, b)], &[(1, 0, pair(a, b))]];
    assert_eq!(root(inner), Err(Fault::RightEqualsLeft));
    // Real wallets write it out; what is kept of theirs is ours.
    let imported = Bump::import(&raw(written_out)).expect("a wallet's");
    assert_eq!(imported.bytes(), honest().0);
    assert_eq!(imported.root(), Ok(top));
}

#[test]
fn rule_9_a_left_sibling_that_equals_the_way_is_refused() {
    let [a, b, c, _] = three();
    honest();
    // Offset 3 of three transactions: the place that CVE-2012-2459 invents.
    let phantom: &[&[Leaf]] = &[&[(2, 0, c), (3, 2, c)], &[(0, 0, pair(a, b))]];
    assert_eq!(root(phantom), Err(Fault::LeftEqualsWorking));
    assert_eq!(Bump::import(&raw(phantom)), Err(Fault::LeftEqualsWorking));
    // Or both places marked.
    let both: &[&[Leaf]] = &[&[(2, 2, c), (3, 2, c)], &[(0, 0, pair(a, b))]];
    assert_eq!(root(both), Err(Fault::RightEqualsLeft));
    assert_eq!(Bump::import(&raw(both)), Err(Fault::RightEqualsLeft));
}

#[test]
fn rule_10_every_leaf_is_needed() {
    let [a, b, c, top] = three();
    let ab = pair(a, b);
    let cc = pair(c, c);
    assert_eq!(root(&[&[(2, 2, c), (3, 1, c)], &[(0, 0, ab)]]), Ok(top));
    let beside: &[&[Leaf]] = &[&[(0, 0, a), (2, 2, c), (3, 1, c)], &[(0, 0, ab)]];
    assert_eq!(root(beside), Err(Fault::Unused));
    let behind: &[&[Leaf]] = &[&[(0, 2, a), (1, 0, b), (2, 0, c)], &[(1, 0, cc)]];
    assert_eq!(root(behind), Err(Fault::Unused));
    let own: &[&[Leaf]] = &[&[(0, 2, a), (1, 0, b)], &[(0, 0, ab), (1, 0, cc)]];
    assert_eq!(root(own), Err(Fault::Unused));
    assert_eq!(Bump::import(&raw(beside)), Err(Fault::Unused));
    // And no leaf is missing.
    assert_eq!(
        root(&[&[(0, 2, a), (1, 0, b)], &[]]),
        Err(Fault::MissingSibling)
    );
    assert_eq!(
        root(&[&[(1, 2, b), (2, 0, c)], &[(1, 0, cc)]]),
        Err(Fault::MissingSibling)
    );
}

#[test]
fn rule_11_all_marked_transactions_reach_one_root() {
    let [a, b, c, top] = three();
    let (ab, cc) = (pair(a, b), pair(c, c));
    let lowest: &[Leaf] = &[(0, 2, a), (1, 0, b), (2, 2, c), (3, 1, c)];
    assert_eq!(root(&[lowest, &[]]), Ok(top));
    // Saying what follows from below is allowed, if it is the same.
    assert_eq!(root(&[lowest, &[(0, 0, ab), (1, 0, cc)]]), Ok(top));
    assert_eq!(
        root(&[lowest, &[(0, 0, ab), (1, 0, a)]]),
        Err(Fault::Contradiction)
    );
    assert_eq!(
        root(&[lowest, &[(0, 0, cc), (1, 0, cc)]]),
        Err(Fault::Contradiction)
    );
    assert_eq!(root(&[lowest, &[(1, 1, cc)]]), Err(Fault::Contradiction));
}

#[test]
fn rule_12_nothing_follows() {
    let (bytes, _) = honest();
    refused(&[&bytes[..], &[0]].concat(), Fault::Trailing);
    assert_eq!(
        Bump::import(&[&bytes[..], &[0]].concat()),
        Err(Fault::Trailing)
    );
    for length in 0..bytes.len() {
        refused(&bytes[..length], Fault::Truncated);
    }
}

/// A count is held against what is left before room is made.
#[test]
fn rule_13_memory_is_bounded_by_the_input() {
    honest();
    let bombs: [&[u8]; 4] = [
        &[7, 9, 0xfe, 0xff, 0xff, 0xff, 0x7f],
        &[7, 9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        &[7, 1, 0xfd, 0xff, 0xff, 1, 1],
        &[7, 32, 3, 1, 1, 3, 1],
    ];
    for bomb in bombs {
        refused(bomb, Fault::Truncated);
    }
    // Duplicates take two bytes to write and more to keep: there is one to a level.
    let many: Vec<Leaf> = (0..20_000).map(|n| (n * 2 + 1, 1, hash(0))).collect();
    refused(&raw(&[&many]), Fault::Phantom);
    let leaves: Vec<Leaf> = (0..2_000).map(|n| (n, 0, hash(n))).collect();
    refused(&raw(&[leaves.as_slice(); 11]), Fault::TooLarge);
}

/// A block's header with this root.
pub(super) fn header(root: Hash256) -> Header {
    Header {
        merkle_root: root,
        ..Chain::Regtest.genesis()
    }
}

#[test]
fn rule_14_exactly_the_anchored_transaction_is_marked() {
    let [a, b, c, top] = three();
    let cc = pair(c, c);
    let check = |levels: &[&[Leaf]], txid: &Hash256| {
        let bump = Bump::parse(&raw(levels)).expect("well formed");
        check_anchor(txid, &bump, &header(top), HEIGHT)
    };
    let above: &[Leaf] = &[(1, 0, cc)];
    assert_eq!(check(&[&[(0, 2, a), (1, 0, b)], above], &a), Ok(()));
    assert_eq!(
        check(&[&[(0, 2, a), (1, 0, b)], above], &b),
        Err(Fault::OtherMarked)
    );
    assert_eq!(
        check(&[&[(0, 2, a), (1, 2, b)], above], &a),
        Err(Fault::OtherMarked)
    );
    assert_eq!(
        check(&[&[(0, 0, a), (1, 0, b)], above], &a),
        Err(Fault::NoneMarked)
    );
    refused(&raw(&[&[(0, 0, a), (1, 0, b)], above]), Fault::NoneMarked);
    // An inner node is not a transaction.
    refused(
        &raw(&[&[(0, 2, a), (1, 0, b)], &[(1, 2, cc)]]),
        Fault::MarkedInside,
    );
    // What is marked with others can be had alone.
    let both = Bump::parse(&raw(&[&[(0, 2, a), (1, 2, b)], above])).expect("well formed");
    let only = both.only(&b).expect("one of them");
    assert_eq!(check_anchor(&b, &only, &header(top), HEIGHT), Ok(()));
    assert_eq!(both.only(&c), Err(Fault::OtherMarked));
}

#[test]
fn rule_15_the_height_is_the_blocks() {
    let (bytes, top) = honest();
    let bump = Bump::parse(&bytes).expect("well formed");
    assert_eq!(check_anchor(&hash(2), &bump, &header(top), HEIGHT), Ok(()));
    assert_eq!(
        check_anchor(&hash(2), &bump, &header(top), 8),
        Err(Fault::OtherHeight)
    );
    let beyond = [&[0xff, 0, 0, 0, 0, 1, 0, 0, 0][..], &bytes[1..]].concat();
    refused(&beyond, Fault::BlockHeight);
}

#[test]
fn rule_16_the_root_is_the_headers() {
    let (bytes, top) = honest();
    let bump = Bump::parse(&bytes).expect("well formed");
    assert_eq!(check_anchor(&hash(2), &bump, &header(top), HEIGHT), Ok(()));
    let other = header(hash(3));
    assert_eq!(
        check_anchor(&hash(2), &bump, &other, HEIGHT),
        Err(Fault::OtherRoot)
    );
}

#[test]
fn rule_17_the_id_is_the_hash_of_a_transaction_that_has_not_64_bytes() {
    let raw = [9; 65];
    let id = Hash256::of(&raw);
    assert_eq!(check_txid(&raw, Some(&id)), Ok(id));
    assert_eq!(check_txid(&raw, Some(&hash(0))), Err(Fault::OtherTxid));
    let node = [hash(0).0, hash(1).0].concat();
    let id = pair(hash(0), hash(1));
    assert_eq!(check_txid(&node, Some(&id)), Err(Fault::SixtyFourBytes));
}

#[test]
fn rule_18_a_lone_transaction_is_the_root() {
    let a = hash(0);
    assert_eq!(root(&[&[(0, 2, a)]]), Ok(a));
    assert_eq!(root(&[&[(1, 2, a)]]), Err(Fault::LoneLeaf));
    assert_eq!(root(&[&[(0, 2, a)], &[]]), Err(Fault::MissingSibling));
    assert_eq!(root(&[&[(0, 0, a)]]), Err(Fault::NoneMarked));
    // It is not paired with itself.
    assert_eq!(root(&[&[(0, 2, a), (1, 1, a)]]), Err(Fault::Phantom));
}

/// A duplicate is the end of its level, and tells where those above end.
#[test]
fn beyond_the_rules_no_place_is_behind_the_end_of_its_level() {
    let [a, c, d] = [hash(0), hash(2), hash(3)];
    let cd = pair(c, d);
    let inside: &[&[Leaf]] = &[&[(0, 2, a), (1, 1, a)], &[(1, 0, cd)]];
    assert_eq!(root(inside), Err(Fault::Phantom));
    let twice: &[&[Leaf]] = &[&[(0, 2, a), (1, 1, a), (2, 2, c), (3, 0, d)], &[]];
    assert_eq!(root(twice), Err(Fault::Phantom));
    // The fifth of five: the level above has three places, and no fourth.
    let behind: &[&[Leaf]] = &[&[(4, 2, a), (5, 1, a)], &[(3, 0, c)], &[(0, 0, d)]];
    assert_eq!(root(behind), Err(Fault::Phantom));
    let end: &[&[Leaf]] = &[&[(4, 2, a), (5, 1, a)], &[(3, 1, a)], &[(0, 0, d)]];
    assert!(root(end).is_ok());
    let five = MerkleTree::new(txids(5)).expect("five");
    assert_eq!(
        five.prove(1, 4).and_then(|bump| bump.root()),
        Ok(five.root())
    );
}
