//! Slack workspaces: create, update, archive, look at.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use kurier_core::id::SlackWorkspaceId;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::address::Path;
use super::body;
use super::contacts::query;
use super::credential::{Admin, Reader};
use super::problem::{Fault, Problem};
use super::segments::PATIENCE;
use super::slack_workspace_view::SlackWorkspaceView;
use crate::app::App;
use crate::flow::slack_workspace::{self, Told, Wanted};
use crate::keyring::Grant;

const BODY_BYTES_MAX: usize = 16 * 1024;

/// What is to be known of a Slack workspace.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what is read by hand")]
pub struct SlackWorkspaceInput {
    #[schema(example = "Acme")]
    name: String,
    /// What it is for.
    #[schema(example = "sales")]
    category: Option<String>,
    /// Where messages go that name no channel.
    #[schema(example = "#general")]
    default_channel: Option<String>,
    /// `bot_token` and `webhook_url`. Those that are not named stay; null removes one.
    #[schema(value_type = Option<Object>, example = json!({"bot_token": "xoxb-…"}))]
    secrets: Option<Value>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListParams {
    /// Only those of this category.
    category: Option<String>,
    /// Those that were archived instead.
    #[serde(default)]
    archived: bool,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct SlackWorkspaceList {
    data: Vec<SlackWorkspaceView>,
}

/// All Slack workspaces that are in use, by name.
#[utoipa::path(get, path = "/api/v1/slack-workspaces", tag = "slack-workspaces", params(ListParams), responses(
    (status = 200, body = SlackWorkspaceList)))]
pub async fn list(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    params: Result<Query<ListParams>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<SlackWorkspaceList>, Problem> {
    let params = query(params)?;
    let all = slack_workspace::list(
        &app,
        grant.scope(),
        params.category.as_deref(),
        params.archived,
    );
    let data = all.await?.iter().map(SlackWorkspaceView::from).collect();
    Ok(Json(SlackWorkspaceList { data }))
}

/// A Slack workspace.
#[utoipa::path(get, path = "/api/v1/slack-workspaces/{id}", tag = "slack-workspaces", params(("id" = String, Path)),
        responses(
    (status = 200, body = SlackWorkspaceView)))]
pub async fn get(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    Path(id): Path<String>,
) -> Result<Json<SlackWorkspaceView>, Problem> {
    shown(&app, &grant, named(&id)?).await.map(Json)
}

/// Makes a Slack workspace; answers when it can be read back.
#[utoipa::path(post, path = "/api/v1/slack-workspaces", tag = "slack-workspaces", request_body = SlackWorkspaceInput,
        responses(
    (status = 201, body = SlackWorkspaceView),
    (status = 202, description = "Durable; it can be read in a moment", body = Pending),
    (status = 409,
        description = "`changed`: another change came first; `too_many`: there are as many as there may be; `no_secret_key`: secrets cannot be sealed without a secret key"),
    (status = 422, description = "`bad_slack_workspace`: some fields are not valid; `errors` has every fault")))]
pub async fn create(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    headers: HeaderMap,
    request: Body,
) -> Result<Response, Problem> {
    let wanted = read(&app, &headers, request).await?;
    catch_up(&app).await?;
    let vault = app.channels.vault();
    let told = slack_workspace::create(&app.store, vault, grant.scope(), wanted).await?;
    answer(&app, &grant, told, StatusCode::CREATED).await
}

/// Says anew what is known of a Slack workspace; one that was archived is in use again.
#[utoipa::path(put, path = "/api/v1/slack-workspaces/{id}", tag = "slack-workspaces", params(("id" = String, Path)),
        request_body = SlackWorkspaceInput, responses(
    (status = 200, body = SlackWorkspaceView),
    (status = 202, description = "Durable; it can be read in a moment", body = Pending),
    (status = 409,
        description = "`changed`: another change came first; `no_secret_key`: secrets cannot be sealed without a secret key"),
    (status = 422, description = "`bad_slack_workspace`: some fields are not valid; `errors` has every fault")))]
pub async fn update(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    Path(id): Path<String>,
    headers: HeaderMap,
    request: Body,
) -> Result<Response, Problem> {
    let id = named(&id)?;
    let wanted = read(&app, &headers, request).await?;
    catch_up(&app).await?;
    let vault = app.channels.vault();
    let told = slack_workspace::update(&app.store, vault, grant.scope(), id, wanted).await?;
    let told = told.ok_or_else(unknown)?;
    answer(&app, &grant, told, StatusCode::OK).await
}

/// Archives a Slack workspace: nothing is sent there any more, and its secrets are gone.
#[utoipa::path(delete, path = "/api/v1/slack-workspaces/{id}", tag = "slack-workspaces", params(("id" = String,
        Path)), responses(
    (status = 204, description = "Archived"),
    (status = 409, description = "`changed`: another change came first")))]
pub async fn archive(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    catch_up(&app).await?;
    let told = slack_workspace::archive(&app.store, grant.scope(), named(&id)?).await?;
    let told = told.ok_or_else(unknown)?;
    slack_workspace::is_read(&app, told.position, PATIENCE).await;
    Ok(StatusCode::NO_CONTENT)
}

/// One that is durable, but cannot be read back yet.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SlackWorkspacePending)]
pub struct Pending {
    id: String,
}

async fn answer(
    app: &App,
    grant: &Grant,
    told: Told,
    status: StatusCode,
) -> Result<Response, Problem> {
    if slack_workspace::is_read(app, told.position, PATIENCE).await {
        let view = shown(app, grant, told.id).await?;
        return Ok((status, Json(view)).into_response());
    }
    let id = told.id.to_string();
    Ok((StatusCode::ACCEPTED, Json(Pending { id })).into_response())
}

async fn shown(
    app: &App,
    grant: &Grant,
    id: SlackWorkspaceId,
) -> Result<SlackWorkspaceView, Problem> {
    let found = slack_workspace::one(app, grant.scope(), id).await?;
    let found = found.ok_or_else(unknown)?;
    Ok(SlackWorkspaceView::from(&found))
}

async fn read(app: &App, headers: &HeaderMap, request: Body) -> Result<Wanted, Problem> {
    let (bytes, _room) = body::read_within(BODY_BYTES_MAX, headers, request, &app.pressure).await?;
    let written = serde_json::from_slice(&bytes)
        .map_err(|e| Problem::bad_request("bad_json", e.to_string()))?;
    Ok(Wanted::read(written)?)
}

/// What was said before is known.
async fn catch_up(app: &App) -> Result<(), Problem> {
    let head = app.store.log.head().await?;
    match app.slack_workspaces.reach(head, PATIENCE).await {
        true => Ok(()),
        false => Err(Problem::busy(
            "the read models are too far behind; nothing was changed",
        )),
    }
}

fn named(id: &str) -> Result<SlackWorkspaceId, Problem> {
    id.parse().map_err(|_| unknown())
}

fn unknown() -> Problem {
    Problem::not_found("there is no such Slack workspace")
}

impl From<slack_workspace::Error> for Problem {
    fn from(error: slack_workspace::Error) -> Self {
        use slack_workspace::Error as E;
        let conflict = |code| Self::new(StatusCode::CONFLICT, code, error.to_string());
        match error {
            E::Changed => conflict("changed"),
            E::Full => conflict("too_many"),
            E::Secret(_) => conflict("no_secret_key"),
            E::Problems(problems) => faulty(problems),
            E::Store(error) => error.into(),
        }
    }
}

fn faulty(problems: Vec<kurier_core::message::channel::Problem>) -> Problem {
    let first = problems
        .first()
        .map_or_else(String::new, ToString::to_string);
    let detail = format!("the Slack workspace is faulty: {first}");
    let faults = problems.into_iter().map(|it| Fault {
        pointer: it.pointer,
        detail: it.detail,
    });
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    Problem::new(status, "bad_slack_workspace", detail).with(faults.collect())
}
