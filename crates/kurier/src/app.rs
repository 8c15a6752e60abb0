//! What a running Kurier consists of, shared by its requests and flows.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use kurier_core::edge::{ContactProfile, NotificationSlack};
use kurier_store::kv::{Kv, Memory, Redis, Timeouts};
use kurier_store::{Postgres, Snapshots, Sqlite, Store};

use crate::channel::{Outside, Registry};
use crate::clock;
use crate::config::{Config, Database};
use crate::flow::edge::Edge;
use crate::flow::rebuild::Works;
use crate::flow::{Deliverer, Keeping, Post, Projector, Reactor};
use crate::http::Pressure;
use crate::keyring::Keyring;
use crate::links::Links;
use crate::preview::Previews;
use crate::secret::Vault;

pub struct App {
    pub store: Store,
    pub keyring: Keyring,
    /// Folds contacts and their timelines.
    pub projector: Arc<Projector>,
    /// Folds segments and their members.
    pub segments: Arc<Projector>,
    /// Folds messages.
    pub messages: Arc<Projector>,
    pub deliverer: Arc<Deliverer>,
    /// Writes what messages say.
    pub post: Arc<Post>,
    /// Folds journeys and the runs through them.
    pub journeys: Arc<Projector>,
    /// Folds templates.
    pub templates: Arc<Projector>,
    /// Fold what is only looked at: counts, health of channels, acts of operators.
    pub records: Vec<Arc<Projector>>,
    /// Rebuilds and verifications, under way or ended.
    pub works: Works,
    /// Folds Slack workspaces.
    pub slack_workspaces: Arc<Projector>,
    /// Slack workspaces, where they are read quickly.
    pub slack_edge: Arc<Edge<NotificationSlack>>,
    /// Contacts, where they are read quickly: only in Redis, since beside this process's own
    /// memory nothing is gained.
    pub contact_edge: Option<Arc<Edge<ContactProfile>>>,
    pub reactor: Arc<Reactor>,
    pub previews: Previews,
    /// What messages link to.
    pub links: Links,
    pub pressure: Arc<Pressure>,
    /// More than this the reactor's memory should not take.
    pub world_bytes_max: u64,
    /// What may be lost: Redis where there is one, else this process's memory.
    pub keyspace: Arc<dyn Kv>,
    /// What messages are sent with.
    pub channels: Arc<Registry>,
}

impl App {
    pub async fn open(config: &Config) -> anyhow::Result<Arc<Self>> {
        let store = open_store(&config.database).await?;
        let pressure = Arc::new(Pressure::default());
        let reactor = Reactor::new(store.clone(), pressure.clone(), keeping(config));
        let reactor = Arc::new(reactor);
        let keyspace = open_keyspace(config.redis_url.as_deref()).await?;
        let channels = Arc::new(channels(&store, config));
        let links = Links::new(config.public_url.clone());
        let templates = Arc::new(Projector::of_templates(store.clone(), pressure.clone()));
        let slack_workspaces = Projector::of_slack_workspaces(store.clone(), pressure.clone());
        let slack_workspaces = Arc::new(slack_workspaces);
        let post = Arc::new(Post::new(store.clone(), links.clone(), templates.clone()));
        let projector = Arc::new(Projector::of_contacts(store.clone(), pressure.clone()));
        let (settings, clock) = (config.edge.clone(), clock::now);
        let contact_edge = config.redis_url.as_ref().map(|_| {
            let (store, keyspace) = (store.clone(), keyspace.clone());
            let settings = settings.clone();
            Arc::new(Edge::new(
                store,
                keyspace,
                projector.clone(),
                settings,
                clock,
            ))
        });
        let slack_edge = Edge::new(
            store.clone(),
            keyspace.clone(),
            slack_workspaces.clone(),
            settings,
            clock,
        );
        Ok(Arc::new(Self {
            keyring: Keyring::new(store.access.clone()),
            projector,
            slack_edge: Arc::new(slack_edge),
            contact_edge,
            segments: Arc::new(Projector::of_segments(store.clone(), pressure.clone())),
            messages: Arc::new(Projector::of_messages(store.clone(), pressure.clone())),
            deliverer: Arc::new(Deliverer::new(
                store.clone(),
                channels.clone(),
                post.clone(),
                pressure.clone(),
            )),
            journeys: Arc::new(Projector::of_journeys(store.clone(), pressure.clone())),
            templates,
            records: Projector::of_records(&store, &pressure),
            works: Works::default(),
            slack_workspaces,
            post,
            previews: Previews::new(reactor.clone(), keyspace.clone()),
            reactor,
            links,
            pressure,
            world_bytes_max: config.world_bytes_max,
            keyspace,
            channels,
            store,
        }))
    }

    /// All that fold the log into read models.
    pub fn projectors(&self) -> impl Iterator<Item = &Arc<Projector>> {
        let awaited = [&self.projector, &self.segments, &self.messages];
        let awaited = awaited.into_iter().chain([&self.journeys, &self.templates, &self.slack_workspaces]);
        awaited.chain(&self.records)
    }
}

fn channels(store: &Store, config: &Config) -> Registry {
    let vault = Vault::new(config.secret_key.clone(), config.folder.as_deref());
    let outside = Outside::new(config.outgoing.clone());
    Registry::new(store.channels.clone(), Arc::new(vault), outside)
}

fn keeping(config: &Config) -> Option<Keeping> {
    Some(Keeping {
        snapshots: Snapshots::new(config.snapshots.clone()?),
        events: config.snapshot_events,
        every: config.snapshot_every,
    })
}

/// Redis is connected to when it is first used, and may come and go.
async fn open_keyspace(redis_url: Option<&str>) -> anyhow::Result<Arc<dyn Kv>> {
    match redis_url {
        Some(url) => {
            let redis = Redis::open(url, Timeouts::default()).await;
            Ok(Arc::new(redis.context("the Redis URL cannot be used")?))
        }
        None => Ok(Arc::new(Memory::new(Arc::new(clock::now_ms)))),
    }
}

/// Opens the database, making it or bringing it up to date.
pub async fn open_store(database: &Database) -> anyhow::Result<Store> {
    let store = match database {
        Database::Embedded { folder } => open_embedded(folder)?,
        Database::Postgres { url } => Store::from(
            Postgres::open(url)
                .await
                .context("PostgreSQL cannot be used")?,
        ),
    };
    store.log.maintain(clock::now()).await?;
    Ok(store)
}

fn open_embedded(folder: &Path) -> anyhow::Result<Store> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("the data folder {} cannot be made", folder.display()))?;
    let file = folder.join("kurier.db");
    let sqlite = Sqlite::open(&file)
        .with_context(|| format!("the database {} cannot be used", file.display()))?;
    Ok(sqlite.into())
}
