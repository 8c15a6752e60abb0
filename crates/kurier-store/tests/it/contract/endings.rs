//! What comes to an end that is not a good one, and asking for messages.

use kurier_core::event::Kind;
use kurier_core::message::Then;
use kurier_store::{Asked, Once, Store};

use super::lanes::{kinds, many};
use super::place::cases;
use super::queue::{claim, put, scope, settle_all, settled};
use super::space::{Space, now, seconds};

cases! {
    resolution_dead_letters_are_terminal_until_redriven,
    what_is_discarded_is_gone,
    nothing_of_another_workspace_is_acted_on,
    a_request_is_logged_and_queued_together,
    a_name_stands_for_one_request,
}

async fn resolution_dead_letters_are_terminal_until_redriven(store: Store) {
    put(&store, many(2)).await;
    let claims = claim(&store, 0, 9).await;
    let all: Vec<_> = claims.iter().map(|claim| claim.message.id).collect();
    let aside = claims.into_iter().map(|claim| settled(claim, Then::Aside));
    assert_eq!(settle_all(&store, aside.collect()).await, [true; 2]);
    assert_eq!(claim(&store, 999_999, 9).await, []);
    assert_eq!(store.queue.depth(scope()).await.expect("counted"), 0);
    assert_eq!(
        store.queue.put(scope(), many(2), now()).await.expect("put"),
        0,
        "it is known"
    );
    let redriven = store.queue.redrive(scope(), &all[..1], seconds(50)).await;
    assert_eq!(redriven.expect("redriven"), all[..1]);
    let again = store.queue.redrive(scope(), &all[..1], seconds(50)).await;
    assert_eq!(again.expect("redriven"), []);
    assert_eq!(kinds(&store).await, [Kind::MessageRedriven]);
    let back = claim(&store, 50, 9).await.remove(0);
    assert_eq!(
        (back.message.id, back.attempts, back.before),
        (all[0], 2, 1)
    );
}

async fn what_is_discarded_is_gone(store: Store) {
    put(&store, many(1)).await;
    let one = claim(&store, 0, 9).await.remove(0);
    let id = [one.message.id];
    let early = store.queue.discard(scope(), &id, now()).await;
    assert_eq!(early.expect("asked"), [], "it is under way");
    settle_all(&store, vec![settled(one, Then::Aside)]).await;
    let discarded = store.queue.discard(scope(), &id, now()).await;
    assert_eq!(discarded.expect("discarded"), id);
    assert_eq!(kinds(&store).await, [Kind::MessageDiscarded]);
    let redriven = store.queue.redrive(scope(), &id, now()).await;
    assert_eq!(redriven.expect("asked"), []);
}

async fn nothing_of_another_workspace_is_acted_on(store: Store) {
    put(&store, many(1)).await;
    let one = claim(&store, 0, 9).await.remove(0);
    let id = [one.message.id];
    settle_all(&store, vec![settled(one, Then::Aside)]).await;
    let other = Space::new(2).scope;
    assert_eq!(
        store.queue.redrive(other, &id, now()).await.expect("asked"),
        []
    );
    assert_eq!(
        store.queue.discard(other, &id, now()).await.expect("asked"),
        []
    );
    assert_eq!(
        store
            .queue
            .redrive(scope(), &id, now())
            .await
            .expect("asked"),
        id
    );
}

async fn a_request_is_logged_and_queued_together(store: Store) {
    let request = super::reactions::request("ask");
    let asked = async || {
        let appended = store.queue.request(scope(), vec![request.clone()]).await;
        appended.expect("asked").len()
    };
    assert_eq!((asked().await, asked().await), (1, 1));
    assert_eq!(kinds(&store).await, [Kind::MessageRequested]);
    let claims = claim(&store, 0, 9).await;
    assert_eq!(claims.len(), 1);
    settle_all(&store, vec![settled(claims[0].clone(), Then::Gone)]).await;
    asked().await;
    assert_eq!(claim(&store, 1, 9).await, [], "it was dealt with");
}

async fn a_name_stands_for_one_request(store: Store) {
    let first = super::reactions::request("first");
    let ask = async |scope, name: &str, print: u8, since| {
        let once = Once {
            key: "order 7".into(),
            fingerprint: [print; 32],
            since: seconds(since),
        };
        let event = super::reactions::request(name);
        store
            .queue
            .request_once(scope, event, once)
            .await
            .expect("asked")
    };
    let id = kurier_core::id::MessageId::from_uuid(first.id.as_uuid());
    assert_eq!(ask(scope(), "first", 1, -60).await, Asked::New);
    assert_eq!(ask(scope(), "second", 1, -60).await, Asked::Again(id));
    assert_eq!(ask(scope(), "third", 2, -60).await, Asked::Otherwise);
    assert_eq!(ask(Space::new(2).scope, "theirs", 2, -60).await, Asked::New);
    assert_eq!(claim(&store, 0, 9).await.len(), 1);
    // What was asked for long ago is forgotten, by whoever asks or by pruning.
    assert_eq!(ask(scope(), "fourth", 3, 60).await, Asked::New);
    store.queue.prune(seconds(60)).await.expect("pruned");
    assert_eq!(ask(scope(), "fifth", 4, -60).await, Asked::New);
}
