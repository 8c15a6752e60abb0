//! What an operator does with messages that came to an end: queue them again, or put them
//! away.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use kurier_core::id::MessageId;
use kurier_store::MessageFilter;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::body;
use super::credential::Admin;
use super::message_filter::FilterParams;
use super::problem::{Fault, Problem};
use super::segments::PATIENCE;
use crate::app::App;
use crate::flow::{Act, act_on};
use crate::keyring::Grant;

const IDS_MAX: usize = 1_000;

/// Which messages: by their ids, or all for which a filter holds.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"filter": {"journey": "019a9b6e-5f00-7c3a-9d1e-3f2b8c4d5e6f", "node": "remind", "state": "failed,skipped"}}))]
pub struct Chosen {
    /// At most 1,000.
    #[schema(example = json!(["019a9b6e-5f00-7c3a-9d1e-3f2b8c4d5e6f"]))]
    ids: Option<Vec<String>>,
    filter: Option<FilterParams>,
}

/// What was done.
#[derive(Debug, Serialize, ToSchema)]
pub struct Acted {
    /// How many there were that had come to an end.
    messages: usize,
}

/// Queues messages again that failed, were skipped, or of which nobody knows whether they
/// arrived. They keep their ids, and every guard looks at them again.
#[utoipa::path(post, path = "/api/v1/messages/redrive", tag = "messages", request_body = Chosen, responses(
    (status = 200, body = Acted),
    (status = 400, description = "`bad_parameter`: a field of the filter is not valid"),
    (status = 422, description = "`bad_choice`: the choice of messages is not valid")))]
pub async fn redrive(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    headers: HeaderMap,
    request: Body,
) -> Result<Json<Acted>, Problem> {
    act(&app, &grant, &headers, request, Act::Redrive).await
}

/// Puts messages away that came to an end: they are not dead letters any more.
#[utoipa::path(post, path = "/api/v1/messages/discard", tag = "messages", request_body = Chosen, responses(
    (status = 200, body = Acted),
    (status = 400, description = "`bad_parameter`: a field of the filter is not valid"),
    (status = 422, description = "`bad_choice`: the choice of messages is not valid")))]
pub async fn discard(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    headers: HeaderMap,
    request: Body,
) -> Result<Json<Acted>, Problem> {
    act(&app, &grant, &headers, request, Act::Discard).await
}

async fn act(
    app: &App,
    grant: &Grant,
    headers: &HeaderMap,
    request: Body,
    act: Act,
) -> Result<Json<Acted>, Problem> {
    let (bytes, _room) = body::read(headers, request, &app.pressure).await?;
    let chosen: Chosen = serde_json::from_slice(&bytes)
        .map_err(|e| Problem::bad_request("bad_json", e.to_string()))?;
    let filter = choice(app, grant, chosen).await?;
    // Who just failed is to be found.
    let head = app.store.log.head().await?;
    app.messages.reach(head, PATIENCE).await;
    let messages = act_on(&app.store, grant.scope(), act, filter).await?;
    app.deliverer.wake();
    Ok(Json(Acted { messages }))
}

async fn choice(
    app: &App,
    grant: &Grant,
    chosen: Chosen,
) -> Result<Result<Vec<MessageId>, MessageFilter>, Problem> {
    match (chosen.ids, chosen.filter) {
        (Some(ids), None) if ids.len() <= IDS_MAX => Ok(Ok(read_ids(&ids)?)),
        (Some(_), None) => Err(refused("/ids", format!("names at most {IDS_MAX}"))),
        (None, Some(filter)) => Ok(Err(filter.read(app, grant).await?)),
        _ => Err(refused("", "must have `ids` or `filter`".into())),
    }
}

fn read_ids(ids: &[String]) -> Result<Vec<MessageId>, Problem> {
    let read = |(n, id): (usize, &String)| {
        let wrong = |_| refused(&format!("/ids/{n}"), "is not an id".into());
        id.parse().map_err(wrong)
    };
    ids.iter().enumerate().map(read).collect()
}

fn refused(pointer: &str, detail: String) -> Problem {
    let fault = Fault {
        pointer: pointer.to_owned(),
        detail,
    };
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    Problem::new(status, "bad_choice", "the messages cannot be chosen so").with(vec![fault])
}
