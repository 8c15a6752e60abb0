//! Many appenders at once: one order, nothing lost, nothing twice, nobody harmed by another.

use std::collections::HashMap;

use kurier_core::event::{Event, Position, Recorded};
use kurier_core::id::EventId;
use kurier_store::{Appended, Scope, Store};

use super::dice::Dice;
use super::place::{Place, cases};
use super::space::{Space, event};

const WRITERS: u64 = 8;
const APPENDS: u64 = 200;
const BATCH_MAX: u64 = 8;

cases! {
    place: appenders_at_once_share_one_order,
    repeats_at_once_are_kept_once,
}

/// What one caller appended, in its order, and the positions it was told.
type Told = Vec<(EventId, Position)>;

async fn write(store: Store, scope: Scope, writer: u64) -> Told {
    let mut dice = Dice::new(writer);
    let mut told = Told::new();
    for round in 0..APPENDS {
        let size = dice.below(BATCH_MAX + 1);
        let batch: Vec<Event> = (0..size)
            .map(|n| event(&format!("{writer} {round} {n}")))
            .collect();
        let ids: Vec<EventId> = batch.iter().map(|event| event.id).collect();
        let appended = store.log.append(scope, batch).await.expect("appended");
        assert_eq!(appended.len(), ids.len());
        told.extend(
            ids.into_iter()
                .zip(appended)
                .map(|(id, appended)| match appended {
                    Appended::At(position) => (id, position),
                    Appended::Duplicate => panic!("{id} was new"),
                }),
        );
    }
    told
}

/// Two stores over one place are two processes.
async fn appenders_at_once_share_one_order(place: Place) {
    let stores = [place.open().await, place.open().await];
    let scopes = [Space::new(1).scope, Space::new(2).scope];
    let writers: Vec<_> = (0..WRITERS)
        .map(|n| {
            (
                stores[n as usize % 2].clone(),
                scopes[n as usize % 4 / 2],
                n,
            )
        })
        .map(|(store, scope, n)| tokio::spawn(write(store, scope, n)))
        .collect();
    let mut told = Vec::new();
    for writer in writers {
        told.push(writer.await.expect("a writer to the end"));
    }
    let log = stores[0].log.read(Position(0), usize::MAX).await;
    check(&log.expect("read"), &told);
}

fn check(log: &[Recorded], told: &[Told]) {
    let gapless = log.iter().zip(1..).all(|(r, n)| r.position.0 == n);
    assert!(gapless, "positions have a gap");
    assert_eq!(log.len(), told.iter().map(Vec::len).sum::<usize>());
    let kept: HashMap<Position, EventId> = log.iter().map(|r| (r.position, r.event.id)).collect();
    for told in told {
        assert!(told.iter().all(|(id, position)| kept[position] == *id));
        assert!(told.is_sorted_by_key(|(_, position)| *position));
    }
}

/// All send the same events in batches cut and turned differently: each is kept once, and
/// nobody waits for another in a circle.
async fn repeats_at_once_are_kept_once(place: Place) {
    let stores = [place.open().await, place.open().await];
    let senders: Vec<_> = (0..WRITERS)
        .map(|n| tokio::spawn(repeat(stores[n as usize % 2].clone(), n)))
        .collect();
    let mut new = 0;
    for sender in senders {
        new += sender.await.expect("a sender to the end");
    }
    let log = stores[0]
        .log
        .read(Position(0), usize::MAX)
        .await
        .expect("read");
    let mut ids: Vec<EventId> = log.iter().map(|r| r.event.id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!((new, log.len(), ids.len()), (300, 300, 300));
    assert!(log.iter().zip(1..).all(|(r, n)| r.position.0 == n));
}

async fn repeat(store: Store, sender: u64) -> usize {
    let scope = Space::new(1).scope;
    let mut events: Vec<Event> = (0..300).map(|n| event(&n.to_string())).collect();
    if sender % 2 == 1 {
        events.reverse();
    }
    let mut new = 0;
    for batch in events.chunks(3 + sender as usize) {
        let appended = store.log.append(scope, batch.to_vec()).await;
        let fresh = |a: &&Appended| matches!(a, Appended::At(_));
        new += appended.expect("appended").iter().filter(fresh).count();
    }
    new
}
