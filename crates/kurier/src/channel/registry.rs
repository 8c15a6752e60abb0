//! The channels of this process: built once, and anew within a second of being set up
//! otherwise, so that connections are kept and nobody asks the store for every letter.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use kurier_core::event::Position;
use kurier_core::id::WorkspaceId;
use kurier_core::message::channel::{ChannelKind, ChannelSettings, Setup};
use kurier_store::{Channels, KeptChannel, Result, Scope};

use super::health::Watched;
use super::outbox::{self, Outbox};
use super::{Channel, Health, Outside, Refusing, build};
use crate::secret::Vault;

/// What was looked at so shortly ago is taken to be true.
const TRUSTED: Duration = Duration::from_millis(800);

/// A channel to send with.
#[derive(Clone)]
pub struct Found {
    /// The channel that takes what is sent, which is not always the one that was asked for.
    pub name: String,
    pub settings: Arc<ChannelSettings>,
    pub channel: Arc<dyn Channel>,
    pub health: Arc<Health>,
    /// When it was set up; nothing if nobody did.
    pub revision: Option<Position>,
}

#[derive(Default)]
struct Shelf {
    looked_at: Option<Instant>,
    channels: BTreeMap<String, Found>,
}

pub struct Registry {
    store: Arc<dyn Channels>,
    vault: Arc<Vault>,
    outside: Outside,
    outbox: Found,
    shelves: Mutex<HashMap<WorkspaceId, Arc<tokio::sync::Mutex<Shelf>>>>,
}

impl Registry {
    pub fn new(store: Arc<dyn Channels>, vault: Arc<Vault>, outside: Outside) -> Self {
        let settings = ChannelSettings::of(Setup::Outbox);
        Self {
            outbox: watched(outbox::NAME, settings, Arc::new(Outbox), None),
            store,
            vault,
            outside,
            shelves: Mutex::default(),
        }
    }

    pub fn vault(&self) -> &Vault {
        &self.vault
    }

    pub fn outside(&self) -> &Outside {
        &self.outside
    }

    /// The channel of a name. A name of a kind that nobody set up is taken by the outbox;
    /// `None` for any other name that nobody set up.
    pub async fn find(&self, scope: Scope, name: &str) -> Result<Option<Found>> {
        let shelf = self.shelf(scope);
        let mut shelf = shelf.lock().await;
        if shelf.looked_at.is_none_or(|at| at.elapsed() > TRUSTED) {
            self.look(scope, &mut shelf).await?;
        }
        let found = shelf.channels.get(name);
        let stand_in = || ChannelKind::of(name).map(|_| self.outbox.clone());
        Ok(found.cloned().or_else(stand_in))
    }

    /// As [`Registry::find`], by one who has just changed something.
    pub async fn find_anew(&self, scope: Scope, name: &str) -> Result<Option<Found>> {
        self.shelf(scope).lock().await.looked_at = None;
        self.find(scope, name).await
    }

    fn shelf(&self, scope: Scope) -> Arc<tokio::sync::Mutex<Shelf>> {
        let mut shelves = self.shelves.lock().unwrap_or_else(PoisonError::into_inner);
        shelves.entry(scope.0).or_default().clone()
    }

    /// Builds what was set up since the last look, and forgets what was removed. What is kept
    /// keeps its connections.
    async fn look(&self, scope: Scope, shelf: &mut Shelf) -> Result<()> {
        let began = Instant::now();
        let revisions = self.store.channel_revisions(scope).await?;
        let mut channels = BTreeMap::new();
        for (name, revision) in revisions {
            let known = shelf.channels.get(&name);
            let known = known.filter(|known| known.revision == Some(revision));
            let found = match known {
                Some(known) => Some(known.clone()),
                None => self.load(scope, &name).await?,
            };
            channels.extend(found.map(|found| (name, found)));
        }
        shelf.channels = channels;
        shelf.looked_at = Some(began);
        Ok(())
    }

    async fn load(&self, scope: Scope, name: &str) -> Result<Option<Found>> {
        let kept = self.store.channel(scope, name).await?;
        Ok(kept.map(|kept| self.build(scope, kept)))
    }

    /// What cannot be built refuses everything, and tells why.
    fn build(&self, scope: Scope, kept: KeptChannel) -> Found {
        let opened = match &kept.secrets {
            Some(sealed) => self.vault.open(scope, &kept.name, sealed),
            None => Ok(Default::default()),
        };
        let built = opened
            .map_err(|e| e.to_string())
            .and_then(|it| build(&kept.settings, &it, &self.outside).map_err(|e| e.to_string()));
        let channel = built.unwrap_or_else(|why| {
            tracing::error!(channel = kept.name, why, "a channel cannot be used");
            Arc::new(Refusing(why))
        });
        watched(&kept.name, kept.settings, channel, Some(kept.revision))
    }
}

fn watched(
    name: &str,
    settings: ChannelSettings,
    channel: Arc<dyn Channel>,
    revision: Option<Position>,
) -> Found {
    let health = Arc::new(Health::default());
    let kind = settings.kind().as_str();
    Found {
        name: name.to_owned(),
        settings: Arc::new(settings),
        channel: Arc::new(Watched {
            kind,
            channel,
            health: health.clone(),
        }),
        health,
        revision,
    }
}
