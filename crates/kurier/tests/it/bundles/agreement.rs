//! Others read our proofs as we do, and we theirs.

use std::process::Command;

use kurier_core::bundle::Hash256;
use kurier_core::bundle::proof::{Beef, Bump, MerkleTree};
use serde_json::{Value, json};

use super::beside;
use crate::harness::kit::{Kit, run};

const KIT: Kit = Kit {
    name: "bsv",
    python: &[],
    node: &["@bsv/sdk@2.1.0"],
};

fn txid(number: u64) -> Hash256 {
    Hash256::of(&number.to_le_bytes())
}

/// Proofs of one transaction of blocks of every size up to 40, and of some larger.
fn proofs() -> Vec<(Bump, Hash256, Hash256)> {
    let sizes = (1..40).chain([100, 255, 256, 257, 1_000]);
    let mut all = Vec::new();
    for size in sizes {
        let tree = MerkleTree::new((0..size).map(txid).collect()).expect("not empty");
        for index in [0, size / 3, size / 2, size - 1] {
            let bump = tree.prove(700_000 + size as u32, index as usize);
            all.push((bump.expect("one of them"), txid(index), tree.root()));
        }
    }
    all
}

/// What the script of the SDK answers.
fn asked(input: &Value) -> Value {
    let installed = KIT.install();
    let folder = &installed.node;
    let script = folder.join(format!("agree-{}.mjs", std::process::id()));
    std::fs::copy(beside("agree.mjs"), &script).expect("copied");
    let given = folder.join(format!("given-{}.json", std::process::id()));
    let answer = folder.join(format!("answer-{}.json", std::process::id()));
    std::fs::write(&given, input.to_string()).expect("written");
    run(Command::new("node").args([&script, &given, &answer]));
    let text = std::fs::read_to_string(&answer).expect("an answer");
    serde_json::from_str(&text).expect("JSON")
}

/// Real proofs, where they are at hand: as they are, of which transaction, and their roots.
fn real_proofs() -> Vec<(Bump, Hash256, Hash256)> {
    let above = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let mut folders = above.map(|folder| folder.join("shared/vectors/spv"));
    let Some(folder) = folders.find(|folder| folder.exists()) else {
        println!("there are no real proofs to try");
        return Vec::new();
    };
    let read = |name: &str| -> Value {
        let text = std::fs::read_to_string(folder.join(name)).expect("a file");
        serde_json::from_str(&text).expect("JSON")
    };
    let unhex = |value: &Value| hex::decode(value.as_str().expect("text")).expect("hexadecimal");
    let mut bumps: Vec<Bump> = Vec::new();
    for beef in read("bsv-beef-with-headers.json")["beefs"]
        .as_array()
        .expect("a list")
    {
        let bytes = unhex(&beef["beef"]);
        let beef = Beef::parse(&bytes).expect("a real one");
        bumps.extend(beef.proven().map(|proven| proven.bump.clone()));
    }
    bumps.push(Bump::import(&unhex(&read("brc74-vector.json")["bump"])).expect("their own"));
    for vector in read("hostile-bumps.json")["vectors"]
        .as_array()
        .expect("a list")
    {
        if vector["must_reject"] == false {
            bumps.push(Bump::import(&unhex(&vector["bump"])).expect("an honest one"));
        }
    }
    let one_by_one = |bump: &Bump| -> Vec<(Bump, Hash256, Hash256)> {
        let root = bump.root().expect("it leads to a root");
        let only = |txid| (bump.only(&txid).expect("its path"), txid, root);
        bump.txids().map(only).collect()
    };
    bumps.iter().flat_map(one_by_one).collect()
}

#[test]
fn the_sdk_of_bsv_finds_the_roots_of_real_proofs() {
    let real = real_proofs();
    if real.is_empty() {
        return;
    }
    assert!(
        real.len() >= 7,
        "three BEEFs, BRC-74's own two, two of a block"
    );
    let given = real
        .iter()
        .map(|(bump, txid, _)| json!({"bump": hex::encode(bump.bytes()), "txid": txid}));
    let given: Vec<Value> = given.collect();
    let answer = asked(&json!({"bumps": given, "trees": []}));
    let theirs = answer["bumps"].as_array().expect("a list");
    for ((bump, txid, root), theirs) in real.iter().zip(theirs) {
        assert_eq!(theirs["root"], root.to_string(), "{txid}");
        assert_eq!(theirs["bytes"], hex::encode(bump.bytes()), "{txid}");
    }
    assert_eq!(theirs.len(), real.len());
}

#[test]
fn the_sdk_of_bsv_finds_the_same_the_same_roots_and_writes_the_same_bytes() {
    let ours = proofs();
    let given: Vec<Value> = ours
        .iter()
        .map(|(bump, txid, _)| json!({"bump": hex::encode(bump.bytes()), "txid": txid}))
        .collect();
    let answer = asked(&json!({"bumps": given, "trees": [1, 2, 3, 5, 8, 33]}));
    let roots = answer["bumps"].as_array().expect("a list");
    assert_eq!(roots.len(), ours.len());
    for ((bump, txid, root), theirs) in ours.iter().zip(roots) {
        assert_eq!(theirs["root"], root.to_string(), "{txid}");
        assert_eq!(theirs["bytes"], hex::encode(bump.bytes()), "{txid}");
    }
    // And those that it makes itself.
    let made = answer["made"].as_array().expect("a list");
    assert!(made.len() >= 6);
    for theirs in made {
        let text = |name: &str| theirs[name].as_str().expect("text");
        let bytes = hex::decode(text("beef")).expect("hexadecimal");
        let beef = Beef::parse(&bytes).expect("a BEEF of theirs");
        let proven: Vec<_> = beef.proven().collect();
        assert_eq!(proven.len(), 1);
        assert_eq!(proven[0].txid.to_string(), text("txid"));
        let root = proven[0].bump.root().expect("it leads to a root");
        assert_eq!(root.to_string(), text("root"));
    }
}
