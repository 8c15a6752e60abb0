//! Runs: listed, shown, begun, cancelled.

use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use kurier_core::contact::Contact;
use kurier_core::event::Position;
use kurier_core::id::{ContactId, InstanceId};
use kurier_core::journey::{RESERVED_KEYS, Status, Triggering};
use kurier_core::projection::{InstanceSummary, JourneyStanding};
use kurier_core::value::{Object, mend_escapes};
use kurier_store::{InstanceFilter, InstanceQuery};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::address::Path;
use super::credential::{Admin, Reader};
use super::instance_view::{InstanceDetail, InstanceView};
use super::journeys::find as find_journey;
use super::problem::{Fault, Problem};
use super::segments::PATIENCE;
use super::{body, cursor};
use crate::app::App;
use crate::flow;
use crate::keyring::Grant;

const LIMIT_MAX: usize = 500;
/// A key of a run may be this long.
const KEY_CHARS_MAX: usize = 1_000;

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct InstanceParams {
    /// Only runs that are at this node, or ended there.
    node: Option<String>,
    /// `active`, `completed` or `cancelled`.
    status: Option<String>,
    /// Only runs of the contact with this id.
    contact: Option<String>,
    /// Only runs of this version.
    version: Option<u32>,
    /// How many, at most 500.
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: Option<usize>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// One page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub struct InstanceList {
    data: Vec<InstanceView>,
    has_more: bool,
    next_cursor: Option<String>,
}

/// The runs of a journey, newest first.
#[utoipa::path(get, path = "/api/v1/journeys/{id}/instances", tag = "journeys", params(("id" = String, Path),
        InstanceParams), responses(
    (status = 200, body = InstanceList),
    (status = 400, description = "`bad_cursor`: the cursor belongs to another list")))]
pub async fn list(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    Path(id): Path<String>,
    params: Result<Query<InstanceParams>, QueryRejection>,
) -> Result<Json<InstanceList>, Problem> {
    let Query(params) = params.map_err(|e| bad(e.body_text()))?;
    let journey = find_journey(&app, &grant, &id).await?;
    let contacts = match params.contact.as_deref() {
        Some(id) => Some(contact(&app, &grant, id).await?.ids()),
        None => None,
    };
    let filter = InstanceFilter {
        journey: Some(journey.id),
        version: params.version,
        // NUL is in nothing that is kept, and not every database can look for it.
        node: params
            .node
            .clone()
            .map(|node| node.replace('\0', "\u{fffd}")),
        status: status(params.status.as_deref())?,
        contacts,
    };
    page(&app, &grant, filter, &params).await
}

fn bad(detail: impl Into<String>) -> Problem {
    Problem::bad_request("bad_parameter", detail)
}

fn status(text: Option<&str>) -> Result<Option<Status>, Problem> {
    let named = |text: &str| {
        let unknown = || bad("status must be active, completed or cancelled");
        Status::named(text).ok_or_else(unknown)
    };
    text.map(named).transpose()
}

async fn contact(app: &App, grant: &Grant, id: &str) -> Result<Contact, Problem> {
    let unknown = || Problem::not_found("there is no such contact");
    let id = id.parse().map_err(|_| unknown())?;
    let found = app.contact(grant.scope(), id).await?;
    found.ok_or_else(unknown)
}

async fn page(
    app: &App,
    grant: &Grant,
    filter: InstanceFilter,
    params: &InstanceParams,
) -> Result<Json<InstanceList>, Problem> {
    let limit = params.limit.unwrap_or(50);
    if limit == 0 || limit > LIMIT_MAX {
        return Err(bad(format!("limit must be between 1 and {LIMIT_MAX}")));
    }
    let key = &grant.workspace.key;
    let after = params.cursor.as_deref();
    let after = after.map(|cursor| cursor::to_instance(key, cursor));
    let query = InstanceQuery {
        filter,
        after: after.transpose()?,
        limit,
    };
    let page = app.store.journeys.instances(grant.scope(), &query).await?;
    let last = page.instances.last().filter(|_| page.has_more);
    let next_cursor = last.map(|last| cursor::of_instance(key, last.entered_at, last.id));
    Ok(Json(InstanceList {
        data: page.instances.iter().map(InstanceView::from).collect(),
        has_more: page.has_more,
        next_cursor,
    }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageParams {
    /// `active`, `completed` or `cancelled`.
    status: Option<String>,
    /// How many, at most 500.
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: Option<usize>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// The runs of a contact and of those merged into it, newest first.
#[utoipa::path(get, path = "/api/v1/contacts/{id}/journeys", tag = "journeys", params(("id" = String, Path),
        PageParams), responses(
    (status = 200, body = InstanceList),
    (status = 400, description = "`bad_cursor`: the cursor belongs to another list")))]
pub async fn of_contact(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    Path(id): Path<String>,
    params: Result<Query<PageParams>, QueryRejection>,
) -> Result<Json<InstanceList>, Problem> {
    let Query(params) = params.map_err(|e| bad(e.body_text()))?;
    let filter = InstanceFilter {
        contacts: Some(contact(&app, &grant, &id).await?.ids()),
        status: status(params.status.as_deref())?,
        ..InstanceFilter::default()
    };
    let params = InstanceParams {
        limit: params.limit,
        cursor: params.cursor,
        ..InstanceParams::default()
    };
    page(&app, &grant, filter, &params).await
}

async fn find(app: &App, grant: &Grant, id: &str) -> Result<InstanceSummary, Problem> {
    let unknown = || Problem::not_found("there is no such run");
    let id: InstanceId = id.parse().map_err(|_| unknown())?;
    let found = app.store.journeys.instance(grant.scope(), id).await?;
    found.ok_or_else(unknown)
}

/// A run with its state, its path, the reasons of every verdict, and the messages it asked for.
#[utoipa::path(get, path = "/api/v1/instances/{id}", tag = "journeys", params(("id" = String, Path)), responses(
    (status = 200, body = InstanceDetail)))]
pub async fn get(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    Path(id): Path<String>,
) -> Result<Json<InstanceDetail>, Problem> {
    let instance = find(&app, &grant, &id).await?;
    let detail = InstanceDetail::of(&app.store, grant.scope(), &instance).await?;
    Ok(Json(detail))
}

/// Takes a run out of its journey; answers when that can be read.
#[utoipa::path(delete, path = "/api/v1/instances/{id}", tag = "journeys", params(("id" = String, Path)), responses(
    (status = 200, body = InstanceView),
    (status = 202, description = "Durable; it ends in a moment", body = InstanceView),
    (status = 409, description = "`ended`: the run has ended already")))]
pub async fn cancel(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let instance = find(&app, &grant, &id).await?;
    if let Some(ending) = instance.ending {
        let detail = format!("this run has ended already: {ending}");
        return Err(Problem::new(StatusCode::CONFLICT, "ended", detail));
    }
    let (store, scope) = (&app.store, grant.scope());
    let position = flow::journey::cancel(store, scope, instance.contact, instance.id).await?;
    settled(&app, position).await?;
    let instance = find(&app, &grant, &id).await?;
    let status = match instance.ending {
        Some(_) => StatusCode::OK,
        None => StatusCode::ACCEPTED,
    };
    Ok((status, Json(InstanceView::from(&instance))).into_response())
}

/// Waits until an event was reacted to, and what came of it can be read.
async fn settled(app: &App, position: Position) -> Result<bool, Problem> {
    let began = Instant::now();
    if !app.reactor.reach(position, PATIENCE).await {
        return Ok(false);
    }
    let head = app.store.log.head().await?;
    let patience = PATIENCE.saturating_sub(began.elapsed());
    Ok(app.journeys.reach(head, patience).await)
}

/// Who is to enter a journey, and with what.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"user_id": "ann", "key": "order-7", "state": {"order": 7}}))]
pub struct TriggerInput {
    /// The contact's id.
    contact: Option<String>,
    /// The contact's user id, instead of its id.
    #[serde(alias = "userId")]
    user_id: Option<String>,
    /// Runs with different keys do not know of each other.
    #[schema(example = "order-17")]
    key: Option<String>,
    /// Custom state to begin with.
    #[serde(default)]
    #[schema(value_type = Object)]
    state: Object,
}

/// What came of a trigger.
#[derive(Debug, Serialize, ToSchema)]
pub struct TriggerAnswer {
    /// False if the re-entry policy let the contact not enter, or not yet.
    entered: bool,
    /// The run that it began, or will begin if the policy is to wait.
    #[schema(example = "019a9b6e-5f00-7c3a-9d1e-3f2b8c4d5e6f")]
    instance: String,
}

/// Sends a contact into a journey, whatever its trigger says; answers when that can be read.
#[utoipa::path(post, path = "/api/v1/journeys/{id}/trigger", tag = "journeys", params(("id" = String, Path)),
        request_body = TriggerInput, responses(
    (status = 200, description = "It did not enter", body = TriggerAnswer),
    (status = 201, description = "It entered", body = TriggerAnswer),
    (status = 202, description = "Durable; it enters in a moment", body = TriggerAnswer),
    (status = 409, description = "`bad_standing`: the journey is not active"),
    (status = 422,
        description = "`bad_trigger`: the contact is not known or the values are not valid; `errors` has every fault")))]
pub async fn trigger(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    Path(id): Path<String>,
    headers: HeaderMap,
    request: Body,
) -> Result<Response, Problem> {
    let journey = find_journey(&app, &grant, &id).await?;
    let (bytes, _room) = body::read(&headers, request, &app.pressure).await?;
    let input = read_input(&bytes)?;
    let contact = subject(&app, &grant, &input).await?;
    if journey.standing != JourneyStanding::Active {
        let detail = format!(
            "nobody enters `{}`: it is {}",
            journey.name,
            journey.standing.as_str()
        );
        return Err(Problem::new(StatusCode::CONFLICT, "bad_standing", detail));
    }
    let triggering = Triggering {
        journey: journey.id,
        key: input.key,
        state: input.state,
    };
    let (store, scope) = (&app.store, grant.scope());
    let (position, instance) = flow::journey::trigger(store, scope, contact, &triggering).await?;
    let is_settled = settled(&app, position).await?;
    let entered = store.journeys.instance(scope, instance).await?.is_some();
    let status = match (entered, is_settled) {
        (true, _) => StatusCode::CREATED,
        (false, true) => StatusCode::OK,
        (false, false) => StatusCode::ACCEPTED,
    };
    let answer = TriggerAnswer {
        entered,
        instance: instance.to_string(),
    };
    Ok((status, Json(answer)).into_response())
}

fn read_input(bytes: &[u8]) -> Result<TriggerInput, Problem> {
    let bad_json = |detail: String| Problem::bad_request("bad_json", detail);
    let text = std::str::from_utf8(bytes).map_err(|e| bad_json(e.to_string()))?;
    let input: TriggerInput =
        serde_json::from_str(&mend_escapes(text)).map_err(|e| bad_json(e.to_string()))?;
    let mut faults = Vec::new();
    if input.contact.is_some() == input.user_id.is_some() {
        faults.push(fault(
            "",
            "must name the contact, by `contact` or by `user_id`",
        ));
    }
    let key_chars = input.key.as_ref().map_or(0, |key| key.chars().count());
    if key_chars > KEY_CHARS_MAX {
        let detail = format!("has at most {KEY_CHARS_MAX} characters");
        faults.push(fault("/key", &detail));
    }
    let reserved = RESERVED_KEYS
        .iter()
        .filter(|key| input.state.contains_key(**key));
    faults.extend(reserved.map(|key| {
        let detail = "is a key that Kurier sets itself";
        fault(&format!("/state/{key}"), detail)
    }));
    match faults.is_empty() {
        true => Ok(input),
        false => Err(refused(faults)),
    }
}

fn fault(pointer: &str, detail: &str) -> Fault {
    Fault {
        pointer: pointer.to_owned(),
        detail: detail.to_owned(),
    }
}

fn refused(faults: Vec<Fault>) -> Problem {
    let detail = "nobody was sent into the journey";
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_trigger", detail).with(faults)
}

/// The contact that is meant, as it goes by now.
async fn subject(app: &App, grant: &Grant, input: &TriggerInput) -> Result<ContactId, Problem> {
    // Who was accepted a moment ago is to be found.
    let head = app.store.log.head().await?;
    app.projector.reach(head, PATIENCE).await;
    let (pointer, id) = match (&input.user_id, &input.contact) {
        (Some(user_id), _) => {
            let id = grant.workspace.key.contact_of_user(user_id);
            ("/user_id", Some(id))
        }
        (None, contact) => {
            let id = contact.as_ref().and_then(|id| id.parse().ok());
            ("/contact", id)
        }
    };
    let found = match id {
        Some(id) => app.contact(grant.scope(), id).await?,
        None => None,
    };
    let unknown = || refused(vec![fault(pointer, "there is no such contact")]);
    found.map(|contact| contact.id).ok_or_else(unknown)
}
