//! Journeys: draft, check, publish, pause, resume, retire.

use std::sync::Arc;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use kurier_core::event::Position;
use kurier_core::id::JourneyId;
use kurier_core::journey::{Draft, Fault, TEXT_BYTES_MAX, read_document};
use kurier_core::projection::JourneySummary;
use kurier_core::value::Value;
use serde::Serialize;
use utoipa::ToSchema;

use super::address::Path;
use super::body;
use super::credential::{Admin, Reader};
use super::journey_view::{FaultView, JourneyDetail, JourneyView};
use super::problem::Problem;
use super::segments::PATIENCE;
use crate::app::App;
use crate::flow::journey::{self, Publishing};
use crate::keyring::Grant;

#[derive(Debug, Serialize, ToSchema)]
pub struct JourneyList {
    data: Vec<JourneyView>,
}

/// The definition of a journey. The reference of journeys has all fields.
#[derive(ToSchema)]
#[schema(example = json!({"name": "First message", "nodes": [
    {"id": "start", "node_type": "trigger", "trigger_type": "event", "event_type": "course_booked", "next_node_id": "confirm"},
    {"id": "confirm", "node_type": "send_message", "channel": "email", "template": "first-message", "next_node_id": "done"},
    {"id": "done", "node_type": "exit"}]}))]
#[expect(dead_code, reason = "it describes what the core reads")]
pub struct JourneyDefinition {
    name: Option<String>,
    description: Option<String>,
    nodes: Vec<serde_json::Value>,
}

/// All journeys, by name.
#[utoipa::path(get, path = "/api/v1/journeys", tag = "journeys", responses(
    (status = 200, body = JourneyList)))]
pub async fn list(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
) -> Result<Json<JourneyList>, Problem> {
    let journeys = app.store.journeys.journeys(grant.scope()).await?;
    let data = journeys.iter().map(JourneyView::from).collect();
    Ok(Json(JourneyList { data }))
}

/// Makes a journey with its first draft, which may have faults. The body is the definition, as
/// JSON or YAML.
#[utoipa::path(post, path = "/api/v1/journeys", tag = "journeys",
        request_body(content((JourneyDefinition = "application/json"), (JourneyDefinition = "application/yaml"))), responses(
    (status = 201, body = JourneyDetail),
    (status = 202, description = "Durable; it can be read in a moment", body = JourneyName),
    (status = 400, description = "`bad_definition`: the definition cannot be read"),
    (status = 409, description = "`name_taken`: another journey has this name"),
    (status = 422, description = "`bad_definition`: the definition has no name")))]
pub async fn create(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    headers: HeaderMap,
    request: Body,
) -> Result<Response, Problem> {
    let (name, draft) = read_draft(&app, &headers, request).await?;
    catch_up(&app).await?;
    let id = draft.journey;
    let taken = || {
        let detail = format!("there is a journey `{name}` already");
        Problem::new(StatusCode::CONFLICT, "name_taken", detail)
    };
    let known = app.store.journeys.journey(grant.scope(), id).await?;
    if known.is_some() {
        return Err(taken());
    }
    let position = journey::create(&app.store, grant.scope(), draft).await?;
    let position = position.ok_or_else(taken)?;
    answer(&app, &grant, id, position, StatusCode::CREATED).await
}

/// A journey that is durable, but cannot be read back yet.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = JourneyPending)]
pub struct JourneyName {
    id: String,
}

async fn answer(
    app: &App,
    grant: &Grant,
    id: JourneyId,
    position: Position,
    status: StatusCode,
) -> Result<Response, Problem> {
    if !app.journeys.reach(position, PATIENCE).await {
        let name = JourneyName { id: id.to_string() };
        return Ok((StatusCode::ACCEPTED, Json(name)).into_response());
    }
    let journey = find(app, grant, &id.to_string()).await?;
    Ok((status, Json(detail(app, grant, &journey).await?)).into_response())
}

/// What was said before is known: what is decided now follows from it.
pub(super) async fn catch_up(app: &App) -> Result<(), Problem> {
    let head = app.store.log.head().await?;
    let mut is_read = app.journeys.reach(head, PATIENCE).await;
    for named in [&app.segments, &app.templates, &app.content] {
        is_read &= named.reach(head, PATIENCE).await;
    }
    if is_read {
        return Ok(());
    }
    Err(Problem::busy(
        "the read models are too far behind; nothing was changed",
    ))
}

async fn read_draft(
    app: &App,
    headers: &HeaderMap,
    request: Body,
) -> Result<(String, Draft), Problem> {
    let definition = read_definition(app, headers, request).await?;
    let definition = definition.ok_or_else(|| unreadable("the body is empty"))?;
    let name = journey::name_of(&definition).map_err(|fault| faulty(&[*fault]))?;
    let name = name.to_owned();
    let journey = JourneyId::of_name(&name);
    Ok((
        name,
        Draft {
            journey,
            definition,
        },
    ))
}

/// A definition in a body, JSON or YAML; none if the body is empty.
pub(super) async fn read_definition(
    app: &App,
    headers: &HeaderMap,
    request: Body,
) -> Result<Option<Value>, Problem> {
    let (bytes, _room) = body::read_within(TEXT_BYTES_MAX, headers, request, &app.pressure).await?;
    if bytes.trim_ascii().is_empty() {
        return Ok(None);
    }
    let reading = tokio::task::spawn_blocking(move || document(&bytes));
    let read = reading
        .await
        .map_err(|error| kurier_store::Error::Unavailable(error.to_string()))?;
    read.map(Some).map_err(|detail| unreadable(&detail))
}

fn document(bytes: &Bytes) -> Result<Value, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "the body is not UTF-8".to_owned())?;
    read_document(text).map_err(|error| format!("the body {error}"))
}

pub(super) fn unreadable(detail: &str) -> Problem {
    Problem::bad_request("bad_definition", detail)
}

pub(super) fn faulty(faults: &[Fault]) -> Problem {
    let count = faults.iter().filter(|fault| fault.is_fault()).count();
    let first = faults.first().map_or_else(String::new, Fault::to_string);
    let detail = match count {
        0 | 1 => format!("the definition is faulty: {first}"),
        _ => format!("the definition has {count} faults, the first: {first}"),
    };
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_definition", detail)
        .with_faults(faults.iter().map(FaultView::from).collect())
}

pub(super) async fn find(app: &App, grant: &Grant, id: &str) -> Result<JourneySummary, Problem> {
    let unknown = || Problem::not_found("there is no such journey");
    let id = id.parse().map_err(|_| unknown())?;
    let found = app.store.journeys.journey(grant.scope(), id).await?;
    found.ok_or_else(unknown)
}

async fn detail(
    app: &App,
    grant: &Grant,
    journey: &JourneySummary,
) -> Result<JourneyDetail, Problem> {
    Ok(with_definitions(app, grant.scope(), journey).await?)
}

/// A journey with its definitions.
pub async fn with_definitions(
    app: &App,
    scope: kurier_store::Scope,
    journey: &JourneySummary,
) -> kurier_store::Result<JourneyDetail> {
    let store = &app.store;
    let damaged = |e: serde_json::Error| kurier_store::Error::Damaged(e.to_string());
    let read = |text: Option<&str>| {
        let json = text.map(serde_json::from_str);
        json.transpose().map_err(damaged)
    };
    let definition = match journey.version {
        Some(version) => app.definition(scope, journey.id, version).await?,
        None => None,
    };
    Ok(JourneyDetail {
        journey: journey.into(),
        definition: read(definition.as_deref())?,
        draft: read(store.journeys.draft(scope, journey.id).await?.as_deref())?,
    })
}

/// A journey with its definitions.
#[utoipa::path(get, path = "/api/v1/journeys/{id}", tag = "journeys", params(("id" = String, Path)), responses(
    (status = 200, body = JourneyDetail)))]
pub async fn get(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    Path(id): Path<String>,
) -> Result<Json<JourneyDetail>, Problem> {
    let journey = find(&app, &grant, &id).await?;
    Ok(Json(detail(&app, &grant, &journey).await?))
}

/// Saves the draft of a journey; nothing that runs is changed by it.
#[utoipa::path(put, path = "/api/v1/journeys/{id}", tag = "journeys", params(("id" = String, Path)),
        request_body(content((JourneyDefinition = "application/json"), (JourneyDefinition = "application/yaml"))), responses(
    (status = 200, body = JourneyDetail),
    (status = 202, description = "Durable; it can be read in a moment", body = JourneyName),
    (status = 400, description = "`bad_definition`: the definition cannot be read"),
    (status = 422, description = "`bad_definition`: the definition has another name")))]
pub async fn save(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    Path(id): Path<String>,
    headers: HeaderMap,
    request: Body,
) -> Result<Response, Problem> {
    let journey = find(&app, &grant, &id).await?;
    let (_, draft) = read_draft(&app, &headers, request).await?;
    check_name(&journey, draft.journey)?;
    let position = journey::draft(&app.store, grant.scope(), draft).await?;
    answer(&app, &grant, journey.id, position, StatusCode::OK).await
}

fn check_name(journey: &JourneySummary, id: JourneyId) -> Result<(), Problem> {
    if journey.id == id {
        return Ok(());
    }
    let message = format!(
        "must stay `{}`; another name is another journey",
        journey.name
    );
    Err(faulty(&[Fault::new(None, Some("name"), message)]))
}

#[derive(Debug, Serialize, ToSchema)]
pub struct DefinitionCheck {
    /// It could be published.
    ok: bool,
    faults: Vec<FaultView>,
}

/// Checks a definition without keeping it: everything that is wrong with it, at once.
#[utoipa::path(post, path = "/api/v1/journeys/check", tag = "journeys",
        request_body(content((JourneyDefinition = "application/json"), (JourneyDefinition = "application/yaml"))), responses(
    (status = 200, description = "Checked; `ok` says whether it is good", body = DefinitionCheck),
    (status = 400, description = "`bad_definition`: the definition cannot be read")))]
pub async fn check(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    headers: HeaderMap,
    request: Body,
) -> Result<Json<DefinitionCheck>, Problem> {
    let definition = read_definition(&app, &headers, request).await?;
    let definition = definition.ok_or_else(|| unreadable("the body is empty"))?;
    let known = journey::known(&app.store, grant.scope()).await?;
    let checked = journey::check(definition, 1, known).await?;
    Ok(Json(DefinitionCheck {
        ok: checked.definition.is_some(),
        faults: checked.faults.iter().map(FaultView::from).collect(),
    }))
}

#[derive(Debug, Serialize, ToSchema)]
pub struct PublishAnswer {
    /// False if the current version is just that.
    published: bool,
    version: u32,
    warnings: Vec<FaultView>,
    journey: JourneyView,
}

/// Publishes the draft, or the definition in the body, as the next version: who enters from now
/// on enters it, and who is in the journey finishes on the version it began.
#[utoipa::path(post, path = "/api/v1/journeys/{id}/publish", tag = "journeys", params(("id" = String, Path)),
        request_body(content((Option<JourneyDefinition> = "application/json"), (JourneyDefinition = "application/yaml"))),
        responses(
    (status = 200, body = PublishAnswer),
    (status = 202, description = "Durable; it can be read in a moment", body = PublishAnswer),
    (status = 400, description = "`bad_definition`: the definition cannot be read"),
    (status = 409,
        description = "`no_draft`: there is nothing to publish; `overtaken`: another change came first; read it and try again"),
    (status = 422,
        description = "`bad_definition`: the definition is not valid; `faults` has every fault with its place")))]
pub async fn publish(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    Path(id): Path<String>,
    headers: HeaderMap,
    request: Body,
) -> Result<Response, Problem> {
    let journey = find(&app, &grant, &id).await?;
    let given = read_definition(&app, &headers, request).await?;
    catch_up(&app).await?;
    let journey = find(&app, &grant, &journey.id.to_string()).await?;
    let definition = match given {
        Some(definition) => definition,
        None => to_publish(&app, &grant, &journey).await?,
    };
    let name = journey::name_of(&definition).map_err(|fault| faulty(&[*fault]))?;
    check_name(&journey, JourneyId::of_name(name))?;
    let subject = (journey.id, Some(&journey));
    let done = journey::publish(&app.store, grant.scope(), subject, definition).await?;
    published(&app, &grant, &journey, done).await
}

/// The draft; or the current version, which is published already.
async fn to_publish(app: &App, grant: &Grant, journey: &JourneySummary) -> Result<Value, Problem> {
    let detail = detail(app, grant, journey).await?;
    let found = detail.draft.or(detail.definition);
    let found = found.map(serde_json::from_value::<Value>);
    found.and_then(Result::ok).ok_or_else(|| {
        let detail = "there is no draft to publish";
        Problem::new(StatusCode::CONFLICT, "no_draft", detail)
    })
}

async fn published(
    app: &App,
    grant: &Grant,
    journey: &JourneySummary,
    done: Publishing,
) -> Result<Response, Problem> {
    let (published, version, warnings, position) = match done {
        Publishing::Faulty(faults) => return Err(faulty(&faults)),
        Publishing::Overtaken => {
            let detail = "another version was published in the same moment; look at it first";
            return Err(Problem::new(StatusCode::CONFLICT, "overtaken", detail));
        }
        Publishing::Unchanged { version, warnings } => (false, version, warnings, Position(0)),
        Publishing::Done {
            position,
            version,
            warnings,
        } => (true, version, warnings, position),
    };
    let status = match app.journeys.reach(position, PATIENCE).await {
        true => StatusCode::OK,
        false => StatusCode::ACCEPTED,
    };
    let journey = find(app, grant, &journey.id.to_string()).await?;
    let answer = PublishAnswer {
        published,
        version,
        warnings: warnings.iter().map(FaultView::from).collect(),
        journey: (&journey).into(),
    };
    Ok((status, Json(answer)).into_response())
}
