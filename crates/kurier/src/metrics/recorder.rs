//! The recorder behind the `metrics` macros: counters, gauges and histograms with fixed buckets.
//! Why it is not a ready-made one: docs/decisions/0036-fewer-packages.md.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, PoisonError, RwLock};

use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};

use super::exposition;
use super::histogram::BucketHistogram;

/// Lookups take a lock for reading: with several of them, threads that look up different series do not meet.
const SHARDS: usize = 16;

/// The bucket bounds of a histogram, by its name.
pub(super) type BoundsOf = fn(&str) -> &'static [f64];

pub struct PrometheusRecorder {
    pub(super) counters: SeriesMap<AtomicU64>,
    /// The bits of an `f64`.
    pub(super) gauges: SeriesMap<AtomicU64>,
    pub(super) histograms: SeriesMap<BucketHistogram>,
    pub(super) descriptions: RwLock<BTreeMap<String, SharedString>>,
    bounds_of: BoundsOf,
}

impl PrometheusRecorder {
    pub(super) fn new(bounds_of: BoundsOf) -> Self {
        Self {
            counters: SeriesMap::default(),
            gauges: SeriesMap::default(),
            histograms: SeriesMap::default(),
            descriptions: RwLock::default(),
            bounds_of,
        }
    }

    /// All series in the Prometheus text format.
    pub fn render(&self) -> String {
        exposition::render(self)
    }

    fn describe(&self, name: &KeyName, description: SharedString) {
        let mut descriptions = write(&self.descriptions);
        descriptions.insert(name.as_str().to_owned(), description);
    }
}

impl Recorder for PrometheusRecorder {
    fn describe_counter(&self, name: KeyName, _: Option<Unit>, description: SharedString) {
        self.describe(&name, description);
    }

    fn describe_gauge(&self, name: KeyName, _: Option<Unit>, description: SharedString) {
        self.describe(&name, description);
    }

    fn describe_histogram(&self, name: KeyName, _: Option<Unit>, description: SharedString) {
        self.describe(&name, description);
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        self.counters.get_or_insert(key, AtomicU64::default).into()
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        self.gauges.get_or_insert(key, AtomicU64::default).into()
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        let new = || BucketHistogram::new((self.bounds_of)(key.name()));
        self.histograms.get_or_insert(key, new).into()
    }
}

type Shard<T> = HashMap<Key, Arc<T>, BuildHasherDefault<KeyHash>>;

/// All series of one metric type, by name and labels.
pub(super) struct SeriesMap<T> {
    shards: [RwLock<Shard<T>>; SHARDS],
}

impl<T> Default for SeriesMap<T> {
    fn default() -> Self {
        Self {
            shards: std::array::from_fn(|_| RwLock::default()),
        }
    }
}

impl<T> SeriesMap<T> {
    fn get_or_insert(&self, key: &Key, new: impl FnOnce() -> T) -> Arc<T> {
        // The map takes its place from the lowest bits of the hash, and a tag from the highest.
        let shard = &self.shards[(key.get_hash() >> 32) as usize % SHARDS];
        if let Some(series) = read(shard).get(key) {
            return series.clone();
        }
        let mut series = write(shard);
        let entry = series.entry(key.clone());
        entry.or_insert_with(|| Arc::new(new())).clone()
    }

    /// Calls `visit` with every series.
    pub(super) fn for_each(&self, mut visit: impl FnMut(&Key, &T)) {
        for shard in &self.shards {
            for (key, series) in &*read(shard) {
                visit(key, series);
            }
        }
    }
}

/// A key comes with its hash.
#[derive(Default)]
struct KeyHash(u64);

impl Hasher for KeyHash {
    fn write(&mut self, _: &[u8]) {
        unreachable!("a key writes its hash and nothing else");
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Nothing panics while it holds one of these locks half-changed.
pub(super) fn read<T>(lock: &RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> std::sync::RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
