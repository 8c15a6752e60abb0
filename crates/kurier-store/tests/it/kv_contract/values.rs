//! What goes in comes out: bytes, text of any script, whole numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kurier_store::kv::{Error, KvExt, Order, Scored};

use crate::kv_contract::ground::{Ground, bytes};

pub async fn bytes_come_back_as_they_went(ground: Arc<Ground>) {
    let kv = &ground.kv;
    let every_byte: Vec<u8> = (0..=255).collect();
    let long = vec![b'\n'; 300_000];
    for value in [every_byte, long, b"\r\n$3\r\n*".to_vec(), vec![0]] {
        let key = |name| ground.key(name);
        kv.set(&key("text"), value.clone(), None).await.unwrap();
        assert_eq!(kv.get(&key("text")).await, Ok(Some(value.clone())));
        kv.hash_set(&key("hash"), vec![("field".to_owned(), value.clone())])
            .await
            .unwrap();
        assert_eq!(
            kv.hash_get(&key("hash"), "field").await,
            Ok(Some(value.clone()))
        );
        kv.set_add(&key("set"), vec![value.clone()]).await.unwrap();
        assert_eq!(kv.set_contains(&key("set"), value.clone()).await, Ok(true));
        let scored = vec![Scored {
            member: value.clone(),
            score: 0.1,
        }];
        kv.sorted_add(&key("sorted"), scored.clone()).await.unwrap();
        let range = kv
            .sorted_range(&key("sorted"), 0, -1, Order::Ascending)
            .await;
        assert_eq!(range, Ok(scored));
        assert_eq!(
            kv.sorted_remove(&key("sorted"), vec![value.clone()]).await,
            Ok(1)
        );
        assert_eq!(kv.compare_delete(&key("text"), value).await, Ok(true));
    }
}

pub async fn unicode_is_kept_in_keys_and_fields(ground: Arc<Ground>) {
    let kv = &ground.kv;
    for name in ["Grüße", "名前", "🦀", "e\u{301}", "\u{0}\n\r", "with space"] {
        let key = ground.key(name);
        kv.hash_set(&key, vec![(name.to_owned(), bytes(name))])
            .await
            .unwrap();
        let expected = BTreeMap::from([(name.to_owned(), bytes(name))]);
        assert_eq!(kv.hash_get_all(&key).await, Ok(expected));
        assert_eq!(kv.scan_all(&key).await, Ok(BTreeSet::from([key])));
    }
    // The same letter composed another way is another key.
    assert_eq!(kv.exists(&ground.key("\u{e9}")).await, Ok(false));
}

pub async fn an_empty_value_is_a_value(ground: Arc<Ground>) {
    let (kv, key) = (&ground.kv, ground.key("empty"));
    kv.set(&key, "", None).await.unwrap();
    assert_eq!(kv.get(&key).await, Ok(Some(vec![])));
    assert_eq!(kv.set_if_absent(&key, "other", None).await, Ok(false));
    assert_eq!(kv.compare_delete(&key, "").await, Ok(true));
    kv.set_add(&key, vec![vec![]]).await.unwrap();
    assert_eq!(kv.set_members(&key).await, Ok(BTreeSet::from([vec![]])));
}

/// Above 2^53 a double would do, and one of the backends counts in Lua.
pub async fn integers_are_exact_to_the_last(ground: Arc<Ground>) {
    for ttl_ms in [None, Some(60_000)] {
        let (kv, key) = (&ground.kv, ground.key(&format!("{ttl_ms:?}")));
        assert_eq!(
            kv.increment(&key, i64::MAX - 1, ttl_ms).await,
            Ok(i64::MAX - 1)
        );
        assert_eq!(kv.increment(&key, 1, ttl_ms).await, Ok(i64::MAX));
        kv.set(&key, i64::MIN.to_string(), None).await.unwrap();
        assert_eq!(kv.increment(&key, 0, ttl_ms).await, Ok(i64::MIN));
    }
}

pub async fn what_is_not_an_integer_cannot_be_counted(ground: Arc<Ground>) {
    let (kv, key) = (&ground.kv, ground.key("text"));
    for text in [
        "",
        "a",
        "1.0",
        "+1",
        "01",
        "-0",
        " 1",
        "1 ",
        "9223372036854775808",
        "\u{661}",
    ] {
        kv.set(&key, text, None).await.unwrap();
        for ttl_ms in [None, Some(60_000)] {
            let sum = kv.increment(&key, 1, ttl_ms).await;
            assert!(matches!(sum, Err(Error::Refused(_))), "{text:?}: {sum:?}");
        }
        assert_eq!(kv.get(&key).await, Ok(Some(bytes(text))));
    }
}

pub async fn an_overflow_is_refused_and_changes_nothing(ground: Arc<Ground>) {
    let (kv, key) = (&ground.kv, ground.key("count"));
    for (held, by) in [(i64::MAX, 1), (i64::MIN, -1), (1, i64::MAX)] {
        kv.set(&key, held.to_string(), None).await.unwrap();
        let sum = kv.increment(&key, by, None).await;
        assert!(matches!(sum, Err(Error::Refused(_))), "{sum:?}");
        assert_eq!(kv.get(&key).await, Ok(Some(bytes(&held.to_string()))));
    }
}
