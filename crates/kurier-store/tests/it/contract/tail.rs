//! The end of the log in memory.

use kurier_core::event::Position;
use kurier_store::{Appended, Store};

use super::place::cases;
use super::space::{Space, event};

cases! {
    who_is_told_finds_it_in_memory_and_without_a_gap,
}

async fn who_is_told_finds_it_in_memory_and_without_a_gap(store: Store) {
    const CLIENTS: i64 = 24;
    const EACH: i64 = 20;
    let scope = Space::new(1).scope;
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..CLIENTS {
        let store = store.clone();
        clients.spawn(async move {
            for number in 0..EACH {
                let event = event(&format!("{client} {number}"));
                let appended = store.log.append(scope, vec![event]).await;
                let Appended::At(at) = appended.expect("appended")[0] else {
                    panic!("it is new");
                };
                // For this no database is asked.
                let known = store.log.skip(Position(at.0 - 1), &|_| false);
                assert!(known >= at, "{known} is known, {at} was told");
            }
        });
    }
    clients.join_all().await;
    let all = Position(CLIENTS * EACH);
    assert_eq!(store.log.skip(Position(0), &|_| false), all);
    assert_eq!(store.log.newest(), Some(all));
}
