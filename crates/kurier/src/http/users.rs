//! Users: who may sign in, and as what.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use kurier_core::id::UserId;
use kurier_store::{Role, User};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::address::Path;
use super::body;
use super::credential::{Owner, Reader};
use super::problem::{Fault, Problem};
use crate::app::App;
use crate::flow::user::{self, Error, Wanted, Wish};

const BODY_BYTES_MAX: usize = 16 * 1024;

/// Somebody who may sign in.
#[derive(Debug, Serialize, ToSchema)]
pub struct UserView {
    id: String,
    #[schema(example = "ann@example.com")]
    email: String,
    #[schema(example = "Ann")]
    name: String,
    /// `owner`, `editor` or `viewer`.
    #[schema(example = "editor")]
    role: &'static str,
    created_at: String,
}

impl From<&User> for UserView {
    fn from(user: &User) -> Self {
        Self {
            id: user.id.to_string(),
            email: user.email.clone(),
            name: user.name.clone(),
            role: user.role.as_str(),
            created_at: user.created_at.to_string(),
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct UserList {
    data: Vec<UserView>,
}

/// Who is to be made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UserInput {
    #[schema(example = "ann@example.com")]
    email: String,
    #[schema(example = "Ann")]
    name: String,
    /// `owner`, `editor` or `viewer`.
    #[schema(example = "editor")]
    role: String,
    /// 10 to 200 characters.
    #[schema(example = "correct horse battery")]
    password: String,
}

/// What is to be different; what is not named stays.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UserEditInput {
    name: Option<String>,
    #[schema(example = "viewer")]
    role: Option<String>,
    /// Whoever is signed in with the old one no longer is.
    #[schema(example = "correct horse battery")]
    password: Option<String>,
}

/// All users, by e-mail address.
#[utoipa::path(get, path = "/api/v1/users", tag = "portal", responses(
    (status = 200, body = UserList)))]
pub async fn list(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
) -> Result<Json<UserList>, Problem> {
    let users = app.store.users.users(grant.scope()).await?;
    let data = users.iter().map(UserView::from).collect();
    Ok(Json(UserList { data }))
}

/// Makes a user.
#[utoipa::path(post, path = "/api/v1/users", tag = "portal", request_body = UserInput, responses(
    (status = 201, body = UserView),
    (status = 409, description = "`conflict`: another user has this address"),
    (status = 422,
        description = "`bad_user`: address, name, role or password are not valid; `errors` has every fault")))]
pub async fn create(
    State(app): State<Arc<App>>,
    Owner(grant): Owner,
    headers: HeaderMap,
    request: Body,
) -> Result<(StatusCode, Json<UserView>), Problem> {
    let input: UserInput = read(&app, &headers, request).await?;
    let role = role(&input.role)?;
    let wanted = Wanted {
        email: input.email,
        name: input.name,
        password: input.password,
    };
    let made = user::create(&app, grant.scope(), wanted, role).await?;
    Ok((StatusCode::CREATED, Json(UserView::from(&made))))
}

/// Changes a user's name, role or password.
#[utoipa::path(put, path = "/api/v1/users/{id}", tag = "portal", params(("id" = String, Path)),
        request_body = UserEditInput, responses(
    (status = 200, body = UserView),
    (status = 409, description = "`last_owner`: no owner would be left"),
    (status = 422, description = "`bad_user`: name, role or password are not valid; `errors` has every fault")))]
pub async fn change(
    State(app): State<Arc<App>>,
    Owner(grant): Owner,
    Path(id): Path<String>,
    headers: HeaderMap,
    request: Body,
) -> Result<Json<UserView>, Problem> {
    let input: UserEditInput = read(&app, &headers, request).await?;
    let wish = Wish {
        name: input.name,
        role: input.role.as_deref().map(role).transpose()?,
        password: input.password,
    };
    let changed = user::edit(&app, grant.scope(), named(&id)?, wish).await?;
    Ok(Json(UserView::from(&changed)))
}

/// Deletes a user; their sessions end.
#[utoipa::path(delete, path = "/api/v1/users/{id}", tag = "portal", params(("id" = String, Path)), responses(
    (status = 204, description = "They are gone"),
    (status = 409, description = "`last_owner`: no owner would be left")))]
pub async fn delete(
    State(app): State<Arc<App>>,
    Owner(grant): Owner,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    user::delete(&app, grant.scope(), named(&id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn named(id: &str) -> Result<UserId, Problem> {
    id.parse().map_err(|_| Error::Unknown.into())
}

fn role(text: &str) -> Result<Role, Problem> {
    text.parse().map_err(|error: kurier_store::UnknownRole| {
        let fault = Fault {
            pointer: "/role".to_owned(),
            detail: error.to_string(),
        };
        faulty().with(vec![fault])
    })
}

fn faulty() -> Problem {
    let detail = "the user cannot be accepted";
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_user", detail)
}

async fn read<T: serde::de::DeserializeOwned>(
    app: &App,
    headers: &HeaderMap,
    request: Body,
) -> Result<T, Problem> {
    let (bytes, _room) = body::read_within(BODY_BYTES_MAX, headers, request, &app.pressure).await?;
    serde_json::from_slice(&bytes).map_err(|e| Problem::bad_request("bad_json", e.to_string()))
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let detail = error.to_string();
        match error {
            Error::Faults(problems) => {
                faulty().with(problems.into_iter().map(Fault::from).collect())
            }
            Error::Taken | Error::NotFirst => Self::conflict(detail),
            Error::Unknown => Self::not_found(detail),
            Error::LastOwner => Self::new(StatusCode::CONFLICT, "last_owner", detail),
            Error::Store(error) => error.into(),
            Error::Hash(error) => {
                tracing::error!(%error, "a password cannot be hashed");
                Self::busy("passwords cannot be hashed right now")
            }
        }
    }
}
