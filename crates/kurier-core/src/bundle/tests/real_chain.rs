//! Real headers, where they are at hand: real work, a real reorg, real difficulty.

use super::super::chain::{
    Accepted, Chain, Checkpoint, HEADER_BYTES, Header, Refusal, RefusedAt, Tree, U256,
};
use super::super::hash::Hash256;
use super::{NOW, real, real_json, unhex};

const BSV_START: u32 = 900_000;

fn read(chain: Chain, start: u32, headers: &[u8]) -> Result<Tree, RefusedAt> {
    let checkpoint = Checkpoint::within(chain, start, headers).expect("enough headers");
    Tree::read(chain, checkpoint, start, headers, NOW)
}

fn refusal(tree: Result<Tree, RefusedAt>) -> Option<Refusal> {
    tree.err().map(|refused| refused.refusal)
}

/// Genesis is not among those that follow.
fn rest_of_main() -> Option<Vec<u8>> {
    real("btc-mainnet-0-10236.headers").map(|all| all[HEADER_BYTES..].to_vec())
}

fn up_to(headers: &[u8], height: usize) -> &[u8] {
    &headers[..height * HEADER_BYTES]
}

#[test]
fn bsv_difficulty_over_the_real_file() {
    let Some(headers) = real("bsv-mainnet-900000-916817.headers") else {
        return;
    };
    let tree = read(Chain::Bsv, BSV_START, &headers).expect("all are good");
    assert_eq!(tree.tip().height, 916_817);
    assert_eq!(tree.headers(), 16_818);
    let tip = "00000000000000002530fb16feba5e3beffd243e5ba89264f27f0f425cbd5436";
    assert_eq!(tree.tip().hash.to_string(), tip);
    // By another chain's rule the very first is refused.
    let by_btc = Checkpoint::within(Chain::Bsv, BSV_START, &headers).expect("enough");
    let tree = Tree::read(Chain::Btc, by_btc, BSV_START, &headers, NOW);
    assert_eq!(refusal(tree), Some(Refusal::Difficulty));
}

/// Context is not guessed: where the rule cannot be applied, nothing is accepted.
#[test]
fn without_what_the_rule_looks_at_a_header_is_refused() {
    let Some(headers) = real("bsv-mainnet-900000-916817.headers") else {
        return;
    };
    let checkpoint = Checkpoint::within(Chain::Bsv, BSV_START, &headers).expect("enough");
    assert_eq!(checkpoint.height, BSV_START + 146);
    let earlier = Header::parse(&headers[145 * HEADER_BYTES..146 * HEADER_BYTES]).expect("80");
    let earlier = Checkpoint {
        height: BSV_START + 145,
        hash: earlier.hash(),
        work: U256::ZERO,
    };
    let tree = Tree::read(Chain::Bsv, earlier, BSV_START, &headers, NOW);
    assert_eq!(refusal(tree), Some(Refusal::ContextMissing));
}

/// Some bit of every 97th header, and every bit of a few, flipped where it stands in the
/// file: it, or the one that follows it, is refused.
#[test]
fn one_flipped_bit_anywhere_is_refused() {
    let Some(mut headers) = real("bsv-mainnet-900000-916817.headers") else {
        return;
    };
    let count = headers.len() / HEADER_BYTES;
    let mut tree = Tree::begin_at(&headers, 146);
    for number in 147..count {
        let at = number * HEADER_BYTES..(number + 1) * HEADER_BYTES;
        let whole = [147, 1_000, count - 1].contains(&number);
        let bits = match (whole, number % 97) {
            (true, _) => 0..640,
            (_, 0) => (number * 7) % 640..(number * 7) % 640 + 1,
            _ => 0..0,
        };
        for bit in bits {
            headers[at.start + bit / 8] ^= 1 << (bit % 8);
            let flipped = tree.extend(&headers[at.clone()], NOW);
            assert!(flipped.is_err(), "bit {bit} of header {number}");
            headers[at.start + bit / 8] ^= 1 << (bit % 8);
        }
        tree.extend(&headers[at], NOW)
            .expect("the real one is good");
    }
    // Among those before the checkpoint, too.
    for bit in [0, 33, 400, 639, 146 * 640 + 5] {
        headers[bit / 8] ^= 1 << (bit % 8);
        let checkpoint = Checkpoint {
            height: BSV_START + 146,
            hash: tree.best_hash_at(BSV_START + 146).expect("known"),
            work: U256::ZERO,
        };
        let read = Tree::read(Chain::Bsv, checkpoint, BSV_START, &headers, NOW);
        assert!(read.is_err(), "bit {bit}");
        headers[bit / 8] ^= 1 << (bit % 8);
    }
}

impl Tree {
    /// A tree of the real file's first headers, the last of them taken for granted.
    fn begin_at(headers: &[u8], last: u32) -> Self {
        let context = &headers[..(last as usize + 1) * HEADER_BYTES];
        let checkpoint = Checkpoint::within(Chain::Bsv, BSV_START, headers).expect("enough");
        Self::begin(Chain::Bsv, checkpoint, context).expect("good")
    }
}

#[test]
fn btc_difficulty_over_the_real_file() {
    let Some(headers) = rest_of_main() else {
        return;
    };
    let mut tree = Tree::from_genesis(Chain::Btc);
    assert_eq!(tree.extend(&headers, NOW), Ok(10_236));
    let work = U256::from_u64(0x1_0001_0001);
    assert_eq!(tree.work(), work.checked_mul(10_237).expect("small"));
    // Up to 478,558 both chains have one rule.
    let mut shared = Tree::from_genesis(Chain::Bsv);
    assert_eq!(shared.extend(&headers, NOW), Ok(10_236));
}

/// Two full chains with real work from one genesis: shorter with more work wins, a tie
/// keeps what was first, and then all 2,016 blocks are replaced.
#[test]
fn work_beats_length_and_ties_keep_the_first() {
    let (Some(main), Some(other)) = (rest_of_main(), real("alt-mainnet-1-2016.headers")) else {
        return;
    };
    let mut tree = Tree::from_genesis(Chain::Btc);
    tree.extend(up_to(&main, 2_018), NOW).expect("good");
    let main_tip = tree.tip();
    tree.extend(&other, NOW).expect("good, retarget included");
    assert_eq!(tree.tip().height, 2_016, "shorter, with more work");
    let other_tip = tree.tip();
    assert_ne!(other_tip.hash, main_tip.hash);

    let next = |height: usize| &main[(height - 1) * HEADER_BYTES..height * HEADER_BYTES];
    assert_eq!(tree.accept(next(2_019), NOW), Ok(Accepted::Side), "a tie");
    assert_eq!(tree.tip(), other_tip);
    let Ok(Accepted::Tip(change)) = tree.accept(next(2_020), NOW) else {
        panic!("more work at last");
    };
    assert_eq!((change.old, change.new.height), (other_tip, 2_020));
    assert_eq!((change.common_height, change.depth), (0, 2_016));
}

#[test]
fn a_tie_the_other_way_round_keeps_the_other() {
    let (Some(main), Some(other)) = (rest_of_main(), real("alt-mainnet-1-2016.headers")) else {
        return;
    };
    let mut tree = Tree::from_genesis(Chain::Btc);
    tree.extend(up_to(&main, 2_019), NOW).expect("good");
    let first = tree.tip();
    tree.extend(&other, NOW).expect("good");
    assert_eq!(tree.tip(), first);
}

/// Many easy headers do not beat few hard ones, because they are not accepted.
#[test]
fn an_easier_chain_is_refused_at_its_first_easier_header() {
    let Some(other) = real("alt-mainnet-1-2016.headers") else {
        return;
    };
    let mut tree = Tree::from_genesis(Chain::Btc);
    let before = 2_015 * HEADER_BYTES;
    tree.extend(&other[..before], NOW).expect("good");
    let mut easy = Header::parse(&other[before..]).expect("80 bytes");
    assert_ne!(
        easy.bits,
        Chain::Btc.genesis().bits,
        "the rule asks for more here"
    );
    easy.bits = Chain::Btc.genesis().bits;
    let refused = tree.accept(&easy.bytes(), NOW);
    assert!(
        matches!(refused, Err(Refusal::ProofOfWork | Refusal::Difficulty)),
        "{refused:?}"
    );
    assert!(tree.accept(&other[before..], NOW).is_ok());
}

struct Fork {
    ancestor: Vec<u8>,
    /// B, C, A and A's child.
    others: [Vec<u8>; 4],
    child: Hash256,
}

fn fork() -> Option<Fork> {
    let fork = real_json("btc-225429-fork.json")?;
    let sibling = |number: usize| unhex(&fork["siblings"][number]["header"]);
    let child = unhex(&fork["child"]["header"]);
    Some(Fork {
        ancestor: unhex(&fork["ancestor"]["header"]),
        others: [sibling(0), sibling(1), sibling(2), child.clone()],
        child: Hash256::of(&child),
    })
}

fn orders() -> Vec<[usize; 4]> {
    let all = (0..256).map(|n| [n & 3, n >> 2 & 3, n >> 4 & 3, n >> 6 & 3]);
    all.filter(|order| (0..4).all(|n| order.contains(&n)))
        .collect()
}

#[test]
fn the_fork_at_225429_in_all_24_orders() {
    let Some(fork) = fork() else {
        return;
    };
    let orders = orders();
    assert_eq!(orders.len(), 24);
    for order in orders {
        let checkpoint = Checkpoint {
            height: 225_429,
            hash: Hash256::of(&fork.ancestor),
            work: U256::ZERO,
        };
        let mut tree = Tree::begin(Chain::Btc, checkpoint, &fork.ancestor).expect("good");
        for number in order {
            tree.accept(&fork.others[number], NOW).expect("good");
            let first = order
                .iter()
                .find(|number| **number != 3)
                .expect("a sibling");
            if tree.tip().height == 225_430 {
                assert_eq!(
                    tree.tip().hash,
                    Hash256::of(&fork.others[*first]),
                    "{order:?}"
                );
            }
        }
        assert_eq!(
            (tree.tip().height, tree.tip().hash),
            (225_431, fork.child),
            "{order:?}"
        );
        assert_eq!((tree.headers(), tree.orphans()), (5, 0), "{order:?}");
    }
}

/// The split of Bitcoin Cash, which Bitcoin SV shares: seven headers that both have, then
/// one that tells them apart, then the rule for emergencies.
#[test]
fn the_split_at_478559_tells_the_chains_apart() {
    let Some(headers) = real("bch-bsv-478552-478576.headers") else {
        return;
    };
    let last = Header::parse(&headers[6 * HEADER_BYTES..7 * HEADER_BYTES]).expect("80");
    let checkpoint = Checkpoint {
        height: 478_558,
        hash: last.hash(),
        work: U256::ZERO,
    };
    let tree = Tree::read(Chain::Bsv, checkpoint, 478_552, &headers, NOW).expect("good");
    assert_eq!(tree.tip().height, 478_576);
    // The next was the first to be made easier: by a quarter.
    assert_eq!(tree.next_bits(), Ok(0x1801_9902));
    let btc = Tree::read(Chain::Btc, checkpoint, 478_552, &headers, NOW);
    let other = RefusedAt {
        index: 7,
        refusal: Refusal::OtherChain,
    };
    assert_eq!(btc.err(), Some(other));
    // The pin holds where a tree begins, as well.
    let at_split = Header::parse(&headers[7 * HEADER_BYTES..8 * HEADER_BYTES]).expect("80");
    let at_split = Checkpoint {
        height: 478_559,
        hash: at_split.hash(),
        work: U256::ZERO,
    };
    let alone = &headers[7 * HEADER_BYTES..8 * HEADER_BYTES];
    assert!(Tree::begin(Chain::Bsv, at_split, alone).is_ok());
    assert_eq!(
        refusal(Tree::begin(Chain::Btc, at_split, alone)),
        Some(Refusal::OtherChain)
    );
}
