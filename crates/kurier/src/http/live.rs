//! What happens, as it happens: server-sent events. Who listens looks once a second; whoever
//! signs out, and a server that stops, end it.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use kurier_core::event::Recorded;
use kurier_core::id::ContactId;
use kurier_core::projection::JourneySummary;
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast::error::TryRecvError;
use tokio::sync::{OwnedSemaphorePermit, broadcast, watch};
use tokio::time::{Interval, MissedTickBehavior};
use utoipa::IntoParams;

use super::contacts::{find, query};
use super::credential::{Listener, Pass};
use super::event_view::EventView;
use super::journey_stats::StatsView;
use super::journeys;
use super::overview::Overview;
use super::problem::Problem;
use crate::app::App;
use crate::clock;
use crate::keyring::Grant;

const EVERY: Duration = Duration::from_secs(1);
const HEARTBEAT: Duration = Duration::from_secs(15);

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct LiveParams {
    /// Also each new event of this contact.
    contact: Option<String>,
    /// Also how many are where in this journey, when that changes.
    journey: Option<String>,
}

/// Server-sent events: `overview` at once and when it has changed, at most once a second;
/// `event` for each new event of the contact; `counts` of the journey at once and when they have
/// changed; `missed` if there were more events than could be told; `end` with the reason, before
/// it ends.
#[utoipa::path(get, path = "/api/v1/live", tag = "portal", params(LiveParams), responses(
    (status = 200, description = "A stream that does not end by itself", body = String,
        content_type = "text/event-stream"),
    (status = 404, description = "`not_found`: there is no such contact or journey"),
    (status = 503, description = "`unavailable`: too many clients listen to this server")))]
pub async fn listen(
    State(app): State<Arc<App>>,
    listener: Listener,
    params: Result<Query<LiveParams>, QueryRejection>,
) -> Result<Response, Problem> {
    let params = query(params)?;
    let room = app.pulse.listeners.clone().try_acquire_owned();
    let room = room.map_err(|_| Problem::busy("too many listen to this server already"))?;
    let live = Live::begin(app, listener, params, room).await?;
    let events = stream::unfold(Some(live), |live| async {
        let mut live = live?;
        let event = live.next().await;
        let rest = (!live.has_ended).then_some(live);
        Some((Ok::<Event, Infallible>(event), rest))
    });
    let alive = KeepAlive::new().interval(HEARTBEAT).text("still here");
    let mut response = Sse::new(events).keep_alive(alive).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // A proxy that collects answers before it passes them on would hold all of it back.
    let buffering = HeaderName::from_static("x-accel-buffering");
    headers.insert(buffering, HeaderValue::from_static("no"));
    Ok(response)
}

/// One listener.
struct Live {
    app: Arc<App>,
    grant: Arc<Grant>,
    pass: Pass,
    contact: Option<Watched>,
    journey: Option<(JourneySummary, Option<String>)>,
    overview: Option<Arc<Overview>>,
    waiting: VecDeque<Event>,
    ticks: Interval,
    stopping: watch::Receiver<bool>,
    has_ended: bool,
    _room: OwnedSemaphorePermit,
}

/// A contact with all ids it goes by.
struct Watched {
    ids: Vec<ContactId>,
    news: broadcast::Receiver<Arc<Recorded>>,
}

impl Live {
    async fn begin(
        app: Arc<App>,
        Listener { grant, pass }: Listener,
        params: LiveParams,
        room: OwnedSemaphorePermit,
    ) -> Result<Self, Problem> {
        let journey = match &params.journey {
            Some(id) => Some((journeys::find(&app, &grant, id).await?, None)),
            None => None,
        };
        let contact = match &params.contact {
            Some(id) => Some(watch_contact(&app, &grant, id).await?),
            None => None,
        };
        let mut ticks = tokio::time::interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ok(Self {
            contact,
            journey,
            overview: None,
            waiting: VecDeque::new(),
            ticks,
            stopping: app.pulse.stopping(),
            has_ended: false,
            _room: room,
            app,
            grant,
            pass,
        })
    }

    /// The next event; waits until there is one.
    async fn next(&mut self) -> Event {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return event;
            }
            let is_stopping = tokio::select! {
                stops = self.stopping.wait_for(|stops| *stops) => stops.is_ok(),
                _ = self.ticks.tick() => false,
            };
            if is_stopping {
                return self.end("stopping");
            }
            match self.look().await {
                Ok(true) => {}
                Ok(false) => return self.end("signed_out"),
                // The next look may fare better; the store has said what is wrong.
                Err(error) => tracing::warn!(%error, "a listener could not be told"),
            }
        }
    }

    fn end(&mut self, why: &'static str) -> Event {
        self.has_ended = true;
        told("end", &serde_json::json!({ "why": why }))
    }

    /// Looks at everything once; false if whoever listens may no longer.
    async fn look(&mut self) -> kurier_store::Result<bool> {
        let now = clock::now();
        if !self.pass.holds(&self.app, now).await? {
            return Ok(false);
        }
        self.app.pulse.catch_up(now).await?;
        self.look_at_contact();
        self.look_at_journey().await?;
        let overviews = &self.app.overviews;
        let overview = overviews.recent(&self.app, self.grant.scope()).await?;
        let is_known = self.overview.as_ref();
        if !is_known.is_some_and(|known| known.is_same(&overview)) {
            self.waiting.push_back(told("overview", &*overview));
            self.overview = Some(overview);
        }
        Ok(true)
    }

    fn look_at_contact(&mut self) {
        let Some(watched) = &mut self.contact else {
            return;
        };
        loop {
            match watched.news.try_recv() {
                Ok(news) if watched.is_of(&self.grant, &news) => {
                    self.waiting.extend(as_event(&news));
                }
                Ok(_) => {}
                Err(TryRecvError::Lagged(count)) => {
                    let missed = serde_json::json!({ "count": count });
                    self.waiting.push_back(told("missed", &missed));
                }
                Err(TryRecvError::Empty | TryRecvError::Closed) => return,
            }
        }
    }

    async fn look_at_journey(&mut self) -> kurier_store::Result<()> {
        let Some((journey, known)) = &mut self.journey else {
            return Ok(());
        };
        let (store, scope) = (&self.app.store, self.grant.scope());
        let stats = StatsView::of(store, scope, journey, None).await?;
        let stats = serde_json::to_string(&stats).unwrap_or_default();
        if known.as_ref() != Some(&stats) {
            let event = Event::default().event("counts").data(&stats);
            self.waiting.push_back(event);
            *known = Some(stats);
        }
        Ok(())
    }
}

impl Watched {
    fn is_of(&self, grant: &Grant, news: &Recorded) -> bool {
        let contact = news.event.contact;
        news.workspace == grant.workspace.id && contact.is_some_and(|it| self.ids.contains(&it))
    }
}

async fn watch_contact(app: &App, grant: &Grant, id: &str) -> Result<Watched, Problem> {
    let unknown = || Problem::not_found("there is no such contact");
    let id = id.parse().map_err(|_| unknown())?;
    // What was appended before is not news.
    app.pulse.catch_up(clock::now()).await?;
    let news = app.pulse.listen();
    let contact = find(app, grant, id).await?;
    let ids = contact.ids();
    Ok(Watched { ids, news })
}

/// `None` if it cannot be read: then a list does not show it either.
fn as_event(news: &Recorded) -> Option<Event> {
    let view = EventView::of(news).ok()?;
    Some(told("event", &view).id(news.position.to_string()))
}

fn told(name: &'static str, said: &impl Serialize) -> Event {
    let json = serde_json::to_string(said).unwrap_or_default();
    Event::default().event(name).data(json)
}
