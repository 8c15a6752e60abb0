//! Real proofs, where they are at hand, and forged ones.

use super::super::chain::{Chain, Checkpoint, HEADER_BYTES, Header, Tree};
use super::super::hash::Hash256;
use super::super::proof::{Beef, Bump, Fault, Tsc, check_anchor, check_txid};
use super::super::standing::{State, Whereabouts, standing};
use super::{NOW, real, real_json, text, unhex};

fn tree_of(headers: &[u8]) -> Tree {
    let checkpoint = Checkpoint::within(Chain::Bsv, 900_000, headers).expect("enough");
    Tree::read(Chain::Bsv, checkpoint, 900_000, headers, NOW).expect("good")
}

/// The blocks of the proofs in the real BEEFs, each checked as an anchor of an envelope is.
fn anchors(tree: &Tree) -> Option<Vec<Whereabouts>> {
    let beefs = real_json("bsv-beef-with-headers.json")?;
    let mut found = Vec::new();
    for beef in beefs["beefs"].as_array().expect("a list") {
        let bytes = unhex(&beef["beef"]);
        let beef = Beef::parse(&bytes).expect("a real BEEF");
        for proven in beef.proven() {
            let height = proven.bump.height();
            check_txid(proven.raw, Some(&proven.txid)).expect("its own id");
            let only = proven.bump.only(&proven.txid).expect("its path");
            assert_eq!(Bump::parse(&only.bytes()), Ok(only.clone()));
            let Some(header) = tree.best_at(height) else {
                assert!(height < 900_000);
                continue;
            };
            check_anchor(&proven.txid, &only, &header, height).expect("it is in the block");
            let hash = header.hash();
            found.push(Whereabouts::Block { height, hash });
        }
    }
    Some(found)
}

#[test]
fn three_real_beefs_have_their_confirmations() {
    let Some(headers) = real("bsv-mainnet-900000-916817.headers") else {
        return;
    };
    let tree = tree_of(&headers);
    let Some(anchors) = anchors(&tree) else {
        return;
    };
    let confs = |tree: &Tree| -> Vec<(u32, i64)> {
        let mut confs = Vec::new();
        for anchor in &anchors {
            let found = standing(tree, *anchor);
            assert_eq!(found.state, State::Confirmed);
            let Whereabouts::Block { height, .. } = anchor else {
                unreachable!("all are in blocks");
            };
            confs.push((*height, found.confs.expect("known")));
        }
        confs.sort_unstable();
        confs.dedup();
        confs
    };
    let expected = [(905_506, 11_312), (905_631, 11_187), (905_906, 10_912)];
    assert_eq!(confs(&tree), expected);
    let one_less = tree_of(&headers[..headers.len() - HEADER_BYTES]);
    assert_eq!(
        confs(&one_less),
        expected.map(|(height, confs)| (height, confs - 1))
    );
    // Cut below the block, its header is one that we do not know.
    let short = tree_of(&headers[..5_000 * HEADER_BYTES]);
    let unknown = standing(&short, anchors[0]);
    assert_eq!(
        (unknown.state, unknown.confs, unknown.unstable),
        (State::UnknownHeader, None, true)
    );
}

#[test]
fn forged_proofs_are_refused_and_honest_ones_are_not() {
    let Some(file) = real_json("hostile-bumps.json") else {
        return;
    };
    let header = Header::parse(&unhex(&file["header"])).expect("80 bytes");
    let (mut honest, mut forged) = (0, 0);
    for vector in file["vectors"].as_array().expect("a list") {
        let name = text(&vector["name"]);
        let parsed = Bump::parse(&unhex(&vector["bump"]));
        let imported = Bump::import(&unhex(&vector["bump"]));
        let txid: Option<Hash256> = vector["txid"]
            .as_str()
            .map(|text| text.parse().expect("id"));
        let holds = |bump: Result<Bump, Fault>| {
            let txid = txid.ok_or(Fault::NoneMarked)?;
            check_anchor(&txid, &bump?, &header, 337_487)
        };
        if vector["must_reject"] == false {
            assert_eq!((holds(parsed), holds(imported)), (Ok(()), Ok(())), "{name}");
            honest += 1;
            continue;
        }
        forged += 1;
        // No path tells that its leaf is an inner node; the transaction that would have to
        // have this id does: see `forged.rs`.
        if name == "inner-node-as-txid" {
            assert_eq!(holds(parsed), Ok(()));
            continue;
        }
        assert!(holds(parsed).is_err(), "{name}");
        // Leaves in any order are the one thing that wallets may do and we do not.
        assert!(holds(imported).is_err(), "{name}");
    }
    assert_eq!((honest, forged), (2, 11));
}

/// Every bit of an honest proof matters.
#[test]
fn one_flipped_bit_of_a_proof_is_refused() {
    let Some(file) = real_json("hostile-bumps.json") else {
        return;
    };
    let header = Header::parse(&unhex(&file["header"])).expect("80 bytes");
    for vector in &file["vectors"].as_array().expect("a list")[..2] {
        let mut bytes = unhex(&vector["bump"]);
        let txid: Hash256 = text(&vector["txid"]).parse().expect("id");
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            let bump = Bump::parse(&bytes);
            let holds = bump.and_then(|bump| check_anchor(&txid, &bump, &header, 337_487));
            assert!(holds.is_err(), "bit {bit} of {}", vector["name"]);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn the_proof_in_brc_74_is_read_and_taken_apart() {
    let Some(file) = real_json("brc74-vector.json") else {
        return;
    };
    let bytes = unhex(&file["bump"]);
    let bump = Bump::parse(&bytes).expect("the standard's own");
    assert_eq!(bump.bytes(), bytes);
    assert_eq!(bump.height(), 813_706);
    let root: Hash256 = text(&file["merkle_root"]).parse().expect("a root");
    assert_eq!(bump.root(), Ok(root));
    let txids: Vec<Hash256> = bump.txids().collect();
    assert_eq!(txids.len(), 2);
    for txid in txids {
        let only = bump.only(&txid).expect("one of them");
        assert_eq!((only.root(), only.txids().count()), (Ok(root), 1));
        assert!(only.bytes().len() < bytes.len());
    }
}

#[test]
fn a_real_tsc_proof_becomes_a_bump() {
    let Some(bytes) = real("tsc-bsv-742198.json") else {
        return;
    };
    let file = real_json("tsc-bsv-742198.json").expect("it was there");
    let tsc = Tsc::parse(&bytes).expect("a real proof");
    let bump = tsc.to_bump(742_198).expect("the height it says");
    let root: Hash256 = text(&file["merkleRoot"]).parse().expect("a root");
    assert_eq!(bump.root(), Ok(root));
    assert_eq!(
        bump.txids().next().map(|txid| txid.to_string()).as_deref(),
        file["txOrId"].as_str()
    );
    assert_eq!(Bump::parse(&bump.bytes()), Ok(bump));
    assert_eq!(tsc.to_bump(742_199), Err(Fault::OtherHeight));
}

/// Whole blocks: their transactions' ids make the root that their header has.
#[test]
fn whole_real_blocks_have_the_roots_of_their_headers() {
    let Some(file) = real_json("core-bloom-blocks.json") else {
        return;
    };
    let items = file["items"].as_array().expect("a list");
    let blocks = items.iter().filter(|item| item["kind"] == "block");
    let mut counts = Vec::new();
    for block in blocks {
        let bytes = unhex(&block["hex"]);
        let header = Header::parse(&bytes[..HEADER_BYTES]).expect("80 bytes");
        assert_eq!(header.hash().to_string(), text(&block["hash"]));
        let txids = super::import::txids_of_block(&bytes);
        counts.push(txids.len());
        let tree = super::super::proof::MerkleTree::new(txids.clone()).expect("not empty");
        assert_eq!(tree.root(), header.merkle_root);
        for (index, txid) in txids.iter().enumerate() {
            let bump = tree.prove(9, index).expect("one of them");
            assert_eq!(check_anchor(txid, &bump, &header, 9), Ok(()));
        }
    }
    assert_eq!(counts, [4, 1, 7]);
}
