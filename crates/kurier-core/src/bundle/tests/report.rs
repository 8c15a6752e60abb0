//! A whole bundle on a chain mined here, verified step by step; then everything in it
//! changed, one thing at a time.

use super::super::batch::Batch;
use super::super::chain::{Chain, HEADER_BYTES, Tree};
use super::super::commitment::{Commitment, leaf};
use super::super::envelope::{Envelope, Hex, Mined};
use super::super::hash::{Digest, Hash256};
use super::super::lineage::Lineage;
use super::super::mine::mine_block;
use super::super::proof::committing_tx;
use super::super::report::{Given, Outcome, Report, verify};
use super::super::standing::{Policy, State};
use super::super::version::Version;
use super::envelope::version;
use super::{NOW, TRIES, branch_on, bytes_of, hash, regtest};
use crate::time::Timestamp;

struct World {
    tree: Tree,
    envelope: Envelope,
}

/// Eleven versions in a batch, the third of them in the bundle; their commitment in the
/// second of three transactions of block 6; two blocks on top.
fn world() -> World {
    let (mut tree, headers) = regtest(5);
    let parent = version("parent", Vec::new());
    let versions: Vec<Version> = (0..11)
        .map(|n| version(&format!("v{n}"), vec![parent.id()]))
        .collect();
    let leaf_of = |version: &Version| leaf("acme", &version.id(), &version.content_sha256);
    let leaves: Vec<Digest> = versions.iter().map(leaf_of).collect();
    let batch = Batch::new(&leaves).expect("eleven");
    let raw = committing_tx(&batch.root(), 1);
    let txids = vec![hash(1), Hash256::of(&raw), hash(2)];
    let time = headers[4].time + 600;
    let block = mine_block(&headers[4], txids, time, TRIES).expect("every second one does");
    tree.accept(&block.header.bytes(), NOW).expect("good");
    let mined = Mined {
        height: 6,
        hash: block.header.hash(),
        header: block.header.bytes(),
        bump: block.txs.prove(6, 1).expect("the second"),
    };
    let built_at = Timestamp::from_millis(1_790_000_000_000);
    let lineage = Lineage {
        versions: vec![parent],
        ..Lineage::default()
    };
    let path = Commitment::Batch(batch.path(2).expect("the third"));
    let envelope = Envelope::of(Chain::Regtest, "acme", &versions[2], built_at)
        .committed(path, raw)
        .mined(&mined, tree.tip())
        .descended(1, lineage);
    tree.extend(&bytes_of(&branch_on(&block.header, 2, 8)), NOW)
        .expect("good");
    World { tree, envelope }
}

fn check(envelope: &Envelope, tree: Option<&Tree>) -> Report {
    let given = Given {
        content: Some(b"v2"),
        tree,
        policy: Policy::new(2, false).expect("two"),
        unstable: false,
    };
    verify(envelope, &given)
}

#[test]
fn a_good_bundle_holds_in_every_step() {
    let World { tree, envelope } = world();
    let report = check(&envelope, Some(&tree));
    let names: Vec<&str> = report.steps.iter().map(|step| step.name).collect();
    let expected = [
        "content",
        "version",
        "lineage",
        "transaction",
        "commitment",
        "header",
        "proof",
        "chain",
        "confirmations",
    ];
    assert_eq!(names, expected);
    for step in &report.steps {
        assert_eq!(step.outcome, Outcome::Holds, "{step:?}");
        assert!(!step.why.is_empty());
    }
    assert!(report.ready);
    assert_eq!(
        (report.standing.state, report.standing.confs),
        (State::Confirmed, Some(3))
    );
}

/// The step fails, the proof is invalid, and it is not ready.
#[track_caller]
fn broken(step: &str, change: impl Fn(&mut Envelope)) {
    let World { tree, mut envelope } = world();
    change(&mut envelope);
    let report = check(&envelope, Some(&tree));
    let found = report.step(step).expect("a step");
    assert_eq!(found.outcome, Outcome::Fails, "{:?}", report.steps);
    assert_eq!(
        (report.standing.state, report.standing.confs),
        (State::InvalidProof, None)
    );
    assert!(!report.ready && report.fails());
}

fn flip(bytes: &mut Option<Hex>, at: usize) {
    bytes.as_mut().expect("there").0[at] ^= 1;
}

#[test]
fn each_part_that_is_changed_is_found_by_its_step() {
    broken("content", |envelope| {
        envelope.content_sha256 = Digest::of(b"other")
    });
    broken("version", |envelope| envelope.name.push('x'));
    broken("version", |envelope| {
        envelope.version_id = Digest::of(b"other")
    });
    broken("version", |envelope| envelope.parents.clear());
    broken("lineage", |envelope| envelope.lineage[0].name.push('x'));
    broken("lineage", |envelope| {
        envelope.lineage.push(version("stranger", Vec::new()))
    });
    broken("lineage", |envelope| {
        envelope.lineage.push(envelope.lineage[0].clone())
    });
    broken("transaction", |envelope| tx(envelope).txid = hash(1));
    broken("transaction", |envelope| tx(envelope).raw.0[50] ^= 1);
    broken("transaction", |envelope| tx(envelope).raw.0 = vec![1; 64]);
    broken("commitment", |envelope| {
        envelope.tenant = "other".to_owned()
    });
    broken("commitment", |envelope| {
        envelope.commitment = Some(Commitment::OpReturn {})
    });
    broken("commitment", |envelope| envelope.commitment = None);
    broken("commitment", |envelope| batch_path(envelope).index = 3);
    broken("commitment", |envelope| {
        batch_path(envelope).path[1] = Digest::of(b"other")
    });
    broken("header", |envelope| flip(&mut envelope.header, 70));
    broken("header", |envelope| envelope.block_hash = Some(hash(1)));
    broken("header", |envelope| {
        envelope.header = Some(Hex(vec![0; HEADER_BYTES - 1]))
    });
    broken("header", |envelope| envelope.bump = None);
    broken("header", |envelope| envelope.tx = None);
    broken("proof", |envelope| flip(&mut envelope.bump, 10));
    broken("proof", |envelope| envelope.block_height = Some(7));
    broken("proof", |envelope| envelope.bump = Some(Hex(Vec::new())));
}

fn tx(envelope: &mut Envelope) -> &mut super::super::envelope::TxPart {
    envelope.tx.as_mut().expect("there")
}

fn batch_path(envelope: &mut Envelope) -> &mut super::super::batch::BatchPath {
    match envelope.commitment.as_mut() {
        Some(Commitment::Batch(path)) => path,
        _ => panic!("a batch"),
    }
}

/// The bundle and the proof in it both say the same wrong height.
#[test]
fn a_block_that_is_said_to_be_elsewhere_is_no_proof() {
    let World { tree, mut envelope } = world();
    envelope.block_height = Some(5);
    flip(&mut envelope.bump, 0);
    envelope.bump.as_mut().expect("there").0[0] = 5;
    let report = check(&envelope, Some(&tree));
    assert_eq!(
        report.step("proof").map(|step| step.outcome),
        Some(Outcome::Holds)
    );
    assert_eq!(
        report.step("chain").map(|step| step.outcome),
        Some(Outcome::Fails)
    );
    assert_eq!(report.standing.state, State::InvalidProof);
    assert!(!report.ready);
}

#[test]
fn a_block_off_the_chain_fails_and_asks_for_another_bundle() {
    let World { mut tree, envelope } = world();
    let fork = tree.best_at(5).expect("known");
    tree.extend(&bytes_of(&branch_on(&fork, 4, 9)), NOW)
        .expect("good");
    let report = check(&envelope, Some(&tree));
    assert_eq!(
        (report.standing.state, report.standing.confs),
        (State::OffChain, Some(-1))
    );
    assert!(report.standing.reorg && !report.ready);
    assert_eq!(
        report.step("proof").map(|step| step.outcome),
        Some(Outcome::Holds)
    );
    assert_eq!(
        report.step("chain").map(|step| step.outcome),
        Some(Outcome::Fails)
    );
}

#[test]
fn headers_of_another_chain_prove_nothing() {
    let World { envelope, .. } = world();
    let report = check(&envelope, Some(&Tree::from_genesis(Chain::Btc)));
    assert_eq!(
        report.step("chain").map(|step| step.outcome),
        Some(Outcome::Fails)
    );
    assert_eq!(report.standing.state, State::InvalidProof);
    assert!(!report.ready);
}

#[test]
fn what_is_not_there_yet_is_not_checked_and_not_ready() {
    let World { tree, envelope } = world();
    let without = check(&envelope, None);
    assert_eq!(
        without.step("chain").map(|step| step.outcome),
        Some(Outcome::NotChecked)
    );
    assert_eq!(without.standing.state, State::UnknownHeader);
    let built_at = envelope.built_at;
    let plain = Envelope::of(Chain::Regtest, "acme", &envelope.version(), built_at);
    let pending = check(&plain, Some(&tree));
    assert_eq!(
        (pending.standing.state, pending.standing.confs),
        (State::Unmined, None)
    );
    let raw = tx(&mut envelope.clone()).raw.0.clone();
    let unmined = check(
        &plain.committed(envelope.commitment.clone().expect("there"), raw),
        Some(&tree),
    );
    assert_eq!(
        (unmined.standing.state, unmined.standing.confs),
        (State::Unmined, Some(0))
    );
    for report in [without, pending] {
        assert!(!report.ready && !report.fails(), "{:?}", report.steps);
    }
    assert!(!unmined.ready);
}

#[test]
fn too_few_confirmations_and_old_headers_are_not_ready() {
    let World { tree, envelope } = world();
    let given = Given {
        content: None,
        tree: Some(&tree),
        policy: Policy::new(3, false).expect("three"),
        unstable: false,
    };
    assert!(verify(&envelope, &given).ready);
    let more = Given {
        policy: Policy::new(4, false).expect("four"),
        ..given
    };
    assert!(!verify(&envelope, &more).ready);
    let old = Given {
        unstable: true,
        ..given
    };
    let report = verify(&envelope, &old);
    assert!(!report.ready && report.standing.unstable);
    assert_eq!(
        report.step("confirmations").map(|step| step.outcome),
        Some(Outcome::Fails)
    );
}

#[test]
fn a_report_is_readable_as_data() {
    let World { tree, envelope } = world();
    let report = serde_json::to_value(check(&envelope, Some(&tree))).expect("JSON");
    assert_eq!(report["steps"][0]["name"], "content");
    assert_eq!(report["steps"][0]["outcome"], "holds");
    assert_eq!(report["standing"]["state"], "confirmed");
    assert_eq!(report["standing"]["confs"], 3);
    assert_eq!(report["standing"]["tip"]["height"], 8);
}
