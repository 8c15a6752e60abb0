//! What was found where.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::metrics as names;

/// Where something was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// In this process.
    L1,
    /// In Redis.
    L2,
    /// In the store: it was remembered nowhere.
    Store,
}

/// Hits and misses of one cache, for `/metrics`.
#[derive(Debug)]
pub struct Tally {
    cache: &'static str,
    l1: AtomicU64,
    l2: AtomicU64,
    store: AtomicU64,
}

impl Tally {
    pub const fn new(cache: &'static str) -> Self {
        Self {
            cache,
            l1: AtomicU64::new(0),
            l2: AtomicU64::new(0),
            store: AtomicU64::new(0),
        }
    }

    pub fn count(&self, level: Level, found: usize) {
        let found = found as u64;
        let cache = self.cache;
        match level {
            Level::L1 => metrics::counter!(names::CACHE_HITS, "cache" => cache, "level" => "l1"),
            Level::L2 => metrics::counter!(names::CACHE_HITS, "cache" => cache, "level" => "l2"),
            Level::Store => metrics::counter!(names::CACHE_MISSES, "cache" => cache),
        }
        .increment(found);
        self.at(level).fetch_add(found, Ordering::Relaxed);
        let (hits, misses) = self.read();
        let all = (hits + misses).max(1) as f64;
        metrics::gauge!(names::CACHE_RATIO, "cache" => cache).set(hits as f64 / all);
    }

    const fn at(&self, level: Level) -> &AtomicU64 {
        match level {
            Level::L1 => &self.l1,
            Level::L2 => &self.l2,
            Level::Store => &self.store,
        }
    }

    /// How much was found there so far.
    pub fn found(&self, level: Level) -> u64 {
        self.at(level).load(Ordering::Relaxed)
    }

    /// Hits and misses so far.
    pub fn read(&self) -> (u64, u64) {
        let hits = self.found(Level::L1) + self.found(Level::L2);
        (hits, self.found(Level::Store))
    }
}
