//! What is only looked at: counts of days, and acts of operators.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use kurier_core::event::Position;
use kurier_core::projection::{AuditEntry, ChannelHealth, DailyCount};
use kurier_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::contacts::{limit, query};
use super::credential::{Admin, Reader};
use super::problem::Problem;
use crate::app::App;
use crate::clock;

const DAY_MICROS: i64 = 24 * 3_600 * 1_000_000;
/// So many days are counted if nobody says how many.
const DAYS: i64 = 30;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct CountParams {
    /// The first day; 30 days ago if not said.
    #[param(example = "2026-01-01", value_type = Option<String>)]
    from: Option<Timestamp>,
    /// The last day; today if not said.
    #[param(example = "2026-01-31", value_type = Option<String>)]
    to: Option<Timestamp>,
}

/// Events of one kind on one day.
#[derive(Debug, Serialize, ToSchema)]
pub struct DailyCountView {
    /// The first instant of the day, in UTC.
    #[schema(example = "2026-11-19T00:00:00Z")]
    day: String,
    #[schema(example = "message.sent")]
    kind: &'static str,
    /// Of messages, by which channel.
    #[schema(example = "email")]
    channel: Option<String>,
    count: i64,
}

impl From<DailyCount> for DailyCountView {
    fn from(count: DailyCount) -> Self {
        Self {
            day: count.day.to_string(),
            kind: count.kind.as_str(),
            channel: count.channel,
            count: count.times,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct DailyCountList {
    data: Vec<DailyCountView>,
}

/// How many events of each kind there were, day by day.
#[utoipa::path(get, path = "/api/v1/counts", tag = "records", params(CountParams), responses(
    (status = 200, body = DailyCountList)))]
pub async fn counts(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    params: Result<Query<CountParams>, QueryRejection>,
) -> Result<Json<DailyCountList>, Problem> {
    let params = query(params)?;
    let to = params.to.unwrap_or_else(clock::now);
    let from = params
        .from
        .unwrap_or_else(|| to.shifted(-DAYS * DAY_MICROS));
    let day = |at: Timestamp| at.as_micros().div_euclid(DAY_MICROS) * DAY_MICROS;
    let between = (Timestamp::from_micros(day(from)), to);
    let counts = app.store.records.daily(grant.scope(), between).await?;
    let data = counts.into_iter().map(DailyCountView::from).collect();
    Ok(Json(DailyCountList { data }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AuditParams {
    /// How many, at most 500.
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: Option<usize>,
    /// `next_cursor` of the page before.
    cursor: Option<i64>,
}

/// An act of an operator.
#[derive(Debug, Serialize, ToSchema)]
pub struct AuditView {
    /// Where it stands in the log.
    position: i64,
    at: String,
    #[schema(example = "segment.created")]
    kind: &'static str,
    /// What it was done to.
    #[schema(example = "Customers in Berlin")]
    subject: Option<String>,
    /// Who did it: the name of an API key, or `command line`.
    #[schema(example = "admin")]
    operator: Option<String>,
}

impl From<AuditEntry> for AuditView {
    fn from(entry: AuditEntry) -> Self {
        Self {
            position: entry.position.0,
            at: entry.at.to_string(),
            kind: entry.kind.as_str(),
            subject: entry.subject,
            operator: entry.operator,
        }
    }
}

/// One page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub struct AuditList {
    data: Vec<AuditView>,
    has_more: bool,
    next_cursor: Option<i64>,
}

/// What operators did, the newest first.
#[utoipa::path(get, path = "/api/v1/audit", tag = "records", params(AuditParams), responses(
    (status = 200, body = AuditList)))]
pub async fn audit(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    params: Result<Query<AuditParams>, QueryRejection>,
) -> Result<Json<AuditList>, Problem> {
    let params = query(params)?;
    let limit = limit(params.limit)?;
    let before = params.cursor.map(Position);
    let found = app.store.records.audit(grant.scope(), before, limit + 1);
    let mut data: Vec<AuditView> = found.await?.into_iter().map(AuditView::from).collect();
    let has_more = data.len() > limit;
    data.truncate(limit);
    let last = data.last().filter(|_| has_more);
    Ok(Json(AuditList {
        next_cursor: last.map(|last| last.position),
        has_more,
        data,
    }))
}

/// What became of the messages of a channel, since there is one, in all servers.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChannelHealthView {
    #[schema(example = "email")]
    channel: String,
    sent: i64,
    retried: i64,
    failed: i64,
    skipped: i64,
    unknown: i64,
    /// How many in a row were not taken, up to now.
    failing: i64,
    last_sent_at: Option<String>,
    last_failed_at: Option<String>,
}

impl From<(String, ChannelHealth)> for ChannelHealthView {
    fn from((channel, health): (String, ChannelHealth)) -> Self {
        Self {
            channel,
            sent: health.sent,
            retried: health.retried,
            failed: health.failed,
            skipped: health.skipped,
            unknown: health.unknown,
            failing: health.failing,
            last_sent_at: health.last_sent_at.map(|at| at.to_string()),
            last_failed_at: health.last_failed_at.map(|at| at.to_string()),
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ChannelHealthList {
    data: Vec<ChannelHealthView>,
}

/// How every channel fares: what became of the messages it was handed.
#[utoipa::path(get, path = "/api/v1/channel-health", tag = "records", responses(
    (status = 200, body = ChannelHealthList)))]
pub async fn channel_health(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
) -> Result<Json<ChannelHealthList>, Problem> {
    let found = app.store.records.channel_health(grant.scope()).await?;
    let data = found.into_iter().map(ChannelHealthView::from).collect();
    Ok(Json(ChannelHealthList { data }))
}
