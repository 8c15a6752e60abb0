//! The members of a segment: listed, written as CSV, given and taken.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use kurier_core::id::{ContactId, SegmentId};
use kurier_core::path::Path as AttributePath;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::address::Path;
use super::body;
use super::credential::{Admin, Reader};
use super::edit::{EditInput, Wanted};
use super::member_csv;
use super::problem::Problem;
use super::segment_view::MemberView;
use super::segments::{PATIENCE, find, settled, shown};
use crate::app::App;
use crate::cache::Freshness;
use crate::flow;
use crate::keyring::Grant;

const LIMIT_MAX: usize = 500;
const ATTRIBUTES_MAX: usize = 100;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct MemberParams {
    /// How many, at most 500; not for CSV, which has them all.
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: Option<usize>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// `csv` as the header `Accept: text/csv` says it, or `json`.
    #[param(inline)]
    format: Option<Format>,
    /// Attributes that become columns of the CSV, separated by commas.
    #[param(example = "plan,address.city")]
    attributes: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Format {
    Csv,
    Json,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct MemberList {
    data: Vec<MemberView>,
    has_more: bool,
    next_cursor: Option<String>,
}

/// The members of a segment, in the order of their ids; a page as JSON, or all as CSV.
#[utoipa::path(get, path = "/api/v1/segments/{id}/members", tag = "segments", params(("id" = String, Path),
        MemberParams), responses(
    (status = 200, content((MemberList = "application/json"), (String = "text/csv"))),
    (status = 400, description = "`bad_cursor`: the cursor belongs to another list")))]
pub async fn list(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    Path(id): Path<String>,
    headers: HeaderMap,
    params: Result<Query<MemberParams>, QueryRejection>,
) -> Result<Response, Problem> {
    let Query(params) = params.map_err(|e| bad(e.body_text()))?;
    let segment = find(&app, &grant, &id).await?.definition.segment;
    match params.format.unwrap_or_else(|| accepted(&headers)) {
        Format::Csv => csv(app, grant, segment, &params),
        Format::Json => Ok(page(&app, &grant, segment, params).await?.into_response()),
    }
}

fn bad(detail: impl Into<String>) -> Problem {
    Problem::bad_request("bad_parameter", detail)
}

/// CSV for who names it.
fn accepted(headers: &HeaderMap) -> Format {
    let accept = headers.get(header::ACCEPT).and_then(|it| it.to_str().ok());
    let mut kinds = accept.unwrap_or_default().split(',');
    let is_csv = |kind: &str| kind.split(';').next().unwrap_or_default().trim() == "text/csv";
    if kinds.any(is_csv) {
        Format::Csv
    } else {
        Format::Json
    }
}

async fn page(
    app: &App,
    grant: &Grant,
    segment: SegmentId,
    params: MemberParams,
) -> Result<Json<MemberList>, Problem> {
    if params.attributes.is_some() {
        return Err(bad("attributes are columns: ask for CSV, with format=csv"));
    }
    let limit = params.limit.unwrap_or(50);
    if limit == 0 || limit > LIMIT_MAX {
        return Err(bad(format!("limit must be between 1 and {LIMIT_MAX}")));
    }
    let after: Option<ContactId> = params
        .cursor
        .map(|cursor| cursor.parse())
        .transpose()
        .map_err(|_| bad("this cursor is not one of ours"))?;
    let members = &app.store.segments;
    let page = members
        .members(grant.scope(), segment, after, limit)
        .await?;
    let last = page.members.last().filter(|_| page.has_more);
    let next_cursor = last.map(|last| last.contact.to_string());
    Ok(Json(MemberList {
        data: page.members.into_iter().map(MemberView::from).collect(),
        has_more: page.has_more,
        next_cursor,
    }))
}

fn csv(
    app: Arc<App>,
    grant: Arc<Grant>,
    segment: SegmentId,
    params: &MemberParams,
) -> Result<Response, Problem> {
    if params.limit.is_some() || params.cursor.is_some() {
        return Err(bad("CSV has all members: limit and cursor are for JSON"));
    }
    let names = params.attributes.as_deref().unwrap_or_default().split(',');
    let names = names.map(str::trim).filter(|name| !name.is_empty());
    let attributes = names.map(str::parse::<AttributePath>);
    let attributes: Vec<_> = attributes
        .collect::<Result<_, _>>()
        .map_err(|e| bad(format!("attributes: {e}")))?;
    if attributes.len() > ATTRIBUTES_MAX {
        return Err(bad(format!("at most {ATTRIBUTES_MAX} attributes")));
    }
    let headers = [
        ("content-type", "text/csv; charset=utf-8".to_owned()),
        (
            "content-disposition",
            format!("attachment; filename=\"segment-{segment}.csv\""),
        ),
    ];
    let document = member_csv::document(app, grant, segment, attributes);
    Ok((headers, Body::from_stream(document)).into_response())
}

/// Gives members to a static segment and takes them from it; answers when that can be read.
#[utoipa::path(post, path = "/api/v1/segments/{id}/members", tag = "segments", params(("id" = String, Path)),
        request_body = EditInput, responses(
    (status = 200, body = super::segment_view::SegmentView),
    (status = 202, description = "Durable; the members follow", body = super::segment_view::SegmentView),
    (status = 409, description = "`dynamic_segment`: an expression decides who is a member"),
    (status = 422, description = "`bad_members`: a contact is not known; `errors` has every fault")))]
pub async fn edit(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    Path(id): Path<String>,
    headers: HeaderMap,
    request: Body,
) -> Result<Response, Problem> {
    let segment = find(&app, &grant, &id).await?;
    let (bytes, _room) = body::read(&headers, request, &app.pressure).await?;
    let input = serde_json::from_slice(&bytes)
        .map_err(|e| Problem::bad_request("bad_json", e.to_string()))?;
    if segment.definition.expression.is_some() {
        let detail = "the members of this segment follow from its expression; only a segment without one is given members";
        return Err(Problem::new(
            StatusCode::CONFLICT,
            "dynamic_segment",
            detail,
        ));
    }
    let wanted = Wanted::read(&input, &grant.workspace.key)?;
    // Who was accepted a moment ago is to be found.
    let head = app.store.log.head().await?;
    app.projector.reach(head, PATIENCE).await;
    let known = app
        .contacts
        .live(grant.scope(), &wanted.ids(), Freshness::Now)
        .await?;
    wanted.check(|id| known.contains_key(&id))?;
    let segment = segment.definition.segment;
    let (add, remove) = (wanted.added(), wanted.removed());
    let position = flow::segment::edit(&app.store, grant.scope(), segment, &add, &remove).await?;
    let status = if settled(&app, position).await? {
        StatusCode::OK
    } else {
        StatusCode::ACCEPTED
    };
    shown(&app, &grant, segment, status).await
}
