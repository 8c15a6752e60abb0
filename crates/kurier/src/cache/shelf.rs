//! L1: what this process remembers, within a budget of bytes and each for its time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kurier_core::contact::Standing;
use kurier_core::event::Position;
use kurier_store::TimelinePage;
use moka::Expiry;
use moka::sync::Cache;

use crate::metrics as names;

/// What an entry takes besides its key and what it holds.
const ENTRY_BYTES: usize = 200;

/// Something remembered.
#[derive(Debug, Clone)]
pub struct Kept {
    /// It includes every event up to here.
    pub at: Position,
    pub what: What,
    /// Without it until the room is needed.
    pub lives: Option<Duration>,
}

#[derive(Debug, Clone)]
pub enum What {
    Contact(Arc<Standing>),
    Document { version: u32, text: Arc<str> },
    Events(Arc<TimelinePage>),
}

/// One budget for everything, since it is one memory.
#[derive(Debug)]
pub struct Shelf {
    entries: Cache<String, Kept>,
}

struct EachItsTime;

impl Expiry<String, Kept> for EachItsTime {
    fn expire_after_create(&self, _: &String, kept: &Kept, _: Instant) -> Option<Duration> {
        kept.lives
    }

    fn expire_after_update(
        &self,
        _: &String,
        kept: &Kept,
        _: Instant,
        _: Option<Duration>,
    ) -> Option<Duration> {
        kept.lives
    }
}

impl Shelf {
    pub fn new(bytes_max: u64) -> Self {
        let entries = Cache::builder()
            .max_capacity(bytes_max)
            .weigher(|key: &String, kept: &Kept| weight(key, kept))
            .expire_after(EachItsTime)
            .build();
        Self { entries }
    }

    pub fn get(&self, key: &str) -> Option<Kept> {
        self.entries.get(key)
    }

    pub fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// Unless something newer stands there.
    pub fn put(&self, key: String, kept: Kept) {
        let entry = self.entries.entry(key);
        entry.and_upsert_with(|held| match held {
            Some(held) if held.value().at > kept.at => held.into_value(),
            _ => kept,
        });
    }

    pub fn remove(&self, key: &str) {
        self.entries.invalidate(key);
    }

    pub fn clear(&self) {
        self.entries.invalidate_all();
    }

    /// Tells `/metrics` what it takes.
    pub fn measure(&self) {
        self.entries.run_pending_tasks();
        metrics::gauge!(names::CACHE_BYTES).set(self.bytes() as f64);
        metrics::gauge!(names::CACHE_ENTRIES).set(self.entries.entry_count() as f64);
    }

    pub fn bytes(&self) -> u64 {
        self.entries.weighted_size()
    }
}

fn weight(key: &str, kept: &Kept) -> u32 {
    let held = match &kept.what {
        What::Contact(standing) => super::weight::standing(standing),
        What::Document { text, .. } => text.len(),
        What::Events(page) => super::weight::events(page),
    };
    u32::try_from(ENTRY_BYTES + key.len() + held).unwrap_or(u32::MAX)
}
