//! The loop over a real database: a lease that is lost, a reaction that comes too late, and
//! snapshots that can and cannot be used.

use kurier_core::engine::Snapshot;
use kurier_core::id::{ContactId, EventId, SegmentId};
use kurier_core::segment::Definition;
use kurier_store::{Appended, Scope, Snapshots, Sqlite, Workspace};
use tempfile::TempDir;

use super::*;
use crate::keyring;

const TERM: Duration = Duration::from_secs(60);

/// A database with a workspace and one segment.
struct Stage {
    home: TempDir,
    store: Store,
    workspace: Workspace,
}

impl Stage {
    async fn new() -> Self {
        let home = tempfile::tempdir().expect("a folder");
        let sqlite = Sqlite::open(&home.path().join("kurier.db")).expect("opened");
        let store = Store::from(sqlite);
        let made = keyring::found(store.access.as_ref(), "default", None, None).await;
        made.expect("founded");
        let workspace = store.access.workspaces().await.expect("listed").remove(0);
        let stage = Self {
            home,
            store,
            workspace,
        };
        let segment = SegmentId::new(clock::now(), clock::random());
        let pros = Definition::new(segment, "Pros", Some("contact.plan = 'pro'")).expect("good");
        let pros = serde_json::to_string(&pros).expect("JSON");
        stage.append(Kind::SegmentCreated, None, pros).await;
        stage
    }

    async fn append(&self, kind: Kind, contact: Option<ContactId>, payload: String) -> Position {
        let (id, now) = (EventId::of_message(&payload), clock::now());
        let event = Event {
            id,
            kind,
            contact,
            occurred_at: now,
            recorded_at: now,
            payload,
        };
        let appended = self
            .store
            .log
            .append(Scope(self.workspace.id), vec![event])
            .await;
        match appended.expect("appended").first() {
            Some(Appended::At(position)) => *position,
            other => panic!("{other:?}"),
        }
    }

    async fn pro(&self, user: &str) -> Position {
        let contact = self.workspace.key.contact_of_user(user);
        let payload = format!(r#"{{"userId":"{user}","traits":{{"plan":"pro"}}}}"#);
        self.append(Kind::Identify, Some(contact), payload).await
    }

    fn snapshots(&self) -> Snapshots {
        Snapshots::new(self.home.path().join("snapshots"))
    }

    fn reactor(&self) -> Reactor {
        self.reactor_after(1)
    }

    /// One that writes a snapshot after so many events, and at its end.
    fn reactor_after(&self, events: i64) -> Reactor {
        let keeping = Keeping {
            snapshots: self.snapshots(),
            events,
            every: Duration::ZERO,
        };
        Reactor::new(self.store.clone(), Arc::default(), Some(keeping))
    }

    /// Who entered, by the log.
    async fn entered(&self) -> Vec<ContactId> {
        let log = self.store.log.read(Position(0), 1_000).await.expect("read");
        let entered = log.iter().filter(|r| r.event.kind == Kind::SegmentEntered);
        entered
            .filter_map(|recorded| recorded.event.contact)
            .collect()
    }

    fn contacts(&self, users: &[&str]) -> Vec<ContactId> {
        let key = &self.workspace.key;
        users.iter().map(|user| key.contact_of_user(user)).collect()
    }

    /// Another process takes the lease, as it may when this one has slept.
    async fn usurp(&self, reactor: &Reactor) -> Uuid {
        let usurper = Uuid::from_bytes(clock::random());
        reactor.release().await;
        let fence = self.store.reactions.lease(NAME, usurper, TERM).await;
        assert!(fence.expect("asked").is_some());
        usurper
    }
}

async fn settle(reactor: &Reactor) {
    while reactor.turn().await.expect("a turn") == Duration::ZERO {}
}

#[tokio::test]
async fn who_lost_the_lease_writes_nothing_and_follows() {
    let stage = Stage::new().await;
    let reactor = stage.reactor();
    stage.pro("u").await;
    settle(&reactor).await;
    assert_eq!(stage.entered().await, stage.contacts(&["u"]));
    let usurper = stage.usurp(&reactor).await;
    // It believes that it leads, and the fence stops it.
    assert!(reactor.state.lock().await.fence.is_some());
    let position = stage.pro("v").await;
    reactor.turn().await.expect("a turn");
    assert!(reactor.state.lock().await.fence.is_none());
    settle(&reactor).await;
    assert_eq!(stage.entered().await, stage.contacts(&["u"]));
    assert!(reactor.position() < position, "it follows");
    // When it comes to lead again, it decides what nobody did.
    let released = stage.store.reactions.release(NAME, usurper).await;
    released.expect("released");
    reactor.state.lock().await.renewed = None;
    settle(&reactor).await;
    assert_eq!(stage.entered().await, stage.contacts(&["u", "v"]));
    assert!(reactor.position() >= position);
}

#[tokio::test]
async fn a_lease_that_is_gone_is_noticed_at_its_renewal() {
    let stage = Stage::new().await;
    let reactor = stage.reactor();
    settle(&reactor).await;
    stage.usurp(&reactor).await;
    stage.pro("u").await;
    reactor.state.lock().await.renewed = None;
    settle(&reactor).await;
    assert!(reactor.state.lock().await.fence.is_none());
    assert_eq!(stage.entered().await, []);
}

#[tokio::test]
async fn who_was_overtaken_begins_anew_and_tells_nothing_twice() {
    let stage = Stage::new().await;
    let reactor = stage.reactor();
    stage.pro("u").await;
    settle(&reactor).await;
    // Someone moved the checkpoint over an event that this one has yet to decide.
    let position = stage.pro("v").await;
    let moved = stage.store.views.set_checkpoint(NAME, position).await;
    moved.expect("moved");
    settle(&reactor).await;
    assert_eq!(stage.entered().await, stage.contacts(&["u", "v"]));
    let state = reactor.state.lock().await;
    assert!(state.fence.is_some() && state.pending.is_empty());
}

/// What a fresh process makes of the snapshots there are: where it went on, and who is in.
async fn restarted(stage: &Stage) -> (Position, usize) {
    let reactor = stage.reactor();
    let mut state = State::default();
    reactor.restore(&mut state).await.expect("restored");
    let at = state.position;
    drop(state);
    settle(&reactor).await;
    reactor.release().await;
    let engines = reactor.engines();
    let checked =
        kurier_core::expr::Checked::new("contact.plan = 'pro'", kurier_core::expr::Place::SEGMENT);
    let realm = engines[&stage.workspace.id].realm();
    let found = realm.preview(&checked.expect("good"), clock::now());
    (at, found.members.len() as usize)
}

/// A process reacted, wrote a snapshot and ended.
async fn ended(stage: &Stage) -> kurier_store::Kept {
    let reactor = stage.reactor();
    stage.pro("u").await;
    settle(&reactor).await;
    reactor.stop().await;
    stage.snapshots().newest().expect("listed").expect("there")
}

#[tokio::test]
async fn a_start_goes_on_from_the_newest_snapshot() {
    let stage = Stage::new().await;
    let kept = ended(&stage).await;
    assert!(kept.position > Position(0));
    stage.pro("v").await;
    assert_eq!(restarted(&stage).await, (kept.position, 2));
    assert_eq!(stage.entered().await, stage.contacts(&["u", "v"]));
}

#[tokio::test]
async fn a_snapshot_ahead_of_the_checkpoint_is_discarded() {
    let stage = Stage::new().await;
    let kept = ended(&stage).await;
    let behind = Position(kept.position.0 - 1);
    let moved = stage.store.views.set_checkpoint(NAME, behind).await;
    moved.expect("moved");
    let (at, members) = restarted(&stage).await;
    assert!(at < kept.position);
    assert_eq!(members, 1);
    assert_eq!(stage.entered().await, stage.contacts(&["u"]));
}

#[tokio::test]
async fn a_snapshot_of_a_position_that_is_not_there_is_discarded() {
    let stage = Stage::new().await;
    let kept = ended(&stage).await;
    let position = Position(kept.position.0 + 1_000);
    let read = Snapshot::read(&mut kept.open().expect("opened")).expect("read");
    let (_, event, engines) = read;
    let snapshot = Snapshot::of((position, event), position, &engines).expect("copied");
    let snapshots = stage.snapshots();
    let ahead = snapshots.keep(position, |out| snapshot.write(out));
    ahead.expect("kept");
    assert_eq!(restarted(&stage).await, (kept.position, 1));
}

#[tokio::test]
async fn an_erasure_discards_what_was_written_before_it() {
    let stage = Stage::new().await;
    let kept = ended(&stage).await;
    let contact = stage.contacts(&["u"])[0];
    let payload = format!(
        r#"{{"contacts":["{contact}"],"addresses":[],"positions":[],"seen":{}}}"#,
        kept.position.0
    );
    let erased = stage
        .append(Kind::ContactErased, Some(contact), payload)
        .await;
    // One alone would not push the older out.
    let reactor = stage.reactor_after(1_000);
    settle(&reactor).await;
    assert_eq!(stage.snapshots().newest().expect("listed"), None);
    reactor.stop().await;
    let all = stage.snapshots().all().expect("listed");
    assert!(!all.is_empty());
    assert!(all.iter().all(|kept| kept.position >= erased), "{all:?}");
}
