//! Every key that Kurier writes into the keyspace. A key knows the type of its value and how
//! long it is kept; its text is written nowhere else.

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use crate::expr::Checked;
use crate::id::WorkspaceId;
use crate::segment::Preview;

/// A key at which a `V` stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key<V> {
    text: String,
    ttl_ms: u64,
    value: PhantomData<fn() -> V>,
}

impl<V: Serialize + DeserializeOwned> Key<V> {
    fn new(text: String, ttl_ms: u64) -> Self {
        Self {
            text,
            ttl_ms,
            value: PhantomData,
        }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// How long the value is kept at most.
    pub const fn ttl_ms(&self) -> u64 {
        self.ttl_ms
    }

    pub fn encode(&self, value: &V) -> Vec<u8> {
        serde_json::to_vec(value).expect("values of keys serialise")
    }

    /// `None` if another version wrote it: nothing is true only here.
    pub fn decode(&self, bytes: &[u8]) -> Option<V> {
        serde_json::from_slice(bytes).ok()
    }
}

/// `segment:{workspace}:{id}:metadata`. Whoever asks the same has the same answer, so the id
/// is the expression's own: the hash of its one way to be written.
pub fn preview(workspace: WorkspaceId, checked: &Checked) -> Key<Preview> {
    const TTL_MS: u64 = 10 * 60 * 1_000;
    let hash = Sha256::digest(checked.canonical());
    let id: String = hash[..16].iter().map(|b| format!("{b:02x}")).collect();
    Key::new(format!("segment:{workspace}:{id}:metadata"), TTL_MS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Place;

    #[test]
    fn a_preview_has_one_key_however_it_is_written() {
        let workspace = WorkspaceId::from_bytes([1; 16]);
        let key = |text| {
            preview(
                workspace,
                &Checked::new(text, Place::SEGMENT).expect("good"),
            )
        };
        let plan = key("contact.plan = 'pro'");
        assert_eq!(
            plan.text(),
            "segment:01010101-0101-0101-0101-010101010101:5a9146630f8957829fb320ea85cf6f6c:metadata"
        );
        assert_eq!(plan, key("contact.plan==\"pro\""));
        assert_ne!(plan, key("contact.plan = 'Pro'"));
        assert_eq!(plan.decode(b"{\"of\":\"another version\"}"), None);
    }
}
