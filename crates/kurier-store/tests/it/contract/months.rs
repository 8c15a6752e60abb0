//! Months: PostgreSQL keeps the log in partitions and moves old ones into an archive.
//! Nothing but their names may tell.

use std::sync::Arc;

use kurier_core::event::{Event, Kind, Position};
use kurier_core::time::Timestamp;
use kurier_store::Scrub;
use kurier_store::{Appended, Log, Postgres, Store, TimelineQuery};
use sqlx::PgPool;

use super::backend::with_postgres;
use super::place::open_postgres;
use super::runner::project;
use super::space::{Space, event, event_at, now, time};

/// Makes a test of a case that only PostgreSQL has.
macro_rules! postgres_cases {
    ($($case:ident),* $(,)?) => {
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $case() {
                super::with_postgres(super::$case).await;
            })*
        }
    };
}
pub(super) use postgres_cases;

postgres_cases! {
    maintain_makes_the_months_around_now,
    maintain_twice_is_maintain_once,
    maintain_may_run_many_times_at_once,
    archive_moves_whole_months_only,
    archive_may_run_many_times_at_once,
    what_is_archived_is_still_read,
    a_repeat_of_what_is_archived_is_a_repeat,
    a_reader_misses_nothing_while_months_move,
    an_append_that_fails_harms_no_other,
}

/// The partitions of a table, by name.
async fn months(url: &str, table: &str) -> Vec<String> {
    let pool = PgPool::connect(url).await.expect("connected");
    let sql = "SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
               WHERE i.inhparent = $1::regclass ORDER BY c.relname";
    let names = sqlx::query_scalar(sql).bind(table).fetch_all(&pool).await;
    pool.close().await;
    names.expect("read")
}

async fn open_at(url: &str, at: &str) -> Postgres {
    let store = Postgres::open(url).await.expect("opened");
    store.maintain(time(at)).await.expect("prepared");
    store
}

async fn maintain_makes_the_months_around_now(url: String) {
    open_at(&url, "2025-11-25T00:00:00Z").await;
    let ahead = ["log_2025_11", "log_2025_12", "log_2026_01", "log_2026_02"];
    assert_eq!(months(&url, "log").await, ahead);
    // A clock that is behind still writes into the month before.
    open_at(&url, "2026-02-03T00:00:00Z").await;
    let more = ["log_2026_03", "log_2026_04", "log_2026_05"];
    assert_eq!(months(&url, "log").await, [&ahead[..], &more].concat());
}

async fn maintain_twice_is_maintain_once(url: String) {
    let store = open_at(&url, "2025-11-25T00:00:00Z").await;
    let once = months(&url, "log").await;
    let at = time("2025-11-30T23:59:59.999999Z");
    store.maintain(at).await.expect("prepared again");
    assert_eq!(months(&url, "log").await, once);
    for edge in ["2025-11-01T00:00:00Z", "2026-02-28T23:59:59.999999Z"] {
        let appended = store.append(Space::new(1).scope, vec![event_at(edge, time(edge))]);
        assert_eq!(appended.await.expect("there is a month for it").len(), 1);
    }
}

async fn maintain_may_run_many_times_at_once(url: String) {
    Postgres::open(&url).await.expect("migrated");
    let runs: Vec<_> = (0..6)
        .map(|_| url.clone())
        .map(|url| tokio::spawn(async move { drop(open_postgres(&url).await) }))
        .collect();
    for run in runs {
        run.await.expect("prepared");
    }
    assert_eq!(months(&url, "log").await.len(), 5);
}

async fn archive_moves_whole_months_only(url: String) {
    let store = open_at(&url, "2025-11-25T00:00:00Z").await;
    let at = time("2026-01-31T23:59:59Z");
    let moved = store.archive(at).await.expect("moved");
    assert_eq!(moved, ["log_2025_11", "log_2025_12"]);
    assert_eq!(months(&url, "log").await, ["log_2026_01", "log_2026_02"]);
    assert_eq!(months(&url, "log_archive").await, moved);
    assert_eq!(store.archive(at).await.expect("nothing left"), [""; 0]);
    store
        .maintain(time("2025-11-25T00:00:00Z"))
        .await
        .expect("as before");
    assert_eq!(months(&url, "log_archive").await, moved);
}

async fn archive_may_run_many_times_at_once(url: String) {
    let store = std::sync::Arc::new(old_and_new(&url).await);
    let runs: Vec<_> = (0..6)
        .map(|_| store.clone())
        .map(|store| tokio::spawn(async move { store.archive(now()).await.expect("moved") }))
        .collect();
    let mut moved = Vec::new();
    for run in runs {
        moved.extend(run.await.expect("a run to the end"));
    }
    moved.sort();
    assert_eq!(moved, months(&url, "log_archive").await);
}

/// A log with events 1 to 3 of an old month and 4 of the present one.
async fn old_and_new(url: &str) -> Postgres {
    let old = "2025-06-10T00:00:00Z";
    let store = open_at(url, old).await;
    store.maintain(now()).await.expect("prepared");
    let space = Space::new(1);
    let said = |at: Timestamp, name: &str| {
        let raw =
            format!(r#"{{"type":"track","userId":"u","event":"{name}","messageId":"{name}"}}"#);
        space.said(at, &raw)
    };
    let old = time(old);
    let events = vec![
        said(old, "a"),
        said(old, "b"),
        said(old, "c"),
        said(now(), "d"),
    ];
    store.append(space.scope, events).await.expect("appended");
    store
}

async fn what_is_archived_is_still_read(url: String) {
    let store = old_and_new(&url).await;
    let (scope, user) = (Space::new(1).scope, [Space::new(1).user("u")]);
    let before = store.read(Position(0), 100).await.expect("read");
    let store: Store = store.into();
    project(&store, 100).await;
    let query = TimelineQuery {
        limit: 10,
        ..TimelineQuery::default()
    };
    let timeline = store
        .views
        .timeline(scope, &user, &query)
        .await
        .expect("read");
    assert!(!store.log.archive(now()).await.expect("moved").is_empty());

    assert_eq!(
        store.log.read(Position(0), 100).await.expect("read"),
        before
    );
    assert_eq!(
        store.log.read(Position(1), 2).await.expect("read"),
        before[1..3]
    );
    let without = async |kind| {
        store
            .log
            .without(Position(0), 100, &[kind])
            .await
            .expect("found")
    };
    assert_eq!(without(before[0].event.kind).await, Position(0));
    assert_eq!(without(Kind::Alias).await, Position(before.len() as i64));
    let after = store
        .views
        .timeline(scope, &user, &query)
        .await
        .expect("read");
    assert_eq!((after.events.len(), after.events), (4, timeline.events));
    let between = (Position(1), Position(100));
    let positions = store.log.positions(scope, &user, between).await;
    assert_eq!(
        positions.expect("found"),
        [Position(2), Position(3), Position(4)]
    );

    let erased = [Position(2), Position(4)];
    assert_eq!(
        store.log.tombstone(scope, &erased).await.expect("buried"),
        2
    );
    let mut expected = before;
    for index in [1, 3] {
        Arc::make_mut(&mut expected[index].event).payload = r#"{"erased":true}"#.to_owned();
    }
    assert_eq!(
        store.log.read(Position(0), 100).await.expect("read"),
        expected
    );
    store.log.scrub(Scrub::Quick).await.expect("scrubbed");
    assert_eq!(store.log.head().await.expect("head"), Position(4));
}

async fn a_repeat_of_what_is_archived_is_a_repeat(url: String) {
    let store = old_and_new(&url).await;
    store.archive(now()).await.expect("moved");
    let batch = vec![event("b"), event("e"), event("a")];
    let appended = store
        .append(Space::new(1).scope, batch)
        .await
        .expect("appended");
    let five = Appended::At(Position(5));
    assert_eq!(appended, [Appended::Duplicate, five, Appended::Duplicate]);
}

/// A month leaves one table and enters another: no read may fall between.
async fn a_reader_misses_nothing_while_months_move(url: String) {
    let store = std::sync::Arc::new(open_at(&url, "2020-01-25T00:00:00Z").await);
    let scope = Space::new(1).scope;
    let mut count = 0;
    for year in 2020..2025 {
        for month in ["01", "05", "09"] {
            let at = time(&format!("{year}-{month}-25T00:00:00Z"));
            store.maintain(at).await.expect("prepared");
            let events: Vec<Event> = (0..20)
                .map(|n| event_at(&format!("{at} {n}"), at))
                .collect();
            count += store.append(scope, events).await.expect("appended").len();
        }
    }
    let moving = tokio::spawn({
        let store = store.clone();
        async move { store.archive(now()).await.expect("moved").len() }
    });
    let mut reads = 0;
    while !moving.is_finished() || reads < 3 {
        let read = store.read(Position(0), usize::MAX).await.expect("read");
        assert!(read.iter().zip(1..).all(|(r, n)| r.position.0 == n));
        assert_eq!(read.len(), count, "after {reads} reads");
        reads += 1;
    }
    assert_eq!(moving.await.expect("to the end"), 60);
}

/// Callers share a commit, but not another's mistake.
async fn an_append_that_fails_harms_no_other(url: String) {
    let store = std::sync::Arc::new(open_postgres(&url).await);
    let appends: Vec<_> = (0..60)
        .map(|n| {
            (
                store.clone(),
                n,
                if n % 5 == 0 {
                    Timestamp::default()
                } else {
                    now()
                },
            )
        })
        .map(|(store, n, at)| {
            let events = vec![event_at(&format!("{n}"), at)];
            tokio::spawn(async move { store.append(Space::new(1).scope, events).await.is_ok() })
        })
        .collect();
    for (append, n) in appends.into_iter().zip(0..) {
        // There is no month of 1970.
        assert_eq!(append.await.expect("answered"), n % 5 != 0, "append {n}");
    }
    assert_eq!(store.head().await.expect("head"), Position(48));
}
