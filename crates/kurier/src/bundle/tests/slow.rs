//! A source that trickles beside one that does not: it is waited for by nobody.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

use super::super::Bundles;
use super::kit::{Kit, pass, settings};
use super::server::{Manner, Server, chain_on, genesis, headers};

/// Waits until something holds: nothing here takes long.
async fn until(what: &str, holds: impl Fn() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::task::yield_now().await;
        }
    };
    let limit = Duration::from_secs(20);
    let waited = tokio::time::timeout(limit, waiting).await;
    waited.unwrap_or_else(|_| panic!("never: {what}"));
}

#[tokio::test]
async fn source_trickling_what_the_others_have_is_used_at_once() {
    let (good, gate) = (chain_on(&genesis(), 3, 1), Arc::new(Semaphore::new(0)));
    let slow = Manner::Trickling(chain_on(&genesis(), 5, 2), gate.clone());
    let (slow, honest) = (
        Server::start(slow).await,
        Server::start(Manner::Honest(good.clone())).await,
    );
    let both = Arc::new(headers(&[&slow.url, &honest.url]));
    let asking = both.clone();
    let asking = tokio::spawn(async move { asking.refresh().await });
    until("the good one is used", || !both.calm().1).await;
    assert_eq!(both.tip().expect("a tip").hash, good[3].hash());
    assert!(!asking.is_finished(), "the other one trickles");
    // It is listened to all the same, and what it has counts when all of it is there.
    gate.add_permits(100);
    assert!(asking.await.expect("ended"));
    assert_eq!(both.tip().expect("a tip").height, 5);
}

#[tokio::test]
async fn source_trickling_a_start_is_bounded_and_the_others_are_followed() {
    let mut kit = Kit::new().await;
    let id = kit.proven("a", 1).await;
    let gate = Arc::new(Semaphore::new(0));
    let slow = Manner::Trickling(kit.chain.clone(), gate.clone());
    let (slow, honest) = (
        Server::start(slow).await,
        Server::start(Manner::Honest(kit.chain.clone())).await,
    );
    let both = settings(&format!("{} {}", slow.url, honest.url), true);
    let (store, kv) = (kit.store.clone(), kit.kv.clone());
    let made = Bundles::new(store, kv, kit.versions.clone(), &both, super::kit::now);
    let made = Arc::new(made.expect("usable"));
    made.begin(Duration::from_millis(200)).await;
    assert!(made.headers().reports()[0].tip.is_none(), "it trickles");
    let following = tokio::spawn(made.clone().follow_headers());
    until("stable", || !made.headers().calm().1).await;
    let answer = made.answer(kit.scope, id, 0).await;
    let answer = answer.expect("answered").expect("known");
    assert_eq!((answer.confs, answer.unstable), (Some(2), false));
    // And so it goes on, for longer than a tip is relied on.
    for height in 3..9 {
        kit.mine(None);
        honest.now_is(Manner::Honest(kit.chain.clone()));
        pass(30_000);
        made.headers().wake();
        until("the new tip", || {
            made.headers().tip().is_some_and(|tip| tip.height == height)
        })
        .await;
        until("stable", || !made.headers().calm().1).await;
    }
    following.abort();
}
