//! A projection's runner in a few lines, as the product has one: needs, load, follows, fold,
//! apply.

use kurier_core::event::{Event, Position, Recorded};
use kurier_core::projection::{Contacts, Folded, Loaded, Projection};
use kurier_store::{Applied, Batch, Store};

use super::space::Space;

/// Folds contacts.
pub async fn project(store: &Store, size: usize) {
    project_with(&Contacts, store, size).await;
}

/// Folds what stands in the log after the checkpoint, `size` events at a time.
pub async fn project_with(projection: &'static dyn Projection, store: &Store, size: usize) {
    loop {
        let from = store.views.checkpoint(projection.name()).await;
        let from = from.expect("read");
        let events = store.log.read(from, size).await.expect("read");
        let Some(last) = events.last() else { return };
        let to = last.position;
        let folded = fold_with(projection, store, &events).await;
        let batch = Batch::new(projection, (from, to), folded);
        assert_eq!(
            store.views.apply(batch).await.expect("applied"),
            Applied::Done
        );
    }
}

pub async fn fold(store: &Store, events: &[Recorded]) -> Folded {
    fold_with(&Contacts, store, events).await
}

pub async fn fold_with(
    projection: &'static dyn Projection,
    store: &Store,
    events: &[Recorded],
) -> Folded {
    let load = async |needs| store.views.load(needs).await.expect("loaded");
    let mut loaded = load(projection.needs(events)).await;
    let mut news: Vec<Loaded> = loaded.clone();
    while !news.iter().all(|loaded| loaded.rows.is_empty()) {
        news = load(projection.follows(&news)).await;
        loaded.extend(news.clone());
    }
    projection.fold(loaded, events).expect("rows are readable")
}

/// Appends and folds.
pub async fn happen(store: &Store, space: &Space, events: Vec<Event>) -> Vec<Position> {
    let appended = store
        .log
        .append(space.scope, events)
        .await
        .expect("appended");
    project(store, 1_000).await;
    let position = |appended| match appended {
        kurier_store::Appended::At(position) => position,
        kurier_store::Appended::Duplicate => panic!("events of a test have ids of their own"),
    };
    appended.into_iter().map(position).collect()
}
