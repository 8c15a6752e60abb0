//! The kinds of nodes a journey can have, as their files document them.

use axum::Json;
use kurier_core::journey::{Field, Guide, Node};
use serde::Serialize;
use utoipa::ToSchema;

use super::credential::Reader;

#[derive(Debug, Serialize, ToSchema)]
pub struct NodeKindList {
    data: Vec<NodeKindView>,
}

/// A kind of node.
#[derive(Debug, Serialize, ToSchema)]
pub struct NodeKindView {
    /// What `node_type` says.
    #[schema(example = "wait")]
    kind: &'static str,
    /// What it does.
    #[schema(example = "Waits for a time.")]
    doc: String,
    /// Nodes of this kind, in YAML.
    #[schema(example = "- wait: 1d")]
    example: String,
    fields: Vec<FieldView>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct FieldView {
    #[schema(example = "duration")]
    name: String,
    #[schema(example = "1h")]
    example: String,
    #[schema(example = "At most 90 days")]
    note: Option<String>,
}

impl From<Guide> for NodeKindView {
    fn from(guide: Guide) -> Self {
        Self {
            kind: guide.kind,
            doc: guide.text,
            example: guide.example,
            fields: guide.fields.into_iter().map(FieldView::from).collect(),
        }
    }
}

impl From<Field> for FieldView {
    fn from(field: Field) -> Self {
        Self {
            name: field.name,
            example: field.example,
            note: field.note,
        }
    }
}

/// Every kind of node, with its documentation, an example and its fields.
#[utoipa::path(get, path = "/api/v1/journey-nodes", tag = "journeys", responses(
    (status = 200, body = NodeKindList)))]
pub async fn list(_: Reader) -> Json<NodeKindList> {
    let data = Node::guides().into_iter().map(NodeKindView::from);
    Json(NodeKindList {
        data: data.collect(),
    })
}
