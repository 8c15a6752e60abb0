//! What only the in-process keyspace promises: memory is given back, a little per call.

use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::kv::{KvExt, Scored};

fn memory() -> (Memory, Arc<AtomicU64>) {
    let now_ms = Arc::new(AtomicU64::new(1_000));
    let clock = Arc::clone(&now_ms);
    (
        Memory::new(Arc::new(move || clock.load(Ordering::SeqCst))),
        now_ms,
    )
}

#[tokio::test]
async fn expired_keys_are_removed_a_few_per_call_and_in_the_end_all() {
    let (memory, now_ms) = memory();
    for index in 0..200 {
        memory
            .set(&format!("key {index}"), "value", Some(10 + index))
            .await
            .unwrap();
    }
    now_ms.fetch_add(1_000, Ordering::SeqCst);
    let mut keys_before = 200;
    while keys_before > 0 {
        memory.get("another key").await.unwrap();
        let keys = memory.usage().keys;
        let removed = keys_before - keys;
        assert!(
            (1..=REMOVALS_MIN + REMOVALS_PER_COMMAND).contains(&removed),
            "{removed}"
        );
        keys_before = keys;
    }
    assert_eq!(memory.usage(), Usage { keys: 0, bytes: 0 });
}

#[tokio::test]
async fn the_dead_do_not_outgrow_the_living() {
    let (memory, now_ms) = memory();
    for index in 0..2_000 {
        memory
            .set(&format!("key {index}"), "value", Some(1))
            .await
            .unwrap();
        now_ms.fetch_add(1, Ordering::SeqCst);
        assert!(
            memory.usage().keys <= 2,
            "{:?} after {index}",
            memory.usage()
        );
    }
}

#[tokio::test]
async fn a_tick_removes_what_no_call_does() {
    let (memory, now_ms) = memory();
    memory.set("a", "value", Some(1)).await.unwrap();
    memory.set("b", "value", Some(2)).await.unwrap();
    memory.set("c", "value", None).await.unwrap();
    now_ms.fetch_add(3, Ordering::SeqCst);
    assert_eq!(memory.remove_expired(1), 1);
    assert_eq!(memory.remove_expired(9), 1);
    assert_eq!(memory.usage().keys, 1);
}

#[tokio::test]
async fn a_renewed_key_is_not_removed_at_its_old_time() {
    let (memory, now_ms) = memory();
    memory.set("key", "value", Some(5)).await.unwrap();
    memory.expire("key", 500).await.unwrap();
    now_ms.fetch_add(100, Ordering::SeqCst);
    assert_eq!(memory.remove_expired(9), 0);
    assert!(memory.exists("key").await.unwrap());
}

#[tokio::test]
async fn bytes_follow_every_change_and_return_to_nothing() {
    let (memory, _) = memory();
    let scored = |score| {
        vec![Scored {
            member: vec![7; 100],
            score,
        }]
    };
    let empty = memory.usage().bytes;
    memory.set("text", vec![0; 1_000], Some(10)).await.unwrap();
    assert!(memory.usage().bytes > empty + 1_000);
    memory.set("text", vec![0; 10], None).await.unwrap();
    assert!(memory.usage().bytes < empty + 1_000);
    for size in [500, 50] {
        memory
            .hash_set("hash", vec![("field".to_owned(), vec![0; size])])
            .await
            .unwrap();
        memory
            .set_add("set", vec![vec![1; size], vec![1; size]])
            .await
            .unwrap();
        memory
            .sorted_add("sorted", scored(size as f64))
            .await
            .unwrap();
    }
    let held = memory.usage().bytes;
    assert!((700..2_500).contains(&held), "{held}");
    memory
        .hash_delete("hash", vec!["field".to_owned()])
        .await
        .unwrap();
    memory
        .set_remove("set", vec![vec![1; 500], vec![1; 50]])
        .await
        .unwrap();
    memory
        .sorted_remove("sorted", vec![vec![7; 100]])
        .await
        .unwrap();
    memory.delete(vec!["text".to_owned()]).await.unwrap();
    assert_eq!(memory.usage(), Usage { keys: 0, bytes: 0 });
}

#[tokio::test]
async fn a_script_must_answer_what_redis_could() {
    let (memory, _) = memory();
    let script = Script {
        name: "flag",
        lua: "return true",
        local: |_, _, _| Ok(Reply::Flag(true)),
    };
    let answer = memory.script(&script, &[], &[]).await;
    assert_eq!(
        answer,
        Err(Error::Unexpected("the reply of the script flag".to_owned()))
    );
}

#[tokio::test]
async fn a_panicking_script_does_not_take_the_keyspace_with_it() {
    let (memory, _) = memory();
    let memory = Arc::new(memory);
    memory.set("key", "value", None).await.unwrap();
    let doomed = Arc::clone(&memory);
    let script = Script {
        name: "doomed",
        lua: "",
        local: |_, _, _| panic!("on purpose"),
    };
    let outcome = tokio::spawn(async move { doomed.script(&script, &[], &[]).await }).await;
    assert!(outcome.is_err());
    assert_eq!(
        memory.get("key").await.unwrap().as_deref(),
        Some(b"value".as_slice())
    );
}
