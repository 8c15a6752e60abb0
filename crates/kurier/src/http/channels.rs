//! Channels: set up, look at, try, remove.

use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::address::Path;
use super::body;
use super::channel_view::{ChannelView, TestView};
use super::credential::{Admin, Owner, Reader};
use super::problem::{Fault, Problem};
use crate::app::App;
use crate::flow::channel;

/// Settings are small; certificates and keys are the largest part.
const BODY_BYTES_MAX: usize = 128 * 1024;

/// How a channel is to be set up.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what core reads")]
pub struct ChannelInput {
    /// `email`, `webhook`, `slack`, `sms` or `outbox`.
    #[schema(example = "email")]
    kind: String,
    /// What it speaks to; which settings there are depends on the kind.
    #[schema(value_type = Option<Object>, example = json!({"host": "mail.example.com", "from": {"address": "hello@example.com"}}))]
    settings: Option<Value>,
    /// Secrets by name. Those that are not named stay; null removes one.
    #[schema(value_type = Option<Object>, example = json!({"password": "…"}))]
    secrets: Option<Value>,
    #[schema(default = true)]
    enabled: Option<bool>,
    #[schema(example = 600)]
    rate_limit_per_minute: Option<u32>,
    /// `max` messages to one contact in `window_seconds`, `then` the next one may `wait` or is to `skip`.
    #[schema(value_type = Option<Object>, example = json!({"max": 3, "window_seconds": 86_400, "then": "wait"}))]
    contact_limit: Option<Value>,
    #[schema(default = 5)]
    max_retries: Option<u32>,
    /// `resend` or `ask`.
    #[schema(example = "resend")]
    on_unknown: Option<String>,
    /// `failure_threshold`, `success_threshold`, `timeout_seconds`.
    #[schema(value_type = Option<Object>, example = json!({"failure_threshold": 5, "success_threshold": 2, "timeout_seconds": 60}))]
    breaker: Option<Value>,
}

#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TestInput {
    /// Whom the test goes to; a webhook needs nobody.
    #[schema(example = "you@example.com")]
    to: Option<String>,
    #[schema(example = "A test")]
    text: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ChannelList {
    data: Vec<ChannelView>,
}

/// All channels that are set up, by name.
#[utoipa::path(get, path = "/api/v1/channels", tag = "channels", responses(
    (status = 200, body = ChannelList)))]
pub async fn list(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
) -> Result<Json<ChannelList>, Problem> {
    let gates = app.store.gates.gates(grant.scope()).await?;
    let mut data = Vec::new();
    for kept in app.store.channels.channels(grant.scope()).await? {
        data.push(ChannelView::of(&app.channels, grant.scope(), kept, &gates).await);
    }
    Ok(Json(ChannelList { data }))
}

/// One channel.
#[utoipa::path(get, path = "/api/v1/channels/{name}", tag = "channels", params(("name" = String, Path, example = "email")), responses(
    (status = 200, body = ChannelView)))]
pub async fn get(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    Path(name): Path<String>,
) -> Result<Json<ChannelView>, Problem> {
    let kept = app.store.channels.channel(grant.scope(), &name).await?;
    let kept = kept.ok_or_else(nobody_did)?;
    let gates = app.store.gates.gates(grant.scope()).await?;
    Ok(Json(
        ChannelView::of(&app.channels, grant.scope(), kept, &gates).await,
    ))
}

/// Sets a channel up, or up otherwise. It is used within a second, by every server.
#[utoipa::path(put, path = "/api/v1/channels/{name}", tag = "channels", params(("name" = String, Path, example = "email")),
        request_body = ChannelInput, responses(
    (status = 200, body = ChannelView),
    (status = 409,
        description = "`changed`: another change came first; `no_secret_key`: secrets cannot be sealed without a secret key"),
    (status = 422, description = "`bad_channel`: the settings are not valid; `errors` has every fault")))]
pub async fn set(
    State(app): State<Arc<App>>,
    Owner(grant): Owner,
    Path(name): Path<String>,
    headers: HeaderMap,
    request: Body,
) -> Result<Json<ChannelView>, Problem> {
    let (bytes, _room) =
        body::read_within(BODY_BYTES_MAX, &headers, request, &app.pressure).await?;
    let written = serde_json::from_slice(&bytes)
        .map_err(|e| Problem::bad_request("bad_json", e.to_string()))?;
    let (store, registry, scope) = (&app.store, &app.channels, grant.scope());
    let kept = channel::configure(store, registry, scope, &name, written).await?;
    Ok(Json(ChannelView::of(registry, scope, kept, &[]).await))
}

/// Removes a channel with its secrets.
#[utoipa::path(delete, path = "/api/v1/channels/{name}", tag = "channels", params(("name" = String, Path, example = "email")), responses(
    (status = 204, description = "It is gone"),
    (status = 409, description = "`changed`: another change came first")))]
pub async fn remove(
    State(app): State<Arc<App>>,
    Owner(grant): Owner,
    Path(name): Path<String>,
) -> Result<StatusCode, Problem> {
    let removed = channel::remove(&app.store, &app.channels, grant.scope(), &name).await?;
    removed
        .then_some(StatusCode::NO_CONTENT)
        .ok_or_else(nobody_did)
}

/// Sends a test with a channel, also with one that is not enabled, and says what became of it.
#[utoipa::path(post, path = "/api/v1/channels/{name}/test", tag = "channels", params(("name" = String, Path, example = "email")),
        request_body = TestInput, responses(
    (status = 200, description = "It was tried; the outcome says what became of it", body = TestView)))]
pub async fn test(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    Path(name): Path<String>,
    headers: HeaderMap,
    request: Body,
) -> Result<Json<TestView>, Problem> {
    let (bytes, _room) =
        body::read_within(BODY_BYTES_MAX, &headers, request, &app.pressure).await?;
    let input: TestInput = match bytes.trim_ascii() {
        [] => TestInput::default(),
        bytes => serde_json::from_slice(bytes)
            .map_err(|e| Problem::bad_request("bad_json", e.to_string()))?,
    };
    let found = app.channels.find_anew(grant.scope(), &name).await?;
    let found = found.ok_or_else(nobody_did)?;
    let letter = channel::test_letter(input.to, input.text);
    let began = Instant::now();
    let outcome = found.channel.send(&letter).await;
    let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(Json(TestView::of(
        letter.message.to_string(),
        outcome,
        took_ms,
    )))
}

fn nobody_did() -> Problem {
    Problem::not_found("nobody has set up a channel of this name")
}

impl From<channel::Error> for Problem {
    fn from(error: channel::Error) -> Self {
        match error {
            channel::Error::Problems(problems) => faulty(problems),
            channel::Error::Changed => {
                Self::new(StatusCode::CONFLICT, "changed", error.to_string())
            }
            channel::Error::Secret(error) => {
                Self::new(StatusCode::CONFLICT, "no_secret_key", error.to_string())
            }
            channel::Error::Store(error) => error.into(),
        }
    }
}

fn faulty(problems: Vec<kurier_core::message::channel::Problem>) -> Problem {
    let first = problems
        .first()
        .map_or_else(String::new, ToString::to_string);
    let detail = format!("the settings are faulty: {first}");
    let faults = problems.into_iter().map(|it| Fault {
        pointer: it.pointer,
        detail: it.detail,
    });
    let problem = Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_channel", detail);
    problem.with(faults.collect())
}
