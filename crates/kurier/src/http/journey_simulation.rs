//! A journey over what has happened: how many would have gone which way.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use kurier_core::event::Position;
use kurier_core::id::JourneyId;
use kurier_core::journey::{Run, Simulation};
use kurier_core::projection::{CountKey, JourneyCount};
use kurier_core::time::Timestamp;
use kurier_core::value::Value;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::address::Path;
use super::body;
use super::credential::Reader;
use super::journey_stats::StatsView;
use super::journeys::{faulty, find};
use super::problem::Problem;
use crate::app::App;
use crate::clock;
use crate::flow::journey;
use crate::flow::simulate::Rehearsal;
use crate::keyring::Grant;

const DAY_MICROS: i64 = 86_400_000_000;
/// So far back it begins, if nobody says when.
const DAYS: i64 = 30;
/// Of a longer log only the end is replayed.
const EVENTS_MAX: i64 = 2_000_000;
const MESSAGES_MAX: usize = 1_000;

#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SimulationInput {
    /// A definition; without it the journey's draft, or what is published.
    #[schema(value_type = Option<super::journeys::JourneyDefinition>)]
    definition: Option<Value>,
    /// The journey is published then; 30 days ago if not said.
    #[schema(value_type = Option<String>, example = "2026-11-01T00:00:00Z")]
    from: Option<Timestamp>,
    /// It ends then; now if not said.
    #[schema(value_type = Option<String>, example = "2026-11-19T00:00:00Z")]
    to: Option<Timestamp>,
}

/// What would have happened.
#[derive(Debug, Serialize, ToSchema)]
pub struct SimulationView {
    #[schema(example = "2026-11-01T00:00:00Z")]
    from: String,
    #[schema(example = "2026-11-19T00:00:00Z")]
    to: String,
    /// Contacts that would have entered.
    contacts: usize,
    runs: usize,
    /// Runs that would have ended, by how.
    finished: BTreeMap<String, usize>,
    /// Runs that would wait at the end, by node.
    waiting: BTreeMap<String, usize>,
    /// Messages by day, channel and template.
    messages: Vec<DayMessages>,
    /// The same as `/stats` of a journey.
    stats: StatsView,
    /// Whether the log was too long, and only its end was replayed.
    truncated: bool,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct DayMessages {
    #[schema(example = "2026-01-31")]
    day: String,
    #[schema(example = "email")]
    channel: String,
    #[schema(example = "welcome")]
    template: String,
    count: usize,
}

/// Runs a journey over what has happened, and changes nothing: its draft, what is published, or
/// the definition in the body.
#[utoipa::path(post, path = "/api/v1/journeys/{id}/simulate", tag = "journeys", params(("id" = String, Path)),
        request_body = SimulationInput, responses(
    (status = 200, body = SimulationView),
    (status = 400, description = "`bad_definition`: the definition cannot be read"),
    (status = 422,
        description = "`bad_definition`: the definition is not valid; `faults` has every fault with its place"),
    (status = 503, description = "`unavailable`: another simulation is under way")))]
pub async fn of_journey(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    Path(id): Path<String>,
    headers: HeaderMap,
    request: Body,
) -> Result<Json<SimulationView>, Problem> {
    let known = find(&app, &grant, &id).await?;
    let mut input = read(&app, &headers, request).await?;
    if input.definition.is_none() {
        let draft = app.store.journeys.draft(grant.scope(), known.id).await?;
        let text: Option<Arc<str>> = match (draft, known.version) {
            (Some(draft), _) => Some(draft.into()),
            (None, Some(version)) => app.definition(grant.scope(), known.id, version).await?,
            (None, None) => None,
        };
        let text = text.as_deref().unwrap_or("null");
        let definition = serde_json::from_str(text);
        input.definition = definition.map_err(|e| kurier_store::Error::Damaged(e.to_string()))?;
    }
    simulate(&app, &grant, input).await
}

/// Runs a definition that nobody has kept over what has happened, and changes nothing.
#[utoipa::path(post, path = "/api/v1/journeys/simulate", tag = "journeys", request_body = SimulationInput, responses(
    (status = 200, body = SimulationView),
    (status = 400, description = "`bad_definition`: the definition cannot be read"),
    (status = 422,
        description = "`bad_definition`: the definition is not valid; `faults` has every fault with its place"),
    (status = 503, description = "`unavailable`: another simulation is under way")))]
pub async fn of_definition(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    headers: HeaderMap,
    request: Body,
) -> Result<Json<SimulationView>, Problem> {
    let input = read(&app, &headers, request).await?;
    simulate(&app, &grant, input).await
}

async fn read(app: &App, headers: &HeaderMap, request: Body) -> Result<SimulationInput, Problem> {
    let (bytes, _room) = body::read(headers, request, &app.pressure).await?;
    if bytes.trim_ascii().is_empty() {
        return Ok(SimulationInput::default());
    }
    serde_json::from_slice(&bytes).map_err(|e| Problem::bad_request("bad_json", e.to_string()))
}

async fn simulate(
    app: &App,
    grant: &Grant,
    input: SimulationInput,
) -> Result<Json<SimulationView>, Problem> {
    let missing = || Problem::bad_request("bad_json", "there is no `definition`");
    let document = input.definition.ok_or_else(missing)?;
    let known = journey::known(&app.store, grant.scope()).await?;
    let checked = journey::check(document.clone(), 1, known).await?;
    let Some(definition) = checked.definition else {
        return Err(faulty(&checked.faults));
    };
    let busy = |_| Problem::busy("another simulation is under way");
    let _turn = app.simulations.try_acquire().map_err(busy)?;
    let now = clock::now();
    let (from, to) = (
        input
            .from
            .unwrap_or_else(|| now.shifted(-DAYS * DAY_MICROS)),
        input.to.unwrap_or(now),
    );
    let id = JourneyId::of_name(&definition.name);
    let mut rehearsal = Rehearsal::new(grant.workspace.key.clone(), id, document);
    (rehearsal.from, rehearsal.to) = (Some(from), Some(to));
    let head = app.store.log.head().await?.0;
    let after = Position((head - EVENTS_MAX).max(0));
    rehearsal
        .replay(&app.store, grant.scope(), after, |_| {})
        .await?;
    let order: Vec<String> = definition
        .nodes
        .iter()
        .map(|node| node.id.clone())
        .collect();
    let finishing = tokio::task::spawn_blocking(move || view(rehearsal.finish(), id, &order));
    let mut view = finishing
        .await
        .map_err(|e| kurier_store::Error::Unavailable(e.to_string()))?;
    (view.from, view.to) = (from.to_string(), to.to_string());
    view.truncated = after.0 > 0;
    Ok(Json(view))
}

fn view(simulation: Simulation, journey: JourneyId, order: &[String]) -> SimulationView {
    let summary = simulation.summary();
    let counts = simulation.runs().iter();
    let counts = counts
        .filter(|run| run.journey == journey)
        .flat_map(counts_of);
    let messages = summary.messages.into_iter().map(|it| DayMessages {
        day: it.day,
        channel: it.channel,
        template: it.template,
        count: it.count,
    });
    SimulationView {
        from: String::new(),
        to: String::new(),
        contacts: summary.contacts,
        runs: summary.runs,
        finished: summary.finished,
        waiting: summary.waiting,
        messages: messages.take(MESSAGES_MAX).collect(),
        stats: StatsView::counted(counts, order),
        truncated: false,
    }
}

/// A run as the read model would count it: its entry, each way it took, its ending.
fn counts_of(run: &Run) -> Vec<JourneyCount> {
    let count = |node: &str, way: String, target: &str| JourneyCount {
        key: CountKey {
            journey: run.journey,
            version: run.version,
            node: node.to_owned(),
            way,
            target: target.to_owned(),
        },
        times: 1,
    };
    let first = run.hops.first().map_or(&run.at, |hop| &hop.node);
    let mut counts = vec![count("", "enter".to_owned(), first)];
    let hops = run.hops.iter();
    counts.extend(hops.map(|hop| count(&hop.node, hop.by.to_string(), &hop.to)));
    let ending = run
        .ending
        .map(|ending| count(&run.at, ending.to_string(), ""));
    counts.extend(ending);
    counts
}
