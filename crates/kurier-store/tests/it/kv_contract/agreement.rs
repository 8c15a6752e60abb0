//! Two backends, the same random commands, the same replies.

use std::collections::BTreeSet;

use kurier_store::kv::{Command, Error, KvExt, Reply, Ttl};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};
use tokio::runtime::Runtime;

use crate::kv_contract::commands::any_commands;
use crate::kv_contract::ground::{Ground, cluster, memory, redis};
use crate::kv_contract::sabotage::{Fault, Sabotaged};

const CASES: u32 = 1_000;

/// How far two clocks may be apart when the backends are asked one after the other.
const TTL_SLACK_MS: u64 = 100_000;

#[test]
fn memory_agrees_with_redis() {
    let runtime = Runtime::new().unwrap();
    let redis = runtime.block_on(redis());
    if let Err(error) = compare(&runtime, memory(), redis) {
        panic!("{error}");
    }
}

#[test]
fn memory_agrees_with_a_cluster() {
    let runtime = Runtime::new().unwrap();
    let cluster = runtime.block_on(cluster());
    if let Err(error) = compare(&runtime, memory(), cluster) {
        panic!("{error}");
    }
}

/// The negative control: the same comparison finds each of these faults.
#[test]
fn a_disagreement_is_found() {
    let faults = [
        Fault::AnyoneReleasesTheLock,
        Fault::EqualScoresInReverse,
        Fault::IncrementRenewsTheTtl,
        Fault::LockHasNoTtl,
        Fault::SetKeepsTheOldValue,
    ];
    let runtime = Runtime::new().unwrap();
    for fault in faults {
        let broken = memory().behind(|kv| Sabotaged::with(kv, fault));
        assert!(
            compare(&runtime, memory(), broken).is_err(),
            "{fault:?} was not found"
        );
    }
}

/// Runs random commands on both. An error names the smallest sequence that tells them apart.
fn compare(
    runtime: &Runtime,
    left: Ground,
    mut right: Ground,
) -> Result<(), TestError<Vec<Command>>> {
    // Both under one prefix, so that the same commands serve for both.
    right.prefix.clone_from(&left.prefix);
    let mut runner = TestRunner::new(Config {
        cases: CASES,
        failure_persistence: None,
        ..Config::default()
    });
    runner.run(&any_commands(&left.prefix), |commands| {
        runtime.block_on(async {
            let same = ask_both(&left, &right, commands).await;
            left.sweep().await;
            right.sweep().await;
            same
        })
    })
}

async fn ask_both(
    left: &Ground,
    right: &Ground,
    commands: Vec<Command>,
) -> Result<(), TestCaseError> {
    let on_left = left.kv.run(commands.clone()).await.unwrap();
    let on_right = right.kv.run(commands.clone()).await.unwrap();
    let replies = on_left
        .into_iter()
        .zip(on_right)
        .map(|(l, r)| (comparable(l), comparable(r)));
    for (command, (l, r)) in commands.iter().zip(replies) {
        if !agree(&l, &r) {
            return Err(TestCaseError::fail(format!(
                "{command:?} answers {l:?} and {r:?}"
            )));
        }
    }
    let (l, r) = (keys(left).await, keys(right).await);
    if l != r {
        return Err(TestCaseError::fail(format!("the keys are {l:?} and {r:?}")));
    }
    Ok(())
}

async fn keys(ground: &Ground) -> BTreeSet<String> {
    ground.kv.scan_all(&ground.prefix).await.unwrap()
}

/// Without what backends may do differently: the order of sets, and the words of a refusal.
pub fn comparable(reply: Reply) -> Reply {
    match reply {
        Reply::Members(mut members) => {
            members.sort();
            Reply::Members(members)
        }
        Reply::Fields(mut fields) => {
            fields.sort();
            Reply::Fields(fields)
        }
        Reply::Failed(Error::Refused(_)) => Reply::Failed(Error::Refused(String::new())),
        other => other,
    }
}

fn agree(left: &Reply, right: &Reply) -> bool {
    match (left, right) {
        (Reply::Ttl(Ttl::Ms(left)), Reply::Ttl(Ttl::Ms(right))) => {
            left.abs_diff(*right) < TTL_SLACK_MS
        }
        _ => left == right,
    }
}

/// The generator itself is checked: a comparison of nothing agrees about everything.
#[test]
fn random_commands_are_of_every_kind_and_meet() {
    let mut runner = TestRunner::deterministic();
    let runtime = Runtime::new().unwrap();
    let (mut kinds, mut outcomes) = (BTreeSet::new(), BTreeSet::new());
    for _ in 0..100 {
        let ground = memory();
        let commands = any_commands(&ground.prefix)
            .new_tree(&mut runner)
            .unwrap()
            .current();
        let first_word = |text: String| text.split([' ', '(']).next().unwrap().to_owned();
        kinds.extend(
            commands
                .iter()
                .map(|command| first_word(format!("{command:?}"))),
        );
        let replies = runtime.block_on(ground.kv.run(commands)).unwrap();
        outcomes.extend(replies.iter().map(|reply| match reply {
            Reply::Failed(error) => first_word(format!("{error:?}")),
            other => first_word(format!("{other:?}")),
        }));
    }
    assert_eq!(kinds.len(), 24, "all commands but Scan: {kinds:?}");
    let expected = "Fields Flag Integer Members Refused Score Scored Ttl Value WrongType";
    assert_eq!(outcomes.into_iter().collect::<Vec<_>>().join(" "), expected);
}
