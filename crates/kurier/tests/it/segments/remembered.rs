//! Previews are remembered in the keyspace, and never told when they are no longer true.

use std::sync::Arc;

use kurier::flow::Reactor;
use kurier::keyring;
use kurier::preview::Previews;
use kurier_core::accept::{Reception, accept};
use kurier_core::expr::{Checked, Place};
use kurier_core::id::EventId;
use kurier_core::keys::{self, Lifetime, Ttls};
use kurier_core::segment::Preview;
use kurier_core::time::Timestamp;
use kurier_store::kv::{Kv, KvExt as _, Memory, Redis, Timeouts, Ttl};
use kurier_store::{Scope, Store, Workspace};
use tokio::net::TcpListener;

use crate::harness::Database;

const PROS: &str = "contact.plan = 'pro'";
const BUYERS: &str = "EXISTS (event WHERE event_type = 'buy' AND event_time > now() - 1h)";

fn second(n: i64) -> Timestamp {
    let start: Timestamp = "2026-01-01T00:00:00Z".parse().expect("a time");
    start.shifted(n * 1_000_000)
}

/// A log with one workspace, and a keyspace beside it.
struct Ground {
    _database: Database,
    store: Store,
    workspace: Workspace,
    keyspace: Arc<dyn Kv>,
    ttls: Ttls,
}

/// A process that folds the log and answers.
struct Process {
    reactor: Arc<Reactor>,
    previews: Previews,
}

impl Ground {
    async fn new(keyspace: Arc<dyn Kv>) -> Self {
        let database = Database::sqlite();
        let store = database.store().await;
        let founded = keyring::found(store.access.as_ref(), "w", None, None).await;
        founded.expect("a workspace");
        let workspaces = store.access.workspaces().await.expect("listed");
        Self {
            workspace: workspaces.into_iter().next().expect("one"),
            _database: database,
            store,
            keyspace,
            ttls: Ttls::default(),
        }
    }

    fn process(&self) -> Process {
        let reactor = Reactor::new(self.store.clone(), Arc::default(), None);
        let reactor = Arc::new(reactor);
        let previews = Previews::new(reactor.clone(), self.keyspace.clone(), self.ttls);
        Process {
            reactor,
            previews: previews.with_contacts_min(0),
        }
    }

    async fn say(&self, at: Timestamp, raw: &str) {
        let reception = Reception {
            key: &self.workspace.key,
            received_at: at,
            sent_at: None,
            kind: None,
            fresh_id: &|| EventId::of_message(&format!("{at} {raw}")),
        };
        let event = accept(raw, &reception).expect("accepted");
        let scope = Scope(self.workspace.id);
        let appended = self.store.log.append(scope, vec![event]).await;
        appended.expect("appended");
    }

    async fn identify(&self, at: Timestamp, user: &str, attribute: &str) {
        let raw =
            format!(r#"{{"type":"identify","userId":"{user}","traits":{{"{attribute}":"pro"}}}}"#);
        self.say(at, &raw).await;
    }
}

impl Process {
    /// What is told at `now`, after everything in the log was folded.
    async fn ask(&self, ground: &Ground, text: &str, now: Timestamp) -> Preview {
        self.reactor.look().await.expect("folded");
        self.tell(ground, text, now).await
    }

    async fn tell(&self, ground: &Ground, text: &str, now: Timestamp) -> Preview {
        let checked = Checked::new(text, Place::SEGMENT).expect("good");
        let told = self.previews.now(ground.workspace.id, checked, now).await;
        told.expect("an answer")
    }
}

#[track_caller]
fn assert_told(preview: &Preview, count: u64, found_at: Timestamp) {
    assert_eq!(
        (preview.count, preview.last_calculated),
        (count, found_at),
        "{preview:?}"
    );
    assert_eq!(preview.sample.len() as u64, count);
}

async fn previews_are_remembered_until_they_change(keyspace: Arc<dyn Kv>) {
    let ground = Ground::new(keyspace).await;
    let process = ground.process();
    ground.identify(second(0), "ann", "plan").await;
    ground.identify(second(1), "bob", "city").await;
    assert_told(&process.ask(&ground, PROS, second(2)).await, 1, second(2));
    assert_told(&process.ask(&ground, PROS, second(3)).await, 1, second(2));
    // What it does not read changes nothing.
    ground.identify(second(4), "bob", "country").await;
    assert_told(&process.ask(&ground, PROS, second(5)).await, 1, second(2));
    // What it reads does.
    ground.identify(second(6), "bob", "plan").await;
    assert_told(&process.ask(&ground, PROS, second(7)).await, 2, second(7));
    assert_told(&process.ask(&ground, PROS, second(8)).await, 2, second(7));
    // So does a contact that comes.
    ground.identify(second(9), "cleo", "plan").await;
    assert_told(&process.ask(&ground, PROS, second(10)).await, 3, second(10));
}

async fn time_ends_a_preview(keyspace: Arc<dyn Kv>) {
    let ground = Ground::new(keyspace).await;
    let process = ground.process();
    let buy = r#"{"type":"track","userId":"ann","event":"buy"}"#;
    ground.say(second(0), buy).await;
    assert_told(&process.ask(&ground, BUYERS, second(1)).await, 1, second(1));
    assert_told(
        &process.ask(&ground, BUYERS, second(3_599)).await,
        1,
        second(1),
    );
    assert_told(
        &process.ask(&ground, BUYERS, second(3_600)).await,
        0,
        second(3_600),
    );
}

async fn processes_share_what_they_remember(keyspace: Arc<dyn Kv>) {
    let ground = Ground::new(keyspace).await;
    let (first, other) = (ground.process(), ground.process());
    ground.identify(second(0), "ann", "plan").await;
    assert_told(&first.ask(&ground, PROS, second(1)).await, 1, second(1));
    assert_told(&other.ask(&ground, PROS, second(2)).await, 1, second(1));
    // Who is behind is told what is newer than its own world.
    ground.identify(second(3), "bob", "plan").await;
    assert_told(&first.ask(&ground, PROS, second(4)).await, 2, second(4));
    assert_told(&other.tell(&ground, PROS, second(5)).await, 2, second(4));
}

async fn an_emptied_keyspace_loses_only_warmth(keyspace: Arc<dyn Kv>) {
    let ground = Ground::new(keyspace).await;
    let process = ground.process();
    ground.identify(second(0), "ann", "plan").await;
    assert_told(&process.ask(&ground, PROS, second(1)).await, 1, second(1));
    let checked = Checked::new(PROS, Place::SEGMENT).expect("good");
    let key = keys::preview(ground.workspace.id, &checked, &ground.ttls);
    let ttl = ground.keyspace.ttl_ms(key.text()).await.expect("asked");
    assert!(
        matches!(ttl, Ttl::Ms(590_000..=600_000)),
        "it ends by itself: {ttl:?}"
    );
    let removed = ground.keyspace.delete(vec![key.text().to_owned()]).await;
    assert_eq!(removed.expect("deleted"), 1);
    assert_told(&process.ask(&ground, PROS, second(2)).await, 1, second(2));
    // What another version wrote there is not taken for an answer.
    let set = ground.keyspace.set(key.text(), "nonsense", None).await;
    set.expect("set");
    assert_told(&process.ask(&ground, PROS, second(3)).await, 1, second(3));
}

async fn a_preview_is_kept_as_long_as_the_settings_say(keyspace: Arc<dyn Kv>) {
    let mut ground = Ground::new(keyspace).await;
    ground.identify(second(0), "ann", "plan").await;
    let checked = Checked::new(PROS, Place::SEGMENT).expect("good");
    let key = keys::preview(ground.workspace.id, &checked, &ground.ttls);
    for (lifetime, is_kept) in [
        (Lifetime::seconds(60).expect("good"), |ttl| {
            matches!(ttl, Ttl::Ms(50_000..=60_000))
        }),
        (Lifetime::FOREVER, |ttl| matches!(ttl, Ttl::Forever)),
    ] as [(Lifetime, fn(Ttl) -> bool); 2]
    {
        ground.ttls.segment_metadata = lifetime;
        let removed = ground.keyspace.delete(vec![key.text().to_owned()]).await;
        removed.expect("deleted");
        ground.process().ask(&ground, PROS, second(1)).await;
        let ttl = ground.keyspace.ttl_ms(key.text()).await.expect("asked");
        assert!(is_kept(ttl), "{ttl:?}");
    }
}

fn memory() -> Arc<dyn Kv> {
    Arc::new(Memory::new(Arc::new(kurier::clock::now_ms)))
}

async fn redis(url: &str) -> Arc<dyn Kv> {
    let opened = Redis::open(url, Timeouts::default()).await;
    Arc::new(opened.expect("a usable address"))
}

/// Runs each named test, an `async fn(Arc<dyn Kv>)`, on the memory and on Redis.
macro_rules! on_both_keyspaces {
    ($($name:ident),* $(,)?) => {
        mod in_memory {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                super::$name(super::memory()).await;
            })*
        }
        mod in_redis {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                let url = std::env::var("TEST_REDIS_URL");
                let url = url.expect("TEST_REDIS_URL is not set: run ./dev test");
                super::$name(super::redis(&url).await).await;
            })*
        }
    };
}
on_both_keyspaces![
    previews_are_remembered_until_they_change,
    time_ends_a_preview,
    processes_share_what_they_remember,
    an_emptied_keyspace_loses_only_warmth,
    a_preview_is_kept_as_long_as_the_settings_say,
];

/// Nobody listens there, or whoever does never answers.
#[tokio::test(flavor = "multi_thread")]
async fn without_redis_every_answer_is_found_anew() {
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let closed = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let addresses = [&silent, &closed].map(|listener| listener.local_addr().expect("bound"));
    drop(closed);
    for address in addresses {
        let ground = Ground::new(redis(&format!("redis://{address}")).await).await;
        let process = ground.process();
        ground.identify(second(0), "ann", "plan").await;
        assert_told(&process.ask(&ground, PROS, second(1)).await, 1, second(1));
        assert_told(&process.ask(&ground, PROS, second(2)).await, 1, second(2));
    }
}
