//! What a template quotes of content: as each part shows it, by the key it is quoted by.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::content::Key;

/// What a key's text is in `reads`: so whoever knows what a template reads knows what it quotes.
const READ: &str = "content.";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Quotes {
    nodes: BTreeMap<Key, Shown>,
}

/// A node's Markdown as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    pub html: Arc<str>,
    /// As the message's channel shows texts.
    pub text: Arc<str>,
}

impl Quotes {
    pub fn insert(&mut self, key: Key, shown: Shown) {
        self.nodes.insert(key, shown);
    }

    pub fn get(&self, key: Key) -> Option<&Shown> {
        self.nodes.get(&key)
    }
}

pub fn as_read(key: Key) -> String {
    format!("{READ}{key}")
}

/// The keys that stand in what a template reads.
pub fn quoted_in<'r>(reads: impl IntoIterator<Item = &'r String>) -> Vec<Key> {
    let keys = reads.into_iter().filter_map(|read| read.strip_prefix(READ));
    keys.filter_map(|key| key.parse().ok()).collect()
}
