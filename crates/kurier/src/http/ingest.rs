//! Ingest, as the Segment spec has it: stock SDKs work by changing the host. An answer of
//! 200 means that the events are durable.

use std::sync::{Arc, LazyLock};

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Query, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use kurier_core::accept::{Envelope, Reception, accept, envelope};
use kurier_core::event::{Event, Kind};
use kurier_store::Appended;
use metrics::Counter;
use serde::{Deserialize, Serialize};
use tower_http::cors::{Any, CorsLayer};
use utoipa::ToSchema;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouterExt as _};
use utoipa_axum::routes;

use super::problem::{Fault, Problem, ProblemBody, no_such_method};
use super::{body, credential};
use crate::app::App;
use crate::keyring::Grant;
use crate::rejections::Rejection;
use crate::{clock, metrics as names};

/// Answers that every request understood.
#[derive(Debug, Serialize, ToSchema)]
pub struct Accepted {
    success: bool,
    /// Items of a batch that were not accepted, and why; the others were.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rejected: Vec<Rejected>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Rejected {
    /// Its place in the batch, from 0.
    index: usize,
    errors: Vec<Fault>,
}

/// Events by what became of them. Looked up once: every request counts here.
struct Tally {
    accepted: Counter,
    duplicate: Counter,
    rejected: Counter,
}

static TALLY: LazyLock<Tally> = LazyLock::new(|| {
    let of = |result| metrics::counter!(names::EVENTS, "result" => result);
    Tally {
        accepted: of("accepted"),
        duplicate: of("duplicate"),
        rejected: of("rejected"),
    }
});

/// What the address asks for.
#[derive(Debug, Clone, Copy)]
enum Target {
    One(Kind),
    Batch,
}

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

/// Accepts one event. `type` is identify, track, page, screen, group or alias.
///
/// The Content-Type does not matter; the body is JSON, plain or as gzip, deflate, br or zstd.
#[utoipa::path(post, path = "/v1/{type}", tag = "ingest", params(("type" = String, Path, example = "track")),
    request_body(content = serde_json::Value, example = json!({"userId": "u1", "event": "Signed Up"})),
    responses((status = 200, description = "Durable", body = Accepted),
        (status = 400, body = ProblemBody), (status = 401, body = ProblemBody), (status = 403, body = ProblemBody),
        (status = 404, body = ProblemBody), (status = 413, body = ProblemBody), (status = 503, body = ProblemBody)))]
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
    request_body(content = serde_json::Value,
        example = json!({"batch": [{"type": "track", "userId": "u1", "event": "Signed Up"}]})),
    responses((status = 200, description = "Durable, but for those in `rejected`", body = Accepted),
        (status = 400, body = ProblemBody), (status = 401, body = ProblemBody), (status = 403, body = ProblemBody),
        (status = 413, body = ProblemBody), (status = 503, body = ProblemBody)))]
async fn batch(State(app): State<Arc<App>>, request: Request) -> Result<Response, Problem> {
    ingest(app, Target::Batch, request).await
}

/// An event on one of the addresses that SDKs use most, taken past the router.
#[derive(Clone, Copy)]
pub struct Straight(Target);

impl Straight {
    pub fn of(method: &Method, path: &str) -> Option<Self> {
        let name = path
            .strip_prefix("/v1/")
            .filter(|_| method == Method::POST)?;
        if name == "batch" {
            return Some(Self(Target::Batch));
        }
        let kind = name
            .parse()
            .ok()
            .filter(|kind: &Kind| kind.is_from_client());
        kind.map(|kind| Self(Target::One(kind)))
    }

    /// As the router would name it.
    pub const fn route(self) -> &'static str {
        match self.0 {
            Target::One(_) => "/v1/{type}",
            Target::Batch => "/v1/batch",
        }
    }

    pub async fn answer(self, app: Arc<App>, request: Request) -> Response {
        let mut response = ingest(app, self.0, request).await.into_response();
        // What the layer of `cors` says to everything but OPTIONS.
        let any = HeaderValue::from_static("*");
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, any);
        response
    }
}

async fn ingest(app: Arc<App>, target: Target, request: Request) -> Result<Response, Problem> {
    let (parts, request_body): (Parts, Body) = request.into_parts();
    let (bytes, _room) = body::read(&parts.headers, request_body, &app.pressure).await?;
    let text = std::str::from_utf8(&bytes)
        .map_err(|_| Problem::bad_request("bad_json", "the body is not UTF-8"))?;
    let is_batch = matches!(target, Target::Batch);
    let envelope =
        envelope(text, is_batch).map_err(|e| Problem::bad_request("bad_json", e.to_string()))?;
    let grant = authorize(&app, &parts, &envelope).await?;
    let (events, rejected) = sort(&app, &envelope, target, &grant);
    TALLY.rejected.increment(rejected.len() as u64);
    if events.is_empty() && !rejected.is_empty() {
        return Err(all_rejected(rejected, is_batch));
    }
    append(&app, &grant, events).await?;
    Ok(Json(Accepted {
        success: true,
        rejected,
    })
    .into_response())
}

/// The grant of the write key, wherever the client put it.
async fn authorize(
    app: &App,
    parts: &Parts,
    envelope: &Envelope<'_>,
) -> Result<Arc<Grant>, Problem> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct KeyInQuery {
        write_key: Option<String>,
    }
    let in_header = credential::from_headers(&parts.headers)?;
    let in_query = || {
        Query::<KeyInQuery>::try_from_uri(&parts.uri)
            .ok()?
            .0
            .write_key
    };
    let key = in_header
        .or_else(in_query)
        .or_else(|| envelope.write_key.as_deref().map(str::to_owned));
    let grant = credential::grant(app, key.as_deref()).await?;
    if grant.scopes.ingest {
        return Ok(grant);
    }
    Err(Problem::forbidden(
        "this API key may not send events: it lacks the scope `ingest`",
    ))
}

/// The good items as events, the bad ones with their reasons.
fn sort(
    app: &App,
    envelope: &Envelope<'_>,
    target: Target,
    grant: &Grant,
) -> (Vec<Event>, Vec<Rejected>) {
    let received_at = clock::now();
    let kind = match target {
        Target::One(kind) => Some(kind),
        Target::Batch => None,
    };
    let reception = Reception {
        key: &grant.workspace.key,
        received_at,
        sent_at: envelope.sent_at,
        kind,
        fresh_id: &clock::fresh_event_id,
    };
    let mut events = Vec::with_capacity(envelope.items.len());
    let mut rejected = Vec::new();
    for (index, item) in envelope.items.iter().enumerate() {
        match accept(item, &reception) {
            Ok(event) => events.push(event),
            Err(problems) => {
                let sent_to = kind.map(Kind::as_str);
                let rejection = Rejection::of(item, sent_to, &problems, received_at);
                app.rejections.add(grant.scope().0, rejection);
                rejected.push(Rejected {
                    index,
                    errors: problems.into_iter().map(Fault::from).collect(),
                });
            }
        }
    }
    (events, rejected)
}

fn all_rejected(rejected: Vec<Rejected>, is_batch: bool) -> Problem {
    let faults = rejected.into_iter().flat_map(|rejected| {
        let prefix = if is_batch {
            format!("/batch/{}", rejected.index)
        } else {
            String::new()
        };
        rejected.errors.into_iter().map(move |fault| Fault {
            pointer: format!("{prefix}{}", fault.pointer),
            ..fault
        })
    });
    let faults: Vec<Fault> = faults.collect();
    // SDKs log one line: it should say what is wrong.
    let first = faults.first().map_or(String::new(), |fault| {
        format!("{} {}", fault.pointer, fault.detail)
    });
    let detail = format!(
        "nothing in this request could be accepted: {}",
        first.trim()
    );
    Problem::bad_request("bad_event", detail).with(faults)
}

async fn append(app: &App, grant: &Grant, events: Vec<Event>) -> Result<(), Problem> {
    if events.is_empty() {
        return Ok(());
    }
    let appended = app.store.log.append(grant.scope(), events).await?;
    app.projector.wake();
    app.reactor.wake();
    let duplicates = appended
        .iter()
        .filter(|appended| **appended == Appended::Duplicate)
        .count();
    TALLY.duplicate.increment(duplicates as u64);
    TALLY
        .accepted
        .increment((appended.len() - duplicates) as u64);
    Ok(())
}

/// What the browser SDK asks before it sends anything.
async fn settings(
    write_key: Result<Path<String>, PathRejection>,
) -> Result<Json<serde_json::Value>, Problem> {
    let Path(write_key) = write_key.map_err(|e| Problem::not_found(e.body_text()))?;
    let settings = serde_json::json!({"integrations": {"Segment.io": {"apiKey": write_key}}});
    Ok(Json(settings))
}

/// The same for the other family of browser SDKs: a source without destinations.
async fn source_config() -> Json<serde_json::Value> {
    Json(serde_json::json!({
        "source": {
            "id": "kurier", "name": "kurier", "writeKey": "", "enabled": true, "workspaceId": "kurier",
            "config": {"statsCollection": {"errors": {"enabled": false}, "metrics": {"enabled": false}}},
            "connections": [], "destinations": [], "dataplanes": {},
        }
    }))
}
