//! What stands in a keyspace of a document: enough to take all of it away again.

use serde::{Deserialize, Serialize};

use super::collections::Collections;
use super::document::Document;
use super::key::{Key, NodeType};
use crate::keys::Form;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub nodes: Vec<Key>,
    pub form: Form,
    #[serde(flatten)]
    pub collections: Collections,
}

/// What may stand at a node's key, and behind it.
const RELATIONS: [&str; 7] = [
    "",
    ":next",
    ":previous",
    ":siblings",
    ":children",
    ":all_descendants",
    ":sequence",
];
/// The first of them are all that a chunk has: nothing is below it.
const CHUNK_RELATIONS: usize = 4;

impl Manifest {
    pub fn new(document: &Document, collections: &Collections, form: Form) -> Self {
        Self {
            nodes: document.nodes.iter().map(|node| node.key).collect(),
            form,
            collections: collections.clone(),
        }
    }

    /// The keys that are the document's own; not all of them are there.
    pub fn keys(&self) -> impl Iterator<Item = String> + '_ {
        let nodes = self.nodes.iter();
        nodes.flat_map(|key| {
            let relations = match key.node_type() {
                NodeType::Chunk => &RELATIONS[..CHUNK_RELATIONS],
                _ => &RELATIONS[..],
            };
            let relations = relations.iter();
            relations.map(move |relation| format!("{key}{relation}"))
        })
    }

    /// The sets that it shares with others, and its own members of them.
    pub fn members(&self) -> Vec<(String, Vec<Key>)> {
        let of = |kind: NodeType| -> Vec<Key> {
            let nodes = self.nodes.iter().filter(|key| key.node_type() == kind);
            nodes.copied().collect()
        };
        let (documents, chunks) = (of(NodeType::Doc), of(NodeType::Chunk));
        let named = [
            ("category", &self.collections.categories, "docs", &documents),
            ("author", &self.collections.authors, "docs", &documents),
            ("tag", &self.collections.tags, "chunks", &chunks),
        ];
        let named = named.into_iter().flat_map(|(lead, names, end, keys)| {
            let names = names.iter();
            names.map(move |name| (format!("{lead}:{name}:{end}"), keys.clone()))
        });
        let levels = NodeType::ALL.into_iter();
        let levels = levels.map(|level| {
            let key = format!("level:{}:chunks", level.as_str());
            (key, self.chunks_of_level(level))
        });
        named.chain(levels).collect()
    }

    /// The chunks right below nodes of a type, or all: a chunk hangs on the heading before it.
    fn chunks_of_level(&self, level: NodeType) -> Vec<Key> {
        let (mut above, mut chunks) = (NodeType::Doc, Vec::new());
        for key in &self.nodes {
            match key.node_type() {
                NodeType::Chunk if level == NodeType::Chunk || level == above => chunks.push(*key),
                NodeType::Chunk => {}
                heading => above = heading,
            }
        }
        chunks
    }
}
