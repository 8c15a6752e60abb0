//! Expressions: is it good, what does it read, what is wrong and where.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use kurier_core::expr::{Checked, Place, Reads};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::body;
use super::credential::Reader;
use super::problem::Problem;
use crate::app::App;

/// Texts that are far too long are read all the same: only so their fault is told with its place,
/// as every other is. They are not parsed.
const TEXT_BYTES_MAX: usize = 8 * 1024 * 1024;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpressionInput {
    #[schema(example = "contact.plan = 'pro' AND COUNT(event WHERE event_type = 'login') > 3")]
    expression: String,
    /// Where it is to stand: what it may speak of depends on that.
    #[serde(default)]
    place: PlaceName,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum PlaceName {
    #[default]
    Segment,
    Trigger,
    Journey,
    JourneyEvent,
}

impl From<PlaceName> for Place {
    fn from(name: PlaceName) -> Self {
        match name {
            PlaceName::Segment => Self::SEGMENT,
            PlaceName::Trigger => Self::TRIGGER,
            PlaceName::Journey => Self::JOURNEY,
            PlaceName::JourneyEvent => Self::JOURNEY_EVENT,
        }
    }
}

/// What there is to say of an expression.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExpressionCheck {
    ok: bool,
    /// The one way to write it.
    #[schema(example = "contact.plan = 'pro'")]
    canonical: Option<String>,
    reads: Option<ReadsView>,
    errors: Vec<ExpressionFault>,
}

/// What an expression reads: only a change of that can change its verdict.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReadsView {
    contact: BTreeSet<String>,
    #[schema(example = json!(["Order Completed"]))]
    events: BTreeSet<String>,
    any_event: bool,
    #[schema(example = json!(["plan"]))]
    properties: BTreeSet<String>,
    /// The verdict may change by time alone.
    time: bool,
}

impl From<Reads> for ReadsView {
    fn from(reads: Reads) -> Self {
        Self {
            contact: reads.contact,
            events: reads.events,
            any_event: reads.any_event,
            properties: reads.properties,
            time: reads.time,
        }
    }
}

/// One fault, and the bytes of the text it is about.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ExpressionFault {
    #[schema(example = "`plam` is not known")]
    pub message: String,
    pub span: SpanView,
    #[schema(example = "plan")]
    pub suggestion: Option<String>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SpanView {
    start: usize,
    end: usize,
}

impl From<kurier_core::expr::Span> for SpanView {
    fn from(span: kurier_core::expr::Span) -> Self {
        Self {
            start: span.start,
            end: span.end,
        }
    }
}

impl From<kurier_core::expr::Error> for ExpressionFault {
    fn from(error: kurier_core::expr::Error) -> Self {
        Self {
            message: error.message,
            span: error.span.into(),
            suggestion: error.suggestion,
        }
    }
}

/// Checks an expression without keeping it.
#[utoipa::path(post, path = "/api/v1/expressions/check", tag = "expressions", request_body = ExpressionInput, responses(
    (status = 200, description = "Checked; `ok` says whether it is good", body = ExpressionCheck)))]
pub async fn check(
    State(app): State<Arc<App>>,
    _: Reader,
    headers: HeaderMap,
    request: Body,
) -> Result<Json<ExpressionCheck>, Problem> {
    let read = body::read_within(TEXT_BYTES_MAX, &headers, request, &app.pressure);
    let (bytes, _room) = read.await?;
    let input: ExpressionInput = serde_json::from_slice(&bytes)
        .map_err(|e| Problem::bad_request("bad_json", e.to_string()))?;
    let answer = match Checked::new(&input.expression, input.place.into()) {
        Ok(checked) => ExpressionCheck {
            ok: true,
            canonical: Some(checked.canonical()),
            reads: Some(checked.plan.reads().into()),
            errors: Vec::new(),
        },
        Err(errors) => ExpressionCheck {
            ok: false,
            canonical: None,
            reads: None,
            errors: errors.into_iter().map(ExpressionFault::from).collect(),
        },
    };
    Ok(Json(answer))
}
