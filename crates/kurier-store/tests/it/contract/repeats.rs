//! A repeat is dropped however long ago the first was, and whoever appended it.

use kurier_core::event::{Event, Position};
use kurier_store::{Appended, Scope, Store};

use super::place::{Place, cases};
use super::space::{Space, event, now};

/// At the end of so many, ids are kept in every way that SQLite has for them: in its index, on
/// their way into it, and in memory alone.
const EVENTS: usize = 42_000;
const BATCH: usize = 3_000;

cases! {
    place: a_repeat_is_dropped_however_long_ago_the_first_was,
    a_repeat_of_another_process_is_dropped,
}

/// One a millisecond: no flood, in which ids would be kept in memory alone.
fn numbered(numbers: impl Iterator<Item = usize>) -> Vec<Event> {
    let event = |n: usize| Event {
        recorded_at: now().shifted(n as i64 * 1_000),
        ..event(&format!("event {n}"))
    };
    numbers.map(event).collect()
}

async fn append(store: &Store, scope: Scope, events: Vec<Event>) -> Vec<Appended> {
    store.log.append(scope, events).await.expect("appended")
}

/// Of the first `count`: some of all ages, and many of the newest.
async fn are_repeats(store: &Store, scope: Scope, count: usize) -> bool {
    let some = (0..count).step_by(97).chain(count - 1_000..count);
    let appended = append(store, scope, numbered(some)).await;
    appended.iter().all(|it| *it == Appended::Duplicate)
}

async fn a_repeat_is_dropped_however_long_ago_the_first_was(place: Place) {
    let scope = Space::new(1).scope;
    let first = place.open().await;
    for from in (0..EVENTS).step_by(BATCH) {
        let appended = append(&first, scope, numbered(from..from + BATCH)).await;
        let last = Appended::At(Position((from + BATCH) as i64));
        assert_eq!(appended.last(), Some(&last), "all are new");
        assert!(are_repeats(&first, scope, from + BATCH).await);
    }
    let second = place.open().await;
    assert!(
        are_repeats(&second, scope, EVENTS).await,
        "known to another"
    );
    drop((first, second));
    let again = place.open().await;
    assert!(
        are_repeats(&again, scope, EVENTS).await,
        "known after a restart"
    );
    let head = again.log.head().await.expect("read");
    assert_eq!(head, Position(EVENTS as i64));
}

async fn a_repeat_of_another_process_is_dropped(place: Place) {
    let scope = Space::new(1).scope;
    let stores = [place.open().await, place.open().await];
    for n in 0..40 {
        let [one, other] = [&stores[n % 2], &stores[(n + 1) % 2]];
        let position = Position(n as i64 + 1);
        let appended = append(one, scope, numbered(n..=n)).await;
        assert_eq!(appended, [Appended::At(position)]);
        let repeated = append(other, scope, numbered(n..=n)).await;
        assert_eq!(repeated, [Appended::Duplicate]);
    }
}
