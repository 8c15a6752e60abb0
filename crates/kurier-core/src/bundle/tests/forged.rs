//! Forged proofs: each is refused, and costs whoever refuses it little. How long that takes is
//! measured by `./dev bench bundle`; here it is counted.

use super::super::bytes::put_varint;
use super::super::chain::{Chain, Header, Tip};
use super::super::envelope::{Envelope, Hex, Mined};
use super::super::evidence::{EvidenceFault, Known, Shown};
use super::super::hash::{Digest, Hash256, PAIRS};
use super::super::proof::{BUMP_BYTES_MAX, Beef, Bump, Fault, MerkleTree, check_anchor};
use super::super::report::{Given, Outcome, verify};
use super::super::standing::{Policy, State};
use super::super::{Commitment, mine_block};
use super::envelope::version;
use super::{NOW, TRIES, hash, real_json, text, txids, unhex};
use crate::time::Timestamp;

const HEIGHT: u32 = 1;
/// The most that is sent over HTTP.
const SENT_MAX: usize = 2 * 1024 * 1024;
const KB_MAX: u64 = 1024;
/// A hash for each 32 bytes of the longest proof that is read at all: well below a millisecond.
const PAIRS_MAX: usize = BUMP_BYTES_MAX / 32;

/// A proof that does not hold, of what and where.
struct Forgery {
    what: String,
    bump: Vec<u8>,
    txid: Hash256,
    header: Header,
    height: u32,
}

/// Each bit of an honest proof flipped, each end cut off, something behind it; counts that
/// promise more than there is; and as much as can be sent, full of leaves.
fn own() -> Vec<Forgery> {
    let tree = MerkleTree::new(txids(4_001)).expect("not empty");
    let honest = tree.prove(HEIGHT, 2_000).expect("one of them").bytes();
    let flipped = (0..honest.len() * 8).map(|bit| {
        let mut bytes = honest.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        (format!("bit {bit} flipped"), bytes)
    });
    let cut = (0..honest.len()).map(|end| (format!("cut at {end}"), honest[..end].to_vec()));
    let mut all: Vec<(String, Vec<u8>)> = flipped.chain(cut).collect();
    let bomb = |name: &str, bytes: Vec<u8>| (name.to_owned(), bytes);
    all.push(bomb("a byte more", [&honest[..], &[0]].concat()));
    all.push(bomb(
        "2^31 leaves",
        vec![1, 12, 0xfe, 0xff, 0xff, 0xff, 0x7f],
    ));
    all.push(bomb("2^64 leaves", [vec![1, 12], vec![0xff; 9]].concat()));
    all.push(bomb("duplicates", duplicates(SENT_MAX)));
    for flag in [0, 2] {
        for bytes in [BUMP_BYTES_MAX, SENT_MAX] {
            all.push(bomb("full of hashes", hashes(flag, bytes)));
        }
    }
    let header = Header {
        merkle_root: tree.root(),
        ..Chain::Regtest.genesis()
    };
    let forgery = |(what, bump)| Forgery {
        what,
        bump,
        txid: hash(2_000),
        header,
        height: HEIGHT,
    };
    all.into_iter().map(forgery).collect()
}

/// Two bytes each, and more to keep.
fn duplicates(bytes_max: usize) -> Vec<u8> {
    let count = (bytes_max / 6) as u32;
    let mut bytes = vec![1, 32];
    put_varint(&mut bytes, count.into());
    for number in 0..count {
        put_varint(&mut bytes, u64::from(number) * 2 + 1);
        bytes.push(1);
    }
    bytes
}

/// All of the lowest level, siblings or transactions, with nothing above it.
fn hashes(flag: u8, bytes_max: usize) -> Vec<u8> {
    let (levels, count) = (17, ((bytes_max - 64) / 38) as u32);
    let mut bytes = vec![1, levels];
    put_varint(&mut bytes, count.into());
    for number in 0..count {
        put_varint(&mut bytes, number.into());
        bytes.push(flag);
        bytes.extend(hash(number.into()).0);
    }
    bytes.extend(vec![0; usize::from(levels) - 1]);
    bytes
}

/// Those of others, where they are at hand; one is a proof of an inner node, which its path
/// does not tell.
fn of_others() -> Vec<Forgery> {
    let Some(file) = real_json("hostile-bumps.json") else {
        return Vec::new();
    };
    let header = Header::parse(&unhex(&file["header"])).expect("80 bytes");
    let vectors = file["vectors"].as_array().expect("a list").iter();
    let forged = vectors.filter(|it| it["must_reject"] == true);
    let forged = forged.filter(|it| text(&it["name"]) != "inner-node-as-txid");
    let forgery = |vector: &serde_json::Value| Forgery {
        what: text(&vector["name"]).to_owned(),
        bump: unhex(&vector["bump"]),
        txid: vector["txid"]
            .as_str()
            .map_or(hash(0), |id| id.parse().expect("id")),
        header,
        height: 337_487,
    };
    forged.map(forgery).collect()
}

impl Forgery {
    fn holds(&self) -> bool {
        let proves = |bump: Result<Bump, Fault>| {
            bump.is_ok_and(|bump| {
                check_anchor(&self.txid, &bump, &self.header, self.height).is_ok()
            })
        };
        // Also as the first thing in a BEEF, where nothing says how long it is.
        let beef = [&[0x01, 0x00, 0xbe, 0xef, 1], &self.bump[..]].concat();
        let in_beef = Beef::parse(&beef).is_ok_and(|beef| beef.proven().next().is_some());
        proves(Bump::parse(&self.bump)) || proves(Bump::import(&self.bump)) || in_beef
    }
}

/// What the process takes of the machine: addresses, and memory at most; in KiB.
fn taken() -> [u64; 2] {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    ["VmPeak:", "VmHWM:"].map(|name| {
        let mut lines = status.lines();
        let line = lines.find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.trim().split(' ').next()?.parse().ok());
        number.unwrap_or(0)
    })
}

/// Each test is a process of its own, so nobody else takes memory meanwhile.
#[test]
fn done_all_forged_proofs_are_refused_in_few_steps_and_within_a_megabyte() {
    let forged: Vec<Forgery> = own().into_iter().chain(of_others()).collect();
    // What is made once is not counted, such as the room of this very thread.
    assert!(!forged[0].holds());
    for forgery in &forged {
        let (before, pairs) = (taken(), PAIRS.get());
        assert!(!forgery.holds(), "{}", forgery.what);
        let hashed = PAIRS.get() - pairs;
        // It was read three times.
        assert!(hashed <= 3 * PAIRS_MAX, "{}: {hashed}", forgery.what);
        for (after, before) in taken().into_iter().zip(before) {
            let grown = after - before;
            // The copy within a BEEF is what was sent.
            let sent = forgery.bump.len() as u64 / 1024;
            assert!(grown <= KB_MAX + sent, "{}: {grown} KiB", forgery.what);
        }
    }
}

/// A path from an inner node up, which is as good as one from a transaction, with the 64 bytes
/// that the node is the hash of as its transaction.
fn shortened(levels: &[[Hash256; 2]], path: Bump) -> (Vec<u8>, Bump) {
    let node = path.txids().next().expect("it is marked");
    let is_below = |two: &&[Hash256; 2]| Hash256::of_pair(&two[0], &two[1]) == node;
    let [left, right] = levels.iter().find(is_below).expect("it is on the way");
    ([left.0, right.0].concat(), path)
}

/// All pairs on the way from a transaction to the root.
fn pairs_of(bump: &Bump) -> Vec<[Hash256; 2]> {
    let leaf = bump
        .level(0)
        .iter()
        .find(|leaf| Some(leaf.hash) == bump.txids().next());
    let (mut offset, mut node) = leaf.map(|leaf| (leaf.offset, leaf.hash)).expect("marked");
    let mut pairs = Vec::new();
    for level in 0..bump.levels() {
        let sibling = bump
            .level(level)
            .iter()
            .find(|leaf| leaf.offset == offset ^ 1);
        let sibling = sibling.expect("a path").hash;
        let pair = match offset & 1 {
            0 => [node, sibling],
            _ => [sibling, node],
        };
        pairs.push(pair);
        node = Hash256::of_pair(&pair[0], &pair[1]);
        offset >>= 1;
    }
    pairs
}

/// As someone would show it, and as it would stand in a bundle.
fn refused_everywhere((node, path): (Vec<u8>, Bump), header: &Header, chain: Chain) {
    let txid = Hash256::of(&node);
    let height = path.height();
    assert_eq!(
        check_anchor(&txid, &path, header, height),
        Ok(()),
        "it is a path"
    );
    let shown = Shown {
        tx: Some(Hex(node.clone())),
        bump: Some(Hex(path.bytes())),
        header: Some(Hex(header.bytes().to_vec())),
        ..Shown::default()
    };
    let known = Known {
        chain,
        tree: None,
        now: NOW,
    };
    let refused = shown.read(&Digest::of(b"a root"), Some(&known));
    assert_eq!(refused, Err(EvidenceFault::Proof(Fault::SixtyFourBytes)));
    let version = version("v", Vec::new());
    let mined = Mined {
        height,
        hash: header.hash(),
        header: header.bytes(),
        bump: path,
    };
    let tip = Tip {
        height,
        hash: header.hash(),
    };
    let envelope = Envelope::of(chain, "acme", &version, Timestamp::from_millis(0))
        .committed(Commitment::OpReturn {}, node)
        .mined(&mined, tip);
    let report = verify(
        &envelope,
        &Given {
            content: None,
            tree: None,
            policy: Policy::new(1, false).expect("one"),
            unstable: false,
        },
    );
    let step = report.step("transaction").expect("looked at");
    assert_eq!(step.outcome, Outcome::Fails);
    assert_eq!(step.why, Fault::SixtyFourBytes.to_string());
    assert_eq!(report.standing.state, State::InvalidProof);
}

#[test]
fn an_inner_node_as_a_transaction_is_refused() {
    let parent = Chain::Regtest.genesis();
    let block = mine_block(&parent, txids(8), parent.time + 600, TRIES).expect("soon");
    let whole = block.txs.prove(HEIGHT, 5).expect("one of them");
    let pairs = pairs_of(&whole);
    let node = Hash256::of_pair(&pairs[0][0], &pairs[0][1]);
    let siblings = [Some(pairs[1][1]), Some(pairs[2][0])];
    assert_eq!(pairs[1][0], node);
    let path = Bump::of_path(HEIGHT, 2, node, &siblings).expect("a path");
    refused_everywhere(shortened(&pairs, path), &block.header, Chain::Regtest);
}

#[test]
fn an_inner_node_of_a_real_block_as_a_transaction_is_refused() {
    let Some(file) = real_json("hostile-bumps.json") else {
        return;
    };
    let header = Header::parse(&unhex(&file["header"])).expect("80 bytes");
    let named = |name: &str| {
        let mut vectors = file["vectors"].as_array().expect("a list").iter();
        let found = vectors.find(|it| it["name"] == name).expect("one of them");
        Bump::parse(&unhex(&found["bump"])).expect("well formed")
    };
    let honest = named("control-valid-index-171");
    let forged = named("inner-node-as-txid");
    let forged = shortened(&pairs_of(&honest), forged);
    refused_everywhere(forged, &header, Chain::Btc);
}
