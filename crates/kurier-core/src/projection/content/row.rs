//! Content as rows, and back.

use serde::{Deserialize, Serialize};

use super::super::{Cell, Row};
use crate::content::{Collections, Digest, Document, Imported, Key, Number, Settings, Slugger};
use crate::event::{Position, Recorded};
use crate::id::{DocumentId, WorkspaceId};
use crate::time::Timestamp;

/// What is known of a document without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentDocument {
    pub id: DocumentId,
    pub source_id: String,
    pub key: Key,
    pub title: String,
    pub nodes: usize,
    /// Of the source as it was given.
    pub sha256: Digest,
    pub settings: Settings,
    pub collections: Collections,
    /// The number of the import that it came with.
    pub import: Number,
    pub changed_at: Timestamp,
    pub revision: Position,
}

/// A document and what it was read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentBody {
    pub document: Document,
    pub source: String,
}

/// A key that was given, and what became of its node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentNode {
    pub key: Key,
    pub document: DocumentId,
    /// Since when it is gone, and by which import.
    pub gone: Option<(Timestamp, Number)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentImport {
    pub number: Number,
    pub at: Timestamp,
    pub by: Option<String>,
    pub documents: usize,
    pub given: usize,
    pub gone: usize,
}

/// What an event says of itself.
pub struct Told {
    pub workspace: WorkspaceId,
    pub number: Number,
    at: Timestamp,
    by: Option<String>,
    position: Position,
}

impl Told {
    pub fn new(recorded: &Recorded, number: Number, by: Option<String>) -> Self {
        Self {
            workspace: recorded.workspace,
            number,
            at: recorded.event.recorded_at,
            by,
            position: recorded.position,
        }
    }
}

fn count(count: usize) -> Cell {
    i64::try_from(count).unwrap_or(i64::MAX).into()
}

pub fn document_row(told: &Told, document: &Document) -> Row {
    let json = |value: serde_json::Result<String>| Cell::from(value.unwrap_or_default());
    let collections = Collections::new(document, &Slugger::new(&document.settings));
    let first = document.nodes.first();
    let title = first.and_then(|node| node.title.as_deref());
    vec![
        told.workspace.into(),
        Cell::Id(document.id().as_uuid()),
        document.source_id.as_str().into(),
        first
            .map(|node| node.key.to_string())
            .unwrap_or_default()
            .into(),
        title.unwrap_or_default().into(),
        count(document.nodes.len()),
        document.source_sha256.to_string().into(),
        json(serde_json::to_string(&document.settings)),
        json(serde_json::to_string(&collections)),
        i64::from(told.number).into(),
        told.at.into(),
        told.position.0.into(),
    ]
}

/// Reads a row of [`super::CONTENT_DOCUMENT`]; `None` if it is not one that this version wrote.
pub fn content_document_of_row(row: &Row) -> Option<ContentDocument> {
    let text = |column: usize| row.get(column)?.as_text();
    let int = |column: usize| row.get(column)?.as_int();
    Some(ContentDocument {
        id: DocumentId::from_uuid(row.get(1)?.as_id()?),
        source_id: text(2)?.to_owned(),
        key: text(3)?.parse().ok()?,
        title: text(4)?.to_owned(),
        nodes: usize::try_from(int(5)?).ok()?,
        sha256: Digest::try_from(text(6)?.to_owned()).ok()?,
        settings: serde_json::from_str(text(7)?).ok()?,
        collections: serde_json::from_str(text(8)?).ok()?,
        import: Number::try_from(int(9)?).ok()?,
        changed_at: Timestamp::from_micros(int(10)?),
        revision: Position(int(11)?),
    })
}

/// Borrowed, so that a large document is not copied to be written.
#[derive(Serialize)]
struct Body<'a> {
    document: &'a Document,
    source: &'a str,
}

pub fn body_row(told: &Told, imported: &Imported) -> serde_json::Result<Row> {
    let body = serde_json::to_string(&Body {
        document: &imported.document,
        source: &imported.source,
    })?;
    let id = Cell::Id(imported.document.id().as_uuid());
    Ok(vec![told.workspace.into(), id, body.into()])
}

/// Reads a row of [`super::CONTENT_BODY`].
pub fn content_body_of_row(row: &Row) -> Option<ContentBody> {
    serde_json::from_str(row.get(2)?.as_text()?).ok()
}

pub fn node_row(told: &Told, key: Key, document: DocumentId, is_gone: bool) -> Row {
    let gone = is_gone.then_some((told.at, i64::from(told.number)));
    vec![
        told.workspace.into(),
        key.to_string().into(),
        Cell::Id(document.as_uuid()),
        gone.map(|(at, _)| at).into(),
        gone.map(|(_, by)| by).into(),
    ]
}

/// Reads a row of [`super::CONTENT_NODE`].
pub fn content_node_of_row(row: &Row) -> Option<ContentNode> {
    let at = row.get(3)?.as_int().map(Timestamp::from_micros);
    let by = row
        .get(4)?
        .as_int()
        .and_then(|by| Number::try_from(by).ok());
    Some(ContentNode {
        key: row.get(1)?.as_text()?.parse().ok()?,
        document: DocumentId::from_uuid(row.get(2)?.as_id()?),
        gone: at.zip(by),
    })
}

/// Numbers of a name rise in the log, so the last one that was given says how many were.
pub fn counter_row(told: &Told, key: Key) -> Row {
    vec![
        told.workspace.into(),
        key.node_type().as_str().into(),
        key.name.identifier.as_str().into(),
        i64::from(key.number()).into(),
    ]
}

/// How many numbers a row of [`super::CONTENT_COUNTER`] has given, and of which name.
pub fn content_used_of_row(row: &Row) -> Option<(crate::content::Name, u16)> {
    let name = crate::content::Name {
        node_type: row.get(1)?.as_text()?.parse().ok()?,
        identifier: row.get(2)?.as_text()?.parse().ok()?,
    };
    Some((name, u16::try_from(row.get(3)?.as_int()?).ok()?))
}

pub fn import_row(told: &Told, documents: &[Imported], gone: usize) -> Row {
    let given = documents.iter().map(|it| it.given.len()).sum();
    let lost: usize = documents.iter().map(|it| it.gone.len()).sum();
    vec![
        told.workspace.into(),
        i64::from(told.number).into(),
        told.at.into(),
        told.by.clone().into(),
        count(documents.len()),
        count(given),
        count(lost + gone),
    ]
}

/// Reads a row of [`super::CONTENT_IMPORT`].
pub fn content_import_of_row(row: &Row) -> Option<ContentImport> {
    let int = |column: usize| row.get(column)?.as_int();
    let many = |column: usize| usize::try_from(int(column)?).ok();
    Some(ContentImport {
        number: Number::try_from(int(1)?).ok()?,
        at: Timestamp::from_micros(int(2)?),
        by: row.get(3)?.as_text().map(str::to_owned),
        documents: many(4)?,
        given: many(5)?,
        gone: many(6)?,
    })
}
