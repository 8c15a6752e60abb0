//! The suppression list and opt-outs: written with the event that says so, and true at once.

use std::sync::Arc;

use kurier_core::event::{Event, Kind, Position};
use kurier_core::id::{AddressKey, EventId};
use kurier_core::message::{
    AddressKind, Reach, SkipReason, Suppression, SuppressionReason, SuppressionSource,
};
use kurier_store::{NewSuppression, Store, Suppressed, SuppressionQuery};

use super::place::cases;
use super::space::{Space, seconds};

cases! {
    a_suppression_comes_with_its_event,
    the_same_again_changes_nothing,
    of_many_at_once_one_is_new,
    a_message_is_judged_by_its_topic,
    many_are_asked_for_at_once,
    no_workspace_sees_another,
    what_is_released_may_be_sent,
    lists_are_newest_first_in_pages,
    lists_are_filtered,
    a_forgotten_address_stays_suppressed,
    an_erasure_leaves_what_was_said_of_addresses,
}

fn key(address: &str) -> AddressKey {
    Space::new(1).key.address(address)
}

fn reach(topic: &str) -> Reach {
    topic.parse().expect("a reach")
}

fn new(address: &str, topic: &str, at: i64) -> NewSuppression {
    let suppressed = Suppressed {
        address_key: key(address),
        reach: reach(topic),
        kind: AddressKind::Email,
        address: Some(address.to_owned()),
        contact: Some(Space::new(1).user(address)),
        reason: SuppressionReason::Manual,
        source: SuppressionSource::Api,
        created_at: seconds(at),
    };
    let event = told(
        Kind::AddressSuppressed,
        &suppressed,
        &format!("{address} {topic} {at}"),
    );
    NewSuppression { suppressed, event }
}

fn told(kind: Kind, of: &Suppressed, message: &str) -> Event {
    let suppression = Suppression {
        address_key: of.address_key,
        topic: of.reach.clone(),
        reason: of.reason,
        source: of.source,
        message: None,
    };
    suppression.event(
        kind,
        EventId::of_message(message),
        of.contact,
        of.created_at,
    )
}

async fn suppress(store: &Store, space: &Space, new: Vec<NewSuppression>) -> Vec<bool> {
    let suppressed = store.suppressions.suppress(space.scope, new).await;
    suppressed.expect("suppressed")
}

async fn standing(store: &Store, space: &Space, address: &str, topic: &str) -> &'static str {
    let topic = Some(topic).filter(|topic| !topic.is_empty());
    let topic = topic.map(|topic| topic.parse().expect("a topic"));
    let asked = vec![(key(address), topic)];
    let standing = store.suppressions.standing(space.scope, asked).await;
    standing.expect("judged")[0].map_or("", SkipReason::as_str)
}

async fn list(store: &Store, space: &Space, query: &SuppressionQuery) -> (Vec<String>, bool) {
    let page = store.suppressions.suppressions(space.scope, query).await;
    let page = page.expect("listed");
    (page.suppressions.iter().map(name).collect(), page.has_more)
}

fn name(it: &Suppressed) -> String {
    let address = it.address.as_deref().unwrap_or("-");
    format!("{address} {}", it.reach.as_str())
}

fn all() -> SuppressionQuery {
    SuppressionQuery {
        limit: 100,
        ..SuppressionQuery::default()
    }
}

async fn log(store: &Store) -> Vec<Event> {
    let log = store.log.read(Position(0), 1_000).await.expect("read");
    log.into_iter()
        .map(|it| Arc::unwrap_or_clone(it.event))
        .collect()
}

async fn a_suppression_comes_with_its_event(store: Store) {
    let space = Space::new(1);
    let mut unsubscribed = new("ann@example.com", "news", 5);
    unsubscribed.suppressed = Suppressed {
        address: None,
        contact: None,
        reason: SuppressionReason::Unsubscribed,
        source: SuppressionSource::OneClick,
        ..unsubscribed.suppressed
    };
    let written = vec![new("+4922812345", "", 4), unsubscribed];
    assert_eq!(
        suppress(&store, &space, written.clone()).await,
        [true, true]
    );
    let page = store.suppressions.suppressions(space.scope, &all()).await;
    let rows = page.expect("listed").suppressions;
    let expected = written.iter().rev().map(|new| new.suppressed.clone());
    assert_eq!(rows, expected.collect::<Vec<_>>());
    let events: Vec<Event> = written.into_iter().map(|new| new.event).collect();
    assert_eq!(log(&store).await, events);
}

async fn the_same_again_changes_nothing(store: Store) {
    let space = Space::new(1);
    let twice = vec![new("a@x", "", 1), new("a@x", "", 2), new("a@x", "news", 3)];
    assert_eq!(suppress(&store, &space, twice).await, [true, false, true]);
    let mut again = new("a@x", "", 9);
    again.suppressed.reason = SuppressionReason::Complained;
    assert_eq!(suppress(&store, &space, vec![again]).await, [false]);
    assert!(suppress(&store, &space, Vec::new()).await.is_empty());
    let page = store.suppressions.suppressions(space.scope, &all()).await;
    let rows = page.expect("listed").suppressions;
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[1], new("a@x", "", 1).suppressed);
    assert_eq!(log(&store).await.len(), 2);
}

async fn of_many_at_once_one_is_new(store: Store) {
    let tasks: Vec<_> = (0..16)
        .map(|n| {
            let store = store.clone();
            // Half of them name the two the other way round: nobody waits in a circle.
            let mut both = vec![new("a@x", "news", n), new("b@x", "news", n)];
            if n % 2 == 0 {
                both.reverse();
            }
            tokio::spawn(async move { suppress(&store, &Space::new(1), both).await })
        })
        .collect();
    let mut fresh = 0;
    for task in tasks {
        fresh += task
            .await
            .expect("answered")
            .iter()
            .filter(|it| **it)
            .count();
    }
    let rows = list(&store, &Space::new(1), &all()).await.0.len();
    assert_eq!((fresh, rows, log(&store).await.len()), (2, 2, 2));
}

async fn a_message_is_judged_by_its_topic(store: Store) {
    let space = Space::new(1);
    assert_eq!(standing(&store, &space, "a@x", "news").await, "");
    let written = vec![new("a@x", "", 1), new("b@x", "*", 1), new("c@x", "news", 1)];
    suppress(&store, &space, written).await;
    let cases = [
        ("a@x", "news", "suppressed"),
        ("a@x", "", "suppressed"),
        ("b@x", "news", "opted_out"),
        ("b@x", "offers", "opted_out"),
        ("b@x", "", ""),
        ("c@x", "news", "opted_out"),
        ("c@x", "offers", ""),
        ("c@x", "", ""),
        ("d@x", "news", ""),
    ];
    for (address, topic, expected) in cases {
        assert_eq!(
            standing(&store, &space, address, topic).await,
            expected,
            "{address} {topic}"
        );
    }
}

async fn many_are_asked_for_at_once(store: Store) {
    let space = Space::new(1);
    let address = |n: i64| format!("n{n}@x");
    let every_third = (0..3_000).filter(|n| n % 3 == 0);
    let written: Vec<_> = every_third.map(|n| new(&address(n), "news", n)).collect();
    suppress(&store, &space, written).await;
    let topic = Some("news".parse().expect("a topic"));
    // Asked twice, answered twice, in the order of asking.
    let order: Vec<i64> = (0..3_000).rev().chain([3, 3, 4]).collect();
    let asked = order
        .iter()
        .map(|n| (key(&address(*n)), topic.clone()))
        .collect();
    let standing = store
        .suppressions
        .standing(space.scope, asked)
        .await
        .expect("judged");
    let expected = order
        .iter()
        .map(|n| (n % 3 == 0).then_some(SkipReason::OptedOut));
    assert_eq!(standing, expected.collect::<Vec<_>>());
    let none = store.suppressions.standing(space.scope, Vec::new()).await;
    assert!(none.expect("judged").is_empty());
}

async fn no_workspace_sees_another(store: Store) {
    let (ours, theirs) = (Space::new(1), Space::new(2));
    suppress(&store, &ours, vec![new("a@x", "", 1)]).await;
    suppress(&store, &theirs, vec![new("b@x", "", 2)]).await;
    assert_eq!(standing(&store, &theirs, "a@x", "").await, "");
    assert_eq!(list(&store, &theirs, &all()).await.0, ["b@x "]);
    let event = told(
        Kind::AddressReleased,
        &new("a@x", "", 1).suppressed,
        "released",
    );
    let released = store
        .suppressions
        .release(theirs.scope, key("a@x"), reach(""), event)
        .await;
    assert!(!released.expect("answered"));
    let forgotten = store
        .suppressions
        .forget_addresses(theirs.scope, &[key("a@x")])
        .await;
    assert_eq!(forgotten.expect("answered"), 0);
    assert_eq!(standing(&store, &ours, "a@x", "").await, "suppressed");
    assert_eq!(list(&store, &ours, &all()).await.0, ["a@x "]);
    // The same address of another workspace is another row.
    assert_eq!(
        suppress(&store, &theirs, vec![new("a@x", "", 3)]).await,
        [true]
    );
}

async fn what_is_released_may_be_sent(store: Store) {
    let space = Space::new(1);
    suppress(
        &store,
        &space,
        vec![new("a@x", "", 1), new("a@x", "news", 1)],
    )
    .await;
    let release = async |topic: &str, message: &str| {
        let event = told(
            Kind::AddressReleased,
            &new("a@x", topic, 2).suppressed,
            message,
        );
        let address = key("a@x");
        let released = store
            .suppressions
            .release(space.scope, address, reach(topic), event);
        released.await.expect("answered")
    };
    assert!(release("", "once").await);
    assert!(!release("", "twice").await);
    assert!(!release("*", "never").await);
    assert_eq!(standing(&store, &space, "a@x", "").await, "");
    assert_eq!(standing(&store, &space, "a@x", "news").await, "opted_out");
    let kinds: Vec<Kind> = log(&store).await.iter().map(|event| event.kind).collect();
    assert_eq!(kinds[2..], [Kind::AddressReleased]);
    assert_eq!(
        suppress(&store, &space, vec![new("a@x", "", 7)]).await,
        [true]
    );
}

async fn lists_are_newest_first_in_pages(store: Store) {
    let space = Space::new(1);
    // Some at the same moment, some of the same address.
    let topics = ["", "*", "a", "B", "ä", "z"];
    let written = (0..30).map(|n| new(&format!("{}@x", n % 5), topics[n % 6], (n / 10) as i64));
    suppress(&store, &space, written.collect()).await;
    let (whole, has_more) = list(&store, &space, &all()).await;
    assert_eq!((whole.len(), has_more), (30, false));
    let mut paged = Vec::new();
    let mut query = SuppressionQuery { limit: 4, ..all() };
    loop {
        let page = store
            .suppressions
            .suppressions(space.scope, &query)
            .await
            .expect("listed");
        paged.extend(page.suppressions.clone());
        let Some(last) = page.suppressions.last().filter(|_| page.has_more) else {
            break;
        };
        query.after = Some((last.created_at, last.address_key, last.reach.clone()));
    }
    let names: Vec<String> = paged.iter().map(name).collect();
    assert_eq!(names, whole);
    assert!(
        paged
            .windows(2)
            .all(|two| two[0].created_at >= two[1].created_at)
    );
}

async fn lists_are_filtered(store: Store) {
    let space = Space::new(1);
    let mut bounced = new("b@x", "", 3);
    bounced.suppressed.reason = SuppressionReason::Bounced;
    let written = vec![new("a@x", "", 1), new("a@x", "news", 2), bounced];
    suppress(&store, &space, written).await;
    let address = SuppressionQuery {
        address: Some(key("a@x")),
        ..all()
    };
    assert_eq!(list(&store, &space, &address).await.0, ["a@x news", "a@x "]);
    let topic = SuppressionQuery {
        reach: Some(reach("")),
        ..all()
    };
    assert_eq!(list(&store, &space, &topic).await.0, ["b@x ", "a@x "]);
    let reason = SuppressionQuery {
        reason: Some(SuppressionReason::Manual),
        ..topic
    };
    assert_eq!(list(&store, &space, &reason).await.0, ["a@x "]);
}

async fn a_forgotten_address_stays_suppressed(store: Store) {
    let space = Space::new(1);
    let written = vec![new("a@x", "", 1), new("a@x", "news", 2), new("b@x", "", 3)];
    suppress(&store, &space, written).await;
    let forget = async || {
        let addresses = [key("a@x"), key("c@x")];
        let forgotten = store
            .suppressions
            .forget_addresses(space.scope, &addresses)
            .await;
        forgotten.expect("forgotten")
    };
    assert_eq!((forget().await, forget().await), (2, 0));
    assert_eq!(
        list(&store, &space, &all()).await.0,
        ["b@x ", "- news", "- "]
    );
    assert_eq!(standing(&store, &space, "a@x", "").await, "suppressed");
    // Suppressed again, it is still the old one.
    assert_eq!(
        suppress(&store, &space, vec![new("a@x", "", 9)]).await,
        [false]
    );
}

async fn an_erasure_leaves_what_was_said_of_addresses(store: Store) {
    let space = Space::new(1);
    let written = new("a@x", "news", 1);
    suppress(&store, &space, vec![written.clone()]).await;
    let said = space.said(seconds(2), r#"{"type":"track","event":"E","userId":"a@x"}"#);
    store
        .log
        .append(space.scope, vec![said])
        .await
        .expect("appended");
    let buried = store
        .log
        .tombstone(space.scope, &[Position(1), Position(2)])
        .await;
    assert_eq!(buried.expect("buried"), 1);
    let log = log(&store).await;
    assert_eq!(log[0], written.event);
    assert_eq!(log[1].payload, r#"{"erased":true}"#);
}
