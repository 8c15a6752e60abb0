//! Sorted sets: by score, then by bytes.

use std::ops::Bound::{self, Excluded, Included, Unbounded};
use std::sync::Arc;

use kurier_store::kv::Order::{Ascending, Descending};
use kurier_store::kv::{Error, Kv, KvExt, Order, ScoreRange, Scored};

use crate::kv_contract::ground::{Ground, bytes};

fn scored(members: &[(&str, f64)]) -> Vec<Scored> {
    members
        .iter()
        .map(|&(member, score)| Scored {
            member: bytes(member),
            score,
        })
        .collect()
}

fn names(members: Vec<Scored>) -> String {
    let names: Vec<_> = members
        .into_iter()
        .map(|scored| String::from_utf8(scored.member).unwrap())
        .collect();
    names.join(" ")
}

async fn by_rank(kv: &dyn Kv, key: &str, ranks: (i64, i64), order: Order) -> String {
    names(kv.sorted_range(key, ranks.0, ranks.1, order).await.unwrap())
}

async fn by_score(
    kv: &dyn Kv,
    key: &str,
    (min, max): (Bound<f64>, Bound<f64>),
    order: Order,
    limit: u32,
) -> String {
    let range = ScoreRange {
        min,
        max,
        order,
        limit,
    };
    names(kv.sorted_range_by_score(key, range).await.unwrap())
}

pub async fn equal_scores_are_ordered_by_bytes(ground: Arc<Ground>) {
    let (kv, key) = (&ground.kv, ground.key("sorted"));
    let members = scored(&[
        ("b", 1.0),
        ("ab", 1.0),
        ("é", 1.0),
        ("B", 1.0),
        ("a", 1.0),
        ("z", 0.5),
    ]);
    kv.sorted_add(&key, members).await.unwrap();
    assert_eq!(
        by_rank(&**kv, &key, (0, -1), Ascending).await,
        "z B a ab b é"
    );
    assert_eq!(
        by_rank(&**kv, &key, (0, -1), Descending).await,
        "é b ab a B z"
    );
    let ones = (Included(1.0), Included(1.0));
    assert_eq!(by_score(&**kv, &key, ones, Ascending, 3).await, "B a ab");
    assert_eq!(by_score(&**kv, &key, ones, Descending, 3).await, "é b ab");
}

pub async fn a_new_score_moves_the_member(ground: Arc<Ground>) {
    let (kv, key) = (&ground.kv, ground.key("sorted"));
    kv.sorted_add(&key, scored(&[("a", 1.0), ("b", 2.0)]))
        .await
        .unwrap();
    assert_eq!(kv.sorted_add(&key, scored(&[("a", 3.0)])).await, Ok(0));
    assert_eq!(kv.sorted_count(&key).await, Ok(2));
    let held = kv.sorted_range(&key, 0, -1, Ascending).await;
    assert_eq!(held, Ok(scored(&[("b", 2.0), ("a", 3.0)])));
    assert_eq!(
        kv.sorted_remove(&key, vec![bytes("a"), bytes("x")]).await,
        Ok(1)
    );
    assert_eq!(kv.sorted_score(&key, "a").await, Ok(None));
}

pub async fn ranks_count_from_either_end(ground: Arc<Ground>) {
    let (kv, key) = (&*ground.kv, ground.key("sorted"));
    let members = scored(&[("a", 1.0), ("b", 2.0), ("c", 3.0), ("d", 4.0)]);
    kv.sorted_add(&key, members).await.unwrap();
    let cases = [
        ((0, 0), "a", "d"),
        ((1, 2), "b c", "c b"),
        ((-2, -1), "c d", "b a"),
        ((-99, 99), "a b c d", "d c b a"),
        ((2, 1), "", ""),
        ((4, 9), "", ""),
        ((-99, -98), "", ""),
        ((i64::MIN, i64::MAX), "a b c d", "d c b a"),
    ];
    for (ranks, ascending, descending) in cases {
        assert_eq!(
            by_rank(kv, &key, ranks, Ascending).await,
            ascending,
            "{ranks:?}"
        );
        assert_eq!(
            by_rank(kv, &key, ranks, Descending).await,
            descending,
            "{ranks:?}"
        );
    }
}

pub async fn scores_are_bounded_as_asked(ground: Arc<Ground>) {
    let (kv, key) = (&*ground.kv, ground.key("sorted"));
    let members = scored(&[
        ("a", -1.5),
        ("b", 0.0),
        ("c", 0.1),
        ("d", 0.1),
        ("e", 1e300),
    ]);
    kv.sorted_add(&key, members).await.unwrap();
    let cases = [
        ((Unbounded, Unbounded), 9, "a b c d e", "e d c b a"),
        ((Included(-1.5), Excluded(0.1)), 9, "a b", "b a"),
        ((Excluded(-1.5), Included(0.1)), 9, "b c d", "d c b"),
        ((Excluded(0.1), Unbounded), 9, "e", "e"),
        ((Included(0.1), Included(0.1)), 1, "c", "d"),
        ((Excluded(0.1), Excluded(0.1)), 9, "", ""),
        ((Included(0.1), Excluded(0.1)), 9, "", ""),
        ((Included(1.0), Included(-1.0)), 9, "", ""),
        ((Unbounded, Unbounded), 0, "", ""),
        ((Unbounded, Unbounded), u32::MAX, "a b c d e", "e d c b a"),
    ];
    for (bounds, limit, ascending, descending) in cases {
        assert_eq!(
            by_score(kv, &key, bounds, Ascending, limit).await,
            ascending,
            "{bounds:?}"
        );
        assert_eq!(
            by_score(kv, &key, bounds, Descending, limit).await,
            descending,
            "{bounds:?}"
        );
    }
}

pub async fn infinite_scores_are_at_the_ends(ground: Arc<Ground>) {
    let (kv, key) = (&*ground.kv, ground.key("sorted"));
    let (top, bottom) = (f64::INFINITY, f64::NEG_INFINITY);
    let members = scored(&[("top", top), ("middle", 0.0), ("bottom", bottom)]);
    kv.sorted_add(&key, members).await.unwrap();
    assert_eq!(
        by_rank(kv, &key, (0, -1), Ascending).await,
        "bottom middle top"
    );
    assert_eq!(kv.sorted_score(&key, "top").await, Ok(Some(top)));
    let ends_out = (Excluded(bottom), Excluded(top));
    assert_eq!(by_score(kv, &key, ends_out, Ascending, 9).await, "middle");
    assert_eq!(
        by_score(kv, &key, (Excluded(top), Unbounded), Ascending, 9).await,
        ""
    );
    assert_eq!(
        by_score(kv, &key, (Included(top), Unbounded), Ascending, 9).await,
        "top"
    );
}

pub async fn negative_zero_equals_zero(ground: Arc<Ground>) {
    let (kv, key) = (&*ground.kv, ground.key("sorted"));
    kv.sorted_add(&key, scored(&[("b", -0.0), ("a", 0.0), ("c", -0.0)]))
        .await
        .unwrap();
    assert_eq!(by_rank(kv, &key, (0, -1), Ascending).await, "a b c");
    let zero = (Included(-0.0), Included(-0.0));
    assert_eq!(by_score(kv, &key, zero, Ascending, 9).await, "a b c");
    assert_eq!(
        by_score(kv, &key, (Excluded(-0.0), Unbounded), Ascending, 9).await,
        ""
    );
}

pub async fn a_score_must_be_a_number(ground: Arc<Ground>) {
    let (kv, key) = (&ground.kv, ground.key("sorted"));
    let add = kv
        .sorted_add(&key, scored(&[("a", 1.0), ("b", f64::NAN)]))
        .await;
    assert!(matches!(add, Err(Error::Refused(_))), "{add:?}");
    assert_eq!(
        kv.exists(&key).await,
        Ok(false),
        "nothing of a refused command happens"
    );
    let range = ScoreRange {
        min: Included(f64::NAN),
        max: Unbounded,
        order: Ascending,
        limit: 1,
    };
    let found = kv.sorted_range_by_score(&key, range).await;
    assert!(matches!(found, Err(Error::Refused(_))), "{found:?}");
}
