//! Hashes and sets, and what all collections share.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kurier_store::kv::{Command, Error, KvExt, Order, Scored, Ttl};

use crate::kv_contract::commands::every_read_and_change;
use crate::kv_contract::ground::{Ground, bytes};

fn scored(member: &str, score: f64) -> Scored {
    Scored {
        member: bytes(member),
        score,
    }
}

fn field(name: &str, value: &str) -> (String, Vec<u8>) {
    (name.to_owned(), bytes(value))
}

pub async fn an_added_item_is_new_only_once(ground: Arc<Ground>) {
    let (kv, hash) = (&ground.kv, ground.key("hash"));
    assert_eq!(
        kv.hash_set(&hash, vec![field("a", "1"), field("b", "1")])
            .await,
        Ok(2)
    );
    assert_eq!(
        kv.hash_set(&hash, vec![field("b", "2"), field("c", "2")])
            .await,
        Ok(1)
    );
    assert_eq!(
        kv.hash_set(&hash, vec![field("d", "1"), field("d", "2")])
            .await,
        Ok(1)
    );
    assert_eq!(
        kv.hash_get(&hash, "d").await,
        Ok(Some(bytes("2"))),
        "the last one counts"
    );
    let set = ground.key("set");
    assert_eq!(
        kv.set_add(&set, vec![bytes("a"), bytes("a"), bytes("b")])
            .await,
        Ok(2)
    );
    assert_eq!(kv.set_add(&set, vec![bytes("b"), bytes("c")]).await, Ok(1));
    assert_eq!(kv.set_count(&set).await, Ok(3));
    let sorted = ground.key("sorted");
    let members = vec![scored("a", 1.0), scored("a", 2.0)];
    assert_eq!(kv.sorted_add(&sorted, members).await, Ok(1));
    assert_eq!(kv.sorted_score(&sorted, "a").await, Ok(Some(2.0)));
}

pub async fn an_emptied_collection_is_gone(ground: Arc<Ground>) {
    let (kv, key) = (&ground.kv, ground.key("collection"));
    kv.hash_set(&key, vec![field("a", "1")]).await.unwrap();
    assert_eq!(
        kv.hash_delete(&key, vec!["a".into(), "a".into(), "b".into()])
            .await,
        Ok(1)
    );
    assert_eq!(kv.exists(&key).await, Ok(false));
    kv.set_add(&key, vec![bytes("a"), bytes("b")])
        .await
        .unwrap();
    assert_eq!(
        kv.set_remove(&key, vec![bytes("a"), bytes("b")]).await,
        Ok(2)
    );
    assert_eq!(kv.exists(&key).await, Ok(false));
    kv.sorted_add(&key, vec![scored("a", 1.0)]).await.unwrap();
    kv.expire(&key, 60_000).await.unwrap();
    assert_eq!(kv.sorted_remove(&key, vec![bytes("a")]).await, Ok(1));
    assert_eq!(kv.exists(&key).await, Ok(false));
    assert!(kv.scan_all(&ground.prefix).await.unwrap().is_empty());
    kv.set_add(&key, vec![bytes("a")]).await.unwrap();
    assert_eq!(
        kv.ttl_ms(&key).await,
        Ok(Ttl::Forever),
        "the ttl went with the collection"
    );
}

pub async fn an_empty_list_asks_for_nothing(ground: Arc<Ground>) {
    let (kv, key) = (&ground.kv, ground.key("collection"));
    assert_eq!(kv.delete(vec![]).await, Ok(0));
    assert_eq!(kv.hash_set(&key, vec![]).await, Ok(0));
    assert_eq!(kv.hash_delete(&key, vec![]).await, Ok(0));
    assert_eq!(kv.set_add(&key, vec![]).await, Ok(0));
    assert_eq!(kv.set_remove(&key, vec![]).await, Ok(0));
    assert_eq!(kv.sorted_add(&key, vec![]).await, Ok(0));
    assert_eq!(kv.sorted_remove(&key, vec![]).await, Ok(0));
    assert_eq!(kv.exists(&key).await, Ok(false));
}

pub async fn a_hash_keeps_its_other_fields(ground: Arc<Ground>) {
    let (kv, key) = (&ground.kv, ground.key("hash"));
    kv.hash_set(
        &key,
        vec![field("a", "1"), field("b", "2"), field("c", "3")],
    )
    .await
    .unwrap();
    kv.hash_set(&key, vec![field("b", "20")]).await.unwrap();
    kv.hash_delete(&key, vec!["c".to_owned()]).await.unwrap();
    let expected = BTreeMap::from([field("a", "1"), field("b", "20")]);
    assert_eq!(kv.hash_get_all(&key).await, Ok(expected));
    assert_eq!(kv.hash_get(&key, "b").await, Ok(Some(bytes("20"))));
    assert_eq!(kv.hash_get(&key, "c").await, Ok(None));
}

pub async fn changing_a_collection_keeps_its_ttl(ground: Arc<Ground>) {
    let (kv, key) = (&ground.kv, ground.key("set"));
    kv.set_add(&key, vec![bytes("a")]).await.unwrap();
    kv.expire(&key, 60_000).await.unwrap();
    kv.set_add(&key, vec![bytes("b")]).await.unwrap();
    kv.set_remove(&key, vec![bytes("a")]).await.unwrap();
    assert!(matches!(
        kv.ttl_ms(&key).await,
        Ok(Ttl::Ms(30_000..=60_000))
    ));
    assert_eq!(kv.set_members(&key).await, Ok(BTreeSet::from([bytes("b")])));
}

pub async fn a_missing_collection_reads_as_empty(ground: Arc<Ground>) {
    let (kv, key) = (&ground.kv, ground.key("missing"));
    assert_eq!(kv.hash_get(&key, "a").await, Ok(None));
    assert_eq!(kv.hash_get_all(&key).await, Ok(BTreeMap::new()));
    assert_eq!(kv.set_members(&key).await, Ok(BTreeSet::new()));
    assert_eq!(kv.set_contains(&key, "a").await, Ok(false));
    assert_eq!(kv.sorted_score(&key, "a").await, Ok(None));
    assert_eq!(
        kv.sorted_range(&key, 0, -1, Order::Ascending).await,
        Ok(vec![])
    );
    assert_eq!(kv.exists(&key).await, Ok(false), "reading creates nothing");
}

/// Every command that needs a type, on a key of each other type.
pub async fn one_type_is_not_another(ground: Arc<Ground>) {
    let (kv, key) = (&ground.kv, ground.key("typed"));
    let creations = [
        (
            "text",
            Command::Increment {
                key: key.clone(),
                by: 1,
                ttl_ms: None,
            },
        ),
        (
            "hash",
            Command::HashSet {
                key: key.clone(),
                fields: vec![field("a", "1")],
            },
        ),
        (
            "set",
            Command::SetAdd {
                key: key.clone(),
                members: vec![bytes("a")],
            },
        ),
        (
            "sorted",
            Command::SortedAdd {
                key: key.clone(),
                members: vec![scored("a", 1.0)],
            },
        ),
    ];
    for (held, creation) in creations {
        kv.delete(vec![key.clone()]).await.unwrap();
        kv.ask(creation).await.unwrap();
        for (wanted, command) in every_read_and_change(&key) {
            if wanted == held {
                continue;
            }
            let answer = kv.ask(command.clone()).await;
            assert_eq!(
                answer,
                Err(Error::WrongType { key: key.clone() }),
                "{held}: {command:?}"
            );
        }
        assert_eq!(
            kv.exists(&key).await,
            Ok(true),
            "{held}: a wrong type changes nothing"
        );
    }
    kv.set(&key, "any type can be replaced", None)
        .await
        .unwrap();
}
