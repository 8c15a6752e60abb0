//! Projections: how far they are, pausing, rebuilding and verifying them.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use kurier_core::projection::{self, Projection};
use serde::Serialize;
use utoipa::ToSchema;

use super::credential::{Admin, Reader};
use super::problem::Problem;
use super::projection_view::{ProjectionView, SetAsideView};
use crate::app::App;
use crate::flow::rebuild::Task;
use crate::keyring::Grant;

/// So many events that were set aside are shown.
const SET_ASIDE_MAX: usize = 100;

#[derive(Debug, Serialize, ToSchema)]
pub struct ProjectionList {
    data: Vec<ProjectionView>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ProjectionDetail {
    #[serde(flatten)]
    projection: ProjectionView,
    /// The first events it could not fold, with the reason.
    set_aside_events: Vec<SetAsideView>,
}

/// Every projection that runs here, and how far it is.
#[utoipa::path(get, path = "/api/v1/projections", tag = "projections", responses(
    (status = 200, body = ProjectionList)))]
pub async fn list(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
) -> Result<Json<ProjectionList>, Problem> {
    let mut data = Vec::new();
    for projection in app.projections() {
        data.push(view(&app, &grant, projection).await?);
    }
    Ok(Json(ProjectionList { data }))
}

/// One projection, with what it could not fold.
#[utoipa::path(get, path = "/api/v1/projections/{name}", tag = "projections", params(("name" = String, Path,
        description = "Its name", example = "contacts")), responses(
    (status = 200, body = ProjectionDetail)))]
pub async fn get(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<ProjectionDetail>, Problem> {
    let projection = named(path)?;
    Ok(Json(detail(&app, &grant, projection).await?))
}

/// Folds the projection anew beside its tables and swaps it in. The answer comes at once; how
/// far it is, the projection's `work` says.
#[utoipa::path(post, path = "/api/v1/projections/{name}/rebuild", tag = "projections", params(("name" = String, Path,
        description = "Its name", example = "daily")), responses(
    (status = 202, body = ProjectionDetail),
    (status = 409, description = "`conflict`: another rebuild or verification is under way")))]
pub async fn rebuild(
    app: State<Arc<App>>,
    grant: Admin,
    path: Result<Path<String>, PathRejection>,
) -> Result<(StatusCode, Json<ProjectionDetail>), Problem> {
    begin(app, grant, path, Task::Rebuild).await
}

/// Folds the projection anew and compares every row with its tables. What it found stands in
/// the projection's `work`.
#[utoipa::path(post, path = "/api/v1/projections/{name}/verify", tag = "projections", params(("name" = String, Path,
        description = "Its name", example = "daily")), responses(
    (status = 202, body = ProjectionDetail),
    (status = 409, description = "`conflict`: another rebuild or verification is under way")))]
pub async fn verify(
    app: State<Arc<App>>,
    grant: Admin,
    path: Result<Path<String>, PathRejection>,
) -> Result<(StatusCode, Json<ProjectionDetail>), Problem> {
    begin(app, grant, path, Task::Verify).await
}

async fn begin(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    path: Result<Path<String>, PathRejection>,
    task: Task,
) -> Result<(StatusCode, Json<ProjectionDetail>), Problem> {
    let projection = named(path)?;
    if !app.works.begin(&app.store, projection, task) {
        let detail = "another rebuild or verification is under way; try again when it has ended";
        return Err(Problem::conflict(detail));
    }
    let view = detail(&app, &grant, projection).await?;
    Ok((StatusCode::ACCEPTED, Json(view)))
}

/// The projection folds nothing until it is resumed; what is read of it grows old.
#[utoipa::path(post, path = "/api/v1/projections/{name}/pause", tag = "projections", params(("name" = String, Path,
        description = "Its name", example = "daily")), responses(
    (status = 200, body = ProjectionDetail)))]
pub async fn pause(
    app: State<Arc<App>>,
    grant: Admin,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<ProjectionDetail>, Problem> {
    set_paused(app, grant, path, true).await
}

/// The projection goes on where it was paused.
#[utoipa::path(post, path = "/api/v1/projections/{name}/resume", tag = "projections", params(("name" = String, Path,
        description = "Its name", example = "daily")), responses(
    (status = 200, body = ProjectionDetail)))]
pub async fn resume(
    app: State<Arc<App>>,
    grant: Admin,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<ProjectionDetail>, Problem> {
    set_paused(app, grant, path, false).await
}

async fn set_paused(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    path: Result<Path<String>, PathRejection>,
    is_paused: bool,
) -> Result<Json<ProjectionDetail>, Problem> {
    let projection = named(path)?;
    let name = projection.name();
    app.store.projections.pause(name, is_paused).await?;
    Ok(Json(detail(&app, &grant, projection).await?))
}

fn named(path: Result<Path<String>, PathRejection>) -> Result<&'static dyn Projection, Problem> {
    let name = path
        .map_err(|_| Problem::not_found("there is no projection of that name"))?
        .0;
    projection::named(&name)
        .ok_or_else(|| Problem::not_found("there is no projection of that name"))
}

async fn view(
    app: &App,
    grant: &Grant,
    projection: &'static dyn Projection,
) -> Result<ProjectionView, Problem> {
    let name = projection.name();
    let head = app.store.log.head().await?.0;
    let progress = app.store.projections.progress(name).await?;
    let set_aside = app.store.views.poisoned(name).await?;
    let mut projectors = app.projectors();
    let runs = projectors.find(|projector| projector.name() == name);
    let view = ProjectionView::new(projection, head, progress, set_aside);
    let view = view.at_rate(runs.map(|projector| projector.rate()));
    let order = app.works.of(name);
    Ok(view.with(order.as_ref(), grant.workspace.id))
}

async fn detail(
    app: &App,
    grant: &Grant,
    projection: &'static dyn Projection,
) -> Result<ProjectionDetail, Problem> {
    let aside = app
        .store
        .projections
        .set_aside(projection.name(), SET_ASIDE_MAX);
    let set_aside_events = aside.await?.into_iter().map(SetAsideView::from).collect();
    Ok(ProjectionDetail {
        projection: view(app, grant, projection).await?,
        set_aside_events,
    })
}
