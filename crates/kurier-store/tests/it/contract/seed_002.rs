//! The reference of idempotent projections, section by section.

use kurier_core::event::{Position, Recorded};
use kurier_core::projection::{
    AUDIT, Audit, CHANNEL_HEALTH, Change, DAILY_COUNT, Daily, Folded, Health, MEMBER, Projection,
    Row, Segments, Table,
};
use kurier_store::{Applied, Batch, Side, Store};

use super::place::cases;
use super::runner::fold_with;
use super::space::{Space, now};

cases! {
    section_1_deduplication_over_processed_events,
    section_2_idempotence_by_upsert_alone,
    section_3_variant_a_insert_on_conflict_do_update,
    section_3_variant_b_merge,
    section_4_solution_1_replacing_instead_of_adding,
    section_4_solution_2_deduplication,
    section_4_solution_3_rows_bound_to_events,
}

/// A log of messages sent and segments made.
fn log(space: &Space) -> Vec<Recorded> {
    use kurier_core::event::{Event, Kind};
    use kurier_core::id::EventId;
    let made = (1..=30).map(|n: i64| {
        let (kind, payload) = match n % 3 {
            0 => (Kind::SegmentCreated, format!(r#"{{"name":"S{n}"}}"#)),
            _ => {
                let message = uuid::Uuid::from_u128(n as u128);
                let payload = format!(r#"{{"message":"{message}","channel":"email"}}"#);
                (Kind::MessageSent, payload)
            }
        };
        Recorded {
            position: Position(n),
            workspace: space.scope.0,
            event: Event {
                id: EventId::of_message(&n.to_string()),
                kind,
                contact: None,
                occurred_at: now(),
                recorded_at: now(),
                payload,
            }
            .into(),
        }
    });
    made.collect()
}

/// Every row of a projection's one table.
async fn rows(store: &Store, of: &'static dyn Projection) -> Vec<Row> {
    use std::sync::{Arc, Mutex};
    let rows = Arc::new(Mutex::new(Vec::new()));
    let seen = rows.clone();
    let visit = Box::new(move |_: &'static Table, row: Row| seen.lock().expect("whole").push(row));
    let surveyed = store.projections.survey(Side::Live, of, visit).await;
    surveyed.expect("surveyed");
    let mut rows = std::mem::take(&mut *rows.lock().expect("whole"));
    rows.sort();
    rows
}

/// Folds events wherever the checkpoint stands: what a handler that is run again does.
async fn told(store: &Store, of: &'static dyn Projection, events: &[Recorded], processed: bool) {
    let from = store.views.checkpoint(of.name()).await.expect("read");
    let keys: Vec<_> = events
        .iter()
        .map(|it| (it.workspace, it.event.id))
        .collect();
    let seen = store.projections.processed(of.name(), &keys).await;
    let seen = seen.expect("read");
    let fresh = events.iter().filter(|it| of.folds(it.event.kind));
    let fresh = fresh.filter(|it| !processed || !seen.contains(&(it.workspace, it.event.id)));
    let fresh: Vec<Recorded> = fresh.cloned().collect();
    let mut folded = fold_with(of, store, &fresh).await;
    if processed {
        folded.processed = fresh.iter().map(|it| (it.workspace, it.event.id)).collect();
    }
    let to = Position(from.0 + 1);
    let batch = Batch::new(of, (from, to), folded);
    assert_eq!(
        store.views.apply(batch).await.expect("applied"),
        Applied::Done
    );
}

/// Rows and what was processed are one transaction: a batch that is refused leaves neither.
async fn section_1_deduplication_over_processed_events(store: Store) {
    let space = Space::new(1);
    let log = log(&space);
    told(&store, &Health, &log, true).await;
    let once = rows(&store, &Health).await;
    assert_eq!(once[0][CHANNEL_HEALTH.key], 20.into());
    told(&store, &Health, &log[..9], true).await;
    told(&store, &Health, &log, true).await;
    assert_eq!(rows(&store, &Health).await, once);
    let other = (space.scope.0, kurier_core::id::EventId::of_message("other"));
    let folded = Folded {
        processed: vec![other],
        ..Folded::default()
    };
    let late = Batch::new(&Health, (Position(0), Position(9)), folded);
    assert_eq!(
        store.views.apply(late).await.expect("answered"),
        Applied::Overtaken
    );
    let seen = store.projections.processed(Health.name(), &[other]).await;
    assert_eq!(seen.expect("read"), [].into());
}

async fn section_2_idempotence_by_upsert_alone(store: Store) {
    let log = log(&Space::new(1));
    for part in log.chunks(7) {
        told(&store, &Daily, part, false).await;
        told(&store, &Daily, part, false).await;
    }
    told(&store, &Daily, &log, false).await;
    let kept = rows(&store, &Daily).await;
    let times: Vec<_> = kept
        .iter()
        .map(|row| row[DAILY_COUNT.key].as_int())
        .collect();
    assert_eq!(times, [Some(20), Some(10)]);
}

fn member(space: &Space, user: &str, entered: i64) -> Row {
    let (segment, contact) = (space.guest("s"), space.user(user));
    vec![
        space.scope.0.into(),
        segment.into(),
        contact.into(),
        entered.into(),
    ]
}

async fn applied(store: &Store, changes: Vec<Change>) -> Vec<Row> {
    let from = store.views.checkpoint("segments").await.expect("read");
    let to = Position(from.0 + 1);
    let folded = Folded {
        changes,
        ..Folded::default()
    };
    let batch = Batch::new(&Segments, (from, to), folded);
    assert_eq!(
        store.views.apply(batch).await.expect("applied"),
        Applied::Done
    );
    rows(store, &Segments).await
}

async fn section_3_variant_a_insert_on_conflict_do_update(store: Store) {
    let space = Space::new(1);
    let put = |user, at| Change::put(&Segments, &MEMBER, member(&space, user, at));
    let once = applied(&store, vec![put("a", 1), put("b", 1)]).await;
    assert_eq!(applied(&store, vec![put("b", 1), put("a", 1)]).await, once);
    let changed = applied(&store, vec![put("a", 2), put("c", 2)]).await;
    assert_eq!(changed.len(), 3);
    assert!(changed.contains(&member(&space, "a", 2)));
}

/// Rows that come and rows that go in one batch: matched, matched and gone, not matched.
async fn section_3_variant_b_merge(store: Store) {
    let space = Space::new(1);
    let put = |user, at| Change::put(&Segments, &MEMBER, member(&space, user, at));
    let gone = |user| {
        Change::drop(
            &Segments,
            &MEMBER,
            member(&space, user, 0)[..MEMBER.key].to_vec(),
        )
    };
    applied(&store, vec![put("a", 1), put("b", 1)]).await;
    let both = || vec![put("a", 2), gone("b"), put("c", 2), gone("nobody")];
    let mut expected = vec![member(&space, "a", 2), member(&space, "c", 2)];
    expected.sort();
    assert_eq!(applied(&store, both()).await, expected);
    assert_eq!(applied(&store, both()).await, expected);
}

/// The row holds the number itself and where it was counted up to; what is told again is older.
async fn section_4_solution_1_replacing_instead_of_adding(store: Store) {
    let log = log(&Space::new(1));
    told(&store, &Daily, &log, false).await;
    let once = rows(&store, &Daily).await;
    told(&store, &Daily, &log[3..20], false).await;
    assert_eq!(rows(&store, &Daily).await, once);
}

/// With its negative control: without what is remembered, a counter counts twice.
async fn section_4_solution_2_deduplication(store: Store) {
    let log = log(&Space::new(1));
    let sent = async || rows(&store, &Health).await[0][CHANNEL_HEALTH.key].as_int();
    told(&store, &Health, &log, true).await;
    told(&store, &Health, &log, true).await;
    assert_eq!(sent().await, Some(20));
    told(&store, &Health, &log, false).await;
    assert_eq!(sent().await, Some(40));
}

async fn section_4_solution_3_rows_bound_to_events(store: Store) {
    let log = log(&Space::new(1));
    told(&store, &Audit, &log, false).await;
    let once = rows(&store, &Audit).await;
    assert_eq!(once.len(), 10);
    assert_eq!(once[0].len(), AUDIT.columns.len());
    told(&store, &Audit, &log, false).await;
    assert_eq!(rows(&store, &Audit).await, once);
}
