//! Contacts by the hundred: each row stands alone, and every fault is told with its row.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use kurier_core::event::Event;
use kurier_core::id::IdentityKey;
use kurier_store::Appended;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::body;
use super::contact_view::ContactInput;
use super::contacts::{PATIENCE, query};
use super::credential::Admin;
use super::problem::{Fault, Problem};
use crate::app::App;

const ROWS_MAX: usize = 1_000;
const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ImportParams {
    /// Only say what would become of it.
    #[serde(default)]
    dry_run: bool,
}

/// What became of an import.
#[derive(Debug, Serialize, ToSchema)]
pub struct ImportView {
    /// Rows that were taken, or would have been.
    accepted: usize,
    refused: usize,
    /// What is wrong with those that were not.
    errors: Vec<RowFaults>,
    dry_run: bool,
    /// False if the contacts are durable, but cannot be read yet.
    done: bool,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct RowFaults {
    /// Which one, from 0.
    row: usize,
    errors: Vec<Fault>,
}

/// Makes or changes up to 1,000 contacts. Rows with faults are left out; the others are taken.
#[utoipa::path(post, path = "/api/v1/contacts/import", tag = "contacts", params(ImportParams),
        request_body = Vec<ContactInput>, responses(
    (status = 200, body = ImportView),
    (status = 400, description = "`too_many_rows`: the list is too long for one call")))]
pub async fn import(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    params: Result<Query<ImportParams>, QueryRejection>,
    headers: HeaderMap,
    request: Body,
) -> Result<Json<ImportView>, Problem> {
    let params = query(params)?;
    let (bytes, _room) =
        body::read_within(BODY_BYTES_MAX, &headers, request, &app.pressure).await?;
    let rows: Vec<Value> = serde_json::from_slice(&bytes)
        .map_err(|e| Problem::bad_request("bad_json", e.to_string()))?;
    if rows.len() > ROWS_MAX {
        let detail = format!(
            "there are {} rows; at most {ROWS_MAX} go at once",
            rows.len()
        );
        return Err(Problem::bad_request("too_many_rows", detail));
    }
    let (mut events, mut errors) = (Vec::new(), Vec::new());
    for (row, value) in rows.into_iter().enumerate() {
        match read(&grant.workspace.key, value) {
            Ok(event) => events.push(event),
            Err(faults) => errors.push(RowFaults {
                row,
                errors: faults,
            }),
        }
    }
    let mut view = ImportView {
        accepted: events.len(),
        refused: errors.len(),
        errors,
        dry_run: params.dry_run,
        done: true,
    };
    if !params.dry_run && !events.is_empty() {
        let appended = app.store.log.append(grant.scope(), events).await?;
        let last = appended.iter().rev().find_map(|it| match it {
            Appended::At(position) => Some(*position),
            Appended::Duplicate => None,
        });
        if let Some(last) = last {
            view.done = app.projector.reach(last, PATIENCE).await;
        }
    }
    Ok(Json(view))
}

fn read(key: &IdentityKey, row: Value) -> Result<Event, Vec<Fault>> {
    let input: ContactInput = serde_json::from_value(row).map_err(|e| {
        vec![Fault {
            pointer: String::new(),
            detail: e.to_string(),
        }]
    })?;
    let event = input.profile().event(key, None);
    event.map_err(|problems| problems.into_iter().map(Fault::from).collect())
}
