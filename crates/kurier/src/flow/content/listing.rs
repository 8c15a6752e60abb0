//! Lists of documents and chunks, a page at a time.

use std::sync::Arc;

use kurier_core::content::{Identifier, Key, NodeType};
use kurier_core::projection::ContentDocument;
use kurier_store::{Result, Scope};

use super::library::{Held, Library};

/// What is listed: all that is given must hold.
pub struct Listing {
    pub category: Option<Identifier>,
    pub author: Option<Identifier>,
    pub wanted: Wanted,
}

pub enum Wanted {
    Documents,
    /// Right below nodes of a type; of the type `chunk`, all.
    Chunks {
        tag: Option<Identifier>,
        level: NodeType,
    },
}

pub enum Listed {
    Document(Box<ContentDocument>),
    Chunk(Arc<Held>, usize),
}

impl Listed {
    fn key(&self) -> Key {
        match self {
            Self::Document(known) => known.key,
            Self::Chunk(held, at) => held.body.document.nodes[*at].key,
        }
    }
}

impl Listing {
    /// By documents, and in them in reading order; after a key, and where it goes on.
    pub async fn page(
        &self,
        library: &Library,
        scope: Scope,
        after: Option<Key>,
        max: usize,
    ) -> Result<(Vec<Listed>, Option<Key>)> {
        let mut documents = library.documents(scope).await?;
        documents.retain(|known| self.holds(known));
        let begin = match after {
            Some(key) => self.document_of(library, scope, key).await?,
            None => None,
        };
        let mut found = Vec::new();
        for known in documents {
            if begin.is_some_and(|begin| known.key < begin) {
                continue;
            }
            self.add(library, scope, known, after, &mut found).await?;
            if found.len() > max {
                break;
            }
        }
        let has_more = found.len() > max;
        found.truncate(max);
        let next = found.last().filter(|_| has_more).map(Listed::key);
        Ok((found, next))
    }

    /// The document that a page began in.
    async fn document_of(&self, library: &Library, scope: Scope, key: Key) -> Result<Option<Key>> {
        let nodes = library.nodes(scope, &[key]).await?;
        let Some(node) = nodes.get(&key) else {
            return Ok(None);
        };
        let known = library.known(scope, &[node.document]).await?;
        Ok(known.first().map(|known| known.key))
    }

    fn holds(&self, known: &ContentDocument) -> bool {
        let of = |wanted: Option<Identifier>, names: &[Identifier]| {
            wanted.is_none_or(|wanted| names.contains(&wanted))
        };
        let tag = match &self.wanted {
            Wanted::Documents => None,
            Wanted::Chunks { tag, .. } => *tag,
        };
        let collections = &known.collections;
        of(self.category, &collections.categories)
            && of(self.author, &collections.authors)
            && of(tag, &collections.tags)
    }

    async fn add(
        &self,
        library: &Library,
        scope: Scope,
        known: ContentDocument,
        after: Option<Key>,
        found: &mut Vec<Listed>,
    ) -> Result<()> {
        let Wanted::Chunks { level, .. } = self.wanted else {
            if after.is_none_or(|after| known.key > after) {
                found.push(Listed::Document(Box::new(known)));
            }
            return Ok(());
        };
        let held = library.held(scope, &known).await?;
        let Some(held) = held.filter(|held| self.holds(&held.known)) else {
            return Ok(());
        };
        let behind = after.and_then(|key| held.place(key));
        let tree = held.tree();
        let chunks = tree.chunks_of_level(level);
        let chunks = chunks.filter(|at| behind.is_none_or(|behind| *at > behind));
        found.extend(chunks.map(|at| Listed::Chunk(held.clone(), at)));
        Ok(())
    }
}
