//! The documents that are kept, and the nodes in them. What was read is remembered by the
//! position at which it was true, so nothing remembered is ever too old.

use std::collections::HashMap;
use std::sync::Arc;

use kurier_core::content::{Key, Number, References, Tree};
use kurier_core::event::Position;
use kurier_core::id::{DocumentId, WorkspaceId};
use kurier_core::projection::{
    CONTENT_BODY, CONTENT_DOCUMENT, CONTENT_IMPORT, CONTENT_NODE, Cell, ContentBody,
    ContentDocument, ContentImport, ContentNode, Need, Row, Table, content_body_of_row,
    content_document_of_row, content_import_of_row, content_node_of_row,
};
use kurier_store::{Error, Result, Scope, Store};

/// Documents that were read take at most this much.
const BYTES_MAX: u64 = 64 << 20;
/// What a node takes beside its text.
const NODE_BYTES: usize = 300;
/// What is changed between two looks at it is read again so often.
const READS_MAX: usize = 5;

type Place = (WorkspaceId, DocumentId, Position);

pub struct Library {
    store: Store,
    held: moka::sync::Cache<Place, Arc<Held>>,
}

/// A document that was read.
#[derive(Debug)]
pub struct Held {
    pub known: ContentDocument,
    pub body: ContentBody,
    places: HashMap<Key, usize>,
}

/// What a key leads to.
#[derive(Debug, Clone)]
pub enum Found {
    Node {
        held: Arc<Held>,
        at: usize,
    },
    Gone {
        node: ContentNode,
        import: Option<ContentImport>,
    },
    Unknown,
}

impl Held {
    fn new(known: ContentDocument, body: ContentBody) -> Self {
        let nodes = body.document.nodes.iter().enumerate();
        let places = nodes.map(|(at, node)| (node.key, at)).collect();
        Self {
            known,
            body,
            places,
        }
    }

    fn bytes(&self) -> usize {
        self.body.source.len() + NODE_BYTES * self.body.document.nodes.len()
    }

    pub fn place(&self, key: Key) -> Option<usize> {
        self.places.get(&key).copied()
    }

    pub fn tree(&self) -> Tree<'_> {
        Tree::new(&self.body.document)
    }

    /// The Markdown of a node with all that is below it.
    pub fn section(&self, at: usize) -> String {
        let section = (self.body.document).section(&self.tree(), at, &self.body.source);
        section.into_owned()
    }

    pub const fn references(&self) -> &References {
        &self.body.document.references
    }

    /// The Markdown of a node.
    pub fn text(&self, at: usize) -> String {
        let document = &self.body.document;
        let text = document.text(&document.nodes[at], &self.body.source);
        text.into_owned()
    }
}

impl Library {
    pub fn new(store: Store) -> Self {
        let weigh = |_: &Place, held: &Arc<Held>| u32::try_from(held.bytes()).unwrap_or(u32::MAX);
        let cache = moka::sync::Cache::builder().weigher(weigh);
        Self {
            store,
            held: cache.max_capacity(BYTES_MAX).build(),
        }
    }

    /// All documents, by key.
    pub async fn documents(&self, scope: Scope) -> Result<Vec<ContentDocument>> {
        let by_workspace = &CONTENT_DOCUMENT.columns[..1];
        let keys = vec![vec![scope.0.into()]];
        let need = Need::by(&CONTENT_DOCUMENT, by_workspace, keys);
        let mut all = self.read(need, content_document_of_row).await?;
        all.sort_by_key(|known| known.key);
        Ok(all)
    }

    /// Those of these sources that are there.
    pub async fn known(&self, scope: Scope, ids: &[DocumentId]) -> Result<Vec<ContentDocument>> {
        let need = Need::new(&CONTENT_DOCUMENT, document_keys(scope, ids));
        self.read(need, content_document_of_row).await
    }

    pub async fn of_source(&self, scope: Scope, source: &str) -> Result<Option<ContentDocument>> {
        let id = DocumentId::of_source(source);
        Ok(self.known(scope, &[id]).await?.pop())
    }

    /// A document with all that is in it, as known or newer; `None` if it was withdrawn meanwhile.
    pub async fn held(&self, scope: Scope, known: &ContentDocument) -> Result<Option<Arc<Held>>> {
        let mut newer: Option<ContentDocument> = None;
        for _ in 0..READS_MAX {
            let known = newer.as_ref().unwrap_or(known);
            if let Some(held) = self.held_just_so(scope, known).await? {
                return Ok(Some(held));
            }
            newer = self.known(scope, &[known.id]).await?.pop();
            if newer.is_none() {
                return Ok(None);
            }
        }
        Err(restless())
    }

    /// `None` if it was changed or withdrawn meanwhile.
    async fn held_just_so(
        &self,
        scope: Scope,
        known: &ContentDocument,
    ) -> Result<Option<Arc<Held>>> {
        let place = (scope.0, known.id, known.revision);
        if let Some(held) = self.held.get(&place) {
            return Ok(Some(held));
        }
        let need = Need::new(&CONTENT_BODY, document_keys(scope, &[known.id]));
        let body = self.read(need, content_body_of_row).await?.pop();
        let is_it = |body: &ContentBody| {
            let document = &body.document;
            document.source_sha256 == known.sha256 && document.settings == known.settings
        };
        let Some(body) = body.filter(is_it) else {
            return Ok(None);
        };
        let held = Arc::new(Held::new(known.clone(), body));
        self.held.insert(place, held.clone());
        Ok(Some(held))
    }

    pub async fn find(&self, scope: Scope, key: Key) -> Result<Found> {
        let found = self.find_all(scope, &[key]).await?;
        Ok(found.into_iter().next().unwrap_or(Found::Unknown))
    }

    /// What each key leads to.
    pub async fn find_all(&self, scope: Scope, keys: &[Key]) -> Result<Vec<Found>> {
        for _ in 0..READS_MAX {
            if let Some(found) = self.found(scope, keys).await? {
                return Ok(found);
            }
        }
        Err(restless())
    }

    /// `None` if what was read does not belong together: an import came in between.
    async fn found(&self, scope: Scope, keys: &[Key]) -> Result<Option<Vec<Found>>> {
        let nodes = self.nodes(scope, keys).await?;
        let mut ids: Vec<DocumentId> = nodes.values().map(|node| node.document).collect();
        ids.sort_unstable();
        ids.dedup();
        let known = self.known(scope, &ids).await?;
        let mut found = Vec::with_capacity(keys.len());
        for key in keys {
            let of_key = match nodes.get(key) {
                Some(node) => self.of_node(scope, node, &known).await?,
                None => Some(Found::Unknown),
            };
            match of_key {
                Some(of_key) => found.push(of_key),
                None => return Ok(None),
            }
        }
        Ok(Some(found))
    }

    /// What is known of those of these keys that were ever given.
    pub async fn nodes(&self, scope: Scope, keys: &[Key]) -> Result<HashMap<Key, ContentNode>> {
        let cells = keys.iter();
        let cells = cells.map(|key| vec![scope.0.into(), key.to_string().into()]);
        let need = Need::new(&CONTENT_NODE, cells.collect());
        let nodes = self.read(need, content_node_of_row).await?;
        Ok(nodes.into_iter().map(|node| (node.key, node)).collect())
    }

    /// A key that was given leads somewhere, or is gone; `None` if it seems to do neither.
    async fn of_node(
        &self,
        scope: Scope,
        node: &ContentNode,
        known: &[ContentDocument],
    ) -> Result<Option<Found>> {
        if let Some((_, number)) = node.gone {
            let import = self.import(scope, number).await?;
            let node = node.clone();
            return Ok(Some(Found::Gone { node, import }));
        }
        let Some(known) = known.iter().find(|known| known.id == node.document) else {
            return Ok(None);
        };
        let held = self.held(scope, known).await?;
        let found = held.and_then(|held| Some((held.place(node.key)?, held)));
        Ok(found.map(|(at, held)| Found::Node { held, at }))
    }

    pub async fn import(&self, scope: Scope, number: Number) -> Result<Option<ContentImport>> {
        let key = vec![scope.0.into(), Cell::Int(number.into())];
        let need = Need::new(&CONTENT_IMPORT, vec![key]);
        Ok(self.read(need, content_import_of_row).await?.pop())
    }

    async fn read<T>(&self, need: Need, read: impl Fn(&Row) -> Option<T>) -> Result<Vec<T>> {
        let table = need.table;
        let loaded = self.store.views.load(vec![need]).await?;
        let rows = loaded.iter().flat_map(|loaded| &loaded.rows);
        rows.map(|row| read(row).ok_or_else(|| unreadable(table)))
            .collect()
    }
}

/// Whoever asks again finds it, so nobody may take this for an answer.
fn restless() -> Error {
    Error::Unavailable("content kept changing while it was read".to_owned())
}

pub(super) fn unreadable(table: &Table) -> Error {
    Error::Damaged(format!("a row of {} cannot be read", table.name))
}

pub(super) fn document_keys(scope: Scope, ids: &[DocumentId]) -> Vec<Vec<Cell>> {
    let cells = ids.iter();
    let cells = cells.map(|id| vec![scope.0.into(), Cell::Id(id.as_uuid())]);
    cells.collect()
}
