//! Of who is erased no run stays; how often each way was taken does.

use std::sync::Arc;

use kurier_core::event::{Erasure, Event, Kind, Position};
use kurier_core::id::InstanceId;
use kurier_core::journey::{Ending, Record};
use kurier_core::projection::Journeys;
use kurier_store::{InstanceFilter, InstanceQuery, Store};

use super::journeys::{counted, event, found, happen, in_journey, instance, record, runs};
use super::place::cases;
use super::runner::project_with;
use super::space::Space;

cases! {
    of_who_is_erased_no_run_stays,
    of_an_erased_record_the_log_keeps_where_the_run_went,
    batches_of_any_size_leave_the_same_runs,
}

fn erasure(space: &Space) -> Event {
    let erasure = Erasure {
        contacts: vec![space.user("u")],
        addresses: Vec::new(),
        positions: Vec::new(),
        seen: Position(0),
    };
    event(Kind::ContactErased, Some(space.user("u")), &erasure)
}

async fn of_who_is_erased_no_run_stays(store: Store) {
    let (space, other) = (Space::new(1), Space::new(2));
    runs(&store, &space).await;
    runs(&store, &other).await;
    let before = counted(&store, &space).await;
    happen(&store, &space, vec![erasure(&space)]).await;
    let left = found(&store, &space, InstanceFilter::default()).await;
    // Those under way are nobody's until they end.
    assert_eq!(left, [5, 4, 2, 0].map(instance));
    let nobodys = store.journeys.instance(space.scope, instance(0)).await;
    let nobodys = nobodys.expect("read").expect("there");
    assert_eq!(
        (nobodys.contact, nobodys.key, nobodys.state),
        (None, None, None)
    );
    for n in 0..4 {
        let path = store.journeys.path(space.scope, instance(n)).await;
        assert_eq!(path.expect("read"), [], "{n}");
    }
    assert_eq!(counted(&store, &space).await, before);
    let ends = [0, 2].map(|n| record(n, space.user("u"), 2, "wait", Some(Ending::Erased)));
    happen(&store, &space, ends.into()).await;
    let left = found(&store, &space, InstanceFilter::default()).await;
    assert_eq!(left, [5, 4].map(instance));
    assert_eq!(found(&store, &other, in_journey()).await.len(), 6);
}

async fn of_an_erased_record_the_log_keeps_where_the_run_went(store: Store) {
    let space = Space::new(1);
    runs(&store, &space).await;
    let before = store.log.read(Position(0), 1).await.expect("read");
    let all: Vec<Position> = (1..=8).map(Position).collect();
    store
        .log
        .tombstone(space.scope, &all)
        .await
        .expect("buried");
    let log = store.log.read(Position(0), 100).await.expect("read");
    assert!(!format!("{log:?}").contains("secret"), "{log:?}");
    let record = |payload: &str| serde_json::from_str::<Record>(payload).expect("a record");
    let (was, is) = (&before[0].event.payload, &log[0].event.payload);
    assert_eq!(record(is).run, record(was).run);
    assert!(Record::is_erased(is));
    // Folded anew, the same is counted.
    let counts = counted(&store, &space).await;
    let anew = Space::new(2);
    let events = log
        .into_iter()
        .map(|it| Arc::unwrap_or_clone(it.event))
        .collect();
    happen(&store, &anew, events).await;
    assert_eq!(counted(&store, &anew).await, counts);
}

async fn batches_of_any_size_leave_the_same_runs(store: Store) {
    let mut told = Vec::new();
    for (number, size) in [(1, 1), (2, 2), (3, 100)] {
        let space = Space::new(number);
        let (u, v) = (space.user("u"), space.user("v"));
        let mut events: Vec<Event> = (0..4).map(|n| record(n, u, 1, "wait", None)).collect();
        events.push(record(0, v, 2, "there", None));
        events.push(record(1, u, 2, "wait", Some(Ending::Exit)));
        events.push(erasure(&space));
        events.push(record(2, u, 2, "wait", Some(Ending::Erased)));
        store
            .log
            .append(space.scope, events)
            .await
            .expect("appended");
        project_with(&Journeys, &store, size).await;
        let mut query = InstanceQuery {
            limit: 100,
            ..InstanceQuery::default()
        };
        query.filter = InstanceFilter::default();
        let page = store.journeys.instances(space.scope, &query).await;
        told.push((page.expect("read").instances, counted(&store, &space).await));
    }
    let ids: Vec<InstanceId> = told[0].0.iter().map(|run| run.id).collect();
    assert_eq!(ids, [instance(3), instance(0)]);
    assert!(told.windows(2).all(|pair| pair[0] == pair[1]), "{told:#?}");
}
