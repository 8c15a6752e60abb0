//! The documented keyspace of one document, as data: what stands at which key. What is put in
//! front of the keys and how they are written is not decided here.

use serde::{Deserialize, Serialize};

use super::collections::Collections;
use super::document::Document;
use super::key::{Key, NodeType};
use super::slug::Slugger;
use super::tree::Tree;

/// What stands at a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "value", rename_all = "snake_case")]
pub enum Stored {
    /// Fields of a node.
    Hash(Vec<(String, String)>),
    /// Keys by their position in the document.
    SortedSet(Vec<(u32, Key)>),
    /// One key.
    Text(Key),
    /// Keys; of `category`, `author`, `tag` and `level` those that this document adds to what
    /// others have there.
    Set(Vec<Key>),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The documented key, such as `ch:risk_management:001:children`.
    pub key: String,
    #[serde(flatten)]
    pub stored: Stored,
}

impl Entry {
    /// Whether other documents have members of the same set.
    pub fn is_shared(&self) -> bool {
        SHARED.iter().any(|end| self.key.ends_with(end))
    }
}

/// What the keys of sets end with that documents share.
const SHARED: [&str; 2] = [":docs", ":chunks"];

/// Whether the siblings of each node are stored: they grow with the square of a flat document,
/// and can be read from its parent's children.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Siblings {
    #[default]
    Derived,
    Stored,
}

/// A document's keyspace, one entry after the other.
#[derive(Debug)]
pub struct Keyspace<'d> {
    document: &'d Document,
    source: &'d str,
    tree: Tree<'d>,
    siblings: Siblings,
}

impl<'d> Keyspace<'d> {
    /// `source` is the text that the document was read from.
    pub fn new(document: &'d Document, source: &'d str, siblings: Siblings) -> Self {
        Self {
            document,
            source,
            tree: Tree::new(document),
            siblings,
        }
    }

    /// All of it: each node with its relations in reading order, then what the document adds
    /// to categories, authors, tags and levels.
    pub fn entries(&self, slugger: &Slugger) -> impl Iterator<Item = Entry> + '_ {
        let nodes = (0..self.tree.len()).flat_map(|at| self.node(at));
        nodes.chain(self.shared(slugger))
    }

    fn node(&self, at: usize) -> Vec<Entry> {
        let key = self.tree.key(at);
        let entry = |relation: &str, stored| Entry {
            key: format!("{key}:{relation}"),
            stored,
        };
        let mut entries = vec![Entry {
            key: key.to_string(),
            stored: Stored::Hash(self.fields(at)),
        }];
        if key.node_type() != NodeType::Chunk {
            let below = |relation, places: Vec<usize>| entry(relation, self.sorted(places));
            entries.push(below("children", self.tree.children(at).collect()));
            let all = self.tree.all_descendants(at);
            entries.push(below("all_descendants", all.collect()));
            entries.push(below("sequence", self.tree.sequence(at).collect()));
        }
        let next = self.tree.next(at).map(|at| self.tree.key(at));
        entries.extend(next.map(|next| entry("next", Stored::Text(next))));
        let previous = self.tree.previous(at).map(|at| self.tree.key(at));
        entries.extend(previous.map(|previous| entry("previous", Stored::Text(previous))));
        if self.siblings == Siblings::Stored {
            let siblings = self.tree.siblings(at).map(|at| self.tree.key(at)).collect();
            entries.push(entry("siblings", Stored::Set(siblings)));
        }
        entries.retain(|entry| !entry.stored.is_empty());
        entries
    }

    fn sorted(&self, places: Vec<usize>) -> Stored {
        let keys = places.into_iter().map(|at| {
            let position = u32::try_from(at).unwrap_or(u32::MAX);
            (position, self.tree.key(at))
        });
        Stored::SortedSet(keys.collect())
    }

    fn fields(&self, at: usize) -> Vec<(String, String)> {
        let node = &self.document.nodes[at];
        let path = serde_json::to_string(&self.document.heading_path(at)).unwrap_or_default();
        let parent = self
            .tree
            .parent(at)
            .map(|parent| self.tree.key(parent).to_string());
        let mut fields = vec![
            ("type", node.key.node_type().as_str().to_owned()),
            ("text", self.document.text(node, self.source).into_owned()),
            ("path", path),
            ("parent", parent.unwrap_or_default()),
            ("pos", at.to_string()),
            ("start", node.span.start.to_string()),
            ("end", node.span.end.to_string()),
            ("sha256", node.sha256.to_string()),
        ];
        if let Some(title) = &node.title {
            fields.push(("title", title.to_string()));
        }
        if node.key.node_type() == NodeType::Doc {
            fields.push(("source", self.document.source_id.clone()));
        }
        let owned = fields
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value));
        owned.collect()
    }

    /// What the document adds to sets that it shares with others.
    fn shared(&self, slugger: &Slugger) -> Vec<Entry> {
        let collections = Collections::new(self.document, slugger);
        let document: Vec<Key> = self
            .document
            .nodes
            .first()
            .map(|node| node.key)
            .into_iter()
            .collect();
        let chunks: Vec<Key> = self.tree.chunks().map(|at| self.tree.key(at)).collect();
        let mut entries = Vec::new();
        let mut add = |lead: &str, name: &str, of: &str, keys: &[Key]| {
            entries.push(Entry {
                key: format!("{lead}:{name}:{of}"),
                stored: Stored::Set(keys.to_vec()),
            });
        };
        for name in &collections.categories {
            add("category", name.as_str(), "docs", &document);
        }
        for name in &collections.authors {
            add("author", name.as_str(), "docs", &document);
        }
        for name in &collections.tags {
            add("tag", name.as_str(), "chunks", &chunks);
        }
        for level in NodeType::ALL {
            let keys = self.tree.chunks_of_level(level).map(|at| self.tree.key(at));
            add("level", level.as_str(), "chunks", &keys.collect::<Vec<_>>());
        }
        entries.retain(|entry| !entry.stored.is_empty());
        entries
    }
}

impl Stored {
    /// A key with nothing in it is not there.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Hash(fields) => fields.is_empty(),
            Self::SortedSet(keys) => keys.is_empty(),
            Self::Set(keys) => keys.is_empty(),
            Self::Text(_) => false,
        }
    }
}
