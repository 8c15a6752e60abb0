//! The script of the edge: all or nothing, and nothing that is older.

use std::sync::Arc;

use kurier_store::edge::{
    EdgeBatch, EdgeHint, EdgeIndex, EdgeMode, EdgeWrite, Projected, Written, project,
};
use kurier_store::kv::{KvExt as _, Ttl};

use crate::kv_contract::ground::{Ground, bytes};

fn index(ground: &Ground, name: &str) -> EdgeIndex {
    EdgeIndex {
        key: ground.tied(&format!("idx:{name}")),
        field: name.to_owned(),
    }
}

/// The entity `a` at a revision, because of the event there.
fn write(ground: &Ground, revision: i64, seen: Option<i64>) -> EdgeWrite {
    EdgeWrite {
        entry: ground.tied("a"),
        value: Some(bytes(&format!("{{\"revision\":{revision},\"value\":1}}"))),
        ttl_ms: None,
        revision,
        as_of: None,
        seen,
        hint: Some(EdgeHint {
            key: ground.tied("hint:a"),
            revision,
            renew: true,
        }),
        dedups: vec![ground.tied(&format!("dup:a:{revision}"))],
        member: "a".to_owned(),
        leave: Vec::new(),
        enter: vec![index(ground, "list")],
    }
}

async fn run(ground: &Ground, mode: EdgeMode, writes: Vec<EdgeWrite>) -> Projected {
    let batch = EdgeBatch {
        generation: ground.tied("generation"),
        mode,
        hint_ttl_ms: Some(7_000),
        dedup_ttl_ms: Some(48_000),
        writes,
    };
    let projected = project(ground.kv.as_ref(), &batch.into()).await;
    projected.unwrap()
}

fn done(written: Written) -> Projected {
    Projected::Done(vec![written])
}

async fn held(ground: &Ground) -> Option<Vec<u8>> {
    ground.kv.get(&ground.tied("a")).await.unwrap()
}

async fn begin(ground: &Ground) {
    let rebuild = EdgeMode::Rebuild {
        clear: Vec::new(),
        at: 3,
    };
    let begun = run(ground, rebuild, Vec::new()).await;
    assert_eq!(begun, Projected::Done(Vec::new()));
}

async fn count(ground: &Ground, field: &str) -> Option<Vec<u8>> {
    let counted = ground.kv.hash_get(&ground.tied("generation"), field).await;
    counted.unwrap()
}

pub async fn a_tenant_that_is_not_whole_is_not_written_to(ground: Arc<Ground>) {
    let writes = vec![write(&ground, 5, None)];
    assert_eq!(
        run(&ground, EdgeMode::Whole, writes.clone()).await,
        Projected::NotWhole
    );
    assert_eq!(ground.kv.scan_all(&ground.prefix).await.unwrap().len(), 0);
    begin(&ground).await;
    assert_eq!(
        run(&ground, EdgeMode::Whole, writes).await,
        done(Written::Done)
    );
}

pub async fn data_index_hint_and_deduplication_are_written_together(ground: Arc<Ground>) {
    begin(&ground).await;
    let writes = vec![write(&ground, 9_007_199_254_740_991, None)];
    run(&ground, EdgeMode::Whole, writes).await;
    let kv = &ground.kv;
    assert_eq!(
        held(&ground).await,
        Some(bytes("{\"revision\":9007199254740991,\"value\":1}"))
    );
    assert_eq!(kv.set_count(&ground.tied("idx:list")).await, Ok(1));
    assert_eq!(count(&ground, "list").await, Some(bytes("1")));
    assert_eq!(count(&ground, "at").await, Some(bytes("9007199254740991")));
    let hint = ground.tied("hint:a");
    assert_eq!(kv.get(&hint).await, Ok(Some(bytes("9007199254740991"))));
    assert!(matches!(kv.ttl_ms(&hint).await, Ok(Ttl::Ms(1..=7_000))));
    let dedup = ground.tied("dup:a:9007199254740991");
    assert!(matches!(
        kv.ttl_ms(&dedup).await,
        Ok(Ttl::Ms(7_001..=48_000))
    ));
    assert_eq!(kv.ttl_ms(&ground.tied("a")).await, Ok(Ttl::Forever));
}

pub async fn what_is_older_or_known_is_left_out(ground: Arc<Ground>) {
    begin(&ground).await;
    run(&ground, EdgeMode::Whole, vec![write(&ground, 5, None)]).await;
    let again = run(&ground, EdgeMode::Whole, vec![write(&ground, 5, Some(5))]).await;
    assert_eq!(again, done(Written::Hinted));
    let hint = ground.tied("hint:a");
    ground.kv.delete(vec![hint.clone()]).await.unwrap();
    let again = run(&ground, EdgeMode::Whole, vec![write(&ground, 5, Some(5))]).await;
    assert_eq!(again, done(Written::Duplicate));
    // With the hint gone, the revision inside the value decides.
    let older = run(&ground, EdgeMode::Whole, vec![write(&ground, 4, Some(5))]).await;
    assert_eq!(older, done(Written::Older));
    let blind = run(&ground, EdgeMode::Whole, vec![write(&ground, 6, Some(3))]).await;
    assert_eq!(blind, done(Written::Changed));
    assert_eq!(
        held(&ground).await,
        Some(bytes("{\"revision\":5,\"value\":1}"))
    );
    assert_eq!(ground.kv.exists(&hint).await, Ok(false));
}

pub async fn an_entity_leaves_and_enters_indexes_and_they_are_counted(ground: Arc<Ground>) {
    begin(&ground).await;
    run(&ground, EdgeMode::Whole, vec![write(&ground, 5, None)]).await;
    let moved = EdgeWrite {
        leave: vec![index(&ground, "list")],
        enter: vec![index(&ground, "other")],
        ..write(&ground, 6, Some(5))
    };
    run(&ground, EdgeMode::Whole, vec![moved]).await;
    assert_eq!(count(&ground, "list").await, None);
    assert_eq!(count(&ground, "other").await, Some(bytes("1")));
    assert_eq!(ground.kv.exists(&ground.tied("idx:list")).await, Ok(false));
    let gone = EdgeWrite {
        value: None,
        leave: vec![index(&ground, "other")],
        enter: Vec::new(),
        ..write(&ground, 7, Some(6))
    };
    run(&ground, EdgeMode::Whole, vec![gone]).await;
    assert_eq!(
        (held(&ground).await, count(&ground, "other").await),
        (None, None)
    );
    // What is gone does not come back by what is older.
    let late = run(&ground, EdgeMode::Whole, vec![write(&ground, 6, None)]).await;
    assert_eq!(late, done(Written::Hinted));
}

pub async fn a_rebuild_heeds_neither_hints_nor_deduplication_but_what_is_newer(
    ground: Arc<Ground>,
) {
    begin(&ground).await;
    run(&ground, EdgeMode::Whole, vec![write(&ground, 5, None)]).await;
    let list = index(&ground, "list").key;
    ground.kv.delete(vec![ground.tied("a")]).await.unwrap();
    ground
        .kv
        .set_add(&list, vec![bytes("stray")])
        .await
        .unwrap();
    let rebuild = || EdgeMode::Rebuild {
        clear: vec![list.clone()],
        at: 9,
    };
    let plain = |revision| EdgeWrite {
        hint: None,
        dedups: Vec::new(),
        ..write(&ground, revision, None)
    };
    assert_eq!(
        run(&ground, rebuild(), vec![plain(5)]).await,
        done(Written::Done)
    );
    assert!(held(&ground).await.is_some());
    assert_eq!(ground.kv.set_count(&list).await, Ok(1));
    assert_eq!(count(&ground, "list").await, Some(bytes("1")));
    assert_eq!(
        run(&ground, rebuild(), vec![plain(4)]).await,
        Projected::Newer
    );
    assert_eq!(ground.kv.set_count(&list).await, Ok(1));
}

pub async fn what_is_offered_asks_the_hint_and_leaves_it_as_it_is(ground: Arc<Ground>) {
    let offer = |upto, revision| {
        let mut write = write(&ground, revision, None);
        write.hint.as_mut().unwrap().renew = false;
        write.hint.as_mut().unwrap().revision = upto;
        (write.dedups, write.enter) = (Vec::new(), Vec::new());
        vec![write]
    };
    let hint = ground.tied("hint:a");
    ground.kv.set(&hint, "8", None).await.unwrap();
    let late = run(&ground, EdgeMode::Warm, offer(7, 5)).await;
    assert_eq!(late, done(Written::Hinted));
    assert_eq!(
        run(&ground, EdgeMode::Warm, offer(8, 5)).await,
        done(Written::Done)
    );
    assert_eq!(ground.kv.get(&hint).await, Ok(Some(bytes("8"))));
    assert!(held(&ground).await.is_some());
    assert_eq!(
        ground.kv.exists(&ground.tied("generation")).await,
        Ok(false)
    );
}

pub async fn of_the_same_revision_what_was_read_later_stays(ground: Arc<Ground>) {
    let text = |revision: i64, as_of: i64| {
        bytes(&format!(
            "{{\"revision\":{revision},\"as_of\":{as_of},\"value\":1}}"
        ))
    };
    let offer = |revision: i64, as_of: i64| {
        let mut write = write(&ground, revision, None);
        (write.as_of, write.value) = (Some(as_of), Some(text(revision, as_of)));
        (write.hint, write.dedups, write.enter) = (None, Vec::new(), Vec::new());
        vec![write]
    };
    let cases = [
        ((5, 9), Written::Done, (5, 9)),
        ((5, 8), Written::Older, (5, 9)),
        ((5, 9), Written::Done, (5, 9)),
        ((5, 10), Written::Done, (5, 10)),
        // The revision comes first.
        ((4, 11), Written::Older, (5, 10)),
        ((6, 9), Written::Done, (6, 9)),
    ];
    for ((revision, as_of), written, (held_revision, held_as_of)) in cases {
        let offered = run(&ground, EdgeMode::Warm, offer(revision, as_of)).await;
        assert_eq!(offered, done(written), "{revision} {as_of}");
        let is = held(&ground).await;
        assert_eq!(is, Some(text(held_revision, held_as_of)));
    }
    // What does not say up to where it goes is older than what does.
    let undated = write(&ground, 6, None).value.unwrap();
    ground
        .kv
        .set(&ground.tied("a"), undated, None)
        .await
        .unwrap();
    let dated = run(&ground, EdgeMode::Warm, offer(6, 1)).await;
    assert_eq!(dated, done(Written::Done));
    // And what is gone is gone whatever was read when.
    let gone = EdgeWrite {
        value: None,
        as_of: None,
        ..offer(6, 0).remove(0)
    };
    let gone = run(&ground, EdgeMode::Warm, vec![gone]).await;
    assert_eq!((gone, held(&ground).await), (done(Written::Done), None));
}
