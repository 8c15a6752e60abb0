//! Signing in and out, and the first owner.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use kurier_core::user;
use kurier_store::Scope;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::body;
use super::cookie;
use super::credential;
use super::problem::Problem;
use super::users::UserView;
use crate::app::App;
use crate::flow::user::{Wanted, create_first};
use crate::sessions::{Begun, Session, SignIn};
use crate::{clock, operator};

const BODY_BYTES_MAX: usize = 16 * 1024;

/// Somebody who is signed in.
#[derive(Serialize, ToSchema)]
pub struct SessionView {
    user: UserView,
    workspace: WorkspaceView,
    /// To be sent as `X-CSRF-Token` with every request that is not GET.
    #[schema(example = "9d1e3f2b8c4d5e6f")]
    csrf: String,
    /// Whether this is a demo.
    demo: bool,
}

#[derive(Serialize, ToSchema)]
pub struct WorkspaceView {
    id: String,
    #[schema(example = "default")]
    name: String,
}

impl SessionView {
    fn of(app: &App, session: &Session) -> Self {
        let (id, name) = session.workspace();
        Self {
            user: UserView::from(&session.user),
            workspace: WorkspaceView {
                id: id.to_string(),
                name: name.to_owned(),
            },
            csrf: session.csrf.clone(),
            demo: app.demo.is_on(),
        }
    }
}

/// Who signs in.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(example = json!({"email": "ann@example.com", "password": "correct horse battery"}))]
pub struct SignInInput {
    #[schema(example = "ann@example.com")]
    email: Option<String>,
    #[schema(example = "correct horse battery")]
    password: Option<String>,
    /// In place of both, where a demo is served on this machine.
    demo: bool,
}

/// The first owner, and an API key with the scope `admin` as a proof.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SetupInput {
    #[schema(example = "kur_…")]
    key: String,
    #[schema(example = "ann@example.com")]
    email: String,
    #[schema(example = "Ann")]
    name: String,
    #[schema(example = "correct horse battery")]
    password: String,
}

/// Who is signed in.
#[utoipa::path(get, path = "/api/v1/session", tag = "portal", security(()), responses(
    (status = 200, body = SessionView),
    (status = 401, description = "`setup_required`: no user exists yet; `signed_out`: nobody is signed in")))]
pub async fn get(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Result<Json<SessionView>, Problem> {
    if let Some(session) = find(&app, &headers).await? {
        return Ok(Json(SessionView::of(&app, &session)));
    }
    let problem = if app.store.users.has_users().await? {
        cookie::signed_out()
    } else {
        let detail = "there is no user yet: the first one is made with an admin API key";
        Problem::new(StatusCode::UNAUTHORIZED, "setup_required", detail)
    };
    Err(problem.of_demo(app.demo.is_on()))
}

async fn find(app: &App, headers: &HeaderMap) -> Result<Option<Arc<Session>>, Problem> {
    let Some(token) = cookie::token(headers) else {
        return Ok(None);
    };
    Ok(app.sessions.find(token, clock::now()).await?)
}

/// Signs in: the answer sets a cookie.
#[utoipa::path(post, path = "/api/v1/session", tag = "portal", security(()), request_body = SignInInput, responses(
    (status = 200, body = SessionView),
    (status = 401, description = "`wrong_password`: the address or the password is wrong"),
    (status = 403,
        description = "`forbidden`: there is no demo on this server; `csrf`: a page of another site sent this"),
    (status = 415, description = "`bad_content_type`: the content type must be application/json"),
    (status = 429,
        description = "`too_many_attempts`: too many wrong passwords; Retry-After has the seconds to wait")))]
pub async fn sign_in(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    request: Body,
) -> Result<Response, Problem> {
    let input: SignInInput = read(&app, &headers, request).await?;
    let begun = match (input.demo, input.email, input.password) {
        (true, None, None) => demo(&app, &headers).await?,
        (false, Some(email), Some(password)) => by_password(&app, &email, &password).await?,
        _ => {
            let detail = "give `email` and `password`, or `demo`";
            return Err(Problem::bad_request("bad_json", detail));
        }
    };
    Ok(answer(&app, &headers, StatusCode::OK, &begun))
}

async fn by_password(app: &App, email: &str, password: &str) -> Result<Begun, Problem> {
    let wrong = || {
        let detail = "the e-mail address or the password is wrong";
        Problem::new(StatusCode::UNAUTHORIZED, "wrong_password", detail)
    };
    // What nobody can have chosen is not worth hashing.
    let email = user::email(email).map_err(|_| wrong())?;
    user::check_password(password).map_err(|_| wrong())?;
    match app.sessions.sign_in(&email, password).await {
        Ok(SignIn::Done(begun)) => Ok(begun),
        Ok(SignIn::Wrong) => Err(wrong()),
        Ok(SignIn::Wait(seconds)) => Err(Problem::too_often(seconds)),
        Err(error) => Err(unavailable(&error)),
    }
}

fn unavailable(error: &anyhow::Error) -> Problem {
    tracing::error!(%error, "signing in failed");
    Problem::busy("signing in is not possible right now")
}

async fn demo(app: &App, headers: &HeaderMap) -> Result<Begun, Problem> {
    let refused = || Problem::forbidden("there is no demo to sign in to here");
    let email = app.demo.owner().ok_or_else(refused)?;
    if !cookie::is_to_loopback(headers) {
        return Err(refused());
    }
    let found = app.store.users.find_user(email).await?;
    let (scope, found) = found.ok_or_else(refused)?;
    let begun = app.sessions.begin(scope, &found.user).await?;
    begun.ok_or_else(refused)
}

/// Signs out.
#[utoipa::path(delete, path = "/api/v1/session", tag = "portal", security(()), responses(
    (status = 204, description = "Nobody is signed in any more"),
    (status = 401, description = "`signed_out`: nobody is signed in"),
    (status = 403, description = "`csrf`: the header X-CSRF-Token is missing or wrong")))]
pub async fn sign_out(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let session = find(&app, &headers).await?;
    let session = session.ok_or_else(cookie::signed_out)?;
    cookie::check_csrf(&headers, &session)?;
    if let Some(token) = cookie::token(&headers) {
        app.sessions.end(token).await?;
    }
    let gone = [(header::SET_COOKIE, cookie::set(&app, &headers, ""))];
    Ok((StatusCode::NO_CONTENT, gone).into_response())
}

/// Makes the first owner of a workspace, and signs them in.
#[utoipa::path(post, path = "/api/v1/setup", tag = "portal", security(()), request_body = SetupInput, responses(
    (status = 201, body = SessionView),
    (status = 401,
        description = "`unauthorized`: this is not an API key; `signed_out`: the user was deleted meanwhile"),
    (status = 403,
        description = "`forbidden`: the key lacks the scope `admin`; `csrf`: a page of another site sent this"),
    (status = 409, description = "`conflict`: there are users already"),
    (status = 415, description = "`bad_content_type`: the content type must be application/json"),
    (status = 422, description = "`bad_user`: address, name or password are not valid; `errors` has every fault")))]
pub async fn setup(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    request: Body,
) -> Result<Response, Problem> {
    let input: SetupInput = read(&app, &headers, request).await?;
    let grant = credential::grant(&app, Some(&input.key)).await?;
    if !grant.governs {
        return Err(Problem::forbidden("the API key lacks the scope `admin`"));
    }
    operator::is(&grant.operator);
    let wanted = Wanted {
        email: input.email,
        name: input.name,
        password: input.password,
    };
    let scope: Scope = grant.scope();
    let user = create_first(&app, scope, wanted).await?;
    let begun = app.sessions.begin(scope, &user).await?;
    let begun = begun.ok_or_else(cookie::signed_out)?;
    Ok(answer(&app, &headers, StatusCode::CREATED, &begun))
}

async fn read<T: serde::de::DeserializeOwned>(
    app: &App,
    headers: &HeaderMap,
    request: Body,
) -> Result<T, Problem> {
    cookie::check_origin(headers)?;
    let (bytes, _room) = body::read_within(BODY_BYTES_MAX, headers, request, &app.pressure).await?;
    // The cause could quote a password.
    serde_json::from_slice(&bytes).map_err(|e| {
        let detail = format!("line {} column {} cannot be read", e.line(), e.column());
        Problem::bad_request("bad_json", detail)
    })
}

fn answer(app: &App, headers: &HeaderMap, status: StatusCode, begun: &Begun) -> Response {
    let cookie = [(header::SET_COOKIE, cookie::set(app, headers, &begun.token))];
    let view = SessionView::of(app, &begun.session);
    (status, cookie, Json(view)).into_response()
}
