//! Messages: what was asked for, and what became of it.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use kurier_core::id::{ContactId, MessageId};
use kurier_core::message::MessageState;
use kurier_core::projection::MessageSummary;
use kurier_store::MessageQuery;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::contacts::{find, limit, query};
use super::credential::Reader;
use super::cursor;
use super::problem::{Problem, ProblemBody};
use crate::app::App;
use crate::keyring::Grant;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct MessageParams {
    /// How many, at most 500.
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: Option<usize>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// Of this contact.
    contact: Option<String>,
    /// Of this journey, by its id.
    journey: Option<String>,
    /// Of this run.
    instance: Option<String>,
    /// `queued` or `sent`.
    state: Option<String>,
}

/// A message of a journey to a contact.
#[derive(Debug, Serialize, ToSchema)]
pub struct MessageView {
    id: String,
    /// None for one to nobody we know.
    contact: Option<String>,
    /// The journey that asked for it; none if a program did.
    journey: Option<String>,
    version: Option<u32>,
    instance: Option<String>,
    node: Option<String>,
    /// The channel that was asked for.
    #[schema(example = "email")]
    channel: String,
    #[schema(example = "welcome")]
    template: Option<String>,
    /// 1 to 10; 10 goes first.
    priority: u8,
    /// `queued` or `sent`.
    #[schema(example = "sent")]
    state: &'static str,
    /// The channel that took it.
    sent_by: Option<String>,
    requested_at: String,
    changed_at: String,
}

impl From<MessageSummary> for MessageView {
    fn from(message: MessageSummary) -> Self {
        let request = message.request;
        let origin = request.origin;
        Self {
            id: request.message.to_string(),
            contact: message.contact.map(|it| it.to_string()),
            journey: origin.as_ref().map(|it| it.journey.to_string()),
            version: origin.as_ref().map(|it| it.version),
            instance: origin.as_ref().map(|it| it.instance.to_string()),
            node: origin.map(|it| it.node),
            channel: request.channel,
            template: request.template,
            priority: request.priority,
            state: message.state.as_str(),
            sent_by: message.standing.sent_by,
            requested_at: message.requested_at.to_string(),
            changed_at: message.changed_at.to_string(),
        }
    }
}

/// One page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub struct MessageList {
    data: Vec<MessageView>,
    has_more: bool,
    next_cursor: Option<String>,
}

/// Messages, newest first.
#[utoipa::path(get, path = "/api/v1/messages", tag = "messages", params(MessageParams), responses(
    (status = 200, body = MessageList),
    (status = 400, description = "A parameter is wrong", body = ProblemBody),
    (status = 401, body = ProblemBody), (status = 403, body = ProblemBody),
    (status = 404, description = "There is no such contact", body = ProblemBody)))]
pub async fn list(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    params: Result<Query<MessageParams>, QueryRejection>,
) -> Result<Json<MessageList>, Problem> {
    let asked = wanted(&app, &grant, &query(params)?).await?;
    let page = app.store.messages.messages(grant.scope(), &asked).await?;
    let last = page.messages.last().filter(|_| page.has_more);
    let next_cursor = last.map(|message| {
        let id = message.request.message.as_uuid();
        cursor::of_id(&grant.workspace.key, message.requested_at, id)
    });
    Ok(Json(MessageList {
        data: page.messages.into_iter().map(MessageView::from).collect(),
        has_more: page.has_more,
        next_cursor,
    }))
}

async fn wanted(app: &App, grant: &Grant, params: &MessageParams) -> Result<MessageQuery, Problem> {
    let after = params.cursor.as_deref();
    let after = after.map(|cursor| cursor::to_id(&grant.workspace.key, cursor));
    let after = after.transpose()?;
    Ok(MessageQuery {
        contacts: match &params.contact {
            Some(contact) => Some(contacts(app, grant, contact).await?),
            None => None,
        },
        journey: id("journey", params.journey.as_deref())?,
        instance: id("instance", params.instance.as_deref())?,
        state: params.state.as_deref().map(state).transpose()?,
        after: after.map(|(at, id)| (at, MessageId::from_uuid(id))),
        limit: limit(params.limit)?,
    })
}

/// A contact and all that became part of it.
async fn contacts(app: &App, grant: &Grant, id: &str) -> Result<Vec<ContactId>, Problem> {
    let unknown = |_| Problem::not_found("there is no such contact");
    let id = id.parse().map_err(unknown)?;
    Ok(find(app, grant, id).await?.ids())
}

fn id<T: std::str::FromStr>(name: &str, text: Option<&str>) -> Result<Option<T>, Problem> {
    let refused = |_| Problem::bad_request("bad_parameter", format!("{name} must be an id"));
    text.map(|text| text.parse().map_err(refused)).transpose()
}

fn state(text: &str) -> Result<MessageState, Problem> {
    let refused = || Problem::bad_request("bad_parameter", "state must be `queued` or `sent`");
    MessageState::of(text).ok_or_else(refused)
}

/// One message.
#[utoipa::path(get, path = "/api/v1/messages/{id}", tag = "messages",
    params(("id" = String, Path, description = "The message's id")), responses(
    (status = 200, body = MessageView),
    (status = 401, body = ProblemBody), (status = 403, body = ProblemBody),
    (status = 404, body = ProblemBody)))]
pub async fn get(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    Path(id): Path<String>,
) -> Result<Json<MessageView>, Problem> {
    let unknown = || Problem::not_found("there is no such message");
    let id: MessageId = id.parse().map_err(|_| unknown())?;
    let found = app.store.messages.message(grant.scope(), id).await?;
    Ok(Json(found.ok_or_else(unknown)?.into()))
}
