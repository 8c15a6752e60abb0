//! The queue: what is due, to one worker at a time, until it is settled.

use kurier_core::event::Position;
use kurier_core::id::{ContactId, MessageId};
use kurier_core::message::Then;
use kurier_core::time::Timestamp;
use kurier_store::{Claim, Claiming, Lane, Queued, Scope, Settled, Store};

use super::place::cases;
use super::space::{Space, event, now, seconds};

cases! {
    a_message_is_queued_once,
    a_claim_brings_everything,
    seed_4_1_priority_goes_first_then_the_longest_due,
    seed_4_1_what_is_scheduled_waits_for_its_time,
    a_limit_is_kept,
    what_is_leased_is_not_claimed,
    a_lease_that_ended_is_claimed_with_a_higher_fence,
    an_old_fence_settles_nothing,
    done_leaves_the_queue,
    retry_waits_for_its_time,
    settling_answers_each_claim,
    what_is_settled_is_told_with_it,
    forgetting_takes_what_is_for_a_contact,
    depth_is_by_workspace,
}

pub fn scope() -> Scope {
    Space::new(1).scope
}

pub fn message(id: &str, priority: u8, due_at: Timestamp) -> Queued {
    Queued {
        id: MessageId::from_uuid(kurier_core::id::EventId::of_message(id).as_uuid()),
        contact: Some(contact(id)),
        channel: "email".to_owned(),
        priority,
        due_at,
        payload: format!(r#"{{"id":"{id}"}}"#),
    }
}

fn contact(id: &str) -> ContactId {
    Space::new(1).user(id)
}

/// Queues at second 0.
pub async fn put(store: &Store, messages: Vec<Queued>) -> usize {
    let put = store.queue.put(scope(), messages, now()).await;
    put.expect("queued")
}

pub fn lane() -> Lane {
    Lane {
        workspace: scope().0,
        channel: "email".to_owned(),
    }
}

/// Lets what is due stand in line, and claims from the lane, at a second and for ten.
pub async fn claim(store: &Store, second: i64, limit: usize) -> Vec<Claim> {
    claim_from(store, &lane(), second, limit).await
}

pub async fn claim_from(store: &Store, lane: &Lane, second: i64, limit: usize) -> Vec<Claim> {
    store.queue.line(seconds(second)).await.expect("in line");
    let claiming = Claiming {
        now: seconds(second),
        lease_until: seconds(second + 10),
        limit,
        gate: None,
    };
    let claimed = store.queue.claim(lane, claiming).await;
    claimed.expect("claimed").claims
}

/// A claim dealt with, without a word to the log.
pub fn settled(claim: Claim, then: Then) -> Settled {
    let events = Vec::new();
    Settled {
        claim,
        then,
        events,
    }
}

pub async fn settle_all(store: &Store, settled: Vec<Settled>) -> Vec<bool> {
    let answers = store.queue.settle(settled, now(), None).await;
    answers.expect("settled")
}

async fn settle(store: &Store, claim: &Claim, then: Then) -> bool {
    settle_all(store, vec![settled(claim.clone(), then)]).await[0]
}

async fn depth(store: &Store) -> u64 {
    store.queue.depth(scope()).await.expect("counted")
}

/// The ids in the payloads, in order.
fn ids(claims: &[Claim]) -> String {
    let id = |claim: &Claim| claim.message.payload.split('"').nth(3).map(str::to_owned);
    claims.iter().filter_map(id).collect::<Vec<_>>().join(" ")
}

async fn a_message_is_queued_once(store: Store) {
    let first = vec![
        message("a", 5, now()),
        message("b", 5, now()),
        message("a", 9, now()),
    ];
    assert_eq!(put(&store, first).await, 2);
    assert_eq!(
        put(&store, vec![message("b", 9, now()), message("c", 5, now())]).await,
        1
    );
    assert_eq!(put(&store, Vec::new()).await, 0);
    assert_eq!(depth(&store).await, 3);
    let claims = claim(&store, 0, 10).await;
    assert!(claims.iter().all(|claim| claim.message.priority == 5));
    let other = Space::new(2).scope;
    let theirs = store
        .queue
        .put(other, vec![message("a", 5, now())], now())
        .await;
    assert_eq!(theirs.expect("queued"), 1);
}

async fn a_claim_brings_everything(store: Store) {
    let mut sent = vec![message("a", 10, now()), message("b", 1, now())];
    sent[1].contact = None;
    sent[1].payload = "ä 🦀 ' \\".to_owned();
    put(&store, sent.clone()).await;
    let claims = claim(&store, 0, 10).await;
    let brought: Vec<Queued> = claims.iter().map(|claim| claim.message.clone()).collect();
    assert_eq!(brought, sent);
    assert!(claims.iter().all(|claim| claim.workspace == scope().0));
    assert!(
        claims
            .iter()
            .all(|claim| (claim.attempts, claim.fence) == (1, 1))
    );
}

async fn seed_4_1_priority_goes_first_then_the_longest_due(store: Store) {
    let messages = [
        ("low", 1, -90),
        ("late", 5, -10),
        ("early", 5, -20),
        ("high", 10, -1),
    ];
    let messages = messages.map(|(id, priority, due)| message(id, priority, seconds(due)));
    put(&store, messages.into()).await;
    assert_eq!(ids(&claim(&store, 0, 2).await), "high early");
    assert_eq!(ids(&claim(&store, 0, 10).await), "late low");
}

async fn seed_4_1_what_is_scheduled_waits_for_its_time(store: Store) {
    put(
        &store,
        vec![message("now", 1, now()), message("later", 10, seconds(2))],
    )
    .await;
    assert_eq!(ids(&claim(&store, 0, 10).await), "now");
    assert_eq!(ids(&claim(&store, 1, 10).await), "");
    assert_eq!(ids(&claim(&store, 2, 10).await), "later");
}

async fn a_limit_is_kept(store: Store) {
    // Few rows first, so that a planner takes the table for small when it has grown.
    put(&store, vec![message("first", 1, now())]).await;
    assert_eq!(claim(&store, 0, 0).await, []);
    let many = (0..50).map(|n| message(&n.to_string(), 5, now())).collect();
    put(&store, many).await;
    for left in (0..50).step_by(5).rev() {
        assert_eq!(claim(&store, 0, 5).await.len(), 5, "before {left}");
    }
    assert_eq!(ids(&claim(&store, 0, usize::MAX).await), "first");
}

async fn what_is_leased_is_not_claimed(store: Store) {
    put(&store, vec![message("a", 5, now())]).await;
    assert_eq!(claim(&store, 0, 10).await.len(), 1);
    assert_eq!(claim(&store, 0, 10).await, []);
    assert_eq!(claim(&store, 9, 10).await, []);
    assert_eq!(depth(&store).await, 1);
}

async fn a_lease_that_ended_is_claimed_with_a_higher_fence(store: Store) {
    put(&store, vec![message("a", 5, now())]).await;
    let first = claim(&store, 0, 10).await.remove(0);
    let second = claim(&store, 10, 10).await.remove(0);
    assert_eq!(second.message, first.message);
    assert!(second.fence > first.fence);
    assert_eq!(
        (first.attempts, second.attempts),
        (1, 1),
        "it was not tried"
    );
}

async fn an_old_fence_settles_nothing(store: Store) {
    put(&store, vec![message("a", 5, now())]).await;
    let slow = claim(&store, 0, 10).await.remove(0);
    let quick = claim(&store, 10, 10).await.remove(0);
    assert!(!settle(&store, &slow, Then::Gone).await);
    assert!(!settle(&store, &slow, Then::Again(now())).await);
    assert_eq!(
        (depth(&store).await, claim(&store, 11, 10).await.len()),
        (1, 0)
    );
    assert!(settle(&store, &quick, Then::Gone).await);
}

async fn done_leaves_the_queue(store: Store) {
    put(&store, vec![message("a", 5, now()), message("b", 4, now())]).await;
    let claims = claim(&store, 0, 10).await;
    assert!(settle(&store, &claims[0], Then::Gone).await);
    assert!(!settle(&store, &claims[0], Then::Gone).await);
    assert_eq!(depth(&store).await, 1);
    assert_eq!(ids(&claim(&store, 20, 10).await), "b");
}

async fn retry_waits_for_its_time(store: Store) {
    put(&store, vec![message("a", 5, now())]).await;
    let first = claim(&store, 0, 10).await.remove(0);
    assert!(settle(&store, &first, Then::Again(seconds(5))).await);
    assert!(
        !settle(&store, &first, Then::Gone).await,
        "it was given back"
    );
    assert_eq!(claim(&store, 4, 10).await, []);
    let second = claim(&store, 5, 10).await.remove(0);
    assert_eq!((second.attempts, second.message.due_at), (2, seconds(5)));
    assert!(second.fence > first.fence);
    assert!(settle(&store, &second, Then::Gone).await);
}

async fn settling_answers_each_claim(store: Store) {
    let messages = (0..4).map(|n| message(&n.to_string(), 10 - n, now()));
    put(&store, messages.collect()).await;
    let claims = claim(&store, 0, 10).await;
    let mut old = claims[1].clone();
    old.fence -= 1;
    let mut foreign = claims[2].clone();
    foreign.workspace = Space::new(2).scope.0;
    let settled = vec![
        settled(claims[0].clone(), Then::Gone),
        settled(old, Then::Gone),
        settled(foreign, Then::Gone),
        settled(claims[3].clone(), Then::Again(seconds(1))),
    ];
    let answers = settle_all(&store, settled).await;
    assert_eq!(answers, [true, false, false, true]);
    assert_eq!(depth(&store).await, 3);
    assert_eq!(settle_all(&store, Vec::new()).await, [true; 0]);
}

async fn what_is_settled_is_told_with_it(store: Store) {
    put(&store, vec![message("a", 5, now()), message("b", 5, now())]).await;
    let claims = claim(&store, 0, 10).await;
    let tell = |claim: &Claim, fence: i64, name: &str| Settled {
        claim: Claim {
            fence,
            ..claim.clone()
        },
        then: Then::Gone,
        events: vec![event(name)],
    };
    let (first, second) = (&claims[0], &claims[1]);
    let all = vec![
        tell(first, first.fence, "told"),
        tell(second, second.fence - 1, "not ours"),
    ];
    let answers = settle_all(&store, all).await;
    assert_eq!(answers, [true, false]);
    let log = store.log.read(Position(0), 10).await.expect("read");
    let ids: Vec<_> = log.iter().map(|recorded| recorded.event.id).collect();
    assert_eq!(ids, [event("told").id]);
    assert_eq!((log[0].workspace, depth(&store).await), (scope().0, 1));
}

async fn forgetting_takes_what_is_for_a_contact(store: Store) {
    let mut nobody = message("d", 5, now());
    nobody.contact = None;
    let others = ["b", "c"].map(|id| message(id, 5, now()));
    put(&store, vec![message("a", 9, now()), nobody]).await;
    put(&store, others.into()).await;
    let claimed = claim(&store, 0, 1).await.remove(0);
    let other = Space::new(2).scope;
    let theirs = store
        .queue
        .put(other, vec![message("a", 5, now())], now())
        .await;
    assert_eq!(theirs.expect("queued"), 1);
    let forget = async |contacts: &[ContactId]| {
        let forgotten = store.queue.forget(scope(), contacts).await;
        forgotten.expect("forgotten")
    };
    assert_eq!(forget(&[]).await, 0);
    assert_eq!(forget(&[contact("a"), contact("b"), contact("z")]).await, 2);
    assert_eq!((depth(&store).await, forget(&[contact("a")]).await), (2, 0));
    assert_eq!(store.queue.depth(other).await.expect("counted"), 1);
    assert!(!settle(&store, &claimed, Then::Gone).await, "it is gone");
}

async fn depth_is_by_workspace(store: Store) {
    assert_eq!(depth(&store).await, 0);
    put(
        &store,
        vec![message("a", 5, now()), message("b", 5, seconds(100))],
    )
    .await;
    claim(&store, 0, 10).await;
    assert_eq!(depth(&store).await, 2);
    let other = store.queue.depth(Space::new(2).scope).await;
    assert_eq!(other.expect("counted"), 0);
}
