//! Content: list, look at, withdraw.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use kurier_core::content::{Identifier, Key, NodeType};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::address::Path;
use super::contacts::{limit, query};
use super::content_view::{ContentItem, ContentNodeView, Shape};
use super::credential::{Admin, Reader};
use super::problem::Problem;
use crate::app::App;
use crate::flow::content::{self, Found, Held, Listing, Wanted};
use crate::keyring::Grant;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ContentListParams {
    /// Documents of this category.
    category: Option<String>,
    /// Documents of this author.
    author: Option<String>,
    /// Chunks of documents with this tag.
    tag: Option<String>,
    /// Chunks right below nodes of this type; `chunk`: all.
    #[param(example = "para")]
    level: Option<String>,
    /// How many, at most 500.
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: Option<usize>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ContentList {
    pub data: Vec<ContentItem>,
    /// Missing on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// All documents by key, or those of a category or an author; with a tag or a level, chunks.
#[utoipa::path(get, path = "/api/v1/content", tag = "content", params(ContentListParams), responses(
    (status = 200, body = ContentList),
    (status = 404, description = "`not_found`: the cursor names no content")))]
pub async fn list(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    params: Result<Query<ContentListParams>, QueryRejection>,
) -> Result<Json<ContentList>, Problem> {
    let params = query(params)?;
    let max = limit(params.limit)?;
    let cursor = params.cursor.as_deref().map(named).transpose()?;
    let listing = Listing {
        category: params.category.as_deref().map(identifier).transpose()?,
        author: params.author.as_deref().map(identifier).transpose()?,
        wanted: wanted(&params)?,
    };
    let (found, next) = listing
        .page(&app.library, grant.scope(), cursor, max)
        .await?;
    let data = found.iter().map(|it| match it {
        content::Listed::Document(known) => ContentItem::from(known.as_ref()),
        content::Listed::Chunk(held, at) => ContentItem::of(held, *at),
    });
    Ok(Json(ContentList {
        data: data.collect(),
        next_cursor: next.map(|key| key.to_string()),
    }))
}

fn wanted(params: &ContentListParams) -> Result<Wanted, Problem> {
    let tag = params.tag.as_deref().map(identifier).transpose()?;
    let level = params.level.as_deref();
    let level = level.map(|level| level.parse::<NodeType>().map_err(|e| bad(&e)));
    Ok(match (tag, level.transpose()?) {
        (None, None) => Wanted::Documents,
        (tag, level) => Wanted::Chunks {
            tag,
            level: level.unwrap_or(NodeType::Chunk),
        },
    })
}

fn bad(error: &kurier_core::content::Error) -> Problem {
    Problem::bad_request("bad_parameter", error.to_string())
}

fn identifier(text: &str) -> Result<Identifier, Problem> {
    text.parse().map_err(|error| bad(&error))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ContentParams {
    /// Also rendered, with everything below it: `html`, `text`, `slack` or `sms`.
    #[param(inline)]
    r#as: Option<Shape>,
}

/// A document or a node of one.
#[utoipa::path(get, path = "/api/v1/content/{key}", tag = "content", params(("key" = String, Path), ContentParams),
        responses(
    (status = 200, body = ContentNodeView),
    (status = 410, description = "`gone`: the content was withdrawn")))]
pub async fn get(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    Path(key): Path<String>,
    params: Result<Query<ContentParams>, QueryRejection>,
) -> Result<Json<ContentNodeView>, Problem> {
    let params = query(params)?;
    let (held, at) = find(&app, &grant, &key).await?;
    Ok(Json(ContentNodeView::of(&held, at, params.r#as)))
}

pub(super) fn named(key: &str) -> Result<Key, Problem> {
    let unknown = |_| Problem::not_found(format!("there is no content `{key}`"));
    key.parse().map_err(unknown)
}

/// The node of a key: one that is gone is answered so.
pub(super) async fn find(
    app: &App,
    grant: &Grant,
    key: &str,
) -> Result<(Arc<Held>, usize), Problem> {
    let found = app.library.find(grant.scope(), named(key)?).await?;
    match found {
        Found::Node { held, at } => Ok((held, at)),
        Found::Unknown => Err(Problem::not_found(format!("there is no content `{key}`"))),
        Found::Gone { node, import } => {
            let detail = content::gone(&node, import.as_ref());
            Err(Problem::new(StatusCode::GONE, "gone", detail))
        }
    }
}

/// Takes a document away: all its keys are gone for ever.
#[utoipa::path(delete, path = "/api/v1/content/{key}", tag = "content", params(("key" = String, Path)), responses(
    (status = 204, description = "Withdrawn"),
    (status = 409, description = "`overtaken`: another change came first; read it and try again"),
    (status = 410, description = "`gone`: the document was withdrawn before"),
    (status = 422, description = "`not_a_document`: only whole documents are withdrawn")))]
pub async fn withdraw(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    Path(key): Path<String>,
) -> Result<StatusCode, Problem> {
    content::catch_up(&app).await?;
    let (held, at) = find(&app, &grant, &key).await?;
    if at != 0 {
        let detail = format!("`{key}` is a part; the document is `{}`", held.known.key);
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        return Err(Problem::new(status, "not_a_document", detail));
    }
    let source = &held.known.source_id;
    content::withdraw(&app, grant.scope(), source).await?;
    app.content_edge.wake();
    Ok(StatusCode::NO_CONTENT)
}

impl From<content::Error> for Problem {
    fn from(error: content::Error) -> Self {
        use content::Error as E;
        match error {
            E::Twice(_) => Self::new(StatusCode::UNPROCESSABLE_ENTITY, "twice", error.to_string()),
            E::Overtaken => Self::new(StatusCode::CONFLICT, "overtaken", error.to_string()),
            E::Store(error) => error.into(),
        }
    }
}
