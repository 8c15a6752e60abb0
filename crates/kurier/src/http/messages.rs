//! Messages: the ledger of what was asked for, and what became of it.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use kurier_core::id::MessageId;
use kurier_core::message::Rendered;
use kurier_core::projection::MessageSummary;
use kurier_store::MessageQuery;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::address::Path;
use super::contacts::{limit, query};
use super::credential::Reader;
use super::cursor;
use super::message_filter::FilterParams;
use super::message_view::{CountView, MessageDetail, MessageView, RenderedContent};
use super::problem::Problem;
use crate::app::App;
use crate::flow::Unwritten;
use crate::keyring::Grant;

// `flatten` and numbers in a query do not go together in serde: the page is read apart.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageParams {
    /// How many, at most 500.
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: Option<usize>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// Whether to say what each is headed, which is written again for it.
    #[param(default = false)]
    subjects: Option<bool>,
}

/// One page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub struct MessageList {
    data: Vec<MessageView>,
    has_more: bool,
    next_cursor: Option<String>,
}

/// Messages, newest first.
#[utoipa::path(get, path = "/api/v1/messages", tag = "messages", params(PageParams, FilterParams), responses(
    (status = 200, body = MessageList),
    (status = 400, description = "`bad_cursor`: the cursor belongs to another list"),
    (status = 404, description = "`not_found`: there is no such contact")))]
pub async fn list(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    uri: axum::http::Uri,
) -> Result<Json<MessageList>, Problem> {
    let (page, filter) = params(&uri)?;
    let key = &grant.workspace.key;
    let subjects = page.subjects.unwrap_or_default();
    let after = page.cursor.as_deref();
    let after = after.map(|cursor| cursor::to_id(key, cursor)).transpose()?;
    let asked = MessageQuery {
        filter: filter.read(&app, &grant).await?,
        after: after.map(|(at, id)| (at, MessageId::from_uuid(id))),
        limit: limit(page.limit)?,
    };
    let page = app.store.messages.messages(grant.scope(), &asked).await?;
    let last = page.messages.last().filter(|_| page.has_more);
    let next_cursor = last.map(|message| {
        let id = message.request.message.as_uuid();
        cursor::of_id(key, message.requested_at, id)
    });
    let mut data = Vec::with_capacity(page.messages.len());
    for message in &page.messages {
        let subject = match subjects {
            true => subject(&app, &grant, message).await?,
            false => None,
        };
        data.push(MessageView::from(message).headed(subject));
    }
    Ok(Json(MessageList {
        data,
        has_more: page.has_more,
        next_cursor,
    }))
}

/// What a message is headed; nothing of one that cannot be written any more.
async fn subject(
    app: &App,
    grant: &Grant,
    message: &MessageSummary,
) -> Result<Option<String>, Problem> {
    let (request, at) = (&message.request, message.changed_at);
    match app.post.write(grant.scope(), request, at).await {
        Ok(rendered) => Ok(rendered.subject),
        Err(Unwritten::Never(_) | Unwritten::NoContent(_)) => Ok(None),
        Err(Unwritten::Store(error)) => Err(error.into()),
    }
}

/// The page and the filter of a query. What is neither is refused.
fn params(uri: &axum::http::Uri) -> Result<(PageParams, FilterParams), Problem> {
    let text = uri.query().unwrap_or_default();
    let is_page = |pair: &&str| {
        let names = ["limit=", "cursor=", "subjects="];
        names.iter().any(|name| pair.starts_with(name))
    };
    let (page, filter): (Vec<&str>, Vec<&str>) = text.split('&').partition(is_page);
    Ok((read(&page.join("&"))?, read(&filter.join("&"))?))
}

fn read<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, Problem> {
    let uri = format!("/?{text}").parse::<axum::http::Uri>();
    let uri = uri.map_err(|e| Problem::bad_request("bad_parameter", e.to_string()))?;
    query(Query::try_from_uri(&uri))
}

/// What a message says, written again from what it was given: the same words.
#[utoipa::path(get, path = "/api/v1/messages/{id}/content", tag = "messages", params(("id" = String, Path,
        description = "The message's id")), responses(
    (status = 200, body = RenderedContent),
    (status = 422, description = "`cannot_render`: the message cannot be rendered")))]
pub async fn content(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    Path(id): Path<String>,
) -> Result<Json<RenderedContent>, Problem> {
    Ok(Json(written(&app, &grant, &id).await?.into()))
}

/// A message, written again.
pub(super) async fn written(app: &App, grant: &Grant, id: &str) -> Result<Rendered, Problem> {
    let unknown = || Problem::not_found("there is no such message");
    let id: MessageId = id.parse().map_err(|_| unknown())?;
    let found = app.store.messages.message(grant.scope(), id).await?;
    let found = found.ok_or_else(unknown)?;
    let written = app
        .post
        .write(grant.scope(), &found.request, found.changed_at);
    match written.await {
        Ok(rendered) => Ok(rendered),
        Err(Unwritten::Never(why) | Unwritten::NoContent(why)) => {
            let status = axum::http::StatusCode::UNPROCESSABLE_ENTITY;
            Err(Problem::new(status, "cannot_render", why))
        }
        Err(Unwritten::Store(error)) => Err(error.into()),
    }
}

/// How many messages there are, by how they stand.
#[derive(Debug, Serialize, ToSchema)]
pub struct CountList {
    data: Vec<CountView>,
}

/// Messages counted by channel, state, reason and what the channel said; the most first.
#[utoipa::path(get, path = "/api/v1/messages/counts", tag = "messages", params(FilterParams), responses(
    (status = 200, body = CountList),
    (status = 404, description = "`not_found`: there is no such contact")))]
pub async fn counts(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    params: Result<Query<FilterParams>, QueryRejection>,
) -> Result<Json<CountList>, Problem> {
    let filter = query(params)?.read(&app, &grant).await?;
    let counts = app
        .store
        .messages
        .message_counts(grant.scope(), &filter)
        .await?;
    let data = counts.into_iter().map(CountView::from).collect();
    Ok(Json(CountList { data }))
}

/// One message, with every attempt and every event about it.
#[utoipa::path(get, path = "/api/v1/messages/{id}", tag = "messages", params(("id" = String, Path,
        description = "The message's id")), responses(
    (status = 200, body = MessageDetail)))]
pub async fn get(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    Path(id): Path<String>,
) -> Result<Json<MessageDetail>, Problem> {
    let unknown = || Problem::not_found("there is no such message");
    let id: MessageId = id.parse().map_err(|_| unknown())?;
    let found = app.store.messages.message(grant.scope(), id).await?;
    Ok(Json(found.ok_or_else(unknown)?.into()))
}
