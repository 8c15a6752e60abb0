//! What an import would change, key by key.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::digest::Digest;
use super::document::Document;
use super::import::Change;
use super::key::Key;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diff {
    /// Given now.
    pub new: Vec<Key>,
    /// The same key with another text.
    pub changed: Vec<Key>,
    /// Never to be given again.
    pub gone: Vec<Key>,
    /// How many stay as they are.
    pub kept: usize,
}

impl Diff {
    pub fn new(old: Option<&Document>, change: &Change) -> Self {
        let nodes = old.map_or(&[][..], |old| &old.nodes);
        let before: HashMap<Key, Digest> =
            nodes.iter().map(|node| (node.key, node.sha256)).collect();
        let differs = |key: &Key, now: Digest| before.get(key).is_some_and(|old| *old != now);
        let all = &change.document.nodes;
        let changed = all.iter().filter(|node| differs(&node.key, node.sha256));
        let changed: Vec<Key> = changed.map(|node| node.key).collect();
        Self {
            kept: all.len() - change.given.len() - changed.len(),
            new: change.given.clone(),
            changed,
            gone: change.gone.clone(),
        }
    }
}
