//! Ingest, as the Segment spec has it: stock SDKs work by changing the host. An answer of
//! 200 means that the events are durable.

use std::sync::{Arc, LazyLock};

use axum::Json;
use axum::body::Body;
use axum::extract::{Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use kurier_core::accept::{Envelope, Reception, envelope};
use kurier_core::event::{Event, Kind};
use kurier_store::Appended;
use metrics::Counter;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::problem::{Fault, Problem};
use super::{body, credential};
use crate::app::App;
use crate::keyring::{Grant, Shown};
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

impl Default for Accepted {
    fn default() -> Self {
        Self::but(Vec::new())
    }
}

impl Accepted {
    /// How it looks when nothing was rejected.
    pub const ALL: &str = "{\"success\":true}";

    const fn but(rejected: Vec<Rejected>) -> Self {
        Self {
            success: true,
            rejected,
        }
    }

    pub const fn is_all(&self) -> bool {
        self.rejected.is_empty()
    }
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
pub enum Target {
    One(Kind),
    Batch,
}

/// One of the addresses that SDKs use most, past the router.
#[derive(Debug, Clone, Copy)]
pub struct Straight(Target);

impl Straight {
    pub fn of(path: &str) -> Option<Self> {
        let name = path.strip_prefix("/v1/")?;
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
        shown_to_all(read(&app, self.0, request).await)
    }

    /// Takes a body that has come whole.
    pub async fn accept(
        self,
        app: &App,
        (shown, authorization): (&mut Shown, Option<&str>),
        body: &[u8],
    ) -> Result<Accepted, Problem> {
        let mut room = app.pressure.room();
        room.grow(body.len())?;
        take(app, self.0, body, Pass::Shown(shown, authorization)).await
    }
}

/// With what the layer of `cors` says to everything but OPTIONS.
pub fn shown_to_all(accepted: Result<Accepted, Problem>) -> Response {
    let mut response = accepted.map(Json).into_response();
    let any = HeaderValue::from_static("*");
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, any);
    response
}

pub async fn ingest(app: Arc<App>, target: Target, request: Request) -> Result<Response, Problem> {
    let accepted = read(&app, target, request).await?;
    Ok(Json(accepted).into_response())
}

async fn read(app: &App, target: Target, request: Request) -> Result<Accepted, Problem> {
    let (parts, request_body): (Parts, Body) = request.into_parts();
    let (bytes, _room) = body::read(&parts.headers, request_body, &app.pressure).await?;
    take(app, target, &bytes, Pass::Request(&parts)).await
}

/// Where a key may be, besides in the body.
enum Pass<'a> {
    Request(&'a Parts),
    /// In the Authorization header alone, which the connection may have shown before.
    Shown(&'a mut Shown, Option<&'a str>),
}

/// Takes what is in a body.
async fn take(app: &App, target: Target, body: &[u8], pass: Pass<'_>) -> Result<Accepted, Problem> {
    let text = std::str::from_utf8(body)
        .map_err(|_| Problem::bad_request("bad_json", "the body is not UTF-8"))?;
    let is_batch = matches!(target, Target::Batch);
    let envelope =
        envelope(text, is_batch).map_err(|e| Problem::bad_request("bad_json", e.to_string()))?;
    let grant = authorize(app, pass, &envelope).await?;
    let (events, rejected) = sort(app, &envelope, target, &grant);
    TALLY.rejected.increment(rejected.len() as u64);
    if events.is_empty() && !rejected.is_empty() {
        return Err(all_rejected(rejected, is_batch));
    }
    append(app, &grant, events).await?;
    Ok(Accepted::but(rejected))
}

/// The grant of the write key, wherever the client put it.
async fn authorize(
    app: &App,
    pass: Pass<'_>,
    envelope: &Envelope<'_>,
) -> Result<Arc<Grant>, Problem> {
    let in_body = envelope.write_key.as_deref();
    let grant = match pass {
        Pass::Shown(shown, Some(value)) => credential::shown(app, shown, value).await?,
        Pass::Shown(_, None) => credential::grant(app, in_body).await?,
        Pass::Request(parts) => {
            let key = key_before_body(parts)?;
            credential::grant(app, key.as_deref().or(in_body)).await?
        }
    };
    if grant.scopes.ingest {
        return Ok(grant);
    }
    Err(Problem::forbidden(
        "this API key may not send events: it lacks the scope `ingest`",
    ))
}

fn key_before_body(parts: &Parts) -> Result<Option<String>, Problem> {
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
    Ok(in_header.or_else(in_query))
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
        match item.accept(&reception) {
            Ok(event) => events.push(event),
            Err(problems) => {
                let sent_to = kind.map(Kind::as_str);
                let rejection = Rejection::of(item.text, sent_to, &problems, received_at);
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
