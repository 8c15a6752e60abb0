//! Published versions: list them, look at one, show a proof for one.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use kurier_core::bundle::{Commitment, Digest, Kind, Shown, Subject};
use kurier_core::projection::Anchor;
use kurier_core::time::Timestamp;
use kurier_store::VersionQuery;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::address::Path;
use super::contacts::{limit, query};
use super::credential::{Admin, Reader};
use super::problem::Problem;
use super::segments::PATIENCE;
use super::version_view::{ProofView, VerdictNote, VersionDetail, VersionView};
use super::{body, cursor};
use crate::app::App;
use crate::bundle::Bundles;
use crate::flow::version::{self, Showing};
use crate::keyring::Grant;

/// Transactions and proofs as hexadecimal text.
const PROOF_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Bundles, if they are served.
pub(super) fn bundles(app: &App) -> Result<&Arc<Bundles>, Problem> {
    app.bundles.as_ref().ok_or_else(|| {
        let detail = "bundles are off: HEADERS_SOURCE says where block headers are";
        Problem::new(StatusCode::NOT_FOUND, "bundles_off", detail)
    })
}

pub(super) fn version_id(text: &str) -> Result<Digest, Problem> {
    let wanted = "a version's id has 64 hexadecimal digits, in lower case";
    text.parse()
        .map_err(|_| Problem::bad_request("bad_version_id", wanted))
}

pub(super) fn no_such_version(id: &Digest) -> Problem {
    Problem::not_found(format!("there is no version {id}"))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct VersionParams {
    /// How many, at most 500.
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: Option<usize>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// `journey`, `template`, `content` or `evidence`.
    kind: Option<String>,
    /// `none`, `committed` or `mined`.
    anchor: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct VersionList {
    data: Vec<VersionView>,
    has_more: bool,
    next_cursor: Option<String>,
}

/// Versions that were published, newest first.
#[utoipa::path(get, path = "/api/v1/versions", tag = "bundles", params(VersionParams), responses(
    (status = 200, body = VersionList),
    (status = 400,
        description = "`bad_filter`: a filter has no such value; `bad_cursor`: the cursor belongs to another list"),
    (status = 404, description = "`bundles_off`: this server keeps no bundles")))]
pub async fn list(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    params: Result<Query<VersionParams>, QueryRejection>,
) -> Result<Json<VersionList>, Problem> {
    bundles(&app)?;
    let params = query(params)?;
    let asked = asked(&grant, &params)?;
    let page = app.store.versions.published(grant.scope(), &asked).await?;
    let last = page.versions.last().filter(|_| page.has_more);
    let next_cursor = last.map(|last| {
        let (key, id) = (&grant.workspace.key, last.id.to_string());
        cursor::of_parts(key, last.published_at, uuid::Uuid::nil(), &id)
    });
    Ok(Json(VersionList {
        data: page.versions.iter().map(VersionView::from).collect(),
        has_more: page.has_more,
        next_cursor,
    }))
}

fn asked(grant: &Grant, params: &VersionParams) -> Result<VersionQuery, Problem> {
    let bad = |detail: &str| Problem::bad_request("bad_filter", detail);
    let kind = params.kind.as_deref().map(|name| {
        let wanted = "kind is journey, template, content or evidence";
        Kind::named(name).ok_or_else(|| bad(wanted))
    });
    let anchor = params.anchor.as_deref().map(|name| {
        let wanted = "anchor is none, committed or mined";
        Anchor::named(name).ok_or_else(|| bad(wanted))
    });
    let after = params.cursor.as_deref().map(|cursor| place(grant, cursor));
    Ok(VersionQuery {
        kind: kind.transpose()?,
        anchor: anchor.transpose()?,
        after: after.transpose()?,
        limit: limit(params.limit)?,
    })
}

fn place(grant: &Grant, cursor: &str) -> Result<(Timestamp, Digest), Problem> {
    let (at, _, id) = cursor::to_parts(&grant.workspace.key, cursor)?;
    let foreign = |_| Problem::bad_request("bad_cursor", "this cursor is of another list");
    Ok((at, id.parse().map_err(foreign)?))
}

/// A version with what was shown for it and what verifications found.
#[utoipa::path(get, path = "/api/v1/versions/{versionId}", tag = "bundles", params(("versionId" = String, Path)),
        responses(
    (status = 200, body = VersionDetail),
    (status = 400, description = "`bad_version_id`: this is not the id of a version"),
    (status = 404,
        description = "`not_found`: there is no such version; `bundles_off`: this server keeps no bundles")))]
pub async fn get(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    Path(id): Path<String>,
) -> Result<Json<VersionDetail>, Problem> {
    bundles(&app)?;
    let (id, scope) = (version_id(&id)?, grant.scope());
    let found = version::find(&app.store, scope, &id).await?;
    let found = found.ok_or_else(|| no_such_version(&id))?;
    let proofs = app.store.versions.version_proofs(scope, &id).await?;
    let audit = app.store.bundle_audit.verdicts(scope, &id).await?;
    Ok(Json(VersionDetail {
        version: (&found).into(),
        proofs: proofs.iter().map(ProofView::from).collect(),
        audit: audit.iter().map(VerdictNote::from).collect(),
    }))
}

/// What is shown: a transaction with its proof as `bump`, `tsc` or `beef`, or without one.
/// Bytes are hexadecimal text.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ProofBody {
    /// How the transaction's commitment comes from the version: `{"kind": "op_return"}`, which
    /// holds if nothing is said, or `{"kind": "batch", "index": 0, "size": 2, "path": [...]}`.
    #[schema(value_type = Option<Object>)]
    commitment: Option<Commitment>,
    /// The raw transaction; a BEEF has it.
    #[schema(example = "01000000")]
    tx: Option<String>,
    /// BRC-74.
    #[schema(example = "fe8a6a0c00")]
    bump: Option<String>,
    /// BRC-10 or BRC-11.
    #[schema(value_type = Option<Object>)]
    tsc: Option<Box<serde_json::value::RawValue>>,
    /// BRC-62, BRC-95 or BRC-96.
    #[schema(example = "0100beef")]
    beef: Option<String>,
    /// The block's header, where our own headers do not reach it yet.
    #[schema(example = "00000020")]
    header: Option<String>,
}

impl ProofBody {
    fn into_parts(self) -> Result<(Commitment, Shown), Problem> {
        let read = |text: Option<String>| {
            let bytes = text.map(|text| hex::decode(text.trim()));
            let bytes = bytes.transpose().map_err(|_| {
                let detail = "tx, bump, beef and header are hexadecimal text";
                Problem::bad_request("bad_hex", detail)
            });
            bytes.map(|bytes| bytes.map(kurier_core::bundle::Hex))
        };
        let shown = Shown {
            tx: read(self.tx)?,
            bump: read(self.bump)?,
            tsc: self.tsc,
            beef: read(self.beef)?,
            header: read(self.header)?,
        };
        let commitment = self.commitment.unwrap_or(Commitment::OpReturn {});
        Ok((commitment, shown))
    }
}

/// Shows a proof for a version. All of it is verified before it is taken: the transaction
/// commits to the version, the path leads to a block. Showing the same again changes nothing.
#[utoipa::path(post, path = "/api/v1/versions/{versionId}/proof", tag = "bundles", params(("versionId" = String,
        Path)), request_body = ProofBody, responses(
    (status = 201, description = "Taken", body = ProofView),
    (status = 400,
        description = "`bad_version_id`: this is not the id of a version; `bad_hex`: a field is not hexadecimal text"),
    (status = 404, description = "`not_found`: there is no such version; `bundles_off`: this server keeps no bundles"),
    (status = 422, description = "`bad_proof`: the proof does not hold")))]
pub async fn prove(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    Path(id): Path<String>,
    headers: HeaderMap,
    request: Body,
) -> Result<Response, Problem> {
    let bundles = bundles(&app)?;
    let id = version_id(&id)?;
    let (bytes, _room) =
        body::read_within(PROOF_BYTES_MAX, &headers, request, &app.pressure).await?;
    let body: ProofBody = serde_json::from_slice(&bytes)
        .map_err(|error| Problem::bad_request("bad_body", error.to_string()))?;
    let (commitment, shown) = body.into_parts()?;
    let subject = Subject {
        version: id,
        commitment,
    };
    let headers = Some(bundles.headers());
    match version::show(&app.store, grant.scope(), subject, &shown, headers).await? {
        Showing::NoSuchVersion => Err(no_such_version(&id)),
        Showing::Faulty(fault) => {
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            Err(Problem::new(status, "bad_proof", fault.to_string()))
        }
        Showing::Done { position, .. } => {
            app.versions.reach(position, PATIENCE).await;
            shown_now(&app, &grant, &id).await
        }
    }
}

/// The newest of what was shown, which it is now.
async fn shown_now(app: &App, grant: &Grant, id: &Digest) -> Result<Response, Problem> {
    let proofs = app.store.versions.version_proofs(grant.scope(), id).await?;
    let newest = proofs.first().map(ProofView::from);
    Ok((StatusCode::CREATED, Json(newest)).into_response())
}
