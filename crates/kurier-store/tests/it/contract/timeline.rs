//! Timelines: what a contact did, latest first, with what those did who became it.

use kurier_core::contact::Standing;
use kurier_core::event::{Kind, Position, Recorded};
use kurier_core::id::ContactId;
use kurier_core::time::Timestamp;
use kurier_store::{Store, TimelineQuery};

use super::place::cases;
use super::runner::happen;
use super::space::{Space, now, seconds};

cases! {
    latest_come_first_over_merged_contacts,
    pages_follow_each_other,
    by_kind_and_by_title,
    events_come_as_the_log_has_them,
    no_timeline_reaches_another_workspace,
    a_contact_that_absorbed_very_many_is_no_exception,
}

/// Tracks `name` at a second of the client's clock.
fn did(who: &str, name: &str, second: i64) -> String {
    let at = seconds(second);
    format!(r#"{{"type":"track",{who},"event":"{name}","timestamp":"{at}"}}"#)
}

const GUEST: &str = r#""anonymousId":"a""#;
const USER: &str = r#""userId":"u""#;

/// A guest that becomes a user; the events do not come in the order they happened.
async fn life(store: &Store, space: &Space) -> Vec<Position> {
    let raws = [
        did(GUEST, "Viewed", -50),
        did(USER, "Bought", -10),
        r#"{"type":"identify","userId":"u","anonymousId":"a"}"#.to_owned(),
        did(GUEST, "Returned", -5),
        did(USER, "Bought", -30),
        did(USER, "Tie", -30),
        format!(
            r#"{{"type":"page","userId":"u","name":"Bought","timestamp":"{}"}}"#,
            seconds(-20)
        ),
    ];
    let events = raws.iter().map(|raw| space.said(now(), raw)).collect();
    happen(store, space, events).await
}

async fn ids(store: &Store, space: &Space) -> Vec<ContactId> {
    match store.views.contact(space.scope, space.user("u")).await {
        Ok(Some(Standing::Live(contact))) => contact.ids(),
        other => panic!("u is live, not {other:?}"),
    }
}

async fn timeline(store: &Store, space: &Space, query: &TimelineQuery) -> (Vec<Recorded>, bool) {
    let ids = ids(store, space).await;
    let page = store.views.timeline(space.scope, &ids, query).await;
    let page = page.expect("read");
    (page.events, page.has_more)
}

fn positions(events: &[Recorded]) -> Vec<i64> {
    events.iter().map(|recorded| recorded.position.0).collect()
}

fn limit(limit: usize) -> TimelineQuery {
    TimelineQuery {
        limit,
        ..TimelineQuery::default()
    }
}

async fn latest_come_first_over_merged_contacts(store: Store) {
    let space = Space::new(1);
    life(&store, &space).await;
    let (events, more) = timeline(&store, &space, &limit(100)).await;
    assert_eq!(
        (positions(&events), more),
        (vec![3, 4, 2, 7, 6, 5, 1], false)
    );
    let guest = [space.guest("a")];
    let page = store.views.timeline(space.scope, &guest, &limit(100)).await;
    assert_eq!(positions(&page.expect("read").events), [1]);
    let page = store.views.timeline(space.scope, &[], &limit(100)).await;
    assert_eq!(positions(&page.expect("read").events), [0; 0]);
    let all = ids(&store, &space).await;
    let all = store.views.timeline_positions(space.scope, &all).await;
    assert_eq!(all.expect("read"), [1, 2, 3, 4, 5, 6, 7].map(Position));
    let own = [space.user("u")];
    let own = store.views.timeline_positions(space.scope, &own).await;
    assert_eq!(own.expect("read"), [2, 3, 4, 5, 6, 7].map(Position));
    let none = store.views.timeline_positions(space.scope, &[]).await;
    assert_eq!(none.expect("read"), []);
}

async fn pages_follow_each_other(store: Store) {
    let space = Space::new(1);
    life(&store, &space).await;
    for size in [1, 2, 3, 7] {
        let mut query = limit(size);
        let mut seen = Vec::new();
        loop {
            let (events, more) = timeline(&store, &space, &query).await;
            let after = |last: &Recorded| (last.event.occurred_at, last.position);
            query.after = events.last().map(after);
            seen.extend(positions(&events));
            if !more {
                break;
            }
            assert_eq!(events.len(), size);
        }
        assert_eq!(seen, [3, 4, 2, 7, 6, 5, 1], "pages of {size}");
    }
    let past = (Timestamp::from_micros(i64::MIN), Position(0));
    let query = TimelineQuery {
        after: Some(past),
        ..limit(5)
    };
    assert_eq!(timeline(&store, &space, &query).await, (Vec::new(), false));
    let (events, more) = timeline(&store, &space, &limit(usize::MAX)).await;
    assert_eq!((events.len(), more), (7, false));
}

async fn by_kind_and_by_title(store: Store) {
    let space = Space::new(1);
    life(&store, &space).await;
    let find = async |kind: Option<Kind>, title: Option<&str>| {
        let title = title.map(str::to_owned);
        let query = TimelineQuery {
            kind,
            title,
            ..limit(10)
        };
        positions(&timeline(&store, &space, &query).await.0)
    };
    assert_eq!(find(Some(Kind::Track), None).await, [4, 2, 6, 5, 1]);
    assert_eq!(find(Some(Kind::Identify), None).await, [3]);
    assert_eq!(find(None, Some("Bought")).await, [2, 7, 5]);
    assert_eq!(find(Some(Kind::Page), Some("Bought")).await, [7]);
    assert_eq!(find(Some(Kind::Screen), None).await, [0; 0]);
    assert_eq!(find(None, Some("bought")).await, [0; 0]);
    let query = TimelineQuery {
        kind: Some(Kind::Track),
        ..limit(4)
    };
    assert!(timeline(&store, &space, &query).await.1);
}

async fn events_come_as_the_log_has_them(store: Store) {
    let space = Space::new(1);
    let positions = life(&store, &space).await;
    store
        .log
        .tombstone(space.scope, &positions[..1])
        .await
        .expect("buried");
    let mut log = store.log.read(Position(0), 100).await.expect("read");
    log.sort_by_key(|r| std::cmp::Reverse((r.event.occurred_at, r.position)));
    assert_eq!(timeline(&store, &space, &limit(100)).await.0, log);
}

async fn no_timeline_reaches_another_workspace(store: Store) {
    let (ours, theirs) = (Space::new(1), Space::new(2));
    life(&store, &theirs).await;
    let ids = ids(&store, &theirs).await;
    let page = store.views.timeline(ours.scope, &ids, &limit(100)).await;
    assert_eq!(page.expect("read").events, []);
    let positions = store.views.timeline_positions(ours.scope, &ids).await;
    assert_eq!(positions.expect("read"), []);
    happen(
        &store,
        &ours,
        vec![ours.said(now(), &did(USER, "Ours", -1))],
    )
    .await;
    let page = store.views.timeline(ours.scope, &ids, &limit(100)).await;
    assert_eq!(self::positions(&page.expect("read").events), [8]);
}

/// A kiosk: one user, a new anonymous id with every session.
async fn a_contact_that_absorbed_very_many_is_no_exception(store: Store) {
    let space = Space::new(1);
    life(&store, &space).await;
    let sessions = (0..40_000).map(|n| ContactId::new(seconds(n), [1; 10]));
    let ids: Vec<ContactId> = sessions.chain(ids(&store, &space).await).collect();
    let page = store.views.timeline(space.scope, &ids, &limit(100)).await;
    assert_eq!(page.expect("read").events.len(), 7);
    let positions = store.views.timeline_positions(space.scope, &ids).await;
    assert_eq!(positions.expect("read").len(), 7);
    let between = (Position(0), Position(100));
    let positions = store.log.positions(space.scope, &ids, between).await;
    assert_eq!(positions.expect("read").len(), 7);
    let forgotten = store.queue.forget(space.scope, &ids).await;
    assert_eq!(forgotten.expect("forgotten"), 0);
}
