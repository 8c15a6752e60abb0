//! What ingest could not accept, for whoever looks for the reason.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::contacts::{limit, query};
use super::credential::Reader;
use super::problem::{Fault, Problem};
use crate::app::App;
use crate::rejections::Rejection;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct RejectionParams {
    #[param(example = 50)]
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: Option<usize>,
}

/// An item that was not accepted.
#[derive(Debug, Serialize, ToSchema)]
pub struct RejectionView {
    at: String,
    /// What it says it is, or the address it was sent to.
    #[schema(example = "track")]
    r#type: Option<String>,
    /// What was tracked, or the name of the page or screen.
    #[schema(example = "Order Completed")]
    name: Option<String>,
    errors: Vec<Fault>,
}

impl From<Rejection> for RejectionView {
    fn from(rejection: Rejection) -> Self {
        let fault = |(pointer, detail)| Fault { pointer, detail };
        Self {
            at: rejection.at.to_string(),
            r#type: rejection.kind,
            name: rejection.name,
            errors: rejection.faults.into_iter().map(fault).collect(),
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct RejectionList {
    data: Vec<RejectionView>,
}

/// The last 200 items that clients sent in vain, the newest first, and why.
///
/// Of the process that answers, since it started; what an item said besides its name is not kept.
#[utoipa::path(get, path = "/api/v1/rejections", tag = "ingest", params(RejectionParams), responses(
    (status = 200, body = RejectionList)))]
pub async fn list(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    params: Result<Query<RejectionParams>, QueryRejection>,
) -> Result<Json<RejectionList>, Problem> {
    let params = query(params)?;
    let newest = app.rejections.newest(grant.scope().0, limit(params.limit)?);
    Ok(Json(RejectionList {
        data: newest.into_iter().map(RejectionView::from).collect(),
    }))
}
