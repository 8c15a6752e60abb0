//! Journeys: pause, resume, retire.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use super::address::Path;
use super::credential::Admin;
use super::journey_view::JourneyView;
use super::journeys::{catch_up, find};
use super::problem::Problem;
use super::segments::PATIENCE;
use crate::app::App;
use crate::flow::journey::Turn;
use crate::keyring::Grant;

/// Pauses a journey: nobody enters it, and nobody in it moves on.
#[utoipa::path(post, path = "/api/v1/journeys/{id}/pause", tag = "journeys", params(("id" = String, Path)), responses(
    (status = 200, body = JourneyView),
    (status = 202, body = JourneyView),
    (status = 409, description = "`bad_standing`: the journey is not active")))]
pub async fn pause(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    turn(&app, &grant, &id, Turn::Pause).await
}

/// Resumes a paused journey: what came due meanwhile happens now.
#[utoipa::path(post, path = "/api/v1/journeys/{id}/resume", tag = "journeys", params(("id" = String, Path)), responses(
    (status = 200, body = JourneyView),
    (status = 202, body = JourneyView),
    (status = 409, description = "`bad_standing`: the journey is not paused")))]
pub async fn resume(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    turn(&app, &grant, &id, Turn::Resume).await
}

/// Retires a journey: nobody enters it any more, and who is in it goes on to its end.
#[utoipa::path(post, path = "/api/v1/journeys/{id}/retire", tag = "journeys", params(("id" = String, Path)), responses(
    (status = 200, body = JourneyView),
    (status = 202, body = JourneyView),
    (status = 409, description = "`bad_standing`: the journey is not published")))]
pub async fn retire(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    turn(&app, &grant, &id, Turn::Retire).await
}

async fn turn(app: &App, grant: &Grant, id: &str, turn: Turn) -> Result<Response, Problem> {
    catch_up(app).await?;
    let journey = find(app, grant, id).await?;
    let said = turn.say(&app.store, grant.scope(), &journey).await?;
    let position =
        said.map_err(|detail| Problem::new(StatusCode::CONFLICT, "bad_standing", detail))?;
    let status = match app.journeys.reach(position, PATIENCE).await {
        true => StatusCode::OK,
        false => StatusCode::ACCEPTED,
    };
    let journey = find(app, grant, id).await?;
    Ok((status, Json(JourneyView::from(&journey))).into_response())
}
