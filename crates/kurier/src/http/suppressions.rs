//! The suppression list and the opt-outs of topics: listed, added to, taken from.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use kurier_core::id::AddressKey;
use kurier_core::message::SuppressionSource;
use kurier_store::{Suppressed, SuppressionPlace, SuppressionQuery};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::contacts::{limit, query};
use super::credential::{Admin, Reader};
use super::problem::{Fault, Problem};
use super::{body, cursor};
use crate::app::App;
use crate::flow::suppress::{self, SUPPRESS_MAX, Wanted, Written};
use crate::keyring::Grant;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SuppressionParams {
    /// How many, at most 500.
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: Option<usize>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// Of this address.
    address: Option<String>,
    /// `email`, `phone` or `other`; by the looks of the address if not said.
    kind: Option<String>,
    /// Of this topic; `*` for every topic, empty for everything.
    topic: Option<String>,
    /// `unsubscribed`, `bounced`, `complained` or `manual`.
    reason: Option<String>,
}

/// An address, and what is kept from it.
#[derive(Debug, Serialize, ToSchema)]
pub struct SuppressionView {
    /// None if it is no longer known: an erased contact's.
    #[schema(example = "ann@example.com")]
    address: Option<String>,
    #[schema(example = "email")]
    kind: &'static str,
    /// None: nothing is sent there. `*`: nothing that has a topic.
    #[schema(example = "newsletter")]
    topic: Option<String>,
    /// Whose address it was, if that was known.
    contact: Option<String>,
    #[schema(example = "unsubscribed")]
    reason: &'static str,
    #[schema(example = "one_click")]
    source: &'static str,
    created_at: String,
}

impl From<Suppressed> for SuppressionView {
    fn from(row: Suppressed) -> Self {
        let topic = Some(row.reach.as_str()).filter(|topic| !topic.is_empty());
        Self {
            kind: row.kind.as_str(),
            topic: topic.map(str::to_owned),
            contact: row.contact.map(|contact| contact.to_string()),
            reason: row.reason.as_str(),
            source: row.source.as_str(),
            created_at: row.created_at.to_string(),
            address: row.address,
        }
    }
}

/// One page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub struct SuppressionList {
    data: Vec<SuppressionView>,
    has_more: bool,
    next_cursor: Option<String>,
}

/// What is kept from whom, newest first.
#[utoipa::path(get, path = "/api/v1/suppressions", tag = "suppressions", params(SuppressionParams), responses(
    (status = 200, body = SuppressionList),
    (status = 400, description = "`bad_cursor`: the cursor belongs to another list")))]
pub async fn list(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    params: Result<Query<SuppressionParams>, QueryRejection>,
) -> Result<Json<SuppressionList>, Problem> {
    let wanted = wanted(&grant, &query(params)?)?;
    let page = app
        .store
        .suppressions
        .suppressions(grant.scope(), &wanted)
        .await?;
    let last = page.suppressions.last().filter(|_| page.has_more);
    let next_cursor = last.map(|last| {
        let (address, topic) = (last.address_key.as_uuid(), last.reach.as_str());
        cursor::of_parts(&grant.workspace.key, last.created_at, address, topic)
    });
    let rows = suppress::readable(&app.store, &grant.workspace, page.suppressions).await?;
    Ok(Json(SuppressionList {
        data: rows.into_iter().map(SuppressionView::from).collect(),
        has_more: page.has_more,
        next_cursor,
    }))
}

fn wanted(grant: &Grant, params: &SuppressionParams) -> Result<SuppressionQuery, Problem> {
    let key = &grant.workspace.key;
    let written = Written {
        address: params.address.as_deref().unwrap_or_default(),
        kind: params.kind.as_deref(),
        topic: params.topic.as_deref(),
        reason: params.reason.as_deref(),
    };
    let address = params.address.as_ref().map(|_| written.address());
    let reach = params.topic.as_ref().map(|_| written.reach());
    let after = params.cursor.as_deref();
    let after = after.map(|cursor| place(grant, cursor)).transpose()?;
    Ok(SuppressionQuery {
        address: address.transpose().map_err(bad)?.map(|it| it.key(key)),
        reach: reach.transpose().map_err(bad)?,
        reason: written.reason().map_err(bad)?,
        after,
        limit: limit(params.limit)?,
    })
}

fn place(grant: &Grant, cursor: &str) -> Result<SuppressionPlace, Problem> {
    let (at, address, topic) = cursor::to_parts(&grant.workspace.key, cursor)?;
    let foreign = |_| Problem::bad_request("bad_cursor", "this cursor is of another list");
    let reach = topic.parse().map_err(foreign)?;
    Ok((at, AddressKey::from_uuid(address), reach))
}

fn bad((field, detail): suppress::Fault) -> Problem {
    Problem::bad_request("bad_parameter", format!("{field} {detail}"))
}

/// An address that is to get nothing, or nothing on a topic.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SuppressionInput {
    #[schema(example = "ann@example.com")]
    address: String,
    /// `email`, `phone` or `other`; by the looks of the address if not said.
    #[schema(example = "email")]
    kind: Option<String>,
    /// Only this topic; `*` is every topic. Without one, nothing at all is sent.
    #[schema(example = "newsletter")]
    topic: Option<String>,
    /// `manual` if not said.
    #[schema(example = "complained")]
    reason: Option<String>,
}

/// One address, or up to 1,000 of them.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "describes the body, which is read field by field")]
pub enum SuppressionsInput {
    One(SuppressionInput),
    Many(Vec<SuppressionInput>),
}

/// What became of what was given.
#[derive(Debug, Serialize, ToSchema)]
pub struct SuppressionsAdded {
    added: usize,
    /// Those that were there: they stay as they were.
    known: usize,
}

/// Keeps addresses from everything or from a topic. It holds when this is answered.
#[utoipa::path(post, path = "/api/v1/suppressions", tag = "suppressions", request_body = SuppressionsInput, responses(
    (status = 200, body = SuppressionsAdded),
    (status = 422,
        description = "`bad_suppression`: some entries are not valid, and none was added; `errors` has every fault")))]
pub async fn add(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    headers: HeaderMap,
    request: Body,
) -> Result<Json<SuppressionsAdded>, Problem> {
    let (bytes, _room) = body::read(&headers, request, &app.pressure).await?;
    let input: Value = serde_json::from_slice(&bytes)
        .map_err(|e| Problem::bad_request("bad_json", e.to_string()))?;
    let wanted = read(input)?;
    let (workspace, source) = (&grant.workspace, SuppressionSource::Api);
    let fresh = suppress::suppress(&app.store, workspace, &wanted, source).await?;
    let added = fresh.iter().filter(|fresh| **fresh).count();
    Ok(Json(SuppressionsAdded {
        added,
        known: fresh.len() - added,
    }))
}

/// Everything that is wanted, or everything that is wrong with it.
fn read(input: Value) -> Result<Vec<Wanted>, Problem> {
    let refused = |faults| {
        let problem = Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "bad_suppression",
            "nothing was suppressed: some of it cannot be read",
        );
        problem.with(faults)
    };
    let (items, is_list) = match input {
        Value::Array(items) => (items, true),
        one => (vec![one], false),
    };
    if items.is_empty() || items.len() > SUPPRESS_MAX {
        let detail = format!("must name 1 to {SUPPRESS_MAX} addresses");
        return Err(refused(vec![fault(String::new(), detail)]));
    }
    let (mut wanted, mut faults) = (Vec::new(), Vec::new());
    for (index, item) in items.into_iter().enumerate() {
        let place = if is_list {
            format!("/{index}")
        } else {
            String::new()
        };
        match read_one(item) {
            Ok(one) => wanted.push(one),
            Err((field, detail)) => faults.push(fault(format!("{place}{field}"), detail)),
        }
    }
    if faults.is_empty() {
        Ok(wanted)
    } else {
        Err(refused(faults))
    }
}

fn read_one(item: Value) -> Result<Wanted, (String, String)> {
    let input: SuppressionInput =
        serde_json::from_value(item).map_err(|e| (String::new(), e.to_string()))?;
    let written = Written {
        address: &input.address,
        kind: input.kind.as_deref(),
        topic: input.topic.as_deref(),
        reason: input.reason.as_deref(),
    };
    written
        .read()
        .map_err(|(field, detail)| (format!("/{field}"), detail))
}

const fn fault(pointer: String, detail: String) -> Fault {
    Fault { pointer, detail }
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ReleaseParams {
    /// The topic to release the address for; `*` for every topic. Without one the suppression
    /// from everything goes, and opt-outs of topics stay.
    topic: Option<String>,
    /// `email`, `phone` or `other`; by the looks of the address if not said.
    kind: Option<String>,
}

/// Lets an address have messages again, or those on a topic.
#[utoipa::path(delete, path = "/api/v1/suppressions/{address}", tag = "suppressions", params(("address" = String,
        Path), ReleaseParams), responses(
    (status = 204),
    (status = 404, description = "`not_found`: the address was not suppressed")))]
pub async fn remove(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    address: Result<Path<String>, PathRejection>,
    params: Result<Query<ReleaseParams>, QueryRejection>,
) -> Result<StatusCode, Problem> {
    let params = query(params)?;
    let Path(address) = address.map_err(|e| bad(("address", e.body_text())))?;
    let written = Written {
        address: &address,
        kind: params.kind.as_deref(),
        topic: params.topic.as_deref(),
        ..Written::default()
    };
    let (address, reach) = (
        written.address().map_err(bad)?,
        written.reach().map_err(bad)?,
    );
    let (workspace, source) = (&grant.workspace, SuppressionSource::Api);
    if suppress::release(&app.store, workspace, &address, &reach, source).await? {
        return Ok(StatusCode::NO_CONTENT);
    }
    Err(Problem::not_found("this address is not suppressed so"))
}
