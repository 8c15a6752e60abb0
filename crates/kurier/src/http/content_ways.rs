//! Ways from a node to others, and to who quotes it.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use kurier_core::content::Tree;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::address::Path;
use super::contacts::{limit, query};
use super::content::{ContentList, find, named};
use super::content_view::{ContentItem, UsedView};
use super::credential::Reader;
use super::problem::Problem;
use crate::app::App;
use crate::flow::content;

/// Where to go from a node.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// The nodes right below.
    Children,
    /// All nodes below.
    Descendants,
    /// What is read, in order.
    Sequence,
    /// The next node of the same type in the document.
    Next,
    Previous,
    /// The nodes of the same type under the same parent.
    Siblings,
}

impl Way {
    /// The places it leads to, in reading order.
    pub fn places(self, tree: &Tree<'_>, at: usize) -> Vec<usize> {
        match self {
            Self::Children => tree.children(at).collect(),
            Self::Descendants => tree.all_descendants(at).collect(),
            Self::Sequence => tree.sequence(at).collect(),
            Self::Next => tree.next(at).into_iter().collect(),
            Self::Previous => tree.previous(at).into_iter().collect(),
            Self::Siblings => tree.siblings(at).collect(),
        }
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WayParams {
    /// How many, at most 500.
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: Option<usize>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// The nodes that a way leads to: `children`, `descendants`, `sequence`, `next`, `previous` or
/// `siblings`, in reading order.
#[utoipa::path(get, path = "/api/v1/content/{key}/{way}", tag = "content", params(("key" = String, Path),
        ("way" = inline(Way), Path), WayParams), responses(
    (status = 200, body = ContentList),
    (status = 410, description = "`gone`: the content was withdrawn")))]
pub async fn related(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    Path((key, way)): Path<(String, String)>,
    params: Result<Query<WayParams>, QueryRejection>,
) -> Result<Json<ContentList>, Problem> {
    let params = query(params)?;
    let max = limit(params.limit)?;
    let way: Way = serde_json::from_value(way.clone().into())
        .map_err(|_| Problem::not_found(format!("no way `{way}` leads from content")))?;
    let (held, at) = find(&app, &grant, &key).await?;
    let after = params.cursor.as_deref().map(named).transpose()?;
    let after = after.and_then(|key| held.place(key));
    let places = way.places(&held.tree(), at);
    let begin = places.partition_point(|place| after.is_some_and(|after| *place <= after));
    let end = places.len().min(begin + max);
    let shown = &places[begin..end];
    let last = shown.last().filter(|_| end < places.len());
    Ok(Json(ContentList {
        data: shown.iter().map(|at| ContentItem::of(&held, *at)).collect(),
        next_cursor: last.map(|at| held.body.document.nodes[*at].key.to_string()),
    }))
}

/// The templates that quote a node, and the journeys that send them.
#[utoipa::path(get, path = "/api/v1/content/{key}/used-by", tag = "content", params(("key" = String, Path)), responses(
    (status = 200, body = UsedView),
    (status = 410, description = "`gone`: the content was withdrawn")))]
pub async fn used_by(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    Path(key): Path<String>,
) -> Result<Json<UsedView>, Problem> {
    // Also of what is gone: that is when one wants to know.
    let key = named(&key)?;
    let mut used = content::used(&app, grant.scope(), &[key]).await?;
    Ok(Json(used.remove(&key).unwrap_or_default().into()))
}
