//! Lanes, the gates before them, and what comes to an end that is not a good one.

use kurier_core::event::{Kind, Position};
use kurier_core::id::ContactId;
use kurier_core::message::{ContactLimit, GateLimits, GateReason, Over, Report, Signal, Then};
use kurier_core::time::Timestamp;
use kurier_store::{Claimed, Claiming, Lane, Lesson, Queued, Store};
use uuid::Uuid;

use super::place::cases;
use super::queue::{claim, claim_from, lane, message, put, scope, settle_all, settled};
use super::space::{Space, now, seconds};

cases! {
    a_line_names_each_lane_once,
    a_line_says_when_to_look_again,
    resolution_waiting_longer_makes_up_for_priority,
    resolution_what_is_due_later_hides_nothing,
    a_gate_lets_so_many_pass_and_the_log_is_told,
    resolution_an_open_breaker_spends_no_attempt,
    who_goes_by_old_settings_does_not_pass,
    a_half_open_gate_lets_one_pass,
    resolution_what_a_dead_worker_held_is_not_lost,
    who_died_before_sending_is_not,
    an_attempt_that_does_not_count_is_not_counted,
    a_recipient_gets_so_many_in_a_window,
}

fn of(channel: &str, id: &str, due_at: Timestamp) -> Queued {
    Queued {
        channel: channel.to_owned(),
        ..message(id, 5, due_at)
    }
}

fn ids(claimed: &[kurier_store::Claim]) -> String {
    let id =
        |claim: &kurier_store::Claim| claim.message.payload.split('"').nth(3).map(str::to_owned);
    claimed.iter().filter_map(id).collect::<Vec<_>>().join(" ")
}

pub async fn through(store: &Store, second: i64, limit: usize, gate: GateLimits) -> Claimed {
    store.queue.line(seconds(second)).await.expect("in line");
    let claiming = Claiming {
        now: seconds(second),
        lease_until: seconds(second + 10),
        limit,
        gate: Some(gate),
    };
    store.queue.claim(&lane(), claiming).await.expect("claimed")
}

pub fn per_minute(rate: u32) -> GateLimits {
    GateLimits {
        per_minute: Some(rate),
        ..GateLimits::default()
    }
}

async fn begin(store: &Store, claims: &[kurier_store::Claim], second: i64) -> Vec<bool> {
    let begun = store.queue.begin(claims, seconds(second)).await;
    begun.expect("begun")
}

fn lesson(second: i64, signals: &[Signal]) -> Lesson {
    Lesson {
        lane: lane(),
        limits: GateLimits::default(),
        now: seconds(second),
        signals: signals.to_vec(),
        rests_until: None,
    }
}

async fn learn(store: &Store, lesson: Lesson) {
    let at = lesson.now;
    let settled = store.queue.settle(Vec::new(), at, Some(lesson)).await;
    settled.expect("settled");
}

pub async fn kinds(store: &Store) -> Vec<Kind> {
    let log = store.log.read(Position(0), 1_000).await.expect("read");
    log.iter().map(|recorded| recorded.event.kind).collect()
}

pub fn many(count: usize) -> Vec<Queued> {
    (0..count)
        .map(|n| message(&n.to_string(), 5, now()))
        .collect()
}

async fn a_line_names_each_lane_once(store: Store) {
    let ours = [("email", "a"), ("email", "b"), ("sms", "c"), ("slack", "d")];
    put(
        &store,
        ours.map(|(channel, id)| of(channel, id, now())).into(),
    )
    .await;
    let other = Space::new(2).scope;
    let theirs = vec![of("email", "a", now())];
    store.queue.put(other, theirs, now()).await.expect("queued");
    let line = store.queue.line(now()).await.expect("in line");
    let mut lanes: Vec<_> = line
        .lanes
        .iter()
        .map(|it| (it.workspace == other.0, it.channel.as_str()))
        .collect();
    lanes.sort_unstable();
    assert_eq!(
        lanes,
        [
            (false, "email"),
            (false, "slack"),
            (false, "sms"),
            (true, "email")
        ]
    );
    let sms = Lane {
        channel: "sms".into(),
        ..lane()
    };
    assert_eq!(ids(&claim_from(&store, &sms, 0, 9).await), "c");
    let line = store.queue.line(now()).await.expect("in line");
    assert_eq!(line.lanes.len(), 3);
}

async fn a_line_says_when_to_look_again(store: Store) {
    assert_eq!(store.queue.line(now()).await.expect("in line").next, None);
    put(
        &store,
        vec![of("email", "later", seconds(7)), message("now", 5, now())],
    )
    .await;
    assert_eq!(
        store.queue.line(now()).await.expect("in line").next,
        Some(seconds(7))
    );
    claim(&store, -5, 9).await;
    let line = store.queue.line(now()).await.expect("in line");
    assert_eq!(line.next, Some(seconds(5)), "a lease ends");
}

/// One priority for each minute.
async fn resolution_waiting_longer_makes_up_for_priority(store: Store) {
    let messages = vec![
        message("low and long", 3, seconds(-180)),
        message("high", 5, seconds(-59)),
        message("higher", 10, seconds(0)),
    ];
    put(&store, messages).await;
    assert_eq!(ids(&claim(&store, 0, 9).await), "higher low and long high");
}

async fn resolution_what_is_due_later_hides_nothing(store: Store) {
    let mut messages: Vec<Queued> = (0..500)
        .map(|n| message(&format!("later {n}"), 10, seconds(1)))
        .collect();
    messages.push(message("now", 1, now()));
    put(&store, messages).await;
    assert_eq!(ids(&claim(&store, 0, 1).await), "now");
    assert_eq!(claim(&store, 0, 9).await, []);
    assert_eq!(claim(&store, 1, 1_000).await.len(), 500);
}

async fn a_gate_lets_so_many_pass_and_the_log_is_told(store: Store) {
    put(&store, many(10)).await;
    let claims = through(&store, 0, 2, per_minute(3)).await.claims;
    assert_eq!(claims.len(), 2);
    assert_eq!(through(&store, 0, 9, per_minute(3)).await.claims.len(), 1);
    let closed = through(&store, 0, 9, per_minute(3)).await;
    assert_eq!(closed.claims, []);
    let closed = closed.closed.expect("a reason");
    assert_eq!(
        (closed.by, closed.until),
        (GateReason::RateLimit, seconds(20))
    );
    assert_eq!(kinds(&store).await, []);
    let mut taken = claims[1].clone();
    taken.fence -= 1;
    let begun = begin(&store, &[claims[0].clone(), taken], 0).await;
    assert_eq!(begun, [true, false]);
    assert_eq!(kinds(&store).await, [Kind::MessageSending]);
    let log = store.log.read(Position(0), 10).await.expect("read");
    let report: Report = serde_json::from_str(&log[0].event.payload).expect("a report");
    assert_eq!((report.attempt, log[0].event.contact.is_some()), (1, true));
}

async fn resolution_an_open_breaker_spends_no_attempt(store: Store) {
    put(&store, many(2)).await;
    learn(&store, lesson(0, &[Signal::Bad; 5])).await;
    let claimed = through(&store, 59, 9, GateLimits::default()).await;
    assert_eq!(claimed.closed.expect("a reason").until, seconds(60));
    let gates = store.gates.gates(scope()).await.expect("read");
    assert_eq!(gates[0].1.breaker.as_str(), "open");
    assert_eq!(kinds(&store).await, []);
    let other = store.gates.gates(Space::new(2).scope).await;
    assert_eq!(other.expect("read"), []);
    let claims = through(&store, 60, 9, GateLimits::default()).await.claims;
    assert_eq!(claims.len(), 1);
    assert!(claims.iter().all(|claim| claim.attempts == 1));
}

/// Who set out by older settings would hand a message to where it no longer belongs.
async fn who_goes_by_old_settings_does_not_pass(store: Store) {
    let of = |revision| GateLimits {
        revision: Position(revision),
        ..GateLimits::default()
    };
    put(&store, many(2)).await;
    let told = |second, revision, signals: &[Signal]| Lesson {
        limits: of(revision),
        ..lesson(second, signals)
    };
    learn(&store, told(0, 3, &[Signal::Down])).await;
    assert_eq!(through(&store, 1, 9, of(3)).await.claims, []);
    assert_eq!(through(&store, 1, 1, of(7)).await.claims.len(), 1);
    assert_eq!(through(&store, 1, 9, of(3)).await, Claimed::default());
    learn(&store, told(2, 3, &[Signal::Down])).await;
    assert_eq!(through(&store, 3, 9, of(7)).await.claims.len(), 1);
}

async fn a_half_open_gate_lets_one_pass(store: Store) {
    put(&store, many(5)).await;
    learn(&store, lesson(0, &[Signal::Down])).await;
    assert_eq!(
        through(&store, 60, 9, GateLimits::default())
            .await
            .claims
            .len(),
        1
    );
    assert_eq!(
        through(&store, 61, 9, GateLimits::default())
            .await
            .claims
            .len(),
        0
    );
    learn(&store, lesson(62, &[Signal::Good])).await;
    assert_eq!(
        through(&store, 62, 9, GateLimits::default())
            .await
            .claims
            .len(),
        1
    );
    learn(&store, lesson(63, &[Signal::Good])).await;
    assert_eq!(
        through(&store, 63, 9, GateLimits::default())
            .await
            .claims
            .len(),
        3
    );
}

async fn resolution_what_a_dead_worker_held_is_not_lost(store: Store) {
    put(&store, many(1)).await;
    let first = through(&store, 0, 9, GateLimits::default())
        .await
        .claims
        .remove(0);
    assert!(!first.is_interrupted);
    assert_eq!(begin(&store, std::slice::from_ref(&first), 0).await, [true]);
    let second = through(&store, 10, 9, GateLimits::default())
        .await
        .claims
        .remove(0);
    assert!(second.is_interrupted);
    assert_eq!(second.attempts, 2);
    let told = [Kind::MessageSending, Kind::MessageUnknown];
    assert_eq!(kinds(&store).await, told);
    assert_eq!(
        begin(&store, std::slice::from_ref(&first), 10).await,
        [false]
    );
    let late = settle_all(&store, vec![settled(first, Then::Gone)]).await;
    assert_eq!(late, [false]);
    let again = settled(second, Then::Again(seconds(10)));
    assert_eq!(settle_all(&store, vec![again]).await, [true]);
    let third = through(&store, 11, 9, GateLimits::default())
        .await
        .claims
        .remove(0);
    assert!(!third.is_interrupted, "the one before it lived");
}

async fn who_died_before_sending_is_not(store: Store) {
    put(&store, many(1)).await;
    through(&store, 0, 9, GateLimits::default()).await;
    let second = through(&store, 10, 9, GateLimits::default())
        .await
        .claims
        .remove(0);
    assert!(!second.is_interrupted);
    assert_eq!((second.attempts, kinds(&store).await.len()), (1, 0));
}

async fn an_attempt_that_does_not_count_is_not_counted(store: Store) {
    put(&store, many(1)).await;
    let first = claim(&store, 0, 9).await.remove(0);
    let held = settled(first, Then::Uncounted(seconds(5)));
    assert_eq!(settle_all(&store, vec![held]).await, [true]);
    assert_eq!(claim(&store, 4, 9).await, []);
    let second = claim(&store, 5, 9).await.remove(0);
    assert_eq!((second.attempts, second.fence), (1, 2));
}

pub const LIMIT: ContactLimit = ContactLimit {
    max: 3,
    window_seconds: 60,
    then: Over::Wait,
};

pub fn recipient(name: &str) -> Uuid {
    ContactId::as_uuid(Space::new(1).user(name))
}

async fn a_recipient_gets_so_many_in_a_window(store: Store) {
    let (ann, bob) = (recipient("ann"), recipient("bob"));
    let allow = async |second, wants: &[(Uuid, u32)]| {
        let allowed = store
            .gates
            .allow(&lane(), LIMIT, wants, seconds(second))
            .await;
        let allowed = allowed.expect("asked");
        allowed.iter().map(|it| it.granted).collect::<Vec<_>>()
    };
    assert_eq!(allow(0, &[(bob, 1), (ann, 2)]).await, [1, 2]);
    assert_eq!(allow(59, &[(ann, 2), (bob, 2)]).await, [1, 2]);
    assert_eq!(allow(59, &[(ann, 1)]).await, [0]);
    assert_eq!(allow(60, &[(ann, 4)]).await, [3]);
    let sms = Lane {
        channel: "sms".into(),
        ..lane()
    };
    let other = store
        .gates
        .allow(&sms, LIMIT, &[(ann, 1)], seconds(60))
        .await;
    assert_eq!(other.expect("asked")[0].granted, 1);
}
