//! What stands in the log about content. All of it is numbered, in one row for a workspace: who
//! decides next must have seen all before, so no key is ever given twice.

use serde::{Deserialize, Serialize};

use super::document::Document;
use super::key::Key;
use crate::id::{DocumentId, EventId, WorkspaceId};

/// The place of an import or a withdrawal among those of its workspace, from 1.
pub type Number = u32;

/// `content.imported`: documents that came in together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    pub number: Number,
    /// For people: the source of the first document, and how many more there are.
    pub name: String,
    pub documents: Vec<Imported>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    pub document: Document,
    /// Its text as it was given.
    pub source: String,
    /// Keys that were given now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<Key>,
    /// Keys whose nodes are gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<Key>,
}

/// `content.withdrawn`: a document that was taken away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Withdrawal {
    pub number: Number,
    pub id: DocumentId,
    /// Its source.
    pub name: String,
    pub gone: Vec<Key>,
}

impl Import {
    pub fn new(number: Number, documents: Vec<Imported>) -> Self {
        let first = documents.first().map(|it| it.document.source_id.as_str());
        let first = first.unwrap_or_default();
        let name = match documents.len() {
            0 | 1 => first.to_owned(),
            count => format!("{first} and {} more", count - 1),
        };
        Self {
            number,
            name,
            documents,
        }
    }

    pub fn event_id(&self, workspace: WorkspaceId) -> EventId {
        event_id(workspace, self.number)
    }
}

impl Withdrawal {
    pub fn event_id(&self, workspace: WorkspaceId) -> EventId {
        event_id(workspace, self.number)
    }
}

/// Of two who decide at once, both with the next number, the log takes one.
fn event_id(workspace: WorkspaceId, number: Number) -> EventId {
    let workspace = EventId::from_uuid(workspace.as_uuid());
    EventId::derived("content", workspace, number)
}

impl Document {
    pub fn id(&self) -> DocumentId {
        DocumentId::of_source(&self.source_id)
    }

    /// The key of the document itself, which is the first of its nodes.
    pub fn key(&self) -> Option<Key> {
        self.nodes.first().map(|node| node.key)
    }
}
