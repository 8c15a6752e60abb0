//! From an event to a message that can be looked at, over a real database.

use std::collections::BTreeMap;

use kurier_core::event::{Event, Kind, Position};
use kurier_core::id::{EventId, JourneyId};
use kurier_core::journey::{Publication, read_document};
use kurier_core::message::channel::{ChannelSettings, Setup};
use kurier_core::message::{AddressKind, GateLimits, MessageState, OnUnknown, Policy, Then};
use kurier_store::{Claiming, MessageQuery, NewChannel, Scope, Settled, Sqlite, Workspace};
use tempfile::TempDir;

use super::*;
use crate::channel::outbox::Outbox;
use crate::channel::{Outside, Registry};
use crate::flow::{Projector, Reactor};
use crate::keyring;
use crate::links::Links;
use crate::secret::Vault;
use kurier_core::net::Guard;

const WELCOME: &str = "
name: welcome
nodes:
  - {id: start, node_type: trigger, event_type: signed_up, next_node_id: send}
  - {id: send, node_type: send_message, channel: email, template: hello, next_node_id: done}
  - {id: done, node_type: exit}
";

struct Stage {
    _home: TempDir,
    store: Store,
    workspace: Workspace,
}

impl Stage {
    async fn new() -> Self {
        let home = tempfile::tempdir().expect("a folder");
        let store = Store::from(Sqlite::open(&home.path().join("kurier.db")).expect("opened"));
        let made = keyring::found(store.access.as_ref(), "default", None, None).await;
        made.expect("founded");
        let workspace = store.access.workspaces().await.expect("listed").remove(0);
        let stage = Self {
            _home: home,
            store,
            workspace,
        };
        let publication = Publication {
            journey: JourneyId::of_name("welcome"),
            version: 1,
            definition: read_document(WELCOME).expect("YAML"),
            segments: BTreeMap::new(),
        };
        let payload = serde_json::to_string(&publication).expect("JSON");
        stage.append(Kind::JourneyPublished, None, payload).await;
        stage
    }

    async fn append(&self, kind: Kind, user: Option<&str>, payload: String) {
        let now = clock::now();
        let event = Event {
            id: EventId::of_message(&payload),
            kind,
            contact: user.map(|user| self.workspace.key.contact_of_user(user)),
            occurred_at: now,
            recorded_at: now,
            payload,
        };
        let scope = Scope(self.workspace.id);
        let appended = self.store.log.append(scope, vec![event]).await;
        appended.expect("appended");
    }

    async fn sign_up(&self, user: &str) {
        let payload = format!(r#"{{"userId":"{user}","event":"signed_up"}}"#);
        self.append(Kind::Track, Some(user), payload).await;
    }

    /// Lets a reactor react until there is nothing more to do.
    async fn react(&self) {
        let reactor = Arc::new(Reactor::new(self.store.clone(), Arc::default(), None));
        let head = self.store.log.head().await.expect("read");
        tokio::select! {
            reached = reactor.reach(head, Duration::from_secs(30)) => assert!(reached),
            () = reactor.clone().run() => unreachable!("it runs until it is dropped"),
        }
        reactor.release().await;
    }

    fn deliverer(&self) -> Deliverer {
        let vault = Arc::new(Vault::new(None, None));
        let outside = Outside::new(Guard::default());
        let routes = Registry::new(self.store.channels.clone(), vault, outside);
        self.deliverer_by(Arc::new(routes))
    }

    fn deliverer_by(&self, routes: Arc<dyn Routes>) -> Deliverer {
        let templates = Projector::of_templates(self.store.clone(), Arc::default());
        let post = Post::new(self.store.clone(), Links::default(), Arc::new(templates));
        let (store, post) = (self.store.clone(), Arc::new(post));
        Deliverer::new(store, routes, post, Arc::default())
    }

    async fn states(&self) -> Vec<MessageState> {
        let projector = Projector::of_messages(self.store.clone(), Arc::default());
        projector.drain().await.expect("folded");
        let query = MessageQuery {
            limit: 10,
            ..MessageQuery::default()
        };
        let scope = Scope(self.workspace.id);
        let page = self.store.messages.messages(scope, &query).await;
        let messages = page.expect("read").messages;
        messages.iter().map(|message| message.state).collect()
    }

    async fn told(&self, kind: Kind) -> usize {
        let log = self.store.log.read(Position(0), 1_000).await.expect("read");
        log.iter()
            .filter(|recorded| recorded.event.kind == kind)
            .count()
    }
}

#[tokio::test]
async fn a_message_is_queued_with_its_request_and_taken_once() {
    let stage = Stage::new().await;
    stage.sign_up("ann").await;
    stage.sign_up("bob").await;
    stage.react().await;
    assert_eq!(stage.states().await, [MessageState::Queued; 2]);
    let deliverer = stage.deliverer();
    assert_eq!(deliverer.turn().await.expect("delivered"), 2);
    assert_eq!(deliverer.turn().await.expect("delivered"), 0);
    assert_eq!(stage.states().await, [MessageState::Sent; 2]);
    assert_eq!(stage.told(Kind::MessageSent).await, 2);
    // Another process that follows the whole log asks for nothing again.
    stage.react().await;
    assert_eq!(stage.told(Kind::MessageRequested).await, 2);
    assert_eq!(deliverer.turn().await.expect("delivered"), 0);
}

/// A worker claims and dies: when its lease is over, another takes the message, and what the
/// first says of it later counts for nothing.
#[tokio::test]
async fn what_a_dead_worker_held_is_taken_by_another() {
    let stage = Stage::new().await;
    stage.sign_up("ann").await;
    stage.react().await;
    let now = clock::now();
    let lane = Lane {
        workspace: stage.workspace.id,
        channel: "email".into(),
    };
    let claiming = Claiming {
        now,
        lease_until: now,
        limit: 10,
        gate: None,
    };
    let dead = stage.store.queue.claim(&lane, claiming).await;
    let dead = dead.expect("claimed").claims.remove(0);
    let deliverer = stage.deliverer();
    assert_eq!(deliverer.turn().await.expect("delivered"), 1);
    let late = Settled {
        claim: dead,
        then: Then::Gone,
        events: Vec::new(),
    };
    let late = stage.store.queue.settle(vec![late], now, None).await;
    assert_eq!(late.expect("settled"), [false]);
    assert_eq!(stage.told(Kind::MessageSent).await, 1);
}

/// The channel is set up otherwise between the moment its lane's route is found and the claim.
struct Overtaken {
    store: Store,
    scope: Scope,
    times: std::sync::atomic::AtomicUsize,
}

impl Overtaken {
    async fn set_up(&self) {
        let kept = self.store.channels.channel(self.scope, "email").await;
        let seen = kept.expect("read").map(|kept| kept.revision);
        let channel = NewChannel {
            name: "email".into(),
            settings: ChannelSettings::of(Setup::Outbox),
            secrets: None,
        };
        let event = Event {
            id: clock::fresh_event_id(),
            kind: Kind::ChannelConfigured,
            contact: None,
            occurred_at: clock::now(),
            recorded_at: clock::now(),
            payload: "{}".into(),
        };
        let set = &self.store.channels;
        let set = set.set_channel(self.scope, channel, seen, event).await;
        assert!(set.expect("set up").is_some());
    }
}

#[async_trait::async_trait]
impl Routes for Overtaken {
    async fn find(&self, _: &Lane) -> Result<Route> {
        let kept = self.store.channels.channel(self.scope, "email").await?;
        let revision = kept.expect("set up").revision;
        let channel: Arc<dyn crate::channel::Channel> = Arc::new(Outbox);
        if self.times.fetch_add(1, Ordering::Relaxed) == 0 {
            self.set_up().await;
        }
        Ok(Route {
            via: Via::Channel(channel),
            gate: GateLimits {
                revision,
                ..GateLimits::default()
            },
            policy: Policy {
                max_retries: 0,
                on_unknown: OnUnknown::Ask,
            },
            contact_limit: None,
            address_kind: AddressKind::Email,
            needs_address: false,
        })
    }
}

#[tokio::test]
async fn nothing_goes_by_a_route_that_is_no_more() {
    let stage = Stage::new().await;
    stage.sign_up("ann").await;
    stage.react().await;
    let overtaken = Overtaken {
        store: stage.store.clone(),
        scope: Scope(stage.workspace.id),
        times: Default::default(),
    };
    overtaken.set_up().await;
    let deliverer = stage.deliverer_by(Arc::new(overtaken));
    assert_eq!(deliverer.turn().await.expect("delivered"), 0);
    assert_eq!(stage.told(Kind::MessageSending).await, 0);
    assert_eq!(deliverer.turn().await.expect("delivered"), 1);
    assert_eq!(stage.told(Kind::MessageSending).await, 1);
}

/// Something stands in it that cannot be had: asked for at once, it would be asked for forever.
#[test]
fn a_lane_that_gives_nothing_rests() {
    let lane = Lane {
        workspace: kurier_core::id::WorkspaceId::new(clock::now(), [1; 10]),
        channel: "email".into(),
    };
    let after = |settled| {
        let mut shift = Shift::default();
        let served = Served {
            settled,
            ..Served::default()
        };
        shift.ended(Ok((lane.clone(), Ok(served))));
        shift.turns(vec![lane.clone()])
    };
    assert!(after(0).is_empty());
    assert_eq!(after(1), std::slice::from_ref(&lane));
}
