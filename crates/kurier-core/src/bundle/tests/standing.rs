//! How deep a block lies, clause by clause.

use super::super::chain::{Chain, Checkpoint, Tree, U256};
use super::super::standing::{Policy, Standing, State, Whereabouts, standing};
use super::{NOW, branch_on, bytes_of, hash, regtest};

fn at(tree: &Tree, height: u32, of: super::Hash256) -> (State, Option<i64>, bool, bool) {
    let found = standing(tree, Whereabouts::Block { height, hash: of });
    assert_eq!(found.tip, Some(tree.tip()));
    (found.state, found.confs, found.reorg, found.unstable)
}

#[test]
fn on_the_best_branch_it_is_the_distance_and_one() {
    let (tree, headers) = regtest(8);
    for (number, header) in headers.iter().enumerate() {
        let confs = 8 - number as i64;
        let expected = (State::Confirmed, Some(confs), false, false);
        assert_eq!(at(&tree, number as u32 + 1, header.hash()), expected);
    }
    let genesis = Chain::Regtest.genesis().hash();
    assert_eq!(at(&tree, 0, genesis).1, Some(9));
}

#[test]
fn each_block_on_top_is_one_more() {
    let (mut tree, headers) = regtest(3);
    let more = branch_on(&headers[2], 40, 5);
    for (number, header) in more.iter().enumerate() {
        tree.accept(&header.bytes(), NOW).expect("good");
        assert_eq!(at(&tree, 2, headers[1].hash()).1, Some(number as i64 + 3));
    }
}

#[test]
fn unknown_at_a_height_we_know_is_off_chain() {
    let (tree, _) = regtest(8);
    let expected = (State::OffChain, Some(-1), true, false);
    assert_eq!(at(&tree, 5, hash(5)), expected);
    assert_eq!(at(&tree, 8, hash(5)), expected);
    assert_ne!(at(&tree, 9, hash(5)), expected);
}

#[test]
fn unknown_above_the_tip_is_unknown_and_unstable() {
    let (tree, _) = regtest(8);
    assert_eq!(
        at(&tree, 9, hash(5)),
        (State::UnknownHeader, None, false, true)
    );
}

#[test]
fn below_the_first_header_is_unknown() {
    let (_, headers) = regtest(8);
    let checkpoint = Checkpoint {
        height: 5,
        hash: headers[4].hash(),
        work: U256::ZERO,
    };
    let tree = Tree::read(Chain::Regtest, checkpoint, 3, &bytes_of(&headers[2..]), NOW);
    let tree = tree.expect("good");
    assert_eq!(
        at(&tree, 2, headers[1].hash()),
        (State::UnknownHeader, None, false, false)
    );
    assert_eq!(
        at(&tree, 3, headers[2].hash()),
        (State::Confirmed, Some(6), false, false)
    );
    assert_eq!(
        at(&tree, 3, hash(3)),
        (State::OffChain, Some(-1), true, false)
    );
}

#[test]
fn known_on_another_branch_is_off_chain() {
    let (mut tree, headers) = regtest(5);
    let side = branch_on(&headers[1], 2, 9);
    side.iter().for_each(|header| {
        tree.accept(&header.bytes(), NOW).expect("good");
    });
    assert_eq!(
        at(&tree, 3, side[0].hash()),
        (State::OffChain, Some(-1), true, false)
    );
    assert_eq!(at(&tree, 3, headers[2].hash()).0, State::Confirmed);
    // At a height that is not its own it is on no branch, even above the tip.
    assert_eq!(at(&tree, 4, headers[2].hash()).1, Some(-1));
    assert_eq!(at(&tree, 40, headers[2].hash()).1, Some(-1));
}

#[test]
fn after_a_reorg_it_is_off_and_back_on_again() {
    let (mut tree, headers) = regtest(5);
    let other = branch_on(&headers[2], 3, 9);
    let here = |tree: &Tree| at(tree, 4, headers[3].hash()).1;
    assert_eq!(here(&tree), Some(2));
    tree.extend(&bytes_of(&other), NOW).expect("good");
    assert_eq!(here(&tree), Some(-1));
    let back = branch_on(&headers[4], 2, 3);
    tree.extend(&bytes_of(&back), NOW).expect("good");
    assert_eq!(here(&tree), Some(4));
}

#[test]
fn unmined_is_none_only_where_that_is_known() {
    let (tree, _) = regtest(2);
    let known = standing(&tree, Whereabouts::Unmined);
    assert_eq!((known.state, known.confs), (State::Unmined, Some(0)));
    let pending = standing(&tree, Whereabouts::Pending);
    assert_eq!((pending.state, pending.confs), (State::Unmined, None));
    let hidden = Standing::without_headers(Whereabouts::Block {
        height: 1,
        hash: hash(1),
    });
    assert_eq!((hidden.state, hidden.confs), (State::UnknownHeader, None));
}

#[test]
fn ready_needs_enough_confirmations_a_good_proof_and_calm_headers() {
    let (mut tree, headers) = regtest(5);
    let policy = Policy::new(2, false).expect("two");
    let whereabouts = Whereabouts::Block {
        height: 5,
        hash: headers[4].hash(),
    };
    assert!(!standing(&tree, whereabouts).ready(&policy));
    let next = branch_on(&headers[4], 1, 1);
    tree.extend(&bytes_of(&next), NOW).expect("good");
    let deep = standing(&tree, whereabouts);
    assert!(deep.ready(&policy));
    assert!(!deep.shaken(true).ready(&policy));
    assert!(deep.shaken(true).ready(&Policy::new(2, true).expect("two")));
    assert!(!Standing::invalid(None).ready(&policy));
    assert!(!standing(&tree, Whereabouts::Pending).ready(&policy));
}

#[test]
fn at_least_one_confirmation_is_asked_for() {
    assert!(Policy::new(0, false).is_err());
    let policy = Policy::new(1, true).expect("one");
    let (tree, _) = regtest(2);
    assert!(!standing(&tree, Whereabouts::Unmined).ready(&policy));
    let replaced = standing(
        &tree,
        Whereabouts::Block {
            height: 1,
            hash: hash(0),
        },
    );
    assert_eq!(replaced.confs, Some(-1));
    assert!(!replaced.ready(&policy));
}
