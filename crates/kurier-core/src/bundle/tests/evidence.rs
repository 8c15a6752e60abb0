//! What is shown for a version, in each form that wallets have.

use serde_json::json;

use super::super::chain::{Chain, Header, Refusal, Tree};
use super::super::evidence::{Evidence, EvidenceFault, Known, Shown, Subject};
use super::super::proof::{Fault, committing_tx};
use super::super::{Block, Commitment, Digest, Hash256, Hex, leaf, mine_block};
use super::{NOW, TRIES, block_on, hash};

const HEIGHT: u32 = 1;

struct Mined {
    root: Digest,
    tx: Vec<u8>,
    block: Block,
}

fn mined() -> Mined {
    let root = Digest::of(b"a root");
    let tx = committing_tx(&root, 1);
    let parent = Chain::Regtest.genesis();
    let txids = vec![hash(0), Hash256::of(&tx), hash(2)];
    let block = mine_block(&parent, txids, parent.time + 600, TRIES).expect("soon");
    Mined { root, tx, block }
}

impl Mined {
    fn bump(&self) -> Vec<u8> {
        self.block.txs.prove(HEIGHT, 1).expect("the second").bytes()
    }

    fn beef(&self) -> Vec<u8> {
        let mut bytes = vec![0x01, 0x00, 0xbe, 0xef, 1];
        bytes.extend(self.bump());
        bytes.push(1);
        bytes.extend(&self.tx);
        bytes.extend([1, 0]);
        bytes
    }

    fn tsc(&self) -> serde_json::Value {
        let other = Hash256::of_pair(&hash(2), &hash(2));
        json!({"index": 1, "txOrId": hex::encode(&self.tx), "nodes": [hash(0), other],
            "target": hex::encode(self.block.header.bytes()), "targetType": "header", "height": HEIGHT})
    }

    fn read(&self, shown: &serde_json::Value) -> Result<Evidence, EvidenceFault> {
        let shown: Shown = serde_json::from_value(shown.clone()).expect("its form");
        self.hold(&shown, Some(&self.tree()))
    }

    /// Headers that have its block.
    fn tree(&self) -> Tree {
        tree_with(&self.block.header)
    }

    fn hold(&self, shown: &Shown, tree: Option<&Tree>) -> Result<Evidence, EvidenceFault> {
        held(shown, &self.root, tree)
    }

    /// Its proof with this header beside it, which is to be one of a block.
    fn with_header(&self, header: &Header) -> Shown {
        Shown {
            tx: Some(Hex(self.tx.clone())),
            bump: Some(Hex(self.bump())),
            header: Some(Hex(header.bytes().to_vec())),
            ..Shown::default()
        }
    }
}

fn tree_with(header: &Header) -> Tree {
    let mut tree = Tree::from_genesis(Chain::Regtest);
    tree.accept(&header.bytes(), NOW).expect("good");
    tree
}

fn held(shown: &Shown, root: &Digest, tree: Option<&Tree>) -> Result<Evidence, EvidenceFault> {
    let known = Known {
        chain: Chain::Regtest,
        tree,
        now: NOW,
    };
    shown.read(root, Some(&known))
}

#[test]
fn bump_tsc_and_beef_are_the_same_evidence() {
    let mined = mined();
    let (tx, bump) = (hex::encode(&mined.tx), hex::encode(mined.bump()));
    let by_bump = mined
        .read(&json!({"tx": tx, "bump": bump}))
        .expect("it holds");
    let by_beef = mined.read(&json!({"beef": hex::encode(mined.beef())}));
    let by_tsc = mined.read(&json!({"tsc": mined.tsc()}));
    assert_eq!(by_beef, Ok(by_bump.clone()));
    assert_eq!(by_tsc, Ok(by_bump.clone()));
    assert_eq!(by_bump.tx, mined.tx);
    let (path, header) = by_bump.block.expect("mined");
    assert_eq!((path.height(), header), (HEIGHT, mined.block.header));
    let unmined = mined.read(&json!({"tx": tx})).expect("it holds");
    assert_eq!(unmined.block, None);
}

#[test]
fn a_block_that_our_headers_do_not_reach_needs_its_header() {
    let mined = mined();
    let shown = Shown {
        header: None,
        ..mined.with_header(&mined.block.header)
    };
    let refused = mined.hold(&shown, None);
    assert_eq!(refused, Err(EvidenceFault::UnknownBlock(HEIGHT)));
    let good = mined.hold(&mined.with_header(&mined.block.header), None);
    assert_eq!(
        good.expect("it holds").block.expect("mined").1,
        mined.block.header
    );
    // A header of another block is no help.
    let other = mined.hold(&mined.with_header(&Chain::Regtest.genesis()), None);
    assert_eq!(other, Err(EvidenceFault::Proof(Fault::OtherRoot)));
    // Another block at that height in the best branch does not hide the given one.
    let another = tree_with(&block_on(&Chain::Regtest.genesis(), 9).header);
    let replaced = mined.hold(&mined.with_header(&mined.block.header), Some(&another));
    assert_eq!(
        replaced.expect("it holds").block.expect("mined").1,
        mined.block.header
    );
    // Where nothing is known of a chain, nothing can be in one.
    let nowhere = mined
        .with_header(&mined.block.header)
        .read(&mined.root, None);
    assert_eq!(nowhere, Err(EvidenceFault::NoChain));
}

/// Anybody can write 80 bytes with the right root in them.
#[test]
fn an_invented_header_is_refused() {
    let mined = mined();
    let own = mined.block.header;
    let genesis = Tree::from_genesis(Chain::Regtest);
    let refused = |header: &Header, tree| {
        let held = mined.hold(&mined.with_header(header), tree);
        held.expect_err("it is invented")
    };
    let no_block = |refusal| EvidenceFault::NoBlock(refusal);
    let without_work = (0..).find_map(|nonce| {
        let header = Header { nonce, ..own };
        let is_bad = Tree::from_genesis(Chain::Regtest).accept(&header.bytes(), NOW);
        is_bad.is_err().then_some(header)
    });
    let without_work = without_work.expect("every second one has none");
    for tree in [None, Some(&genesis)] {
        let fault = refused(&without_work, tree);
        assert_eq!(fault, no_block(Refusal::ProofOfWork));
    }
    // Of which chain it is decides how much work is asked for.
    let known = Known {
        chain: Chain::Bsv,
        tree: None,
        now: NOW,
    };
    let easy = mined.with_header(&own).read(&mined.root, Some(&known));
    assert_eq!(easy, Err(no_block(Refusal::AboveLimit)));
    // On a predecessor that we know, all rules hold, and its height is known as well.
    let mine = |header| super::super::mine(Chain::Regtest, header, TRIES).expect("soon");
    let easier = mine(Header {
        bits: 0x207f_fffe,
        ..own
    });
    let fault = refused(&easier, Some(&genesis));
    assert_eq!(fault, no_block(Refusal::Difficulty));
    let early = mine(Header {
        time: Chain::Regtest.genesis().time,
        ..own
    });
    let fault = refused(&early, Some(&genesis));
    assert_eq!(fault, no_block(Refusal::TimeTooOld));
    let high = Shown {
        bump: Some(Hex(mined.block.txs.prove(7, 1).expect("one").bytes())),
        ..mined.with_header(&own)
    };
    let fault = mined.hold(&high, Some(&genesis));
    assert_eq!(fault, Err(EvidenceFault::OtherHeight(HEIGHT)));
}

#[test]
fn what_commits_to_something_else_or_is_not_whole_is_refused() {
    let mined = mined();
    let (tx, bump) = (hex::encode(&mined.tx), hex::encode(mined.bump()));
    let other = Digest::of(b"another");
    let shown: Shown = serde_json::from_value(json!({"tx": tx, "bump": bump})).expect("its form");
    let committed = held(&shown, &other, Some(&mined.tree()));
    assert_eq!(committed, Err(EvidenceFault::NotCommitted(other)));
    let beef: Shown =
        serde_json::from_value(json!({"beef": hex::encode(mined.beef())})).expect("its form");
    let committed = held(&beef, &other, Some(&mined.tree()));
    assert_eq!(committed, Err(EvidenceFault::NotCommitted(other)));
    for (shown, fault) in [
        (json!({}), EvidenceFault::NoTransaction),
        (json!({"bump": bump}), EvidenceFault::NoTransaction),
        (
            json!({"tx": tx, "bump": bump, "beef": "00"}),
            EvidenceFault::Several,
        ),
        (json!({"tx": tx, "header": "00"}), EvidenceFault::Header),
        (
            json!({"tx": &tx[..tx.len() - 2]}),
            EvidenceFault::Proof(Fault::Truncated),
        ),
    ] {
        assert_eq!(mined.read(&shown), Err(fault), "{shown}");
    }
    let mut tsc = mined.tsc();
    tsc["height"] = json!(null);
    assert_eq!(
        mined.read(&json!({"tsc": tsc})),
        Err(EvidenceFault::NoHeight)
    );
}

#[test]
fn a_subjects_root_is_its_leaf_or_its_batchs() {
    let (version, content) = (Digest::of(b"v"), Digest::of(b"c"));
    let alone = Subject {
        version,
        commitment: Commitment::OpReturn {},
    };
    assert_eq!(
        alone.root("acme", &content),
        Ok(leaf("acme", &version, &content))
    );
    let batch = super::super::Batch::new(&[Digest::of(b"x"), leaf("acme", &version, &content)]);
    let batch = batch.expect("two");
    let second = Subject {
        version,
        commitment: Commitment::Batch(batch.path(1).expect("the second")),
    };
    assert_eq!(second.root("acme", &content), Ok(batch.root()));
    assert_ne!(second.root("other", &content), Ok(batch.root()));
}
