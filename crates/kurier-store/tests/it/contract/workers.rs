//! Many workers over one queue: each message goes to one of them.

use std::collections::BTreeSet;

use std::time::Duration;

use kurier_core::id::MessageId;
use kurier_core::message::Then;
use kurier_store::{Queued, Store};
use sqlx::{AssertSqlSafe, PgPool};
use uuid::Uuid;

use super::dice::Dice;
use super::lanes::{LIMIT, many, per_minute, recipient, through};
use super::place::{Place, cases};
use super::queue::{claim, lane, message, put, scope, settle_all, settled};
use super::space::now;

cases! {
    place: seed_4_1_workers_at_once_claim_each_message_once,
    messages_put_at_once_are_queued_once,
    a_limit_is_kept_whatever_the_plan,
    the_lease_of_who_is_gone_is_free_at_once,
    resolution_a_rate_holds_for_all_processes,
    resolution_windows_hold_for_all_processes,
}

const WORKERS: u64 = 20;
const MESSAGES: u64 = 400;
/// So many that two statements are under way at the same time.
const MANY: u64 = 4_000;
const ROUNDS: usize = 3;
const LONG: Duration = Duration::from_secs(600);

fn messages(count: u64) -> Vec<Queued> {
    let message = |n: u64| message(&n.to_string(), 1 + (n % 10) as u8, now());
    (0..count).map(message).collect()
}

async fn seed_4_1_workers_at_once_claim_each_message_once(place: Place) {
    let stores = [place.open().await, place.open().await];
    put(&stores[0], messages(MESSAGES)).await;
    let workers: Vec<_> = (0..WORKERS)
        .map(|n| tokio::spawn(work(stores[n as usize % 2].clone(), n)))
        .collect();
    let mut claimed = Vec::new();
    for worker in workers {
        claimed.extend(worker.await.expect("a worker to the end"));
    }
    let distinct: BTreeSet<MessageId> = claimed.iter().copied().collect();
    assert_eq!((claimed.len(), distinct.len()), (400, 400));
    assert_eq!(stores[0].queue.depth(scope()).await.expect("counted"), 0);
}

/// Claims and settles until there is nothing more.
async fn work(store: Store, worker: u64) -> Vec<MessageId> {
    let mut dice = Dice::new(worker);
    let mut done = Vec::new();
    // A row that another worker is just claiming is passed over, so an empty hand is not
    // yet the end while rows are left.
    while store.queue.depth(scope()).await.expect("counted") > 0 {
        let claims = claim(&store, 0, 1 + dice.below(7) as usize).await;
        done.extend(claims.iter().map(|claim| claim.message.id));
        let settled = claims.into_iter().map(|claim| settled(claim, Then::Gone));
        let kept = settle_all(&store, settled.collect()).await;
        assert!(kept.into_iter().all(|kept| kept));
    }
    done
}

/// All put the same messages, half of them from the other end: nobody waits in a circle.
async fn messages_put_at_once_are_queued_once(place: Place) {
    let store = place.open().await;
    let forwards = messages(MANY);
    let backwards: Vec<Queued> = forwards.iter().rev().cloned().collect();
    let contacts: Vec<_> = forwards.iter().filter_map(|m| m.contact).collect();
    for _ in 0..ROUNDS {
        let batches = [&forwards, &backwards, &forwards, &backwards].map(Clone::clone);
        let putters = batches.map(|messages| {
            let store = store.clone();
            tokio::spawn(async move { put(&store, messages).await })
        });
        let mut new = 0;
        for putter in putters {
            new += putter.await.expect("queued");
        }
        assert_eq!(new as u64, MANY);
        let forgotten = store.queue.forget(scope(), &contacts).await;
        assert_eq!(forgotten.expect("emptied"), MANY);
    }
}

/// A claim must not be at the mercy of the plan: one that runs the inner query again for
/// every row takes more than it was asked for.
async fn a_limit_is_kept_whatever_the_plan(place: Place) {
    if let Place::Postgres(url) = &place {
        let pool = PgPool::connect(url).await.expect("connected");
        let database: String = sqlx::query_scalar("SELECT current_database()::text")
            .fetch_one(&pool)
            .await
            .expect("named");
        for plan in ["hashagg", "hashjoin", "material", "mergejoin", "sort"] {
            let sql = format!("ALTER DATABASE {database} SET enable_{plan} = off");
            let set = sqlx::raw_sql(AssertSqlSafe(sql)).execute(&pool).await;
            set.expect("set");
        }
        pool.close().await;
    }
    let store = place.open().await;
    put(&store, messages(MESSAGES)).await;
    for _ in 0..10 {
        assert_eq!(claim(&store, 0, 5).await.len(), 5);
    }
}

/// A process that ends without a word: its term is long, and nobody waits for it.
async fn the_lease_of_who_is_gone_is_free_at_once(place: Place) {
    let (ann, bob) = (Uuid::from_u128(1 << 100), Uuid::from_u128(2 << 100));
    let (hers, his) = (place.open().await, place.open().await);
    let first = hers.reactions.lease("reactor", ann, LONG).await;
    let first = first.expect("asked").expect("free");
    let asked = async || {
        his.reactions
            .lease("reactor", bob, LONG)
            .await
            .expect("asked")
    };
    assert_eq!(asked().await, None, "she lives");
    drop(hers);
    // PostgreSQL notices in a moment that a session is gone.
    let second = loop {
        if let Some(fence) = asked().await {
            break fence;
        }
    };
    assert!(second > first);
}

async fn resolution_a_rate_holds_for_all_processes(place: Place) {
    let stores = [place.open().await, place.open().await];
    put(&stores[0], many(300)).await;
    let worker = |store: Store| async move {
        let mut passed = 0;
        for _ in 0..20 {
            passed += through(&store, 0, 7, per_minute(100)).await.claims.len();
        }
        passed
    };
    let workers: Vec<_> = (0..4)
        .map(|n| tokio::spawn(worker(stores[n % 2].clone())))
        .collect();
    let mut passed = 0;
    for each in workers {
        passed += each.await.expect("to the end");
    }
    assert_eq!(passed, 100);
}

async fn resolution_windows_hold_for_all_processes(place: Place) {
    let stores = [place.open().await, place.open().await];
    let names: Vec<String> = (0..20).map(|n| n.to_string()).collect();
    let worker = |store: Store, turn: bool, mut names: Vec<String>| async move {
        if turn {
            names.reverse();
        }
        let mut granted = 0;
        for _ in 0..5 {
            let wants: Vec<_> = names.iter().map(|name| (recipient(name), 1)).collect();
            let allowed = store.gates.allow(&lane(), LIMIT, &wants, now()).await;
            granted += allowed
                .expect("asked")
                .iter()
                .map(|it| it.granted)
                .sum::<u32>();
        }
        granted
    };
    let workers: Vec<_> = (0..4)
        .map(|n| tokio::spawn(worker(stores[n % 2].clone(), n > 1, names.clone())))
        .collect();
    let mut granted = 0;
    for each in workers {
        granted += each.await.expect("to the end");
    }
    assert_eq!(granted, 60);
}
