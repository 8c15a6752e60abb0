//! The keyspace as a script sees it: locked, and standing still at one instant.

use super::collection::{Collection, Fields, Members, Value};
use super::scan;
use super::shelf::Shelf;
use super::sorted::Sorted;
use crate::kv::{Cursor, Error, Order, Page, ScoreRange, Scored, Ttl};

/// What the local half of a [`Script`](crate::kv::Script) works on. It does not tell the time:
/// scripts get it as an argument, as their Lua twins do.
pub struct Keyspace<'a> {
    shelf: &'a mut Shelf,
    now_ms: u64,
}

/// Keys and texts.
impl<'a> Keyspace<'a> {
    pub(super) fn new(shelf: &'a mut Shelf, now_ms: u64) -> Self {
        Self { shelf, now_ms }
    }

    pub fn get(&self, key: &str) -> Result<Option<Vec<u8>>, Error> {
        match self.shelf.get(key, self.now_ms) {
            None => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text.clone())),
            Some(_) => Err(wrong_type(key)),
        }
    }

    /// A time to live is at least 1 ms: the Lua twin of a script would fail with less.
    pub fn set(&mut self, key: &str, value: Vec<u8>, ttl_ms: Option<u64>) {
        let expires_at_ms = ttl_ms.map(|ttl_ms| self.now_ms.saturating_add(ttl_ms));
        self.shelf.put(key, Value::Text(value), expires_at_ms);
    }

    pub fn set_if_absent(&mut self, key: &str, value: Vec<u8>, ttl_ms: Option<u64>) -> bool {
        let is_absent = !self.exists(key);
        if is_absent {
            self.set(key, value, ttl_ms);
        }
        is_absent
    }

    pub fn compare_delete(&mut self, key: &str, value: &[u8]) -> Result<bool, Error> {
        let is_equal = self.get(key)?.is_some_and(|held| held == value);
        Ok(is_equal && self.delete(key))
    }

    pub fn delete(&mut self, key: &str) -> bool {
        let existed = self.exists(key);
        self.shelf.remove(key);
        existed
    }

    /// Moves what stands at a key to another, whatever stood there; answers whether it was there.
    pub fn rename(&mut self, key: &str, to: &str) -> bool {
        let expires_at_ms = self.shelf.expires_at_ms(key, self.now_ms);
        let moved = expires_at_ms.zip(self.shelf.remove(key));
        let is_there = moved.is_some();
        if let Some((expires_at_ms, value)) = moved {
            self.shelf.put(to, value, expires_at_ms);
        }
        is_there
    }

    pub fn exists(&self, key: &str) -> bool {
        self.shelf.get(key, self.now_ms).is_some()
    }

    pub fn expire(&mut self, key: &str, ttl_ms: u64) -> bool {
        if ttl_ms == 0 {
            return self.delete(key);
        }
        let exists = self.exists(key);
        if exists {
            self.shelf
                .expire(key, Some(self.now_ms.saturating_add(ttl_ms)));
        }
        exists
    }

    pub fn persist(&mut self, key: &str) -> bool {
        let expires = matches!(self.ttl_ms(key), Ttl::Ms(_));
        if expires {
            self.shelf.expire(key, None);
        }
        expires
    }

    pub fn ttl_ms(&self, key: &str) -> Ttl {
        match self.shelf.expires_at_ms(key, self.now_ms) {
            None => Ttl::Missing,
            Some(None) => Ttl::Forever,
            Some(Some(at_ms)) => Ttl::Ms(at_ms - self.now_ms),
        }
    }

    pub fn increment(&mut self, key: &str, by: i64, ttl_ms: Option<u64>) -> Result<i64, Error> {
        let held = self.get(key)?;
        let old = held.as_deref().map_or(Some(0), integer);
        let old = old.ok_or_else(|| refused("the value is not an integer"))?;
        let sum = old
            .checked_add(by)
            .ok_or_else(|| refused("the sum would overflow"))?;
        let text = sum.to_string().into_bytes();
        if held.is_none() {
            self.set(key, text, ttl_ms);
        } else {
            self.shelf
                .change(key, self.now_ms, |value| *value = Value::Text(text));
        }
        Ok(sum)
    }

    pub(super) fn scan(&self, prefix: &str, cursor: Option<&Cursor>, count: u32) -> Page {
        scan::page(self.shelf, prefix, cursor, count, self.now_ms)
    }
}

/// Hashes.
impl Keyspace<'_> {
    pub fn hash_set(&mut self, key: &str, fields: Vec<(String, Vec<u8>)>) -> Result<usize, Error> {
        self.create(key, |held: &mut Fields| {
            count(fields, |(field, value)| held.insert(field, value))
        })
    }

    pub fn hash_get(&self, key: &str, field: &str) -> Result<Option<Vec<u8>>, Error> {
        self.read(key, |held: &Fields| held.get(field).cloned())
    }

    pub fn hash_get_all(&self, key: &str) -> Result<Vec<(String, Vec<u8>)>, Error> {
        self.read(key, Fields::to_vec)
    }

    pub fn hash_delete(&mut self, key: &str, fields: &[String]) -> Result<usize, Error> {
        self.change(key, |held: &mut Fields| {
            count(fields, |field| held.remove(field))
        })
    }
}

/// Sets.
impl Keyspace<'_> {
    pub fn set_add(&mut self, key: &str, members: Vec<Vec<u8>>) -> Result<usize, Error> {
        self.create(key, |held: &mut Members| {
            count(members, |member| held.insert(member))
        })
    }

    pub fn set_remove(&mut self, key: &str, members: &[Vec<u8>]) -> Result<usize, Error> {
        self.change(key, |held: &mut Members| {
            count(members, |member| held.remove(member))
        })
    }

    pub fn set_members(&self, key: &str) -> Result<Vec<Vec<u8>>, Error> {
        self.read(key, Members::to_vec)
    }

    pub fn set_contains(&self, key: &str, member: &[u8]) -> Result<bool, Error> {
        self.read(key, |held: &Members| held.contains(member))
    }

    pub fn set_count(&self, key: &str) -> Result<usize, Error> {
        self.read(key, Members::len)
    }
}

/// Sorted sets.
impl Keyspace<'_> {
    pub fn sorted_add(&mut self, key: &str, members: Vec<Scored>) -> Result<usize, Error> {
        if members.iter().any(|scored| scored.score.is_nan()) {
            return Err(refused("a score must be a number"));
        }
        self.create(key, |held: &mut Sorted| {
            count(members, |scored| held.insert(scored))
        })
    }

    pub fn sorted_remove(&mut self, key: &str, members: &[Vec<u8>]) -> Result<usize, Error> {
        self.change(key, |held: &mut Sorted| {
            count(members, |member| held.remove(member))
        })
    }

    pub fn sorted_range(
        &self,
        key: &str,
        start: i64,
        stop: i64,
        order: Order,
    ) -> Result<Vec<Scored>, Error> {
        self.read(key, |held: &Sorted| held.range(start, stop, order))
    }

    pub fn sorted_range_by_score(
        &self,
        key: &str,
        range: &ScoreRange,
    ) -> Result<Vec<Scored>, Error> {
        self.read(key, |held: &Sorted| held.range_by_score(range))
    }

    pub fn sorted_score(&self, key: &str, member: &[u8]) -> Result<Option<f64>, Error> {
        self.read(key, |held: &Sorted| held.score(member))
    }

    pub fn sorted_count(&self, key: &str) -> Result<usize, Error> {
        self.read(key, Sorted::len)
    }
}

/// The three ways to a collection. A key that is not there reads like an empty one.
impl Keyspace<'_> {
    fn read<C, R>(&self, key: &str, read: impl FnOnce(&C) -> R) -> Result<R, Error>
    where
        C: Collection,
        R: Default,
    {
        match self.shelf.get(key, self.now_ms) {
            None => Ok(R::default()),
            Some(value) => C::of(value).map(read).ok_or_else(|| wrong_type(key)),
        }
    }

    fn change<C, R>(&mut self, key: &str, change: impl FnOnce(&mut C) -> R) -> Result<R, Error>
    where
        C: Collection,
        R: Default,
    {
        let changed = self
            .shelf
            .change(key, self.now_ms, |value| C::of_mut(value).map(change));
        match changed {
            None => Ok(R::default()),
            Some(result) => result.ok_or_else(|| wrong_type(key)),
        }
    }

    fn create<C, R>(&mut self, key: &str, change: impl FnOnce(&mut C) -> R) -> Result<R, Error>
    where
        C: Collection,
        R: Default,
    {
        if !self.exists(key) {
            self.shelf.put(key, C::default().into_value(), None);
        }
        self.change(key, change)
    }
}

fn count<T>(items: impl IntoIterator<Item = T>, mut change: impl FnMut(T) -> bool) -> usize {
    items
        .into_iter()
        .map(|item| usize::from(change(item)))
        .sum()
}

/// An integer exactly as Redis reads it: no plus sign, no leading zero, no space.
fn integer(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    text.parse::<i64>()
        .ok()
        .filter(|value| value.to_string() == text)
}

fn wrong_type(key: &str) -> Error {
    Error::WrongType {
        key: key.to_owned(),
    }
}

fn refused(reason: &str) -> Error {
    Error::Refused(reason.to_owned())
}
