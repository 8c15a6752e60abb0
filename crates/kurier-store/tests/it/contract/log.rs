//! The log: one order, each event once.

use std::sync::Arc;

use kurier_core::event::{Event, Kind, Position, Recorded, lane};
use kurier_store::Scrub;
use kurier_store::{Appended, Scope, Store};

use super::place::{Place, cases};
use super::space::{Space, event, events};

cases! {
    positions_count_from_one,
    an_empty_log_is_empty,
    nothing_appended_is_nothing,
    everything_is_kept_as_it_was,
    a_repeat_is_dropped,
    a_repeat_in_the_same_batch_is_dropped,
    a_batch_of_repeats_takes_no_position,
    the_same_id_elsewhere_is_no_repeat,
    read_goes_on_after_a_position,
    without_ends_before_the_first_of_a_kind,
    positions_are_those_of_the_contacts,
    positions_leave_out_crossings,
    tombstones_stand_in_place,
    tombstones_keep_the_joins,
    tombstones_stay_in_their_workspace,
    scrubbing_keeps_what_is_not_erased,
}

/// Positions of a batch's events, 0 for a repeat.
fn numbers(appended: &[Appended]) -> Vec<i64> {
    let number = |appended: &Appended| match appended {
        Appended::At(position) => position.0,
        Appended::Duplicate => 0,
    };
    appended.iter().map(number).collect()
}

async fn append(store: &Store, scope: Scope, events: Vec<Event>) -> Vec<i64> {
    numbers(&store.log.append(scope, events).await.expect("appended"))
}

async fn read_all(store: &Store) -> Vec<Recorded> {
    let read = store.log.read(Position(0), usize::MAX).await;
    read.expect("read")
}

async fn head(store: &Store) -> i64 {
    store.log.head().await.expect("head").0
}

async fn positions_count_from_one(store: Store) {
    let scope = Space::new(1).scope;
    assert_eq!(append(&store, scope, events(&["a", "b"])).await, [1, 2]);
    assert_eq!(append(&store, scope, events(&["c"])).await, [3]);
    let log = read_all(&store).await;
    let positions: Vec<i64> = log.iter().map(|recorded| recorded.position.0).collect();
    assert_eq!((positions, head(&store).await), (vec![1, 2, 3], 3));
}

async fn an_empty_log_is_empty(store: Store) {
    assert_eq!(read_all(&store).await, []);
    assert_eq!(head(&store).await, 0);
}

async fn nothing_appended_is_nothing(store: Store) {
    assert_eq!(
        append(&store, Space::new(1).scope, Vec::new()).await,
        [0; 0]
    );
    assert_eq!(head(&store).await, 0);
}

async fn everything_is_kept_as_it_was(store: Store) {
    let space = Space::new(1);
    let mut odd = event("odd");
    odd.contact = None;
    odd.kind = kurier_core::event::Kind::ApiKeyCreated;
    odd.occurred_at = kurier_core::time::Timestamp::from_micros(-1);
    odd.payload = r#"{"text":"ä \u0007 🦀 \\ ' \" {}"}"#.to_owned();
    let sent = vec![odd, event("plain")];
    append(&store, space.scope, sent.clone()).await;
    let log = read_all(&store).await;
    let kept: Vec<Event> = log.iter().map(|it| Event::clone(&it.event)).collect();
    assert_eq!(kept, sent);
    assert!(
        log.iter()
            .all(|recorded| recorded.workspace == space.scope.0)
    );
}

async fn a_repeat_is_dropped(store: Store) {
    let scope = Space::new(1).scope;
    append(&store, scope, events(&["a", "b"])).await;
    let mut changed = event("b");
    changed.payload = r#"{"event":"changed"}"#.to_owned();
    let batch = vec![event("c"), changed, event("d"), event("a")];
    assert_eq!(append(&store, scope, batch).await, [3, 0, 4, 0]);
    let log = read_all(&store).await;
    let kept: Vec<Event> = log
        .into_iter()
        .map(|it| Arc::unwrap_or_clone(it.event))
        .collect();
    assert_eq!(kept, events(&["a", "b", "c", "d"]));
}

async fn a_repeat_in_the_same_batch_is_dropped(store: Store) {
    let scope = Space::new(1).scope;
    append(&store, scope, events(&["z"])).await;
    let batch = events(&["c", "a", "c", "z", "b", "a", "c"]);
    assert_eq!(append(&store, scope, batch).await, [2, 3, 0, 0, 4, 0, 0]);
    let log = read_all(&store).await;
    let kept: Vec<Event> = log
        .into_iter()
        .map(|it| Arc::unwrap_or_clone(it.event))
        .collect();
    assert_eq!(kept, events(&["z", "c", "a", "b"]));
}

async fn a_batch_of_repeats_takes_no_position(store: Store) {
    let scope = Space::new(1).scope;
    append(&store, scope, events(&["a", "b"])).await;
    assert_eq!(append(&store, scope, events(&["b", "a"])).await, [0, 0]);
    assert_eq!(append(&store, scope, events(&["c"])).await, [3]);
}

async fn the_same_id_elsewhere_is_no_repeat(store: Store) {
    let (ours, theirs) = (Space::new(1).scope, Space::new(2).scope);
    assert_eq!(append(&store, ours, events(&["a"])).await, [1]);
    assert_eq!(append(&store, theirs, events(&["a", "a"])).await, [2, 0]);
    let workspaces: Vec<_> = read_all(&store).await.iter().map(|r| r.workspace).collect();
    assert_eq!(workspaces, [ours.0, theirs.0]);
}

async fn read_goes_on_after_a_position(store: Store) {
    append(
        &store,
        Space::new(1).scope,
        events(&["a", "b", "c", "d", "e"]),
    )
    .await;
    let read = async |after, max| -> Vec<i64> {
        let read = store.log.read(Position(after), max).await.expect("read");
        read.iter().map(|recorded| recorded.position.0).collect()
    };
    assert_eq!(read(0, 2).await, [1, 2]);
    assert_eq!(read(2, 2).await, [3, 4]);
    assert_eq!(read(4, 2).await, [5]);
    assert_eq!(read(5, 2).await, [0; 0]);
    assert_eq!(read(0, 0).await, [0; 0]);
    assert_eq!(read(3, usize::MAX).await, [4, 5]);
}

async fn positions_are_those_of_the_contacts(store: Store) {
    let space = Space::new(1);
    let of = |message: &str, user: &str| {
        let mut event = event(message);
        event.contact = Some(space.user(user));
        event
    };
    let batch = vec![
        of("1", "u"),
        of("2", "v"),
        of("3", "u"),
        of("4", "w"),
        of("5", "u"),
    ];
    append(&store, space.scope, batch.clone()).await;
    append(&store, Space::new(2).scope, batch).await;
    let positions = async |scope, users: &[&str], from, to| -> Vec<i64> {
        let contacts: Vec<_> = users.iter().map(|user| space.user(user)).collect();
        let between = (Position(from), Position(to));
        let found = store.log.positions(scope, &contacts, between).await;
        found.expect("found").into_iter().map(|p| p.0).collect()
    };
    assert_eq!(positions(space.scope, &["u"], 0, 100).await, [1, 3, 5]);
    assert_eq!(positions(space.scope, &["u"], 1, 5).await, [3]);
    assert_eq!(positions(space.scope, &["w", "v"], 0, 100).await, [2, 4]);
    assert_eq!(positions(space.scope, &[], 0, 100).await, [0; 0]);
    assert_eq!(positions(Space::new(2).scope, &["v"], 0, 100).await, [7]);
    assert_eq!(positions(Space::new(3).scope, &["u"], 0, 100).await, [0; 0]);
}

/// What says of which segment someone was a member must stay readable.
async fn without_ends_before_the_first_of_a_kind(store: Store) {
    let space = Space::new(1);
    let said = |id: &str, kind| Event { kind, ..event(id) };
    let kinds = [Kind::Track, Kind::Track, Kind::Identify, Kind::Track];
    let all = kinds.iter().enumerate();
    let all = all.map(|(n, kind)| said(&n.to_string(), *kind)).collect();
    append(&store, space.scope, all).await;
    let without = async |after, max, kinds: &[Kind]| {
        let found = store.log.without(Position(after), max, kinds).await;
        found.expect("found").0
    };
    assert_eq!(without(0, 100, &[Kind::Identify]).await, 2);
    assert_eq!(without(0, 100, &[Kind::Alias, Kind::Identify]).await, 2);
    assert_eq!(without(2, 100, &[Kind::Identify]).await, 2, "it is next");
    assert_eq!(without(3, 100, &[Kind::Identify]).await, 4, "the end");
    assert_eq!(
        without(0, 1, &[Kind::Identify]).await,
        1,
        "so far was asked"
    );
    assert_eq!(without(0, 100, &[Kind::Alias]).await, 4);
    assert_eq!(without(0, usize::MAX, &[Kind::Alias]).await, 4);
    // Nobody goes back, whoever asks beyond the end.
    assert_eq!(without(9, 100, &[Kind::Identify]).await, 9);
}

async fn positions_leave_out_crossings(store: Store) {
    let space = Space::new(1);
    let said = |id: &str, kind| Event {
        kind,
        contact: Some(space.user("u")),
        ..event(id)
    };
    let all = vec![
        said("a", Kind::Track),
        said("b", Kind::SegmentEntered),
        said("c", Kind::SegmentLeft),
        said("d", Kind::Identify),
    ];
    append(&store, space.scope, all).await;
    let between = (Position(0), Position(100));
    let contacts = [space.user("u")];
    let found = store.log.positions(space.scope, &contacts, between).await;
    assert_eq!(found.expect("found"), [Position(1), Position(4)]);
}

async fn tombstone(store: &Store, scope: Scope, positions: &[i64]) -> u64 {
    let positions: Vec<Position> = positions.iter().copied().map(Position).collect();
    let buried = store.log.tombstone(scope, &positions).await;
    buried.expect("buried")
}

async fn tombstones_stand_in_place(store: Store) {
    let scope = Space::new(1).scope;
    append(&store, scope, events(&["a", "b", "c"])).await;
    let before = read_all(&store).await;
    assert_eq!(tombstone(&store, scope, &[1, 3, 99]).await, 2);
    let once = read_all(&store).await;
    let mut expected = before;
    for erased in [0, 2] {
        Arc::make_mut(&mut expected[erased].event).payload = r#"{"erased":true}"#.to_owned();
    }
    assert_eq!(once, expected);
    tombstone(&store, scope, &[1, 1, 3]).await;
    assert_eq!(read_all(&store).await, once);
    assert_eq!(append(&store, scope, events(&["a"])).await, [0]);
    assert_eq!(tombstone(&store, scope, &[]).await, 0);
}

async fn tombstones_keep_the_joins(store: Store) {
    let space = Space::new(1);
    let raw = r#"{"type":"identify","userId":"u","anonymousId":"a","traits":{"name":"Ann"}}"#;
    append(
        &store,
        space.scope,
        vec![space.said(event("").recorded_at, raw)],
    )
    .await;
    for _ in 0..2 {
        tombstone(&store, space.scope, &[1]).await;
        let log = read_all(&store).await;
        let said = log[0].said().expect("a tombstone is readable");
        assert_eq!((said.erased, said.joins), (true, vec![space.guest("a")]));
        assert!(!log[0].event.payload.contains("Ann"));
    }
}

async fn tombstones_stay_in_their_workspace(store: Store) {
    let (ours, theirs) = (Space::new(1).scope, Space::new(2).scope);
    append(&store, theirs, events(&["a"])).await;
    let before = read_all(&store).await;
    assert_eq!(tombstone(&store, ours, &[1]).await, 0);
    assert_eq!(read_all(&store).await, before);
}

async fn scrubbing_keeps_what_is_not_erased(store: Store) {
    let scope = Space::new(1).scope;
    append(&store, scope, events(&["a", "b"])).await;
    tombstone(&store, scope, &[1]).await;
    let before = read_all(&store).await;
    store.log.scrub(Scrub::Quick).await.expect("scrubbed");
    assert_eq!(read_all(&store).await, before);
    assert_eq!(append(&store, scope, events(&["c"])).await, [3]);
}

mod reopened {
    use super::*;

    cases! {
        place: reopening_keeps_everything,
        what_others_append_is_read_in_its_place,
        lanes_are_kept_beside,
        many_may_open_a_new_store_at_once,
    }

    async fn reopening_keeps_everything(place: Place) {
        let scope = Space::new(1).scope;
        let store = place.open().await;
        append(&store, scope, events(&["a", "b"])).await;
        tombstone(&store, scope, &[2]).await;
        let before = read_all(&store).await;
        drop(store);
        let store = place.open().await;
        assert_eq!(read_all(&store).await, before);
        assert_eq!(append(&store, scope, events(&["b", "c"])).await, [0, 3]);
    }

    async fn what_others_append_is_read_in_its_place(place: Place) {
        let scope = Space::new(1).scope;
        let (ours, theirs) = (place.open().await, place.open().await);
        for (store, names) in [
            (&ours, ["a", "b"]),
            (&theirs, ["c", "d"]),
            (&ours, ["e", "f"]),
            (&theirs, ["g", "h"]),
        ] {
            append(store, scope, events(&names)).await;
        }
        // One of theirs is erased by us while it stands at our end, one of ours by them.
        tombstone(&ours, scope, &[7]).await;
        tombstone(&theirs, scope, &[1]).await;
        for store in [&ours, &theirs] {
            for after in 0..8 {
                assert_eq!(positions_after(store, after).await, expected(after));
            }
        }
    }

    fn expected(after: i64) -> Vec<i64> {
        (after + 1..=8).collect()
    }

    /// Everything after a position, however many reads that takes.
    async fn positions_after(store: &Store, after: i64) -> Vec<i64> {
        let mut positions = Vec::new();
        let mut last = Position(after);
        loop {
            let read = store.log.read(last, 3).await.expect("read");
            let Some(end) = read.last() else {
                return positions;
            };
            last = end.position;
            positions.extend(read.iter().map(|recorded| recorded.position.0));
        }
    }

    async fn many_may_open_a_new_store_at_once(place: Place) {
        let opening: Vec<_> = (0..6)
            .map(|n| {
                let place = place.clone();
                tokio::spawn(async move {
                    let store = place.open().await;
                    append(&store, Space::new(1).scope, events(&[&n.to_string()])).await;
                })
            })
            .collect();
        for opened in opening {
            opened.await.expect("opened");
        }
        assert_eq!(head(&place.open().await).await, 6);
    }

    /// No trait reads lanes yet; they must be right all the same before one does.
    async fn lanes_are_kept_beside(place: Place) {
        let space = Space::new(1);
        let mut nobody = event("nobody");
        nobody.contact = None;
        let batch = vec![event("u"), nobody];
        append(&place.open().await, space.scope, batch).await;
        let expected = lane(space.scope.0, Some(space.user("u")));
        assert_eq!(lanes(&place).await, [i64::from(expected), 0]);
    }

    async fn lanes(place: &Place) -> Vec<i64> {
        let sql = "SELECT CAST(lane AS bigint) FROM log ORDER BY position";
        match place {
            Place::Sqlite(path) => {
                let file = rusqlite::Connection::open(path).expect("opened");
                let mut lanes = file.prepare(sql).expect("prepared");
                let lanes = lanes.query_map([], |row| row.get(0)).expect("read");
                lanes.map(|lane| lane.expect("a number")).collect()
            }
            Place::Postgres(url) => {
                let pool = sqlx::PgPool::connect(url).await.expect("connected");
                let lanes = sqlx::query_scalar(sql).fetch_all(&pool).await;
                lanes.expect("read")
            }
        }
    }
}
