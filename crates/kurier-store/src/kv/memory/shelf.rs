//! Where entries lie: the map, the order in which they expire, and what they weigh.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use super::collection::Value;

/// What an entry costs besides its key and its value: tree slots, pointers and counters.
const ENTRY_BYTES: usize = 96;
/// What a time to live costs: one more slot, in the tree of due times.
const DUE_BYTES: usize = 40;

/// What a keyspace holds. Bytes are an estimate, good for budgets and not for bills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    pub keys: usize,
    pub bytes: usize,
}

/// Ordered by key, so that a scan is a walk along a prefix and its cursor simply a key.
#[derive(Default)]
pub(super) struct Shelf {
    entries: BTreeMap<Arc<str>, Entry>,
    due: BTreeSet<(u64, Arc<str>)>,
    bytes: usize,
}

struct Entry {
    value: Value,
    expires_at_ms: Option<u64>,
}

impl Entry {
    /// Through the whole of its last millisecond, as in Redis.
    fn is_live(&self, now_ms: u64) -> bool {
        self.expires_at_ms.is_none_or(|at_ms| now_ms <= at_ms)
    }

    fn bytes(&self, key: &str) -> usize {
        let due = if self.expires_at_ms.is_some() {
            DUE_BYTES
        } else {
            0
        };
        ENTRY_BYTES + key.len() + due + self.value.bytes()
    }
}

impl Shelf {
    pub(super) fn usage(&self) -> Usage {
        Usage {
            keys: self.entries.len(),
            bytes: self.bytes,
        }
    }

    pub(super) fn get(&self, key: &str, now_ms: u64) -> Option<&Value> {
        self.entries
            .get(key)
            .filter(|entry| entry.is_live(now_ms))
            .map(|entry| &entry.value)
    }

    /// The outer option: is there such a key? The inner: does it expire?
    pub(super) fn expires_at_ms(&self, key: &str, now_ms: u64) -> Option<Option<u64>> {
        let entry = self
            .entries
            .get(key)
            .filter(|entry| entry.is_live(now_ms))?;
        Some(entry.expires_at_ms)
    }

    pub(super) fn put(&mut self, key: &str, value: Value, expires_at_ms: Option<u64>) {
        self.remove(key);
        let key: Arc<str> = Arc::from(key);
        let entry = Entry {
            value,
            expires_at_ms,
        };
        self.bytes += entry.bytes(&key);
        if let Some(at_ms) = expires_at_ms {
            self.due.insert((at_ms, Arc::clone(&key)));
        }
        self.entries.insert(key, entry);
    }

    /// Removes the key, dead or alive.
    pub(super) fn remove(&mut self, key: &str) -> Option<Value> {
        let (key, entry) = self.entries.remove_entry(key)?;
        self.bytes -= entry.bytes(&key);
        if let Some(at_ms) = entry.expires_at_ms {
            self.due.remove(&(at_ms, key));
        }
        Some(entry.value)
    }

    pub(super) fn expire(&mut self, key: &str, expires_at_ms: Option<u64>) {
        if let Some(value) = self.remove(key) {
            self.put(key, value, expires_at_ms);
        }
    }

    /// Lets `change` work on the value in place, then weighs it again and removes it when it has
    /// become empty. Nothing happens to a key that is not there.
    pub(super) fn change<R>(
        &mut self,
        key: &str,
        now_ms: u64,
        change: impl FnOnce(&mut Value) -> R,
    ) -> Option<R> {
        let entry = self
            .entries
            .get_mut(key)
            .filter(|entry| entry.is_live(now_ms))?;
        let before = entry.value.bytes();
        let result = change(&mut entry.value);
        self.bytes = self.bytes - before + entry.value.bytes();
        if entry.value.is_empty_collection() {
            self.remove(key);
        }
        Some(result)
    }

    /// Removes the entries that expired longest ago, at most `removals_max` of them.
    pub(super) fn remove_due(&mut self, now_ms: u64, removals_max: usize) -> usize {
        for removed in 0..removals_max {
            let Some((at_ms, key)) = self.due.first() else {
                return removed;
            };
            if *at_ms >= now_ms {
                return removed;
            }
            let key = Arc::clone(key);
            self.remove(&key);
        }
        removals_max
    }

    /// The keys that follow `after` (or start at `prefix`), each with whether it is alive.
    pub(super) fn walk<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&str>,
        now_ms: u64,
    ) -> impl Iterator<Item = (&'a str, bool)> {
        let from = match after {
            // A cursor that lies before the prefix is not one of ours, and must not widen it.
            Some(after) if after >= prefix => Bound::Excluded(after),
            _ => Bound::Included(prefix),
        };
        self.entries
            .range::<str, _>((from, Bound::Unbounded))
            .map(move |(key, entry)| (key.as_ref(), entry.is_live(now_ms)))
            .take_while(move |(key, _)| key.starts_with(prefix))
    }
}
