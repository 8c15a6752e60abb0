//! When a header is accepted, clause by clause, on a chain mined here.

use super::super::chain::target::CompactFault;
use super::super::chain::{Accepted, Chain, Checkpoint, Header, Refusal, RefusedAt, Tree, U256};
use super::super::hash::Hash256;
use super::super::mine::mine;
use super::{NOW, TRIES, block_on, branch_on, bytes_of, hash, regtest};

/// A header on the tip, changed and mined again.
fn changed(tip: &Header, change: impl Fn(&mut Header)) -> Header {
    let mut header = block_on(tip, 77).header;
    change(&mut header);
    mine(Chain::Regtest, header, TRIES).unwrap_or(header)
}

/// The header is refused for this, and nothing changes; the same without the change is not.
#[track_caller]
fn refused(change: impl Fn(&mut Header), refusal: Refusal) {
    let (mut tree, headers) = regtest(12);
    let tip = headers[11];
    let (before, work) = (tree.tip(), tree.work());
    let bad = changed(&tip, change);
    assert_eq!(tree.accept(&bad.bytes(), NOW), Err(refusal));
    assert_eq!(
        (tree.tip(), tree.work(), tree.headers()),
        (before, work, 13)
    );
    let good = changed(&tip, |_| ());
    assert!(matches!(
        tree.accept(&good.bytes(), NOW),
        Ok(Accepted::Tip(_))
    ));
}

#[test]
fn a_header_has_80_bytes() {
    let (mut tree, headers) = regtest(2);
    let next = block_on(&headers[1], 9).header.bytes();
    assert_eq!(tree.accept(&next[..79], NOW), Err(Refusal::Size));
    assert_eq!(
        tree.accept(&[&next[..], &[0]].concat(), NOW),
        Err(Refusal::Size)
    );
    let cut = RefusedAt {
        index: 1,
        refusal: Refusal::Size,
    };
    assert_eq!(tree.extend(&[&next[..], &[0]].concat(), NOW), Err(cut));
    assert_eq!(Header::parse(&next).map(|header| header.bytes()), Ok(next));
}

#[test]
fn check_1_bits_are_a_target() {
    refused(
        |header| header.bits = 0,
        Refusal::Compact(CompactFault::Zero),
    );
    refused(
        |header| header.bits = 0x1d80_ffff,
        Refusal::Compact(CompactFault::Negative),
    );
    refused(
        |header| header.bits = 0x2300_ffff,
        Refusal::Compact(CompactFault::Overflow),
    );
}

#[test]
fn check_2_the_target_is_within_the_limit() {
    refused(|header| header.bits = 0x2100_ffff, Refusal::AboveLimit);
    // The order of the checks: that its hash meets this target as well does not matter.
    refused(|header| header.bits = 0x2100_8000, Refusal::AboveLimit);
}

#[test]
fn check_3_the_hash_meets_the_target() {
    let (mut tree, headers) = regtest(1);
    let mut header = block_on(&headers[0], 5).header;
    while Hash256::of(&header.bytes()).0[31] < 0x80 {
        header.nonce += 1;
    }
    assert_eq!(tree.accept(&header.bytes(), NOW), Err(Refusal::ProofOfWork));
    let mined = mine(Chain::Regtest, header, TRIES).expect("every second one does");
    assert!(tree.accept(&mined.bytes(), NOW).is_ok());
}

/// Real mainnet difficulty claimed, none done: worth nothing, not even as an orphan.
#[test]
fn check_4_only_then_work_is_added() {
    refused(|header| header.bits = 0x1d00_ffff, Refusal::ProofOfWork);
    let (mut tree, headers) = regtest(3);
    let mut orphan = block_on(&headers[2], 3).header;
    (orphan.prev, orphan.bits) = (hash(3), 0x1800_ffff);
    assert_eq!(tree.accept(&orphan.bytes(), NOW), Err(Refusal::ProofOfWork));
    assert_eq!(tree.orphans(), 0);
}

#[test]
fn the_difficulty_is_the_one_of_the_rule() {
    refused(|header| header.bits = 0x2070_0000, Refusal::Difficulty);
}

#[test]
fn time_is_after_the_median_of_eleven() {
    let (tree, headers) = regtest(12);
    let median = tree.best_at(7).expect("a header").time;
    assert_eq!(median, headers[6].time);
    refused(|header| header.time = median, Refusal::TimeTooOld);
    let mut tree = tree;
    let just_after = changed(&headers[11], |header| header.time = median + 1);
    assert!(tree.accept(&just_after.bytes(), NOW).is_ok());
}

#[test]
fn time_is_less_than_two_hours_ahead() {
    refused(
        |header| header.time = (NOW + 7_200) as u32,
        Refusal::TimeTooNew,
    );
    let (mut tree, headers) = regtest(12);
    let just_before = changed(&headers[11], |header| header.time = (NOW + 7_199) as u32);
    assert!(tree.accept(&just_before.bytes(), NOW).is_ok());
}

#[test]
fn a_denied_header_is_refused_whatever_its_work() {
    let (tree, headers) = regtest(3);
    let bad = block_on(&headers[2], 1).header;
    let mut tree = tree.denying(vec![bad.hash()]);
    assert_eq!(tree.accept(&bad.bytes(), NOW), Err(Refusal::Denied));
    let good = block_on(&headers[2], 2).header;
    assert!(tree.accept(&good.bytes(), NOW).is_ok());
}

#[test]
fn nothing_forks_off_below_the_checkpoint() {
    let (_, headers) = regtest(6);
    let checkpoint = Checkpoint {
        height: 4,
        hash: headers[3].hash(),
        work: U256::from_u64(1_000),
    };
    let mut tree =
        Tree::read(Chain::Regtest, checkpoint, 1, &bytes_of(&headers), NOW).expect("good");
    assert_eq!((tree.start(), tree.tip().height), (1, 6));
    assert_eq!(tree.work(), U256::from_u64(1_004));
    let below = block_on(&headers[2], 8).header;
    assert_eq!(
        tree.accept(&below.bytes(), NOW),
        Err(Refusal::BelowCheckpoint)
    );
    let above = block_on(&headers[3], 8).header;
    assert_eq!(tree.accept(&above.bytes(), NOW), Ok(Accepted::Side));
}

#[test]
fn what_leads_to_the_checkpoint_is_linked_and_ends_in_it() {
    let (_, headers) = regtest(6);
    let checkpoint = |hash| Checkpoint {
        height: 4,
        hash,
        work: U256::ZERO,
    };
    let read = |hash, headers: &[Header]| {
        let tree = Tree::begin(Chain::Regtest, checkpoint(hash), &bytes_of(headers));
        tree.map(|tree| tree.tip().height)
            .map_err(|refused| refused.refusal)
    };
    let good = headers[3].hash();
    assert_eq!(read(good, &headers[..4]), Ok(4));
    assert_eq!(read(hash(1), &headers[..4]), Err(Refusal::NotTheCheckpoint));
    assert_eq!(read(good, &[]), Err(Refusal::NotTheCheckpoint));
    assert_eq!(
        read(good, &[headers[1], headers[3]]),
        Err(Refusal::Unlinked)
    );
    let mut forged = headers[..4].to_vec();
    forged[1].time += 1;
    assert!(read(good, &forged).is_err());
}

#[test]
fn an_orphan_waits_for_its_predecessor() {
    let (mut tree, headers) = regtest(3);
    let more = branch_on(&headers[2], 3, 4);
    assert_eq!(tree.accept(&more[2].bytes(), NOW), Ok(Accepted::Orphan));
    assert_eq!(tree.accept(&more[1].bytes(), NOW), Ok(Accepted::Orphan));
    assert_eq!(tree.wanted(), [more[0].hash()]);
    let Ok(Accepted::Tip(change)) = tree.accept(&more[0].bytes(), NOW) else {
        panic!("it extends the tip");
    };
    assert_eq!(
        (change.new.height, change.common_height, change.depth),
        (6, 3, 0)
    );
    assert_eq!((tree.orphans(), tree.wanted().len()), (0, 0));
    assert_eq!(tree.accept(&more[1].bytes(), NOW), Ok(Accepted::Known));
}

#[test]
fn a_flood_of_orphans_is_bounded() {
    let (mut tree, headers) = regtest(3);
    let mut orphan = block_on(&headers[2], 4).header;
    for number in 0..5_000 {
        orphan.prev = hash(number);
        let orphan = mine(Chain::Regtest, orphan, TRIES).expect("every second one does");
        assert_eq!(tree.accept(&orphan.bytes(), NOW), Ok(Accepted::Orphan));
    }
    assert_eq!((tree.orphans(), tree.headers()), (1_000, 4));
    let next = block_on(&headers[2], 4).header;
    assert!(matches!(
        tree.accept(&next.bytes(), NOW),
        Ok(Accepted::Tip(_))
    ));
}

#[test]
fn most_work_wins_and_equal_work_keeps_the_first() {
    let (mut tree, headers) = regtest(5);
    let other = branch_on(&headers[1], 4, 9);
    for header in &other[..3] {
        assert_eq!(tree.accept(&header.bytes(), NOW), Ok(Accepted::Side));
    }
    assert_eq!(tree.tip().hash, headers[4].hash());
    let Ok(Accepted::Tip(change)) = tree.accept(&other[3].bytes(), NOW) else {
        panic!("it has more work");
    };
    assert_eq!(
        (change.old.hash, change.new.hash),
        (headers[4].hash(), other[3].hash())
    );
    assert_eq!((change.common_height, change.depth), (2, 3));
    assert_eq!(tree.best_hash_at(3), Some(other[0].hash()));
    assert_eq!(tree.best_at(6), Some(other[3]));
    assert_eq!(tree.header(&headers[4].hash()), Some(headers[4]));
}

#[test]
fn a_run_of_headers_is_linked() {
    let (mut tree, headers) = regtest(3);
    let more = branch_on(&headers[2], 3, 4);
    let gap = bytes_of(&[more[0], more[2]]);
    let unlinked = |index| {
        Err(RefusedAt {
            index,
            refusal: Refusal::Unlinked,
        })
    };
    assert_eq!(tree.extend(&gap, NOW), unlinked(1));
    assert_eq!(tree.extend(&bytes_of(&more[2..]), NOW), unlinked(0));
    // The first was taken; saying it again does no harm.
    assert_eq!(tree.extend(&bytes_of(&more), NOW), Ok(2));
    assert_eq!(tree.tip().height, 6);
}
