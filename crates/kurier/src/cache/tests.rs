//! Reads through the cache equal reads of the store, whatever happens meanwhile.

mod erasure;
mod stage;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use kurier_core::contact::Contact;
use kurier_core::event::Kind;
use kurier_core::keys::{Lifetime, Ttls};
use kurier_store::TimelineQuery;
use kurier_store::kv::{KvExt as _, Ttl};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use self::stage::{Process, Stage, USERS};
use super::*;

const BEFALLS: Kind = Kind::MessageSent;

#[derive(Debug, Clone)]
enum Step {
    Identify {
        user: u8,
        value: u8,
    },
    /// Something an anonymous contact does; with a user it becomes that user's.
    Browse {
        anonymous: u8,
        user: Option<u8>,
    },
    Erase {
        user: u8,
    },
    /// Something that befell a contact: it stands in its timeline and changes nothing else.
    Befall {
        user: u8,
    },
    Fold {
        process: usize,
    },
    /// The edge lags behind.
    FoldAlone {
        process: usize,
    },
    Read {
        process: usize,
    },
    ReadAtLeast {
        process: usize,
    },
    Evict {
        process: usize,
    },
    Flush,
    Away(bool),
    /// What was acknowledged last is lost.
    FailOver {
        lost: usize,
    },
}

fn any_step() -> impl Strategy<Value = Step> {
    let (who, which) = (|| 0..USERS, || 0..2_usize);
    prop_oneof![
        4 => (who(), any::<u8>()).prop_map(|(user, value)| Step::Identify { user, value }),
        3 => (who(), prop::option::of(who()))
            .prop_map(|(anonymous, user)| Step::Browse { anonymous, user }),
        1 => who().prop_map(|user| Step::Erase { user }),
        2 => who().prop_map(|user| Step::Befall { user }),
        5 => which().prop_map(|process| Step::Fold { process }),
        2 => which().prop_map(|process| Step::FoldAlone { process }),
        6 => which().prop_map(|process| Step::Read { process }),
        2 => which().prop_map(|process| Step::ReadAtLeast { process }),
        1 => which().prop_map(|process| Step::Evict { process }),
        1 => Just(Step::Flush),
        1 => any::<bool>().prop_map(Step::Away),
        2 => (1..8_usize).prop_map(|lost| Step::FailOver { lost }),
    ]
}

async fn take(stage: &Stage, processes: &[Process], step: &Step) -> Result<(), TestCaseError> {
    match step {
        Step::Identify { user, value } => drop(stage.identify(*user, *value).await),
        Step::Browse { anonymous, user } => {
            let user_id =
                user.map_or_else(String::new, |user| format!(r#""userId":"user {user}","#));
            let payload =
                format!(r#"{{{user_id}"anonymousId":"anonymous {anonymous}","event":"x"}}"#);
            let contact = user.map_or_else(|| stage.anonymous(*anonymous), |user| stage.user(user));
            stage.append(Kind::Track, contact, payload).await;
        }
        Step::Erase { user } => drop(stage.erase(stage.user(*user)).await),
        Step::Befall { user } => {
            let contact = stage.user(*user);
            stage.append(BEFALLS, contact, "{}".to_owned()).await;
        }
        Step::Fold { process } => processes[*process].step().await,
        Step::FoldAlone { process } => {
            processes[*process].projector.step().await.unwrap();
        }
        Step::FailOver { lost } => stage.redis.fail_over(*lost).await,
        Step::Evict { process } => processes[*process].shelf.clear(),
        Step::Flush => stage.redis.flush(),
        Step::Away(is_away) => stage.redis.is_away.store(*is_away, Ordering::SeqCst),
        Step::Read { process } => {
            return compare(stage, &processes[*process], Freshness::Now).await;
        }
        Step::ReadAtLeast { process } => {
            let at = stage.store.views.checkpoint("contacts").await.unwrap();
            return compare(stage, &processes[*process], Freshness::AtLeast(at)).await;
        }
    }
    Ok(())
}

async fn compare(stage: &Stage, process: &Process, asked: Freshness) -> Result<(), TestCaseError> {
    let read = process
        .contacts
        .live(stage.scope(), &stage.ids(), asked)
        .await
        .unwrap();
    prop_assert_eq!(&read, &stage.truth().await);
    for contact in read.values() {
        compare_events(stage, process, contact).await?;
    }
    Ok(())
}

async fn compare_events(
    stage: &Stage,
    process: &Process,
    contact: &Contact,
) -> Result<(), TestCaseError> {
    let query = TimelineQuery {
        limit: 3,
        ..TimelineQuery::default()
    };
    let views = &stage.store.views;
    let truth = views.timeline(stage.scope(), &contact.ids(), &query).await;
    let read = process.recent.page(stage.scope(), contact, query.limit);
    let (truth, read) = (truth.unwrap(), read.await.unwrap());
    prop_assert_eq!(read.events, truth.events);
    prop_assert_eq!(read.has_more, truth.has_more);
    Ok(())
}

#[test]
fn reads_through_the_cache_equal_reads_of_the_store() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut runner = TestRunner::new(ProptestConfig {
        cases: 150,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let levels = [Level::L1, Level::L2, Level::Store];
    let (found, events) = (Mutex::new([0; 3]), Mutex::new([0; 3]));
    let outcome = runner.run(&vec(any_step(), 1..60), |steps| {
        runtime.block_on(async {
            let stage = Stage::new().await;
            // One remembers all, the other hardly anything.
            let processes = [stage.process(1 << 20), stage.process(2_000)];
            for step in &steps {
                take(&stage, &processes, step).await?;
            }
            for process in &processes {
                let mut found = found.lock().unwrap();
                for (found, level) in found.iter_mut().zip(levels) {
                    *found += process.contacts.tally().found(level);
                }
                let mut events = events.lock().unwrap();
                for (events, level) in events.iter_mut().zip(levels) {
                    *events += process.recent.tally().found(level);
                }
            }
            Ok(())
        })
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    for found in [found, events] {
        let [l1, l2, store] = *found.lock().unwrap();
        assert!(
            l1 > store / 10 && l2 > store / 40,
            "a cache that is never asked is never wrong: {l1} {l2} {store}"
        );
    }
}

/// While one process folds, another reads: never older than what it asks for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_never_sees_less_than_it_asks_for() {
    let stage = Arc::new(Stage::new().await);
    let (folding, reading) = (stage.process(1 << 20), stage.process(1 << 20));
    let (told, mut heard) = tokio::sync::watch::channel((Position(0), 0_u8));
    let writer = tokio::spawn({
        let stage = stage.clone();
        async move {
            for value in 1..=100 {
                let position = stage.identify(0, value).await;
                folding.fold().await;
                told.send((position, value)).unwrap();
            }
        }
    });
    while heard.changed().await.is_ok() {
        let (position, value) = *heard.borrow_and_update();
        let asked = Freshness::AtLeast(position);
        let read = reading
            .contacts
            .live_one(stage.scope(), stage.user(0), asked)
            .await;
        let contact = read.unwrap().unwrap();
        let kurier_core::value::Value::Int(seen) = contact.attributes["value"] else {
            panic!("{contact:?}");
        };
        assert!(seen >= i64::from(value), "{seen} instead of {value}");
    }
    writer.await.unwrap();
    let beyond = Freshness::AtLeast(Position(i64::MAX));
    let refused = reading
        .contacts
        .live_one(stage.scope(), stage.user(0), beyond)
        .await;
    assert!(refused.is_err());
}

/// A Redis that took another's place tells what was true before: nobody believes it, and what is
/// read from the store takes its place.
#[tokio::test]
async fn what_redis_lost_is_read_from_the_store_and_put_back() {
    let stage = Stage::new().await;
    let (first, second) = (stage.process(1 << 20), stage.process(1 << 20));
    stage.identify(0, 1).await;
    first.fold().await;
    compare(&stage, &second, Freshness::Now).await.unwrap();
    assert_eq!(second.contacts.tally().found(Level::L2), 1);
    let before = stage.redis.writes();
    stage.identify(0, 2).await;
    first.fold().await;
    let lost = stage.redis.writes() - before;
    stage.redis.fail_over(lost).await;
    let held = stage.redis.get(&stage.key(stage.user(0))).await.unwrap();
    assert!(String::from_utf8_lossy(&held.unwrap()).contains("value\":1"));
    let [l2, store] = [Level::L2, Level::Store].map(|it| second.contacts.tally().found(it));
    compare(&stage, &second, Freshness::Now).await.unwrap();
    assert_eq!(second.contacts.tally().found(Level::L2), l2);
    assert!(second.contacts.tally().found(Level::Store) > store);
    let third = stage.process(1 << 20);
    compare(&stage, &third, Freshness::Now).await.unwrap();
    assert_eq!(third.contacts.tally().found(Level::L2), 1);
}

/// Nobody told what changed while Redis was away, so what it holds counts for nothing, until
/// someone has read the same again.
#[tokio::test]
async fn what_did_not_change_is_found_again_after_a_gap() {
    let stage = Stage::new().await;
    let first = stage.process(1 << 20);
    stage.identify(0, 1).await;
    first.fold().await;
    stage.redis.is_away.store(true, Ordering::SeqCst);
    stage.identify(1, 1).await;
    first.projector.drain().await.unwrap();
    stage.redis.is_away.store(false, Ordering::SeqCst);
    let found = async |process: &Process| {
        let id = stage.user(0);
        let read = process.contacts.live_one(stage.scope(), id, Freshness::Now);
        assert!(read.await.unwrap().is_some());
        let tally = process.contacts.tally();
        (tally.found(Level::L2), tally.found(Level::Store))
    };
    assert_eq!(found(&stage.process(1 << 20)).await, (0, 1));
    assert_eq!(found(&stage.process(1 << 20)).await, (1, 0));
}

/// Many ask for the same at once: the store is asked once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stampede_asks_the_store_once() {
    let stage = Arc::new(Stage::new().await);
    stage.identify(0, 1).await;
    let process = Arc::new(stage.process(1 << 20));
    process.projector.drain().await.unwrap();
    process.shelf.clear();
    stage.redis.flush();
    let readers = (0..100).map(|_| {
        let (stage, process) = (stage.clone(), process.clone());
        tokio::spawn(async move {
            let id = stage.user(0);
            let read = process
                .contacts
                .live_one(stage.scope(), id, Freshness::Now)
                .await;
            assert!(read.unwrap().is_some());
        })
    });
    for reader in readers.collect::<Vec<_>>() {
        reader.await.unwrap();
    }
    assert_eq!(process.contacts.tally().read(), (99, 1));
}

#[tokio::test]
async fn documents_are_found_by_their_version() {
    let stage = Stage::new().await;
    let documents = |bytes_max| {
        let remote = Some(Remote::new(stage.redis.clone()));
        let shelf = Arc::new(Shelf::new(bytes_max));
        Documents::new("template", shelf, remote, Ttls::default())
    };
    let (first, second) = (documents(1 << 20), documents(0));
    let id = kurier_core::id::TemplateId::of_name("hello");
    let key = kurier_core::keys::cache::template(stage.workspace.id, id, &first.ttls);
    let ask = async |from: &Documents, version: u32, stored: Option<&str>| {
        let stored = stored.map(str::to_owned);
        let found = from
            .version(&key, version, async || Ok(stored))
            .await
            .unwrap();
        found.map(|text| text.to_string())
    };
    assert_eq!(ask(&first, 1, None).await, None);
    assert_eq!(ask(&first, 1, Some("one")).await.as_deref(), Some("one"));
    // Neither asks the store again, and the second has no memory of its own.
    assert_eq!(ask(&first, 1, None).await.as_deref(), Some("one"));
    assert_eq!(ask(&second, 1, None).await.as_deref(), Some("one"));
    assert_eq!(ask(&second, 2, Some("two")).await.as_deref(), Some("two"));
    assert_eq!(ask(&first, 2, None).await.as_deref(), Some("two"));
    // An old one is not in its place any more; whoever wants it asks the store.
    assert_eq!(ask(&second, 1, Some("one")).await.as_deref(), Some("one"));
    assert_eq!(first.tally().read(), (2, 2));
    assert_eq!(second.tally().read(), (1, 2));
}

#[tokio::test]
async fn documents_without_a_time_to_live_stay() {
    let stage = Stage::new().await;
    let ttls = Ttls {
        template: Lifetime::FOREVER,
        ..Ttls::default()
    };
    let (shelf, remote) = (Arc::new(Shelf::new(0)), Remote::new(stage.redis.clone()));
    let documents = Documents::new("template", shelf, Some(remote), ttls);
    let id = kurier_core::id::TemplateId::of_name("hello");
    let key = kurier_core::keys::cache::template(stage.workspace.id, id, &documents.ttls);
    let kept = documents.version(&key, 1, async || Ok(Some("one".to_owned())));
    assert_eq!(kept.await.unwrap().as_deref(), Some("one"));
    let ttl = stage.redis.ttl_ms(key.text()).await.unwrap();
    assert_eq!(ttl, Ttl::Forever);
}
