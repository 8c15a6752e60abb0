//! API keys: a key is shown when it is made, and never again.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use kurier_core::id::ApiKeyId;
use kurier_core::time::Timestamp;
use kurier_store::{ApiKey, Scopes};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::address::Path;
use super::body;
use super::credential::Owner;
use super::problem::{Fault, Problem};
use crate::app::App;
use crate::keyring;

const BODY_BYTES_MAX: usize = 16 * 1024;
const NAME_CHARS_MAX: usize = 100;

/// A key's public half.
#[derive(Debug, Serialize, ToSchema)]
pub struct ApiKeyView {
    id: String,
    #[schema(example = "website")]
    name: String,
    /// Of `ingest`, `read` and `admin`.
    #[schema(example = json!(["ingest"]))]
    scopes: Vec<String>,
    created_at: String,
    expires_at: Option<String>,
    revoked_at: Option<String>,
}

impl From<&ApiKey> for ApiKeyView {
    fn from(key: &ApiKey) -> Self {
        let scopes = key.scopes.to_string();
        Self {
            id: key.id.to_string(),
            name: key.name.clone(),
            scopes: scopes.split(' ').map(str::to_owned).collect(),
            created_at: key.created_at.to_string(),
            expires_at: key.expires_at.map(|at| at.to_string()),
            revoked_at: key.revoked_at.map(|at| at.to_string()),
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ApiKeyList {
    data: Vec<ApiKeyView>,
}

/// A key that was just made.
#[derive(Serialize, ToSchema)]
pub struct MintedView {
    #[serde(flatten)]
    view: ApiKeyView,
    /// The key itself: here and nowhere else.
    #[schema(example = "kur_…")]
    key: String,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ApiKeyInput {
    /// What the key is for.
    #[schema(example = "website")]
    name: String,
    /// Of `ingest`, `read` and `admin`, at least one.
    #[schema(example = json!(["ingest"]))]
    scopes: Vec<String>,
    /// When it ends; never without it.
    #[schema(value_type = Option<String>, example = "2027-01-31T00:00:00Z")]
    #[serde(default)]
    expires_at: Option<Timestamp>,
}

/// All keys, also those that were revoked; the oldest first.
#[utoipa::path(get, path = "/api/v1/api-keys", tag = "portal", responses(
    (status = 200, body = ApiKeyList)))]
pub async fn list(
    State(app): State<Arc<App>>,
    Owner(grant): Owner,
) -> Result<Json<ApiKeyList>, Problem> {
    let keys = app.store.access.keys(grant.scope()).await?;
    let data = keys.iter().map(ApiKeyView::from).collect();
    Ok(Json(ApiKeyList { data }))
}

/// Makes a key and shows it, this once.
#[utoipa::path(post, path = "/api/v1/api-keys", tag = "portal", request_body = ApiKeyInput, responses(
    (status = 201, body = MintedView),
    (status = 422, description = "`bad_key`: the name or the scopes are not valid")))]
pub async fn create(
    State(app): State<Arc<App>>,
    Owner(grant): Owner,
    headers: HeaderMap,
    request: Body,
) -> Result<(StatusCode, Json<MintedView>), Problem> {
    let (bytes, _room) =
        body::read_within(BODY_BYTES_MAX, &headers, request, &app.pressure).await?;
    let input: ApiKeyInput = serde_json::from_slice(&bytes)
        .map_err(|e| Problem::bad_request("bad_json", e.to_string()))?;
    let scopes = checked(&input)?;
    let minted = keyring::mint(input.name.trim(), scopes, None, input.expires_at);
    let view = ApiKeyView::from(&minted.new.key);
    let (access, scope) = (&app.store.access, grant.scope());
    access.create_key(scope, minted.new, minted.event).await?;
    let key = minted.secret;
    Ok((StatusCode::CREATED, Json(MintedView { view, key })))
}

fn checked(input: &ApiKeyInput) -> Result<Scopes, Problem> {
    let count = input.name.trim().chars().count();
    let is_named = (1..=NAME_CHARS_MAX).contains(&count) && !input.name.contains(char::is_control);
    let name = (!is_named).then(|| Fault {
        pointer: "/name".to_owned(),
        detail: format!("must have 1 to {NAME_CHARS_MAX} characters"),
    });
    let scopes: Result<Scopes, String> = match input.scopes.join(" ").parse() {
        Ok(scopes) if scopes == Scopes::default() => {
            Err("name at least one: ingest, read, admin".to_owned())
        }
        other => other.map_err(|e: kurier_store::access::UnknownScope| e.to_string()),
    };
    match (name, scopes) {
        (None, Ok(scopes)) => Ok(scopes),
        (name, scopes) => {
            let scopes = scopes.err().map(|detail| Fault {
                pointer: "/scopes".to_owned(),
                detail,
            });
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            let problem = Problem::new(status, "bad_key", "the key cannot be made like this");
            Err(problem.with(name.into_iter().chain(scopes).collect()))
        }
    }
}

/// Revokes a key. Another server may accept it for five more seconds.
#[utoipa::path(delete, path = "/api/v1/api-keys/{id}", tag = "portal", params(("id" = String, Path)), responses(
    (status = 204, description = "It works no longer")))]
pub async fn revoke(
    State(app): State<Arc<App>>,
    Owner(grant): Owner,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    let unknown = || Problem::not_found("there is no such key that could be revoked");
    let id: ApiKeyId = id.parse().map_err(|_| unknown())?;
    let event = keyring::revocation(id);
    let revoked = app
        .store
        .access
        .revoke_key(grant.scope(), id, event)
        .await?;
    app.keyring.forget();
    revoked
        .then_some(StatusCode::NO_CONTENT)
        .ok_or_else(unknown)
}
