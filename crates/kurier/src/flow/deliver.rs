//! Delivers: claims what stands in line for a channel, lets the guards look at it, hands it
//! over, and settles it with what the log is told of it, in one transaction. Each lane is
//! served by a task of its own, so that a slow channel keeps no other waiting. Any number of
//! processes may run this: a message is leased to one at a time.

mod guard;
mod lane;
mod outbox;
mod post;
mod route;
mod settle;
mod workspaces;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kurier_core::time::Timestamp;
use kurier_store::{Lane, Result, Store};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::clock::{self, Clock};
use crate::http::Pressure;
pub use guard::{Guard, Waiting, Watch};
pub use post::{Post, Unwritten};
pub use route::{Route, Routes, Via};
use workspaces::Workspaces;

/// Another process may queue without telling us, and a closed gate may be opened elsewhere.
const LOOK_EVERY: Duration = Duration::from_secs(1);
const LOOK_MICROS: i64 = 1_000_000;
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// So long a lane is left alone in which something stands that could not be had.
const REST_MICROS: i64 = 50_000;
/// So many lanes are served at the same time; the others have their turn after.
const LANES_MAX: usize = 64;

pub struct Deliverer {
    store: Store,
    clock: Clock,
    routes: Arc<dyn Routes>,
    guards: Vec<Box<dyn Guard>>,
    post: Arc<Post>,
    workspaces: Workspaces,
    pressure: Arc<Pressure>,
    wake: Notify,
    is_stopping: AtomicBool,
    finished: Notify,
}

/// What serving a lane came to.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Served {
    pub settled: usize,
    /// The gate is closed until then.
    pub closed_until: Option<Timestamp>,
}

impl Deliverer {
    pub fn new(
        store: Store,
        routes: Arc<dyn Routes>,
        post: Arc<Post>,
        pressure: Arc<Pressure>,
    ) -> Self {
        Self {
            guards: guard::all(&store),
            post,
            workspaces: Workspaces::default(),
            store,
            clock: Clock::default(),
            routes,
            pressure,
            wake: Notify::new(),
            is_stopping: AtomicBool::new(false),
            finished: Notify::new(),
        }
    }

    /// Messages fall due, and are settled, as this clock says.
    #[must_use]
    pub fn by(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// Finishes what is under way and begins nothing more; waits until then at most. What
    /// is not finished then was perhaps handed over, and is said to be unknown by whoever
    /// finds it.
    pub async fn finish(&self, until: Instant) {
        self.is_stopping.store(true, Ordering::Relaxed);
        self.wake();
        if tokio::time::timeout_at(until, self.finished.notified())
            .await
            .is_err()
        {
            tracing::warn!("messages were still under way when the time was up");
        }
    }

    fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed)
    }

    /// Says that there may be something to deliver.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// Runs until the task is dropped, or until it is to finish.
    pub async fn run(self: Arc<Self>) {
        let mut shift = Shift::default();
        while !self.is_stopping() {
            let pause = match self.look(&mut shift).await {
                Ok(pause) => pause,
                Err(error) => {
                    tracing::error!(%error, "looking for messages failed, will try again");
                    RETRY_AFTER
                }
            };
            tokio::select! {
                () = self.wake.notified() => {}
                () = tokio::time::sleep(pause) => {}
                Some(served) = shift.tasks.join_next() => shift.ended(served),
            }
        }
        while let Some(served) = shift.tasks.join_next().await {
            shift.ended(served);
        }
        self.finished.notify_one();
    }

    /// Sees to it that every lane in which something stands is served; answers when to look
    /// again.
    async fn look(self: &Arc<Self>, shift: &mut Shift) -> Result<Duration> {
        let now = self.clock.now();
        let line = self.store.queue.line(now).await?;
        shift.closed.retain(|_, until| now < *until);
        for lane in shift.turns(line.lanes) {
            let deliverer = self.clone();
            shift.busy.insert(lane.clone());
            shift.tasks.spawn(async move {
                let served = deliverer.serve(&lane).await;
                (lane, served)
            });
        }
        let next = shift.closed.values().min().copied();
        let next = [line.next, next].into_iter().flatten().min();
        let pause = next.map_or(LOOK_EVERY, |at| until(now, at));
        Ok(pause.clamp(Duration::from_millis(1), LOOK_EVERY))
    }

    /// Serves every lane until nothing is left that may go now; answers how many messages
    /// were settled.
    pub async fn turn(&self) -> Result<usize> {
        let line = self.store.queue.line(self.clock.now()).await?;
        let mut settled = 0;
        for lane in line.lanes {
            settled += self.serve(&lane).await?.settled;
        }
        Ok(settled)
    }

    async fn serve(&self, lane: &Lane) -> Result<Served> {
        let route = self.routes.find(lane).await?;
        match &route.via {
            Via::Outbox => self.serve_outbox(lane, &route).await,
            Via::Channel(channel) => self.serve_channel(lane, &route, channel).await,
            Via::Nowhere => self.serve_nowhere(lane, &route).await,
            Via::Nobody => Ok(Served::default()),
        }
    }
}

fn until(now: Timestamp, at: Timestamp) -> Duration {
    let micros = at.as_micros().saturating_sub(now.as_micros());
    Duration::from_micros(micros.max(0).unsigned_abs())
}

/// What this process is serving.
#[derive(Default)]
struct Shift {
    tasks: JoinSet<(Lane, Result<Served>)>,
    busy: HashSet<Lane>,
    closed: std::collections::HashMap<Lane, Timestamp>,
    /// Whose turn was last: those after it come first.
    last: Option<Lane>,
}

impl Shift {
    /// The lanes to begin with now, each in its turn.
    fn turns(&mut self, mut lanes: Vec<Lane>) -> Vec<Lane> {
        lanes.retain(|lane| !self.busy.contains(lane) && !self.closed.contains_key(lane));
        lanes.sort_unstable();
        let first = self
            .last
            .as_ref()
            .map_or(0, |last| lanes.partition_point(|lane| lane <= last));
        lanes.rotate_left(first);
        lanes.truncate(LANES_MAX.saturating_sub(self.busy.len()));
        self.last = lanes.last().cloned().or(self.last.take());
        lanes
    }

    fn ended(
        &mut self,
        served: std::result::Result<(Lane, Result<Served>), tokio::task::JoinError>,
    ) {
        let (lane, served) = match served {
            Ok(served) => served,
            // Only a panic ends a task so; which lane it was is not known any more.
            Err(error) => {
                tracing::error!(%error, "a lane was left in the middle");
                self.busy.clear();
                return;
            }
        };
        self.busy.remove(&lane);
        match served {
            Ok(served) => {
                // Nothing could be had, by a closed gate or because others have it: the lane
                // would be named again at once.
                let now = clock::now();
                let rest = served.closed_until.unwrap_or(now.shifted(REST_MICROS));
                // A gate may be opened by somebody before its time.
                let rest = rest.min(now.shifted(LOOK_MICROS));
                let is_empty = served.settled == 0;
                self.closed.extend(is_empty.then_some((lane, rest)));
            }
            Err(error) => {
                tracing::error!(%error, channel = lane.channel, "delivering failed, will try again");
                self.closed.insert(lane, clock::now().shifted(1_000_000));
            }
        }
    }
}

#[cfg(test)]
mod tests;
