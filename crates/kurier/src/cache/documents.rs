//! Documents in versions: templates and journeys. A version never changes, so what is remembered
//! of it is true for ever; at a key stands the version that was asked for last.

use std::sync::Arc;
use std::time::Duration;

use kurier_core::event::Position;
use kurier_core::keys::{Key, Ttls};
use kurier_store::Result;
use serde::{Deserialize, Serialize};

use super::remote::{Remote, Told};
use super::shelf::{Kept, Shelf, What};
use super::{Level, Tally};

/// One version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    pub version: u32,
    pub text: String,
}

pub struct Documents {
    shelf: Arc<Shelf>,
    remote: Option<Remote>,
    tally: Tally,
    pub ttls: Ttls,
}

impl Documents {
    pub fn new(name: &'static str, shelf: Arc<Shelf>, remote: Option<Remote>, ttls: Ttls) -> Self {
        Self {
            shelf,
            remote,
            tally: Tally::new(name),
            ttls,
        }
    }

    /// Hits and misses so far.
    pub const fn tally(&self) -> &Tally {
        &self.tally
    }

    /// A version's text: remembered, or as `load` finds it.
    pub async fn version(
        &self,
        key: &Key<Document>,
        version: u32,
        load: impl AsyncFnOnce() -> Result<Option<String>>,
    ) -> Result<Option<Arc<str>>> {
        if let Some(text) = self.on_shelf(key, version) {
            self.tally.count(Level::L1, 1);
            return Ok(Some(text));
        }
        if let Some(text) = self.in_remote(key, version).await {
            self.tally.count(Level::L2, 1);
            return Ok(Some(self.keep(key, version, text)));
        }
        self.tally.count(Level::Store, 1);
        let Some(text) = load().await? else {
            return Ok(None);
        };
        if let Some(remote) = &self.remote {
            remote.put(vec![told(key, version, &text)]).await;
        }
        Ok(Some(self.keep(key, version, text)))
    }

    fn on_shelf(&self, key: &Key<Document>, wanted: u32) -> Option<Arc<str>> {
        match self.shelf.get(key.text())?.what {
            What::Document { version, text } if version == wanted => Some(text),
            _ => None,
        }
    }

    async fn in_remote(&self, key: &Key<Document>, wanted: u32) -> Option<String> {
        let keys = [key.text().to_owned()];
        let (_, bytes) = self.remote.as_ref()?.get_dated(&keys).await.pop()??;
        let held = key.decode(&bytes)?;
        (held.version == wanted).then_some(held.text)
    }

    fn keep(&self, key: &Key<Document>, version: u32, text: String) -> Arc<str> {
        let text: Arc<str> = text.into();
        let kept = Kept {
            // The newest version is the one that will be asked for.
            at: Position(version.into()),
            what: What::Document {
                version,
                text: text.clone(),
            },
            lives: key.ttl_ms().map(Duration::from_millis),
        };
        self.shelf.put(key.text().to_owned(), kept);
        text
    }
}

fn told(key: &Key<Document>, version: u32, text: &str) -> Told {
    let document = Document {
        version,
        text: text.to_owned(),
    };
    Told {
        key: key.text().to_owned(),
        at: Position(version.into()),
        bytes: key.encode(&document),
        ttl_ms: key.ttl_ms(),
    }
}
