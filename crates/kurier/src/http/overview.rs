//! All that is to be seen at a glance.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use kurier_core::event::Kind;
use kurier_core::id::WorkspaceId;
use kurier_core::time::Timestamp;
use kurier_store::Scope;
use serde::Serialize;
use utoipa::ToSchema;

use super::credential::Reader;
use super::problem::Problem;
use super::records::ChannelHealthView;
use crate::app::App;
use crate::clock;
use crate::pulse::Counts;

const DAY_MICROS: i64 = 24 * 3_600 * 1_000_000;
const DAYS: i64 = 30;
const MOMENT: Duration = Duration::from_millis(900);

/// How a workspace fares.
#[derive(Debug, Serialize, ToSchema)]
pub struct Overview {
    at: String,
    /// The last position in the log.
    position: i64,
    totals: Totals,
    /// The last hour, minute by minute, the oldest first. Of a very busy log as far back as its
    /// last 100,000 events.
    minutes: Vec<Minute>,
    /// The last 30 days in UTC, the oldest first.
    days: Vec<Day>,
    projections: Vec<ProjectionState>,
    reactor: ReactorState,
    queue: QueueState,
    channels: Vec<ChannelState>,
    keyspace: KeyspaceState,
}

/// Since there is this workspace.
#[derive(Debug, Default, Serialize, ToSchema)]
struct Totals {
    contacts: usize,
    /// What clients sent.
    events: i64,
    /// Runs of journeys that began.
    entries: i64,
    /// Messages that a channel took.
    sends: i64,
    /// Messages that became dead letters.
    failures: i64,
    /// Runs that are under way.
    active_runs: i64,
}

#[derive(Debug, Serialize, ToSchema)]
struct Minute {
    at: String,
    #[serde(flatten)]
    counts: CountsView,
}

#[derive(Debug, Serialize, ToSchema)]
struct Day {
    #[schema(example = "2026-11-19T00:00:00Z")]
    day: String,
    #[serde(flatten)]
    counts: CountsView,
}

#[derive(Debug, Serialize, ToSchema)]
struct CountsView {
    events: i64,
    entries: i64,
    sends: i64,
    failures: i64,
}

impl From<Counts> for CountsView {
    fn from(counts: Counts) -> Self {
        Self {
            events: counts.events,
            entries: counts.entries,
            sends: counts.sends,
            failures: counts.failures,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
struct ProjectionState {
    #[schema(example = "contacts")]
    name: &'static str,
    position: i64,
    lag: i64,
    paused: bool,
    failing: bool,
}

#[derive(Debug, Serialize, ToSchema)]
struct ReactorState {
    position: i64,
    lag: i64,
}

#[derive(Debug, Serialize, ToSchema)]
struct QueueState {
    /// Messages that are to be delivered, now or later.
    depth: u64,
}

#[derive(Debug, Serialize, ToSchema)]
struct ChannelState {
    /// `closed` lets everything pass, `open` nothing, `half_open` one message at a time.
    #[schema(example = "closed")]
    breaker: &'static str,
    #[serde(flatten)]
    health: ChannelHealthView,
}

#[derive(Debug, Serialize, ToSchema)]
struct KeyspaceState {
    /// `redis`, or `memory` where there is no Redis.
    #[schema(example = "memory")]
    kind: &'static str,
    ok: bool,
}

/// Totals, the last hour and month, and how everything that works fares.
#[utoipa::path(get, path = "/api/v1/overview", tag = "portal", responses(
    (status = 200, body = Overview)))]
pub async fn get(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
) -> Result<Json<Overview>, Problem> {
    app.pulse.catch_up(clock::now()).await?;
    Ok(Json(Overview::of(&app, grant.scope(), clock::now()).await?))
}

/// Overviews of a moment ago: however many listen to a workspace, it is looked at once.
pub struct Overviews(moka::future::Cache<WorkspaceId, Arc<Overview>>);

impl Default for Overviews {
    fn default() -> Self {
        let cache = moka::future::Cache::builder().time_to_live(MOMENT);
        Self(cache.max_capacity(1_000).build())
    }
}

impl Overviews {
    pub async fn recent(&self, app: &App, scope: Scope) -> kurier_store::Result<Arc<Overview>> {
        let look = async {
            let now = clock::now();
            app.pulse.catch_up(now).await?;
            Overview::of(app, scope, now).await.map(Arc::new)
        };
        let found = self.0.try_get_with(scope.0, look).await;
        found.map_err(|error: Arc<kurier_store::Error>| {
            kurier_store::Error::Unavailable(error.to_string())
        })
    }
}

impl Overview {
    /// The state as it is; the pulse is as of when it was last asked to catch up.
    pub async fn of(app: &App, scope: Scope, now: Timestamp) -> kurier_store::Result<Self> {
        let head = app.store.log.head().await?.0;
        let (totals, days) = counted(app, scope, now).await?;
        let minutes = app.pulse.minutes(scope, now).await.into_iter();
        let reached = app.reactor.position().0;
        Ok(Self {
            at: now.to_string(),
            position: head,
            totals,
            minutes: minutes.map(Minute::from).collect(),
            days,
            projections: projections(app, head).await?,
            reactor: ReactorState {
                position: reached,
                lag: (head - reached).max(0),
            },
            queue: QueueState {
                depth: app.store.queue.depth(scope).await?,
            },
            channels: channels(app, scope).await?,
            keyspace: KeyspaceState {
                kind: app.keyspace_kind(),
                ok: app.keyspace.ping().await.is_ok(),
            },
        })
    }

    /// Everything but the instant: what is the same need not be told again.
    pub fn is_same(&self, other: &Self) -> bool {
        let timeless = |it: &Self| {
            let mut json = serde_json::to_value(it).unwrap_or_default();
            json["at"].take();
            json
        };
        timeless(self) == timeless(other)
    }
}

impl From<(Timestamp, Counts)> for Minute {
    fn from((at, counts): (Timestamp, Counts)) -> Self {
        Self {
            at: at.to_string(),
            counts: counts.into(),
        }
    }
}

async fn counted(
    app: &App,
    scope: Scope,
    now: Timestamp,
) -> kurier_store::Result<(Totals, Vec<Day>)> {
    let between = (Timestamp::from_micros(0), now);
    let counts = app.store.records.daily(scope, between).await?;
    let mut by_day: BTreeMap<i64, Counts> = BTreeMap::new();
    let (mut all, mut ended) = (Counts::default(), 0);
    for count in counts {
        let day = by_day.entry(count.day.as_micros()).or_default();
        day.add(count.kind, count.times);
        all.add(count.kind, count.times);
        if count.kind == Kind::JourneyFinished {
            ended += count.times;
        }
    }
    let today = now.as_micros().div_euclid(DAY_MICROS) * DAY_MICROS;
    let days = (0..DAYS).rev().map(|ago| {
        let day = today - ago * DAY_MICROS;
        Day {
            day: Timestamp::from_micros(day).to_string(),
            counts: by_day.get(&day).copied().unwrap_or_default().into(),
        }
    });
    let totals = Totals {
        contacts: contacts(app, scope),
        events: all.events,
        entries: all.entries,
        sends: all.sends,
        failures: all.failures,
        active_runs: (all.entries - ended).max(0),
    };
    Ok((totals, days.collect()))
}

fn contacts(app: &App, scope: Scope) -> usize {
    let engines = app.reactor.engines();
    let engine = engines.get(&scope.0);
    engine.map_or(0, |engine| engine.realm().world().live())
}

async fn projections(app: &App, head: i64) -> kurier_store::Result<Vec<ProjectionState>> {
    let mut states = Vec::new();
    for projection in app.projections() {
        let progress = app.store.projections.progress(projection.name()).await?;
        states.push(ProjectionState {
            name: projection.name(),
            position: progress.position.0,
            lag: (head - progress.position.0).max(0),
            paused: progress.is_paused,
            failing: progress.failure.is_some(),
        });
    }
    Ok(states)
}

async fn channels(app: &App, scope: Scope) -> kurier_store::Result<Vec<ChannelState>> {
    let gates = app.store.gates.gates(scope).await?;
    let health = app.store.records.channel_health(scope).await?;
    let state = |(channel, health): (String, _)| {
        let gate = gates.iter().find(|(name, _)| *name == channel);
        ChannelState {
            breaker: gate.map_or("closed", |(_, gate)| gate.breaker.as_str()),
            health: (channel, health).into(),
        }
    };
    Ok(health.into_iter().map(state).collect())
}
