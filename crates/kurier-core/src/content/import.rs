//! Importing: a document's text becomes nodes with keys. Nodes that were there keep theirs, new
//! ones get the next numbers, and the keys of those that are gone are never given again.

use super::digest::Digest;
use super::document::{Document, Kept};
use super::key::{Key, Name, NodeType};
use super::matching::{Likeness, matched};
use super::numbers::Numbers;
use super::outline::Outline;

/// A source from here on is hashed while its keys are given: that takes longer than a thread.
const LONG_BYTES: usize = 512 * 1024;

/// A document on its way in: its nodes are found again, but have no new keys yet.
#[derive(Debug)]
pub struct Plan<'a> {
    source_id: &'a str,
    old: Option<&'a Document>,
    outline: &'a Outline<'a>,
    /// For each new node the old one that it is.
    matched: Vec<Option<u32>>,
}

/// What an import comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// There is nothing to write.
    Unchanged,
    Changed(Box<Change>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub document: Document,
    /// Keys that were given now, in reading order.
    pub given: Vec<Key>,
    /// Keys whose nodes are gone, in their old order. They answer "gone" for ever.
    pub gone: Vec<Key>,
}

impl<'a> Plan<'a> {
    /// `old` is what was kept of the same source before.
    pub fn new(source_id: &'a str, old: Option<&'a Document>, outline: &'a Outline<'a>) -> Self {
        let matched = match old {
            Some(old) => found_again(old, outline),
            None => vec![None; outline.nodes.len()],
        };
        Self {
            source_id,
            old,
            outline,
            matched,
        }
    }

    /// The names that new keys are needed for, in reading order.
    pub fn asks(&self) -> impl Iterator<Item = Name> {
        let nodes = self.outline.nodes.iter().zip(&self.matched);
        let new = nodes.filter(|(_, matched)| matched.is_none());
        new.map(|(node, _)| node.name())
    }

    /// Gives the keys. The counters must know all that `Numbers::lacking` asks for; what they do
    /// not know counts as never used.
    pub fn decide(&self, numbers: &mut Numbers) -> Decision {
        let source = self.outline.source.as_bytes();
        if source.len() < LONG_BYTES {
            return self.decided(numbers, || Digest::of_bytes(source));
        }
        std::thread::scope(|scope| {
            let hash = move || Digest::of_bytes(source);
            let hashing = std::thread::Builder::new().spawn_scoped(scope, hash);
            self.decided(numbers, || match hashing {
                Ok(hashing) => hashing.join().expect("hashing does not panic"),
                // No thread can be had.
                Err(_) => hash(),
            })
        })
    }

    fn decided(&self, numbers: &mut Numbers, source: impl FnOnce() -> Digest) -> Decision {
        let asks = self.asks().count();
        numbers.reserve(asks);
        let mut given = Vec::with_capacity(asks);
        let mut nodes = Vec::with_capacity(self.outline.nodes.len());
        for (node, old) in self.outline.nodes.iter().zip(&self.matched) {
            let key = match old.and_then(|at| self.old_key(at)) {
                Some(key) => key,
                None => {
                    let key = numbers.take(node.name());
                    given.push(key);
                    key
                }
            };
            nodes.push(Kept::new(self.outline, node, key));
        }
        let document = self.document(nodes, source());
        match self.old {
            Some(old) if *old == document => Decision::Unchanged,
            _ => Decision::Changed(Box::new(Change {
                document,
                given,
                gone: self.gone(),
            })),
        }
    }

    fn old_key(&self, at: u32) -> Option<Key> {
        let nodes = &self.old?.nodes;
        nodes.get(at as usize).map(|node| node.key)
    }

    fn document(&self, nodes: Vec<Kept>, source_sha256: Digest) -> Document {
        let outline = self.outline;
        Document {
            source_id: self.source_id.to_owned(),
            source_sha256,
            settings: outline.settings.clone(),
            language: outline.language,
            front: outline.front.clone(),
            nodes,
            references: outline.references.clone(),
        }
    }

    fn gone(&self) -> Vec<Key> {
        let Some(old) = self.old else {
            return Vec::new();
        };
        let mut is_there = vec![false; old.nodes.len()];
        for at in self.matched.iter().flatten() {
            is_there[*at as usize] = true;
        }
        let nodes = old.nodes.iter().zip(is_there);
        let gone = nodes.filter(|(_, is_there)| !is_there);
        gone.map(|(node, _)| node.key).collect()
    }
}

/// A document that is taken away: all its keys are gone.
pub fn withdrawn(document: &Document) -> Vec<Key> {
    document.nodes.iter().map(|node| node.key).collect()
}

type Found = Likeness<(NodeType, Option<Digest>), Name>;

fn found_again(old: &Document, outline: &Outline<'_>) -> Vec<Option<u32>> {
    let likeness = |name: Name, digest: Digest| -> Found {
        // The document is the same, whatever its title: its source says so.
        let digest = Some(digest).filter(|_| name.node_type != NodeType::Doc);
        Likeness {
            exact: (name.node_type, digest),
            called: name,
        }
    };
    let old = old
        .nodes
        .iter()
        .map(|node| likeness(node.name(), node.sha256));
    let new = outline
        .nodes
        .iter()
        .map(|node| likeness(node.name(), node.digest));
    matched(&old.collect::<Vec<_>>(), &new.collect::<Vec<_>>())
}
