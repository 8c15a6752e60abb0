//! Looking before a segment is made, and asking why someone is in it.

use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use kurier_core::expr::{Checked, Place};
use kurier_core::id::ContactId;
use kurier_core::segment::Fault as SegmentFault;
use kurier_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::address::Path;
use super::body;
use super::credential::Reader;
use super::problem::Problem;
use super::segment_view::ReasonView;
use super::segments::{faulty, find};
use crate::app::App;
use crate::clock;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PreviewInput {
    #[schema(example = "contact.plan = 'pro'")]
    expression: String,
    /// The instant to look at; now without it.
    #[schema(example = "2026-11-19T09:30:00.000Z")]
    now: Option<String>,
}

/// Who would be in a segment.
#[derive(Debug, Serialize, ToSchema)]
pub struct PreviewView {
    count: u64,
    /// The ids of some of them.
    #[schema(example = json!(["019a9b6e-5f00-7c3a-9d1e-3f2b8c4d5e6f"]))]
    sample: Vec<String>,
    took_us: u64,
}

/// Counts who would be in a segment, without making it.
#[utoipa::path(post, path = "/api/v1/segments/preview", tag = "segments", request_body = PreviewInput, responses(
    (status = 200, body = PreviewView),
    (status = 400, description = "`bad_parameter`: `now` is not a time"),
    (status = 422, description = "`bad_segment`: the expression is not valid; `expression_errors` has every fault")))]
pub async fn preview(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    headers: HeaderMap,
    request: Body,
) -> Result<Json<PreviewView>, Problem> {
    let (bytes, _room) = body::read(&headers, request, &app.pressure).await?;
    let input: PreviewInput = serde_json::from_slice(&bytes)
        .map_err(|e| Problem::bad_request("bad_json", e.to_string()))?;
    let checked = Checked::new(&input.expression, Place::SEGMENT);
    let checked = checked.map_err(|errors| faulty(SegmentFault::Expression(errors)))?;
    let now = input
        .now
        .as_deref()
        .map(str::parse::<Timestamp>)
        .transpose();
    let now = now.map_err(|e| Problem::bad_request("bad_parameter", format!("now: {e}")))?;
    let began = Instant::now();
    let found = match now {
        Some(now) => app.previews.at(grant.workspace.id, checked, now).await,
        None => {
            app.previews
                .now(grant.workspace.id, checked, clock::now())
                .await
        }
    };
    let found = found.map_err(|e| kurier_store::Error::Unavailable(e.to_string()))?;
    Ok(Json(PreviewView {
        count: found.count,
        sample: found.sample.iter().map(ToString::to_string).collect(),
        took_us: u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX),
    }))
}

/// Why a contact is in a segment, or is not.
#[derive(Debug, Serialize, ToSchema)]
pub struct Explanation {
    member: bool,
    reasons: Vec<ReasonView>,
}

/// Explains why a contact is in a segment, or is not.
#[utoipa::path(get, path = "/api/v1/segments/{id}/explain/{contact}", tag = "segments", params(("id" = String, Path),
        ("contact" = String, Path)), responses(
    (status = 200, body = Explanation)))]
pub async fn explain(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    Path((id, contact)): Path<(String, String)>,
) -> Result<Json<Explanation>, Problem> {
    let segment = find(&app, &grant, &id).await?.definition.segment;
    let unknown = || Problem::not_found("there is no such contact");
    let contact: ContactId = contact.parse().map_err(|_| unknown())?;
    let engines = app.reactor.engines();
    let explained = engines
        .get(&grant.workspace.id)
        .and_then(|engine| engine.realm().explain(segment, contact, clock::now()));
    let (member, reasons) = explained.ok_or_else(unknown)?;
    Ok(Json(Explanation {
        member,
        reasons: reasons.into_iter().map(ReasonView::from).collect(),
    }))
}
