//! Every key that Kurier writes into the keyspace. A key knows the type of its value and how
//! long it is kept; its text is written nowhere else.
//!
//! Reading order: [`Key`] is one key; [`Namespace`] has those of a module that is projected to
//! the edge, [`cache`] those of what is remembered for a while; [`Tenant`] and [`part`] see to it
//! that nobody's name becomes a part of a key's form; [`Ttls`] says how long what is kept.

pub mod bundle;
pub mod cache;
pub mod changes;
mod content;
pub mod family;
pub mod legacy;
mod lifetime;
mod namespace;
pub mod part;
mod tenant;
#[cfg(test)]
mod tests;

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use cache::preview;
pub use content::{Form, aside};
pub use lifetime::{Lifetime, TTL_SECONDS_MAX, TtlOverrides, Ttls};
pub use namespace::{
    CONTACT_PROFILE, CONTENT, Entry, Fields, Members, NOTIFICATION_SLACK, Namespace,
};
pub use part::Refused;
pub use tenant::Tenant;

/// A key at which a `V` stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key<V> {
    text: String,
    ttl_ms: Option<u64>,
    value: PhantomData<fn() -> V>,
}

impl<V> Key<V> {
    const fn new(text: String, lifetime: Lifetime) -> Self {
        Self {
            text,
            ttl_ms: lifetime.ttl_ms(),
            value: PhantomData,
        }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn into_text(self) -> String {
        self.text
    }

    /// How long the value is kept at most; without it, until someone removes it.
    pub const fn ttl_ms(&self) -> Option<u64> {
        self.ttl_ms
    }
}

impl<V: Serialize + DeserializeOwned> Key<V> {
    pub fn encode(&self, value: &V) -> Vec<u8> {
        serde_json::to_vec(value).expect("values of keys serialise")
    }

    /// `None` if another version wrote it: nothing is true only here.
    pub fn decode(&self, bytes: &[u8]) -> Option<V> {
        serde_json::from_slice(bytes).ok()
    }
}

impl<V: Serialize> Key<Entry<V>> {
    /// The same as of one that owns its value.
    pub fn encode_entry(&self, entry: &Entry<&V>) -> Vec<u8> {
        serde_json::to_vec(entry).expect("values of keys serialise")
    }
}
