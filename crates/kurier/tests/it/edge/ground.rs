//! A log with workspaces, their read models, and a keyspace beside them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use async_trait::async_trait;
use kurier::flow::Projector;
use kurier::flow::edge::{Edge, EdgeSettings};
use kurier::keyring;
use kurier_core::accept::{Reception, accept};
use kurier_core::edge::{ContactProfile, Module, NotificationSlack};
use kurier_core::event::{Event, Kind};
use kurier_core::id::{ContactId, EventId, SlackWorkspaceId};
use kurier_core::keys::Ttls;
use kurier_core::time::Timestamp;
use kurier_store::kv::{Command, Error, Kv, KvExt as _, Memory, Reply, Script, Ttl};
use kurier_store::{Scope, Store, Workspace};
use serde_json::{Value, json};

use super::cluster::Cluster;
use super::redis::Server;
use crate::harness::Database;

pub const NOW: &str = "2026-03-01T00:00:00Z";

pub fn now() -> Timestamp {
    NOW.parse().expect("a time")
}

pub struct Ground {
    pub database: Database,
    pub store: Store,
    pub workspaces: Vec<Workspace>,
    pub keyspace: Arc<dyn Kv>,
    /// Of the keyspace in memory.
    pub clock_ms: Option<Arc<AtomicU64>>,
    pub redis: Option<Server>,
    pub cluster: Option<Cluster>,
    pub contacts: Arc<Projector>,
    slack: Arc<Projector>,
}

impl Ground {
    pub async fn memory() -> Self {
        let (keyspace, clock_ms) = memory();
        Self::new(keyspace, Some(clock_ms), None).await
    }

    pub async fn redis() -> Self {
        let server = Server::start().await;
        let keyspace = Arc::new(server.open().await);
        Self::new(keyspace, None, Some(server)).await
    }

    pub async fn cluster() -> Self {
        let cluster = Cluster::start().await;
        let keyspace = Arc::new(cluster.open().await);
        Self {
            cluster: Some(cluster),
            ..Self::new(keyspace, None, None).await
        }
    }

    /// With a Redis, over this database.
    pub async fn over(database: Database) -> Self {
        let server = Server::start().await;
        let keyspace = Arc::new(server.open().await);
        let ground = Self::with(database, keyspace, None, Some(server)).await;
        // Where a log is in parts, there is one for the time of these tests.
        ground.store.log.maintain(now()).await.expect("made");
        ground
    }

    async fn new(
        keyspace: Arc<dyn Kv>,
        clock_ms: Option<Arc<AtomicU64>>,
        redis: Option<Server>,
    ) -> Self {
        Self::with(Database::sqlite(), keyspace, clock_ms, redis).await
    }

    async fn with(
        database: Database,
        keyspace: Arc<dyn Kv>,
        clock_ms: Option<Arc<AtomicU64>>,
        redis: Option<Server>,
    ) -> Self {
        let store = database.store().await;
        for name in ["one", "two"] {
            let founded = keyring::found(store.access.as_ref(), name, None, None).await;
            founded.expect("a workspace");
        }
        let mut workspaces = store.access.workspaces().await.expect("listed");
        workspaces.sort_by(|a, b| a.name.cmp(&b.name));
        Self {
            contacts: Arc::new(Projector::of_contacts(store.clone(), Arc::default())),
            slack: Arc::new(Projector::of_slack_workspaces(
                store.clone(),
                Arc::default(),
            )),
            database,
            store,
            workspaces,
            keyspace,
            clock_ms,
            redis,
            cluster: None,
        }
    }

    pub fn scope(&self, workspace: usize) -> Scope {
        Scope(self.workspaces[workspace].id)
    }

    pub fn tenant(&self, workspace: usize) -> String {
        self.workspaces[workspace].id.to_string()
    }

    pub fn settings() -> EdgeSettings {
        EdgeSettings {
            environment: "dev".to_owned(),
            ttls: Ttls::default(),
        }
    }

    /// The edge as a process that was just started has it.
    pub fn slack(&self) -> Edge<NotificationSlack> {
        self.slack_with(self.keyspace.clone(), Self::settings())
    }

    pub fn slack_with(
        &self,
        keyspace: Arc<dyn Kv>,
        settings: EdgeSettings,
    ) -> Edge<NotificationSlack> {
        edge(self, keyspace, self.slack.clone(), settings)
    }

    pub fn profiles(&self) -> Edge<ContactProfile> {
        self.profiles_with(self.keyspace.clone())
    }

    pub fn profiles_with(&self, keyspace: Arc<dyn Kv>) -> Edge<ContactProfile> {
        edge(self, keyspace, self.contacts.clone(), Self::settings())
    }

    /// Folds what is in the log into the read models.
    pub async fn fold(&self) {
        self.slack.drain().await.expect("folded");
        self.contacts.drain().await.expect("folded");
    }

    /// The edge forgets how far it has come, as if every event came again.
    pub async fn rewind<M: Module>(&self) {
        let name = Edge::<M>::name();
        let set = self.store.views.set_checkpoint(&name, Default::default());
        set.await.expect("set");
    }

    pub async fn say(&self, workspace: usize, kind: Kind, payload: Value) {
        static SAID: AtomicI64 = AtomicI64::new(0);
        let number = SAID.fetch_add(1, Ordering::SeqCst);
        let event = Event {
            id: EventId::of_message(&number.to_string()),
            kind,
            contact: None,
            occurred_at: now(),
            recorded_at: now(),
            payload: payload.to_string(),
        };
        let appended = self
            .store
            .log
            .append(self.scope(workspace), vec![event])
            .await;
        appended.expect("appended");
    }

    pub async fn create(&self, workspace: usize, id: u8, name: &str, category: Option<&str>) {
        let payload = json!({"id": slack_id(id), "name": name, "category": category,
            "secrets": ["bot_token"], "sealed": "c2VhbGVk"});
        self.say(workspace, Kind::SlackWorkspaceCreated, payload)
            .await;
    }

    pub async fn update(&self, workspace: usize, id: u8, name: &str, category: Option<&str>) {
        let payload = json!({"id": slack_id(id), "name": name, "category": category});
        self.say(workspace, Kind::SlackWorkspaceUpdated, payload)
            .await;
    }

    pub async fn archive(&self, workspace: usize, id: u8) {
        let payload = json!({"id": slack_id(id)});
        self.say(workspace, Kind::SlackWorkspaceArchived, payload)
            .await;
    }

    /// What a client says.
    pub async fn client(&self, workspace: usize, raw: Value) -> ContactId {
        let event = self.accepted(workspace, &raw);
        let contact = event.contact.expect("a contact");
        let appended = self
            .store
            .log
            .append(self.scope(workspace), vec![event])
            .await;
        appended.expect("appended");
        contact
    }

    /// What clients say all at once.
    pub async fn clients(&self, workspace: usize, raw: impl Iterator<Item = Value>) {
        let events = raw.map(|raw| self.accepted(workspace, &raw)).collect();
        let appended = self.store.log.append(self.scope(workspace), events).await;
        appended.expect("appended");
    }

    fn accepted(&self, workspace: usize, raw: &Value) -> Event {
        let raw = raw.to_string();
        let reception = Reception {
            key: &self.workspaces[workspace].key,
            received_at: now(),
            sent_at: None,
            kind: None,
            fresh_id: &|| EventId::of_message(&raw),
        };
        accept(&raw, &reception).expect("accepted")
    }

    /// Lets time pass for the keyspace in memory.
    pub fn pass(&self, ms: u64) {
        let clock_ms = self.clock_ms.as_ref().expect("a virtual clock");
        clock_ms.fetch_add(ms, Ordering::SeqCst);
    }

    pub async fn keys(&self) -> BTreeMap<String, (Value, bool)> {
        keys_of(self.keyspace.as_ref()).await
    }

    pub async fn ttl_ms(&self, key: &str) -> Ttl {
        self.keyspace.ttl_ms(key).await.expect("asked")
    }

    pub async fn text(&self, key: &str) -> Option<String> {
        let bytes = self.keyspace.get(key).await.expect("asked");
        bytes.map(|bytes| String::from_utf8(bytes).expect("text"))
    }

    /// What anyone may do to a keyspace at any time.
    pub async fn empty(&self) {
        match (&self.redis, &self.cluster) {
            (Some(redis), _) => assert_eq!(redis.say(&["FLUSHALL"]), "OK"),
            (None, Some(cluster)) => cluster.empty(),
            (None, None) => {
                let keys = self.keyspace.scan_all("").await.expect("listed");
                let emptied = self.keyspace.delete(keys.into_iter().collect());
                emptied.await.expect("emptied");
            }
        }
    }
}

fn edge<M: Module>(
    ground: &Ground,
    keyspace: Arc<dyn Kv>,
    projector: Arc<Projector>,
    settings: EdgeSettings,
) -> Edge<M> {
    Edge::new(ground.store.clone(), keyspace, &projector, settings, now)
}

pub fn memory() -> (Arc<dyn Kv>, Arc<AtomicU64>) {
    let start = u64::try_from(now().as_millis()).expect("after 1970");
    let clock_ms = Arc::new(AtomicU64::new(start));
    let clock = clock_ms.clone();
    let memory = Memory::new(Arc::new(move || clock.load(Ordering::SeqCst)));
    (Arc::new(memory), clock_ms)
}

pub fn slack_id(number: u8) -> SlackWorkspaceId {
    SlackWorkspaceId::from_bytes([number; 16])
}

/// Every key, its value, and whether it expires.
pub async fn keys_of(keyspace: &dyn Kv) -> BTreeMap<String, (Value, bool)> {
    keys_under(keyspace, "").await
}

/// The keys that begin so.
pub async fn keys_under(keyspace: &dyn Kv, begin: &str) -> BTreeMap<String, (Value, bool)> {
    let mut all = BTreeMap::new();
    for key in keyspace.scan_all(begin).await.expect("listed") {
        let value = if key.contains(":idx:") {
            let members = keyspace.set_members(&key).await.expect("a set");
            json!(members.iter().map(|it| text(it)).collect::<Vec<_>>())
        } else if key.contains(":checkpoint:") || key.contains(":pp:gen:") {
            let fields = keyspace.hash_get_all(&key).await.expect("a hash");
            // How far a tenant was seen to be whole depends on when someone looked.
            let fields = fields.iter().filter(|(field, _)| *field != "at");
            let fields = fields.map(|(field, it)| (field.clone(), json!(text(it))));
            Value::Object(fields.collect())
        } else {
            let value = keyspace.get(&key).await.expect("a text");
            undated(text(&value.unwrap_or_default()))
        };
        let expires = matches!(keyspace.ttl_ms(&key).await, Ok(Ttl::Ms(_)));
        all.insert(key, (value, expires));
    }
    all
}

/// Up to where a value that is kept for a while is known to be true depends on who read it when.
fn undated(value: String) -> Value {
    match serde_json::from_str(&value) {
        Ok(Value::Object(mut entry)) => {
            entry.remove("as_of");
            Value::Object(entry)
        }
        _ => json!(value),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// A keyspace whose process dies at a call: before it is made, or after it was carried out.
pub struct Dying {
    pub keyspace: Arc<dyn Kv>,
    pub calls_left: AtomicI64,
    pub carried_out: bool,
}

impl Dying {
    async fn live<T>(&self, call: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let dead = || Err(Error::Unavailable("the process died".to_owned()));
        match self.calls_left.fetch_sub(1, Ordering::SeqCst) {
            1.. => call.await,
            0 if self.carried_out => {
                call.await?;
                dead()
            }
            _ => dead(),
        }
    }
}

#[async_trait]
impl Kv for Dying {
    async fn run(&self, commands: Vec<Command>) -> Result<Vec<Reply>, Error> {
        self.live(self.keyspace.run(commands)).await
    }

    async fn script(
        &self,
        script: &Script,
        keys: &[String],
        args: &[Vec<u8>],
    ) -> Result<Reply, Error> {
        self.live(self.keyspace.script(script, keys, args)).await
    }

    async fn ping(&self) -> Result<(), Error> {
        self.live(self.keyspace.ping()).await
    }
}
