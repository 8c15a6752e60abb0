//! A template as a row, and back.

use super::super::{Cell, Row};
use crate::id::{TemplateId, WorkspaceId};
use crate::template::Publication;
use crate::time::Timestamp;

/// A template and its newest version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateSummary {
    pub id: TemplateId,
    pub name: String,
    pub version: u32,
    pub topic: Option<String>,
    pub hash: String,
    /// What it reads of its inputs, dotted.
    pub reads: Vec<String>,
    pub created_at: Timestamp,
    pub changed_at: Timestamp,
    /// No journey can be published with it any more.
    pub retired_at: Option<Timestamp>,
}

/// One version of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateVersion {
    pub version: u32,
    /// As JSON.
    pub document: String,
    pub hash: String,
    pub published_at: Timestamp,
}

pub fn row_of(workspace: WorkspaceId, template: &TemplateSummary) -> Row {
    let reads = serde_json::to_string(&template.reads).expect("a list of texts serialises");
    vec![
        workspace.into(),
        Cell::Id(template.id.as_uuid()),
        template.name.as_str().into(),
        i64::from(template.version).into(),
        template.topic.clone().into(),
        template.hash.as_str().into(),
        reads.into(),
        template.created_at.into(),
        template.changed_at.into(),
        template.retired_at.into(),
    ]
}

/// Reads a row of [`super::TEMPLATE`]; `None` if it is not one that this version wrote.
pub fn template_of_row(row: &Row) -> Option<(WorkspaceId, TemplateSummary)> {
    let time = |column: usize| row.get(column)?.as_int().map(Timestamp::from_micros);
    let text = |column: usize| row.get(column)?.as_text().map(str::to_owned);
    let template = TemplateSummary {
        id: TemplateId::from_uuid(row.get(1)?.as_id()?),
        name: text(2)?,
        version: u32::try_from(row.get(3)?.as_int()?).ok()?,
        topic: text(4),
        hash: text(5)?,
        reads: serde_json::from_str(row.get(6)?.as_text()?).ok()?,
        created_at: time(7)?,
        changed_at: time(8)?,
        retired_at: time(9),
    };
    Some((WorkspaceId::from_uuid(row.first()?.as_id()?), template))
}

pub fn version_row(workspace: WorkspaceId, published: &Publication, at: Timestamp) -> Row {
    let document = serde_json::to_string(&published.document).expect("a value serialises");
    vec![
        workspace.into(),
        Cell::Id(published.id.as_uuid()),
        i64::from(published.version).into(),
        document.into(),
        published.hash.as_str().into(),
        at.into(),
    ]
}

/// Reads a row of [`super::TEMPLATE_VERSION`].
pub fn template_version_of_row(row: &Row) -> Option<TemplateVersion> {
    Some(TemplateVersion {
        version: u32::try_from(row.get(2)?.as_int()?).ok()?,
        document: row.get(3)?.as_text()?.to_owned(),
        hash: row.get(4)?.as_text()?.to_owned(),
        published_at: Timestamp::from_micros(row.get(5)?.as_int()?),
    })
}
