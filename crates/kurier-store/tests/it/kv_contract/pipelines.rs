//! Several commands, one round trip.

use std::sync::Arc;

use kurier_store::kv::{Command, Error, Reply};

use crate::kv_contract::ground::{Ground, bytes};

fn set(key: &str, value: &str) -> Command {
    Command::Set {
        key: key.to_owned(),
        value: bytes(value),
        ttl_ms: None,
        if_absent: false,
    }
}

fn get(key: &str) -> Command {
    Command::Get {
        key: key.to_owned(),
    }
}

pub async fn replies_come_in_order(ground: Arc<Ground>) {
    let key = ground.key("text");
    let texts: Vec<String> = (0..300).map(|index| index.to_string()).collect();
    let commands = texts
        .iter()
        .flat_map(|text| [set(&key, text), get(&key)])
        .collect();
    let replies = ground.kv.run(commands).await.unwrap();
    let expected: Vec<Reply> = texts
        .iter()
        .flat_map(|text| [Reply::Flag(true), Reply::Value(Some(bytes(text)))])
        .collect();
    assert_eq!(replies, expected);
}

/// What `run` promises: a reply in every place, and an error only where it happened, whether the
/// backend refused or the vocabulary did.
pub async fn a_failing_command_does_not_swallow_the_others(ground: Arc<Ground>) {
    let (key, other) = (ground.key("text"), ground.key("other"));
    let wrong_type = Command::SetAdd {
        key: key.clone(),
        members: vec![bytes("member")],
    };
    let refused = Command::Expire {
        key: key.clone(),
        ttl_ms: u64::MAX,
    };
    let nothing = Command::Delete { keys: vec![] };
    let commands = vec![
        set(&key, "a"),
        wrong_type,
        refused,
        nothing,
        set(&other, "b"),
        get(&key),
        get(&other),
    ];
    let mut replies = ground.kv.run(commands).await.unwrap();
    let refusal = replies.remove(2);
    assert!(
        matches!(refusal, Reply::Failed(Error::Refused(_))),
        "{refusal:?}"
    );
    assert_eq!(
        replies,
        [
            Reply::Flag(true),
            Reply::Failed(Error::WrongType { key }),
            Reply::Integer(0),
            Reply::Flag(true),
            Reply::Value(Some(bytes("a"))),
            Reply::Value(Some(bytes("b"))),
        ]
    );
}

pub async fn an_empty_pipeline_answers_nothing(ground: Arc<Ground>) {
    assert_eq!(ground.kv.run(vec![]).await, Ok(vec![]));
}

pub async fn scripted_commands_work_between_others(ground: Arc<Ground>) {
    let key = ground.key("text");
    let increment = Command::Increment {
        key: key.clone(),
        by: 4,
        ttl_ms: Some(60_000),
    };
    let release = |value: &str| Command::CompareDelete {
        key: key.clone(),
        value: bytes(value),
    };
    let commands = vec![increment, get(&key), release("5"), release("4"), get(&key)];
    let expected = vec![
        Reply::Integer(4),
        Reply::Value(Some(bytes("4"))),
        Reply::Flag(false),
        Reply::Flag(true),
        Reply::Value(None),
    ];
    assert_eq!(ground.kv.run(commands).await, Ok(expected));
}

pub async fn a_ping_is_answered(ground: Arc<Ground>) {
    assert_eq!(ground.kv.ping().await, Ok(()));
}
