//! `/bundle` and `/ready`: proof of a version, and whether it is deep enough now.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::address::Path;
use super::contacts::query;
use super::credential::Reader;
use super::problem::Problem;
use super::versions::{bundles, no_such_version, version_id};
use crate::app::App;
use crate::bundle::{Answer, TipView};
use crate::keyring::Grant;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DepthParams {
    /// Generations of ancestors; more than 32 are 32.
    #[param(minimum = 0, maximum = 32, default = 0)]
    depth: Option<u32>,
}

/// As it is described; it is written as [`Answer`].
#[derive(ToSchema)]
#[schema(as = Bundle)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "it describes what Answer writes")]
pub struct BundleBody {
    /// All that it takes to verify the version offline, but headers.
    #[schema(value_type = Object)]
    envelope: (),
    /// Blocks from its own to the tip, both counted; -1 if its block was replaced, null while
    /// that is not known.
    confs: Option<i64>,
    #[schema(value_type = Option<Object>)]
    tip: (),
    unstable: bool,
    /// `confirmed`, `off_chain`, `unknown_header`, `unmined` or `invalid_proof`.
    #[schema(example = "confirmed")]
    state: String,
    ready: bool,
    policy_min_confs: u32,
    reorg: bool,
    /// `{"hit": true, "ageSec": 42}`
    #[schema(value_type = Object)]
    cache: (),
}

/// The bundle of a version: its proof from a cache, its confirmations counted now.
#[utoipa::path(get, path = "/bundle/{versionId}", tag = "bundles", params(("versionId" = String, Path), DepthParams),
        responses(
    (status = 200, body = BundleBody),
    (status = 400, description = "`bad_version_id`: this is not the id of a version"),
    (status = 404,
        description = "`not_found`: there is no such version; `bundles_off`: this server keeps no bundles")))]
pub async fn bundle(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    Path(id): Path<String>,
    params: Result<Query<DepthParams>, QueryRejection>,
) -> Result<Json<Answer>, Problem> {
    let depth = query(params)?.depth.unwrap_or(0);
    answer(&app, &grant, &id, depth).await.map(Json)
}

async fn answer(app: &App, grant: &Grant, id: &str, depth: u32) -> Result<Answer, Problem> {
    let bundles = bundles(app)?;
    let id = version_id(id)?;
    let answer = bundles.answer(grant.scope(), id, depth).await?;
    answer.ok_or_else(|| no_such_version(&id))
}

/// Whether a version is deep enough, now.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    #[schema(example = "5f1c9c0d6c9b7e0e4a8f4bb6a3a1f6f1d2c3b4a5968778695a4b3c2d1e0f0a1b")]
    version_id: String,
    ready: bool,
    confs: Option<i64>,
    #[schema(value_type = String, example = "confirmed")]
    state: kurier_core::bundle::State,
    unstable: bool,
    policy_min_confs: u32,
    #[schema(value_type = Option<Object>)]
    tip: Option<TipView>,
}

/// Whether a version has the confirmations that the policy asks for. Decided anew each time.
#[utoipa::path(get, path = "/ready/{versionId}", tag = "bundles", params(("versionId" = String, Path)), responses(
    (status = 200, body = Decision),
    (status = 400, description = "`bad_version_id`: this is not the id of a version"),
    (status = 404,
        description = "`not_found`: there is no such version; `bundles_off`: this server keeps no bundles")))]
pub async fn ready(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    Path(id): Path<String>,
) -> Result<Json<Decision>, Problem> {
    let answer = answer(&app, &grant, &id, 0).await?;
    Ok(Json(Decision {
        version_id: id,
        ready: answer.ready,
        confs: answer.confs,
        state: answer.state,
        unstable: answer.unstable,
        policy_min_confs: answer.policy_min_confs,
        tip: answer.tip,
    }))
}
