//! The addresses at which events are taken, and what SDKs ask for before they send any.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderName, Method, header};
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};
use kurier_core::event::Kind;
use serde_json::Value;
use tower_http::cors::{Any, CorsLayer};
use utoipa::ToSchema;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouterExt as _};
use utoipa_axum::routes;

use super::ingest::{Accepted, Target, ingest};
use super::problem::{Problem, no_such_method};
use crate::app::App;

pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(single).map(for_browsers))
        .routes(routes!(batch).map(for_browsers))
}

/// A browser asks with OPTIONS first. The layer answers that, but only if it also lies
/// around the method's fallback, so the fallback has to be there before the layer.
fn for_browsers(router: MethodRouter<Arc<App>>) -> MethodRouter<Arc<App>> {
    router.fallback(no_such_method).layer(cors())
}

fn one(kind: Kind) -> MethodRouter<Arc<App>> {
    post(move |State(app): State<Arc<App>>, request: Request| {
        ingest(app, Target::One(kind), request)
    })
}

/// The addresses of Dittofeed's SDKs: who comes from there changes the host alone.
fn dittofeed() -> axum::Router<Arc<App>> {
    axum::Router::new()
        .route("/api/public/apps/identify", one(Kind::Identify))
        .route("/api/public/apps/track", one(Kind::Track))
        .route("/api/public/apps/page", one(Kind::Page))
        .route("/api/public/apps/screen", one(Kind::Screen))
        .route("/api/public/apps/group", one(Kind::Group))
        .route("/api/public/apps/alias", one(Kind::Alias))
        .route("/api/public/apps/batch", post(batch))
}

/// The addresses that browser SDKs use, and the settings they ask for first.
pub fn aliases() -> axum::Router<Arc<App>> {
    dittofeed()
        .route("/v1/i", one(Kind::Identify))
        .route("/v1/t", one(Kind::Track))
        .route("/v1/p", one(Kind::Page))
        .route("/v1/s", one(Kind::Screen))
        .route("/v1/g", one(Kind::Group))
        .route("/v1/a", one(Kind::Alias))
        .route("/v1/b", post(batch))
        .route("/v1/import", post(batch))
        .route("/beacon/v1/batch", post(batch))
        .route("/v1/projects/{write_key}/settings", get(settings))
        .route("/sourceConfig/", get(source_config))
        .method_not_allowed_fallback(no_such_method)
        .layer(cors())
}

/// Any page may send events; cookies play no part.
fn cors() -> CorsLayer {
    let headers = [
        header::AUTHORIZATION,
        header::CONTENT_TYPE,
        HeaderName::from_static("anonymousid"),
    ];
    CorsLayer::new()
        .allow_origin(Any)
        .allow_methods([Method::GET, Method::POST, Method::OPTIONS])
        .allow_headers(headers)
        .max_age(std::time::Duration::from_secs(86_400))
}

/// An event. All fields of the Segment specification are known; the reference of ingest has them.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"userId": "ann", "event": "course_booked", "properties": {"course": "Pottery"}}))]
#[expect(dead_code, reason = "it describes what the core reads")]
struct EventInput {
    /// In a batch: identify, track, page, screen, group or alias.
    r#type: Option<String>,
    /// The id of a user, as text or a number.
    user_id: Option<Value>,
    /// The id of a device that no user is known for yet.
    anonymous_id: Option<Value>,
    /// The name of a tracked event.
    event: Option<String>,
    #[schema(value_type = Option<Object>)]
    properties: Option<Value>,
    #[schema(value_type = Option<Object>)]
    traits: Option<Value>,
    /// The same id is taken once.
    message_id: Option<String>,
}

/// Events of any type.
#[derive(ToSchema)]
#[schema(example = json!({"batch": [{"type": "track", "userId": "ann", "event": "course_booked"}]}))]
#[expect(dead_code, reason = "it describes what the core reads")]
struct BatchInput {
    batch: Vec<EventInput>,
}

/// Accepts one event. `type` is identify, track, page, screen, group or alias.
///
/// The Content-Type does not matter; the body is JSON, plain or as gzip, deflate, br or zstd.
#[utoipa::path(post, path = "/v1/{type}", tag = "ingest", params(("type" = String, Path, example = "track")), 
        request_body = EventInput, responses(
    (status = 200, description = "Durable", body = Accepted),
    (status = 400, description = "`bad_event`: the event cannot be accepted; `errors` has every fault")))]
async fn single(
    State(app): State<Arc<App>>,
    kind: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, Problem> {
    let kind = kind
        .ok()
        .and_then(|Path(kind)| kind.parse::<Kind>().ok())
        .filter(|kind| kind.is_from_client());
    let unknown = || {
        Problem::not_found("there are /v1/identify, track, page, screen, group, alias and batch")
    };
    ingest(app, Target::One(kind.ok_or_else(unknown)?), request).await
}

/// Accepts up to 512 KB of events at once, each up to 32 KB; each names its `type`.
#[utoipa::path(post, path = "/v1/batch", tag = "ingest", 
        request_body = BatchInput, responses(
    (status = 200, description = "Durable, but for those in `rejected`", body = Accepted),
    (status = 400, description = "`bad_event`: no event can be accepted; `errors` has every fault")))]
async fn batch(State(app): State<Arc<App>>, request: Request) -> Result<Response, Problem> {
    ingest(app, Target::Batch, request).await
}

/// What the browser SDK asks before it sends anything.
async fn settings(write_key: Result<Path<String>, PathRejection>) -> Result<Json<Value>, Problem> {
    let Path(write_key) = write_key.map_err(|e| Problem::not_found(e.body_text()))?;
    let settings = serde_json::json!({"integrations": {"Segment.io": {"apiKey": write_key}}});
    Ok(Json(settings))
}

/// The same for the other family of browser SDKs: a source without destinations.
async fn source_config() -> Json<Value> {
    Json(serde_json::json!({
        "source": {
            "id": "kurier", "name": "kurier", "writeKey": "", "enabled": true, "workspaceId": "kurier",
            "config": {"statsCollection": {"errors": {"enabled": false}, "metrics": {"enabled": false}}},
            "connections": [], "destinations": [], "dataplanes": {},
        }
    }))
}
