//! Messages in the hand: settled at once, without a lease.

use kurier_core::event::{Kind, Position};
use kurier_core::message::{Report, Then};
use kurier_store::{Claim, Settled, Store};

use super::place::{Place, cases};
use super::queue::{claim, lane, message, put, scope, settle_all, settled};
use super::space::{now, seconds};

cases! {
    place: what_is_held_is_what_would_be_claimed,
    what_is_settled_from_the_hand_is_gone_and_told,
    what_is_let_go_stands_in_line_as_before,
    what_stays_keeps_its_fence_and_its_attempts,
    what_is_not_held_is_not_settled,
    of_two_who_hold_the_same_one_settles,
    who_holds_and_who_claims_do_not_both_have_it,
    hands_at_once_settle_each_message_once,
}

fn told(claim: Claim) -> Settled {
    let report = Report::new(claim.message.id, claim.attempts);
    let event = report.event(Kind::MessageSent, claim.fence, claim.message.contact, now());
    Settled {
        claim,
        then: Then::Gone,
        events: vec![event],
    }
}

async fn pass(store: &Store, limit: usize) -> usize {
    let held = store.queue.hold(&lane(), limit).await.expect("held");
    let settled = held.claims.into_iter().map(told).collect();
    let kept = held.hand.settle(settled, now()).await.expect("settled");
    kept.into_iter().filter(|kept| *kept).count()
}

async fn sent(store: &Store) -> usize {
    let log = store.log.read(Position(0), 10_000).await.expect("read");
    let sent = log.iter().filter(|it| it.event.kind == Kind::MessageSent);
    sent.count()
}

async fn what_is_held_is_what_would_be_claimed(place: Place) {
    let store = place.open().await;
    let soon = seconds(5);
    let messages = vec![
        message("a", 1, now()),
        message("b", 9, now()),
        message("c", 5, now()),
        message("d", 9, soon),
    ];
    put(&store, messages).await;
    let held = store.queue.hold(&lane(), 2).await.expect("held").claims;
    assert_eq!(held[0].message.priority, 9);
    let mut claims = claim(&store, 0, 2).await;
    // Letting go takes a moment where a transaction has to be undone.
    while claims.is_empty() {
        claims = claim(&store, 0, 2).await;
    }
    assert_eq!(held, claims);
    let rest = store.queue.hold(&lane(), 10).await.expect("held").claims;
    assert_eq!(rest.len(), 1, "what is leased or not due is not held");
}

async fn what_is_settled_from_the_hand_is_gone_and_told(place: Place) {
    let store = place.open().await;
    put(&store, vec![message("a", 5, now()), message("b", 5, now())]).await;
    assert_eq!(pass(&store, 1).await, 1);
    assert_eq!(store.queue.depth(scope()).await.expect("counted"), 1);
    assert_eq!(pass(&store, 10).await, 1);
    assert_eq!(pass(&store, 10).await, 0);
    assert_eq!(sent(&store).await, 2);
}

async fn what_is_let_go_stands_in_line_as_before(place: Place) {
    let store = place.open().await;
    put(&store, vec![message("a", 5, now())]).await;
    let mut held = 0;
    while held < 2 {
        // Letting go takes a moment where a transaction has to be undone.
        let claims = store.queue.hold(&lane(), 10).await.expect("held").claims;
        assert!(claims.iter().all(|claim| claim.attempts == 1));
        held += claims.len();
    }
    let line = store.queue.line(now()).await.expect("in line");
    assert_eq!(line.lanes, [lane()]);
}

async fn what_stays_keeps_its_fence_and_its_attempts(place: Place) {
    let store = place.open().await;
    put(&store, vec![message("a", 5, now()), message("b", 5, now())]).await;
    let held = store.queue.hold(&lane(), 10).await.expect("held");
    let stays = held
        .claims
        .into_iter()
        .zip([Then::Again(seconds(9)), Then::Aside]);
    let stays = stays.map(|(claim, then)| settled(claim, then)).collect();
    let kept = held.hand.settle(stays, now()).await.expect("settled");
    assert_eq!(kept, [true, true]);
    assert!(claim(&store, 8, 10).await.is_empty());
    let again = claim(&store, 9, 10).await;
    let counts: Vec<_> = again.iter().map(|it| (it.fence, it.attempts)).collect();
    assert_eq!(counts, [(2, 2)]);
}

async fn what_is_not_held_is_not_settled(place: Place) {
    let store = place.open().await;
    put(&store, vec![message("a", 5, now())]).await;
    let claims = claim(&store, 0, 10).await;
    let held = store.queue.hold(&lane(), 10).await.expect("held");
    let foreign = claims.iter().cloned().map(told).collect();
    let kept = held.hand.settle(foreign, now()).await.expect("settled");
    assert_eq!((kept, sent(&store).await), (vec![false], 0));
    let done = claims.into_iter().map(|claim| settled(claim, Then::Gone));
    assert_eq!(settle_all(&store, done.collect()).await, [true]);
}

async fn of_two_who_hold_the_same_one_settles(place: Place) {
    let (one, other) = (place.open().await, place.open().await);
    put(&one, vec![message("a", 5, now())]).await;
    let first = one.queue.hold(&lane(), 10).await.expect("held");
    let second = other.queue.hold(&lane(), 10).await.expect("held");
    let mut kept = Vec::new();
    for held in [first, second] {
        let settled = held.claims.into_iter().map(told).collect();
        kept.extend(held.hand.settle(settled, now()).await.expect("settled"));
    }
    assert_eq!(kept.iter().filter(|kept| **kept).count(), 1);
    assert_eq!(sent(&one).await, 1);
}

async fn who_holds_and_who_claims_do_not_both_have_it(place: Place) {
    let (one, other) = (place.open().await, place.open().await);
    put(&one, vec![message("a", 5, now())]).await;
    let held = one.queue.hold(&lane(), 10).await.expect("held");
    let claims = claim(&other, 0, 10).await;
    let settled = held.claims.into_iter().map(told).collect();
    let kept = held.hand.settle(settled, now()).await.expect("settled");
    assert_eq!(kept, [claims.is_empty()]);
    let claimed = settle_all(&other, claims.into_iter().map(told).collect()).await;
    assert_eq!(claimed.contains(&true), !kept[0]);
    assert_eq!(sent(&one).await, 1);
}

async fn hands_at_once_settle_each_message_once(place: Place) {
    let stores = [place.open().await, place.open().await];
    let messages = (0..400).map(|n| message(&n.to_string(), 1 + (n % 10) as u8, now()));
    put(&stores[0], messages.collect()).await;
    let hands: Vec<_> = (0..8)
        .map(|n| {
            let store = stores[n % 2].clone();
            tokio::spawn(async move {
                let mut settled = 0;
                while store.queue.depth(scope()).await.expect("counted") > 0 {
                    settled += pass(&store, 1 + n).await;
                }
                settled
            })
        })
        .collect();
    let mut settled = 0;
    for hand in hands {
        settled += hand.await.expect("a hand to the end");
    }
    assert_eq!((settled, sent(&stores[0]).await), (400, 400));
}
