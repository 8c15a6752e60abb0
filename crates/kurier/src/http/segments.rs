//! Segments: define, list, delete.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use kurier_core::event::{Kind, Position};
use kurier_core::id::SegmentId;
use kurier_core::projection::SegmentSummary;
use kurier_core::segment::{Definition, Fault as SegmentFault};
use kurier_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::address::Path;
use super::body;
use super::credential::{Admin, Reader};
use super::expressions::ExpressionFault;
use super::problem::Problem;
use super::segment_view::SegmentView;
use crate::app::App;
use crate::clock;
use crate::flow;
use crate::keyring::Grant;

/// Who writes waits this long to read it back; durable it is before.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SegmentInput {
    #[schema(example = "Active pros")]
    name: String,
    /// Who is in it; without one the segment is static.
    #[schema(
        example = "contact.plan = 'pro' AND EXISTS (event WHERE event_type = 'login' AND event_time > now() - 30d)"
    )]
    expression: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct SegmentList {
    data: Vec<SegmentView>,
}

/// All segments, by name.
#[utoipa::path(get, path = "/api/v1/segments", tag = "segments", responses(
    (status = 200, body = SegmentList)))]
pub async fn list(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
) -> Result<Json<SegmentList>, Problem> {
    let segments = app.store.segments.segments(grant.scope()).await?;
    let journeys = app.store.journeys.journeys(grant.scope()).await?;
    let view = |segment| SegmentView::of(segment, &journeys);
    Ok(Json(SegmentList {
        data: segments.into_iter().map(view).collect(),
    }))
}

/// Makes a segment; answers when its members are known.
#[utoipa::path(post, path = "/api/v1/segments", tag = "segments", request_body = SegmentInput, responses(
    (status = 201, body = SegmentView),
    (status = 202, description = "Durable; members follow", body = SegmentView),
    (status = 422, description = "`bad_segment`: the name or the expression is not valid")))]
pub async fn create(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    headers: HeaderMap,
    request: Body,
) -> Result<Response, Problem> {
    let id = SegmentId::new(clock::now(), clock::random());
    let definition = read_definition(&app, &headers, request, id).await?;
    define(
        &app,
        &grant,
        Kind::SegmentCreated,
        definition,
        StatusCode::CREATED,
    )
    .await
}

/// Changes a segment; its members are found anew.
#[utoipa::path(put, path = "/api/v1/segments/{id}", tag = "segments", params(("id" = String, Path)),
        request_body = SegmentInput, responses(
    (status = 200, body = SegmentView),
    (status = 202, description = "Durable; members follow, and `size` is that of before", body = SegmentView),
    (status = 422, description = "`bad_segment`: the name or the expression is not valid")))]
pub async fn change(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    Path(id): Path<String>,
    headers: HeaderMap,
    request: Body,
) -> Result<Response, Problem> {
    let segment = find(&app, &grant, &id).await?;
    let definition = read_definition(&app, &headers, request, segment.definition.segment).await?;
    define(
        &app,
        &grant,
        Kind::SegmentChanged,
        definition,
        StatusCode::OK,
    )
    .await
}

async fn read_definition(
    app: &App,
    headers: &HeaderMap,
    request: Body,
    id: SegmentId,
) -> Result<Definition, Problem> {
    let (bytes, _room) = body::read(headers, request, &app.pressure).await?;
    let input: SegmentInput = serde_json::from_slice(&bytes)
        .map_err(|e| Problem::bad_request("bad_json", e.to_string()))?;
    Definition::new(id, &input.name, input.expression.as_deref()).map_err(faulty)
}

pub(super) fn faulty(fault: SegmentFault) -> Problem {
    let problem = |detail| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_segment", detail);
    match fault {
        SegmentFault::Name(detail) => problem(detail),
        SegmentFault::Expression(errors) => {
            let first = errors.first().map_or_else(String::new, ToString::to_string);
            let faults = errors.into_iter().map(ExpressionFault::from).collect();
            problem(format!("the expression is faulty: {first}")).with_expression(faults)
        }
    }
}

async fn define(
    app: &App,
    grant: &Grant,
    kind: Kind,
    definition: Definition,
    status: StatusCode,
) -> Result<Response, Problem> {
    let position = flow::segment::define(&app.store, grant.scope(), kind, &definition).await?;
    if settled(app, position).await? {
        return shown(app, grant, definition.segment, status).await;
    }
    let view = foreseen(app, grant, definition, position).await?;
    Ok((StatusCode::ACCEPTED, Json(view)).into_response())
}

/// A segment whose definition is durable and cannot be read yet: what is new of it, and else
/// what is known of it, which of a new one is nothing.
async fn foreseen(
    app: &App,
    grant: &Grant,
    definition: Definition,
    revision: Position,
) -> Result<SegmentView, Problem> {
    let now = clock::now();
    let known = app
        .store
        .segments
        .segment(grant.scope(), definition.segment)
        .await?;
    let journeys = app.store.journeys.journeys(grant.scope()).await?;
    let summary = SegmentSummary {
        definition,
        created_at: known.as_ref().map_or(now, |known| known.created_at),
        changed_at: now,
        size: known.map_or(0, |known| known.size),
        revision,
    };
    Ok(SegmentView::of(summary, &journeys))
}

/// The segment as it is now.
pub(super) async fn shown(
    app: &App,
    grant: &Grant,
    segment: SegmentId,
    status: StatusCode,
) -> Result<Response, Problem> {
    let found = app.store.segments.segment(grant.scope(), segment).await?;
    let found = found.ok_or_else(|| Problem::not_found("there is no such segment"))?;
    let journeys = app.store.journeys.journeys(grant.scope()).await?;
    Ok((status, Json(SegmentView::of(found, &journeys))).into_response())
}

/// Waits until an event was reacted to, and what came of it can be read.
pub(super) async fn settled(app: &App, position: Position) -> Result<bool, Problem> {
    let began = Instant::now();
    if !app.reactor.reach(position, PATIENCE).await {
        return Ok(false);
    }
    let head = app.store.log.head().await?;
    Ok(app
        .segments
        .reach(head, PATIENCE.saturating_sub(began.elapsed()))
        .await)
}

pub(super) async fn find(app: &App, grant: &Grant, id: &str) -> Result<SegmentSummary, Problem> {
    let unknown = || Problem::not_found("there is no such segment");
    let id = id.parse().map_err(|_| unknown())?;
    app.store
        .segments
        .segment(grant.scope(), id)
        .await?
        .ok_or_else(unknown)
}

/// A segment.
#[utoipa::path(get, path = "/api/v1/segments/{id}", tag = "segments", params(("id" = String, Path)), responses(
    (status = 200, body = SegmentView)))]
pub async fn get(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    Path(id): Path<String>,
) -> Result<Json<SegmentView>, Problem> {
    let segment = find(&app, &grant, &id).await?;
    let journeys = app.store.journeys.journeys(grant.scope()).await?;
    Ok(Json(SegmentView::of(segment, &journeys)))
}

/// Deletes a segment with its history; its contacts stay.
#[utoipa::path(delete, path = "/api/v1/segments/{id}", tag = "segments", params(("id" = String, Path)), responses(
    (status = 204, description = "Deleted"),
    (status = 409, description = "`segment_in_use`: a journey uses the segment")))]
pub async fn delete(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    let segment = find(&app, &grant, &id).await?.definition.segment;
    if let Some(detail) = flow::journey::use_of(&app.store, grant.scope(), segment).await? {
        return Err(Problem::new(StatusCode::CONFLICT, "segment_in_use", detail));
    }
    let position = flow::segment::delete(&app.store, grant.scope(), segment).await?;
    settled(&app, position).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Debug, Serialize, ToSchema)]
pub struct SizeList {
    data: Vec<SizeView>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct SizeView {
    #[schema(example = "2026-11-19T09:00:00Z")]
    hour: String,
    size: i64,
}

/// How many members there were at the end of each hour in which that changed.
#[utoipa::path(get, path = "/api/v1/segments/{id}/sizes", tag = "segments", params(("id" = String, Path)), responses(
    (status = 200, body = SizeList)))]
pub async fn sizes(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    Path(id): Path<String>,
) -> Result<Json<SizeList>, Problem> {
    let segment = find(&app, &grant, &id).await?.definition.segment;
    let since = Timestamp::from_micros(i64::MIN);
    let sizes = app
        .store
        .segments
        .sizes(grant.scope(), segment, since)
        .await?;
    let data = sizes.into_iter().map(|(hour, size)| SizeView {
        hour: hour.to_string(),
        size,
    });
    Ok(Json(SizeList {
        data: data.collect(),
    }))
}
