//! A database, a Redis that comes and goes, and processes that share both.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use kurier_core::contact::Contact;
use kurier_core::edge::ContactProfile;
use kurier_core::event::{Erasure, Event, Kind, Position};
use kurier_core::id::ContactId;
use kurier_core::keys::Ttls;
use kurier_store::kv::{Command, Error, Kv, Memory, Reply, Script};
use kurier_store::{Appended, Scope, Sqlite, Store, Workspace};
use tempfile::TempDir;

use crate::cache::{Changes, Contacts, Recent, Remote, Shelf};
use crate::flow::edge::{Edge, EdgeSettings};
use crate::flow::{Projector, live_contacts};
use crate::{clock, keyring};

/// How many users there may be, and as many anonymous contacts.
pub const USERS: u8 = 4;

/// Redis as it may be: emptied, away and back, or replaced by one that has not heard of the last
/// writes, although they were acknowledged.
pub struct Fickle {
    kv: Mutex<Arc<Memory>>,
    written: Mutex<Vec<Write>>,
    pub is_away: AtomicBool,
}

#[derive(Clone)]
enum Write {
    Run(Vec<Command>),
    Script(Script, Vec<String>, Vec<Vec<u8>>),
}

impl Write {
    async fn again(self, kv: &Memory) {
        match self {
            Self::Run(commands) => drop(kv.run(commands).await.unwrap()),
            Self::Script(script, keys, args) => {
                kv.script(&script, &keys, &args).await.unwrap();
            }
        }
    }
}

impl Fickle {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            kv: Mutex::new(fresh()),
            written: Mutex::default(),
            is_away: AtomicBool::new(false),
        })
    }

    pub fn flush(&self) {
        self.written.lock().unwrap().clear();
        *self.kv.lock().unwrap() = fresh();
    }

    /// Another one takes its place, which lacks the last `lost` writes.
    pub async fn fail_over(&self, lost: usize) {
        let kept = {
            let mut written = self.written.lock().unwrap();
            let count = written.len().saturating_sub(lost);
            written.truncate(count);
            written.clone()
        };
        let replica = fresh();
        for write in kept {
            write.again(&replica).await;
        }
        *self.kv.lock().unwrap() = replica;
    }

    /// How many there were, of those that are not lost.
    pub fn writes(&self) -> usize {
        self.written.lock().unwrap().len()
    }

    fn note(&self, write: Write) {
        self.written.lock().unwrap().push(write);
    }

    fn kv(&self) -> Result<Arc<Memory>, Error> {
        let is_away = self.is_away.load(Ordering::SeqCst);
        let away = || Error::Unavailable("away".to_owned());
        (!is_away)
            .then(|| self.kv.lock().unwrap().clone())
            .ok_or_else(away)
    }
}

fn fresh() -> Arc<Memory> {
    Arc::new(Memory::new(Arc::new(|| 1_700_000_000_000)))
}

#[async_trait]
impl Kv for Fickle {
    async fn run(&self, commands: Vec<Command>) -> Result<Vec<Reply>, Error> {
        let kv = self.kv()?;
        let is_get = |command: &Command| matches!(command, Command::Get { .. });
        if !commands.iter().all(is_get) {
            self.note(Write::Run(commands.clone()));
        }
        kv.run(commands).await
    }

    async fn script(
        &self,
        script: &Script,
        keys: &[String],
        args: &[Vec<u8>],
    ) -> Result<Reply, Error> {
        let kv = self.kv()?;
        self.note(Write::Script(*script, keys.to_vec(), args.to_vec()));
        kv.script(script, keys, args).await
    }

    async fn ping(&self) -> Result<(), Error> {
        self.kv().map(drop)
    }
}

/// What one process has for itself.
pub struct Process {
    pub shelf: Arc<Shelf>,
    pub contacts: Contacts,
    pub recent: Recent,
    pub changes: Arc<Changes>,
    pub projector: Projector,
    pub edge: Arc<Edge<ContactProfile>>,
}

impl Process {
    /// What a server does again and again.
    pub async fn fold(&self) {
        self.projector.drain().await.unwrap();
        self.edge.drain().await.unwrap();
    }

    /// A step of both. The edge stands still while Redis is away.
    pub async fn step(&self) {
        self.projector.step().await.unwrap();
        let _ = self.edge.step().await;
    }
}

pub struct Stage {
    _home: TempDir,
    pub store: Store,
    pub workspace: Workspace,
    pub redis: Arc<Fickle>,
}

impl Stage {
    pub async fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let store = Store::from(Sqlite::open(&home.path().join("kurier.db")).unwrap());
        keyring::found(store.access.as_ref(), "default", None, None)
            .await
            .unwrap();
        let workspace = store.access.workspaces().await.unwrap().remove(0);
        Self {
            _home: home,
            store,
            workspace,
            redis: Fickle::new(),
        }
    }

    pub fn scope(&self) -> Scope {
        Scope(self.workspace.id)
    }

    /// With a memory of so many bytes.
    pub fn process(&self, bytes_max: u64) -> Process {
        let shelf = Arc::new(Shelf::new(bytes_max));
        let remote = Some(Remote::new(self.redis.clone()));
        let (store, ttls) = (self.store.clone(), Ttls::default());
        let projector = Projector::of_contacts(store.clone(), Arc::default());
        let edge = Arc::new(self.edge(&projector, ttls));
        let at_edge = Some(edge.clone());
        let in_redis = remote.clone();
        let changes = Changes::new(store.clone(), shelf.clone(), in_redis, at_edge, ttls);
        let changes = Arc::new(changes);
        let (told, kept) = (changes.clone(), shelf.clone());
        Process {
            recent: Recent::new(store.clone(), told, kept, remote, ttls),
            projector: projector.telling(changes.clone()),
            contacts: Contacts::new(store, changes.clone(), shelf.clone(), Some(edge.clone())),
            changes,
            shelf,
            edge,
        }
    }

    fn edge(&self, projector: &Projector, ttls: Ttls) -> Edge<ContactProfile> {
        let settings = EdgeSettings {
            environment: "test".to_owned(),
            ttls,
        };
        let (store, redis) = (self.store.clone(), self.redis.clone());
        Edge::new(store, redis, projector, settings, clock::now)
    }

    /// Where a contact stands in Redis.
    pub fn key(&self, id: ContactId) -> String {
        format!("contact.profile:v1:{{{}}}:contact:{id}", self.workspace.id)
    }

    /// Where its newest events stand, in Redis and in a process.
    pub fn events_key(&self, id: ContactId) -> String {
        format!("events:{}:{id}:recent", self.workspace.id)
    }

    pub fn user(&self, number: u8) -> ContactId {
        self.workspace
            .key
            .contact_of_user(&format!("user {number}"))
    }

    pub fn anonymous(&self, number: u8) -> ContactId {
        self.workspace
            .key
            .contact_of_anonymous(&format!("anonymous {number}"))
    }

    /// Everyone there may be.
    pub fn ids(&self) -> Vec<ContactId> {
        let users = (0..USERS).map(|number| self.user(number));
        users
            .chain((0..USERS).map(|number| self.anonymous(number)))
            .collect()
    }

    pub async fn append(&self, kind: Kind, contact: ContactId, payload: String) -> Position {
        let now = clock::now();
        let event = Event {
            id: clock::fresh_event_id(),
            kind,
            contact: Some(contact),
            occurred_at: now,
            recorded_at: now,
            payload,
        };
        let appended = self
            .store
            .log
            .append(self.scope(), vec![event])
            .await
            .unwrap();
        match appended[0] {
            Appended::At(position) => position,
            ref other => panic!("{other:?}"),
        }
    }

    pub async fn identify(&self, user: u8, value: u8) -> Position {
        let payload = format!(r#"{{"userId":"user {user}","traits":{{"value":{value}}}}}"#);
        self.append(Kind::Identify, self.user(user), payload).await
    }

    pub async fn erase(&self, contact: ContactId) -> Position {
        let erasure = Erasure {
            contacts: vec![contact],
            addresses: vec![],
            positions: vec![],
            seen: self.store.log.head().await.unwrap(),
        };
        let payload = serde_json::to_string(&erasure).unwrap();
        self.append(Kind::ContactErased, contact, payload).await
    }

    pub async fn truth(&self) -> HashMap<ContactId, Contact> {
        live_contacts(&self.store, self.scope(), &self.ids())
            .await
            .unwrap()
    }
}
