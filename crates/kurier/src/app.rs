//! What a running Kurier consists of, shared by its requests and flows.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use kurier_core::contact::Contact;
use kurier_core::content::Settings;
use kurier_core::edge::{ContactProfile, Module, NotificationSlack};
use kurier_core::id::{ContactId, JourneyId};
use kurier_core::keys;
use kurier_core::projection::{self, Projection};
use kurier_store::kv::{Kv, Memory, Redis, Timeouts};
use kurier_store::{Postgres, Scope, Snapshots, Sqlite, Store};
use tokio::sync::Semaphore;

use crate::bundle::Bundles;
use crate::cache::{Changes, Contacts, Documents, Freshness, Measured, Recent, Remote, Shelf};
use crate::channel::{Outside, Registry};
use crate::config::{Config, Database};
use crate::demo::Demo;
use crate::flow::content::{ContentEdge, Library, Quoting};
use crate::flow::edge::{Edge, EdgeSettings};
use crate::flow::rebuild::Works;
use crate::flow::{Deliverer, Keeping, Post, Projector, Reactor};
use crate::http::{Assets, Overviews, Pressure};
use crate::keyring::Keyring;
use crate::links::Links;
use crate::preview::Previews;
use crate::pulse::Pulse;
use crate::rejections::Rejections;
use crate::secret::Vault;
use crate::sessions::Sessions;
use crate::version::BuildVersion;
use crate::{clock, fault};

pub struct App {
    pub build: BuildVersion,
    pub store: Store,
    pub keyring: Keyring,
    pub sessions: Sessions,
    pub demo: Demo,
    /// What happens right now, for whoever looks.
    pub pulse: Pulse,
    pub overviews: Overviews,
    /// What clients sent in vain.
    pub rejections: Rejections,
    /// One simulation at a time.
    pub simulations: Semaphore,
    /// The web interface.
    pub assets: Assets,
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
    /// Folds content.
    pub content: Arc<Projector>,
    /// The documents of content.
    pub library: Arc<Library>,
    /// Content, where its documented keys are read without Kurier.
    pub content_edge: Arc<ContentEdge>,
    /// How content is read.
    pub content_settings: Settings,
    /// Fold what is only looked at: counts, health of channels, acts of operators.
    pub records: Vec<Arc<Projector>>,
    /// Rebuilds and verifications, under way or ended.
    pub works: Works,
    /// Folds Slack workspaces.
    pub slack_workspaces: Arc<Projector>,
    /// Slack workspaces, where they are read quickly.
    pub slack_edge: Arc<Edge<NotificationSlack>>,
    /// Contacts, where all processes find them: the second level behind `contacts`, and only in
    /// Redis, since beside this process's own memory nothing is gained.
    pub contact_edge: Option<Arc<Edge<ContactProfile>>>,
    /// Folds versions; it runs by itself only where bundles are served.
    pub versions: Arc<Projector>,
    /// Where there is a source of headers.
    pub bundles: Option<Arc<Bundles>>,
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
    /// Contacts by id, remembered.
    pub contacts: Contacts,
    /// The newest events of each, remembered.
    pub recent: Recent,
    /// Definitions of journeys, remembered.
    pub definitions: Documents,
    /// What all that is remembered in this process takes.
    pub shelf: Arc<Shelf>,
}

impl App {
    pub async fn open(config: &Config) -> anyhow::Result<Arc<Self>> {
        let store = open_store(&config.database).await?;
        let pressure = Arc::new(Pressure::default());
        let reactor = reactor(config, &store, &pressure);
        let keyspace = open_keyspace(config.redis_url.as_deref()).await?;
        let has_redis = config.redis_url.is_some();
        // Without Redis there is one process, and it has its own memory already.
        let remote = has_redis.then(|| Remote::new(keyspace.clone()));
        let shelf = Arc::new(Shelf::new(config.cache_bytes_max));
        let ttls = config.keys.ttls;
        let channels = Arc::new(channels(&store, config));
        let links = Links::new(config.public_url.clone());
        let of = |fold: fn(_, _) -> Projector| Arc::new(fold(store.clone(), pressure.clone()));
        let versions = of(Projector::of_versions);
        let bundles = bundles(config, &store, &keyspace, &versions)?;
        let templates = of(Projector::of_templates);
        let slack_workspaces = of(Projector::of_slack_workspaces);
        let slack_edge = edge(config, &store, &keyspace, &slack_workspaces);
        let projector = Projector::of_contacts(store.clone(), pressure.clone());
        let contact_edge = has_redis.then(|| edge(config, &store, &keyspace, &projector));
        let (in_redis, at_edge) = (remote.clone(), contact_edge.clone());
        let changes = changes(&store, &shelf, in_redis, at_edge, ttls);
        let projector = Arc::new(projector.telling(changes.clone()));
        let documents = |name| Documents::new(name, shelf.clone(), remote.clone(), ttls);
        let library = Arc::new(Library::new(store.clone()));
        let post = Post::new(store.clone(), links.clone(), templates.clone())
            .quoting(Quoting::new(library.clone()), channels.clone());
        let post = Arc::new(post.remembering(Arc::new(documents("template"))));
        Ok(Arc::new(Self {
            build: config.build,
            keyring: Keyring::new(store.access.clone()),
            sessions: Sessions::new(store.users.clone()),
            demo: Demo::new(config.demo, config.listen),
            pulse: Pulse::new(store.clone()),
            overviews: Overviews::default(),
            rejections: Rejections::default(),
            simulations: Semaphore::new(1),
            assets: Assets::open(config.web.as_deref())?,
            projector,
            slack_edge,
            contact_edge: contact_edge.clone(),
            definitions: documents("journey"),
            recent: Recent::new(store.clone(), changes.clone(), shelf.clone(), remote, ttls),
            contacts: Contacts::new(store.clone(), changes, shelf.clone(), contact_edge),
            shelf: shelf.clone(),
            segments: of(Projector::of_segments),
            messages: of(Projector::of_messages),
            deliverer: deliverer(&store, &channels, &post, &pressure),
            journeys: of(Projector::of_journeys),
            templates,
            content_edge: content_edge(config, &store, &keyspace, &library),
            content: of(Projector::of_content),
            library,
            content_settings: config.content.settings.clone(),
            versions,
            bundles,
            records: Projector::of_records(&store, &pressure),
            works: Works::default(),
            slack_workspaces,
            post,
            previews: Previews::new(reactor.clone(), keyspace.clone(), config.keys.ttls),
            reactor,
            links,
            pressure,
            world_bytes_max: config.world_bytes_max,
            keyspace,
            channels,
            store,
        }))
    }

    /// `redis`, or `memory` where there is no Redis.
    pub const fn keyspace_kind(&self) -> &'static str {
        match self.contact_edge {
            Some(_) => "redis",
            None => "memory",
        }
    }

    /// The projections that run here: some are only for who turned on what they are for.
    pub fn projections(&self) -> impl Iterator<Item = &'static dyn Projection> {
        let runs = |name: &str| self.projectors().any(|it| it.name() == name);
        let all = projection::ALL.iter().copied();
        all.filter(move |it| runs(it.name()))
    }

    /// All that fold the log into read models.
    pub fn projectors(&self) -> impl Iterator<Item = &Arc<Projector>> {
        let awaited = [&self.projector, &self.segments, &self.messages];
        let awaited =
            awaited
                .into_iter()
                .chain([&self.journeys, &self.templates, &self.slack_workspaces]);
        let versions = self.bundles.is_some().then_some(&self.versions);
        awaited
            .chain([&self.content])
            .chain(&self.records)
            .chain(versions)
    }
}

impl App {
    /// The live contact at an id, or the one it has become part of, as it is now.
    pub async fn contact(
        &self,
        scope: Scope,
        id: ContactId,
    ) -> kurier_store::Result<Option<Contact>> {
        self.contacts.live_one(scope, id, Freshness::Now).await
    }

    /// What a version of a journey says, as JSON.
    pub async fn definition(
        &self,
        scope: Scope,
        id: JourneyId,
        version: u32,
    ) -> kurier_store::Result<Option<Arc<str>>> {
        let key = keys::cache::journey(scope.0, id, &self.definitions.ttls);
        let load = async || {
            let found = self.store.journeys.version(scope, id, version).await?;
            Ok(found.map(|found| found.definition))
        };
        self.definitions.version(&key, version, load).await
    }
}

fn edge<M: Module>(
    config: &Config,
    store: &Store,
    keyspace: &Arc<dyn Kv>,
    projector: &Projector,
) -> Arc<Edge<M>> {
    let settings = EdgeSettings {
        environment: config.keys.environment.clone(),
        ttls: config.keys.ttls,
    };
    let (store, keyspace) = (store.clone(), keyspace.clone());
    let edge = Edge::new(store, keyspace, projector, settings, clock::now);
    Arc::new(edge)
}

fn content_edge(
    config: &Config,
    store: &Store,
    keyspace: &Arc<dyn Kv>,
    library: &Arc<Library>,
) -> Arc<ContentEdge> {
    let (store, library, keyspace) = (store.clone(), library.clone(), keyspace.clone());
    let edge = ContentEdge::new(store, library, keyspace, &config.content);
    Arc::new(edge)
}

fn bundles(
    config: &Config,
    store: &Store,
    keyspace: &Arc<dyn Kv>,
    versions: &Arc<Projector>,
) -> anyhow::Result<Option<Arc<Bundles>>> {
    let Some(settings) = &config.bundle else {
        return Ok(None);
    };
    let (store, keyspace) = (store.clone(), keyspace.clone());
    let bundles = Bundles::new(store, keyspace, versions.clone(), settings, clock::now);
    let bundles = bundles.map_err(|why| anyhow::anyhow!("HEADERS_SOURCE: {why}"))?;
    Ok(Some(Arc::new(bundles)))
}

fn channels(store: &Store, config: &Config) -> Registry {
    let vault = Vault::new(config.secret_key.clone(), config.folder.as_deref());
    let outside = Outside::new(config.outgoing.clone());
    Registry::new(store.channels.clone(), Arc::new(vault), outside)
}

fn reactor(config: &Config, store: &Store, pressure: &Arc<Pressure>) -> Arc<Reactor> {
    let (store, pressure) = (store.clone(), pressure.clone());
    Arc::new(Reactor::new(store, pressure, keeping(config)))
}

fn keeping(config: &Config) -> Option<Keeping> {
    Some(Keeping {
        snapshots: Snapshots::new(config.snapshots.clone()?),
        events: config.snapshot_events,
        every: config.snapshot_every,
    })
}

/// Redis is connected to when it is first used, and may come and go.
fn changes(
    store: &Store,
    shelf: &Arc<Shelf>,
    remote: Option<Remote>,
    edge: Option<Arc<Edge<ContactProfile>>>,
    ttls: keys::Ttls,
) -> Arc<Changes> {
    let (store, shelf) = (store.clone(), shelf.clone());
    Arc::new(Changes::new(store, shelf, remote, edge, ttls))
}

fn deliverer(
    store: &Store,
    channels: &Arc<Registry>,
    post: &Arc<Post>,
    pressure: &Arc<Pressure>,
) -> Arc<Deliverer> {
    let (store, channels) = (store.clone(), channels.clone());
    let deliverer = Deliverer::new(store, channels, post.clone(), pressure.clone());
    Arc::new(deliverer)
}

async fn open_keyspace(redis_url: Option<&str>) -> anyhow::Result<Arc<dyn Kv>> {
    let keyspace: Arc<dyn Kv> = match redis_url {
        Some(url) => {
            let redis = Redis::open(url, Timeouts::default()).await;
            Arc::new(redis.context("the Redis URL cannot be used")?)
        }
        None => Arc::new(Memory::new(Arc::new(clock::now_ms))),
    };
    Ok(Arc::new(Measured::new(keyspace)))
}

/// Opens the database, making it or bringing it up to date.
pub async fn open_store(database: &Database) -> anyhow::Result<Store> {
    kurier_store::fault::arm(fault::point);
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
