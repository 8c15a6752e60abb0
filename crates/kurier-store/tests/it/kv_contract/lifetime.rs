//! Expiry, locks and windows that count.

use std::mem::discriminant;
use std::sync::Arc;

use kurier_store::kv::{DELETE_ETERNAL, Error, KvExt, Reply, TTL_MS_MAX, Ttl};

use crate::kv_contract::commands::{every_handling, every_read_and_change};
use crate::kv_contract::ground::{Ground, bytes};

const MINUTE_MS: u64 = 60_000;

/// A key with a long time to live: no test is so slow that it is half over.
fn assert_about(ttl: Ttl, ttl_ms: u64) {
    assert!(
        matches!(ttl, Ttl::Ms(ms) if ms <= ttl_ms && ms > ttl_ms / 2),
        "{ttl:?}"
    );
}

pub async fn a_set_value_expires(ground: Arc<Ground>) {
    let (kv, key) = (&ground.kv, ground.key("text"));
    ground.crowd().await;
    kv.set(&key, "value", Some(5)).await.unwrap();
    ground.pass(5).await;
    assert_eq!(kv.get(&key).await.unwrap(), None);
    assert_eq!(kv.ttl_ms(&key).await.unwrap(), Ttl::Missing);
}

pub async fn a_plain_set_forgets_the_ttl(ground: Arc<Ground>) {
    let (kv, key) = (&ground.kv, ground.key("text"));
    kv.set(&key, "value", Some(MINUTE_MS)).await.unwrap();
    kv.set(&key, "value", None).await.unwrap();
    assert_eq!(kv.ttl_ms(&key).await.unwrap(), Ttl::Forever);
}

pub async fn a_ttl_can_be_given_renewed_and_taken(ground: Arc<Ground>) {
    let (kv, key) = (&ground.kv, ground.key("text"));
    assert!(!kv.expire(&key, MINUTE_MS).await.unwrap());
    assert!(!kv.persist(&key).await.unwrap());
    kv.set(&key, "value", None).await.unwrap();
    assert!(!kv.persist(&key).await.unwrap());
    assert!(kv.expire(&key, MINUTE_MS).await.unwrap());
    assert_about(kv.ttl_ms(&key).await.unwrap(), MINUTE_MS);
    assert!(kv.expire(&key, 10 * MINUTE_MS).await.unwrap());
    assert_about(kv.ttl_ms(&key).await.unwrap(), 10 * MINUTE_MS);
    assert!(kv.persist(&key).await.unwrap());
    assert_eq!(kv.ttl_ms(&key).await.unwrap(), Ttl::Forever);
}

/// Absent means: every command answers as if the key had never been.
pub async fn an_expired_key_is_absent_for_every_command(ground: Arc<Ground>) {
    let (kv, key) = (&ground.kv, ground.key("expired"));
    let typed = every_read_and_change(&key)
        .into_iter()
        .map(|(_, command)| command);
    for question in every_handling(&key).into_iter().chain(typed) {
        kv.delete(vec![key.clone()]).await.unwrap();
        let answer = kv.ask(question.clone()).await;
        let ttl = kv.ttl_ms(&key).await.unwrap();

        ground.crowd().await;
        kv.set(&key, "1", Some(2)).await.unwrap();
        ground.pass(2).await;
        assert_eq!(kv.ask(question.clone()).await, answer, "{question:?}");
        let expired_ttl = kv.ttl_ms(&key).await.unwrap();
        assert_eq!(
            discriminant(&expired_ttl),
            discriminant(&ttl),
            "{question:?} keeps the old ttl"
        );
    }
}

pub async fn expire_with_zero_deletes(ground: Arc<Ground>) {
    let (kv, key) = (&ground.kv, ground.key("text"));
    kv.set(&key, "value", None).await.unwrap();
    assert!(kv.expire(&key, 0).await.unwrap());
    assert!(!kv.exists(&key).await.unwrap());
    assert!(!kv.expire(&key, 0).await.unwrap());
}

pub async fn a_ttl_out_of_range_is_refused(ground: Arc<Ground>) {
    let (kv, key) = (&ground.kv, ground.key("text"));
    for ttl_ms in [0, TTL_MS_MAX + 1, u64::MAX] {
        let set = kv.set(&key, "value", Some(ttl_ms)).await;
        assert!(matches!(set, Err(Error::Refused(_))), "{set:?}");
        let increment = kv.increment(&key, 1, Some(ttl_ms)).await;
        assert!(matches!(increment, Err(Error::Refused(_))), "{increment:?}");
    }
    assert!(!kv.exists(&key).await.unwrap());
    kv.set(&key, "value", Some(TTL_MS_MAX)).await.unwrap();
    assert_about(kv.ttl_ms(&key).await.unwrap(), TTL_MS_MAX);
}

pub async fn a_lock_is_held_until_released_by_its_owner(ground: Arc<Ground>) {
    let (kv, key) = (&ground.kv, ground.key("lock"));
    assert!(
        kv.set_if_absent(&key, "owner", Some(MINUTE_MS))
            .await
            .unwrap()
    );
    assert!(
        !kv.set_if_absent(&key, "other", Some(MINUTE_MS))
            .await
            .unwrap()
    );
    assert!(!kv.compare_delete(&key, "other").await.unwrap());
    assert_eq!(kv.get(&key).await.unwrap(), Some(bytes("owner")));
    assert!(kv.compare_delete(&key, "owner").await.unwrap());
    assert!(!kv.compare_delete(&key, "owner").await.unwrap());
    assert!(
        kv.set_if_absent(&key, "other", Some(MINUTE_MS))
            .await
            .unwrap()
    );
}

pub async fn a_lock_carries_its_ttl(ground: Arc<Ground>) {
    let (kv, key) = (&ground.kv, ground.key("lock"));
    kv.set_if_absent(&key, "owner", Some(MINUTE_MS))
        .await
        .unwrap();
    assert_about(kv.ttl_ms(&key).await.unwrap(), MINUTE_MS);
    kv.set_if_absent(&key, "other", Some(10 * MINUTE_MS))
        .await
        .unwrap();
    assert_about(kv.ttl_ms(&key).await.unwrap(), MINUTE_MS);
}

pub async fn an_expired_lock_can_be_taken_again(ground: Arc<Ground>) {
    let (kv, key) = (&ground.kv, ground.key("lock"));
    ground.crowd().await;
    assert!(kv.set_if_absent(&key, "first", Some(5)).await.unwrap());
    ground.pass(5).await;
    assert!(
        kv.set_if_absent(&key, "second", Some(MINUTE_MS))
            .await
            .unwrap()
    );
    assert!(!kv.compare_delete(&key, "first").await.unwrap());
    assert_eq!(kv.get(&key).await.unwrap(), Some(bytes("second")));
}

pub async fn an_increment_sets_the_ttl_only_on_creation(ground: Arc<Ground>) {
    let (kv, key) = (&ground.kv, ground.key("window"));
    assert_eq!(kv.increment(&key, 2, Some(MINUTE_MS)).await, Ok(2));
    assert_about(kv.ttl_ms(&key).await.unwrap(), MINUTE_MS);
    assert_eq!(kv.increment(&key, 3, Some(10 * MINUTE_MS)).await, Ok(5));
    assert_about(kv.ttl_ms(&key).await.unwrap(), MINUTE_MS);
    assert_eq!(kv.increment(&key, -5, None).await, Ok(0));
    assert_about(kv.ttl_ms(&key).await.unwrap(), MINUTE_MS);

    let eternal = ground.key("eternal");
    kv.increment(&eternal, 1, None).await.unwrap();
    kv.increment(&eternal, 1, Some(MINUTE_MS)).await.unwrap();
    assert_eq!(kv.ttl_ms(&eternal).await, Ok(Ttl::Forever));
}

pub async fn an_expired_counter_starts_again_with_a_new_ttl(ground: Arc<Ground>) {
    let (kv, key) = (&ground.kv, ground.key("window"));
    ground.crowd().await;
    kv.increment(&key, 7, Some(5)).await.unwrap();
    ground.pass(5).await;
    assert_eq!(kv.increment(&key, 1, Some(MINUTE_MS)).await, Ok(1));
    assert_about(kv.ttl_ms(&key).await.unwrap(), MINUTE_MS);
}

pub async fn only_what_never_expires_is_deleted(ground: Arc<Ground>) {
    let (kv, key) = (&ground.kv, ground.key("dedup"));
    let delete = async || {
        kv.script(&DELETE_ETERNAL, std::slice::from_ref(&key), &[])
            .await
    };
    assert_eq!(delete().await, Ok(Reply::Integer(0)));
    kv.set(&key, "1", Some(MINUTE_MS)).await.unwrap();
    assert_eq!(delete().await, Ok(Reply::Integer(0)));
    assert!(kv.exists(&key).await.unwrap());
    kv.persist(&key).await.unwrap();
    assert_eq!(delete().await, Ok(Reply::Integer(1)));
    assert!(!kv.exists(&key).await.unwrap());
}
