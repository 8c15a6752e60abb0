//! Serving a lane whose channel hands messages on: as many at a time as the channel takes,
//! settled together as they end.

use std::sync::Arc;

use kurier_core::message::{OnUnknown, Outcome, Reason, Tried, Verdict, held, interrupted, judge};
use kurier_core::time::Timestamp;
use kurier_store::{Claim, Claiming, Lane, Result, Workspace};
use tokio::sync::{Semaphore, mpsc};

use super::post::Post;
use super::settle::Ended;
use super::{Deliverer, Route, Served, Waiting, Watch};
use crate::channel::Channel;
use crate::clock;

/// So long a message may wait for its turn after it was claimed.
const PATIENCE_MICROS: i64 = 10_000_000;
/// So many times what the channel takes at once is claimed, so that it never waits for us.
const AHEAD: usize = 4;

impl Deliverer {
    pub(super) async fn serve_channel(
        &self,
        lane: &Lane,
        route: &Route,
        channel: &Arc<dyn Channel>,
    ) -> Result<Served> {
        let workspace = self.workspaces.find(&self.store, lane.workspace).await?;
        let mut trip = Trip::new(route, channel, workspace);
        let mut served = Served::default();
        let mut is_drained = false;
        loop {
            if !is_drained && !self.is_stopping() && trip.room() > 0 {
                let filled = self.fill(lane, route, &mut trip).await?;
                served.closed_until = filled.closed_until;
                is_drained = filled.is_drained;
            }
            let ended = trip.ended().await;
            if ended.is_empty() {
                return Ok(served);
            }
            served.settled += ended.len();
            self.settle(lane, route, &trip.workspace, ended).await?;
        }
    }

    /// Claims as many as there is room for, and sets them on their way.
    async fn fill(&self, lane: &Lane, route: &Route, trip: &mut Trip) -> Result<Filled> {
        let now = self.clock.now();
        let claiming = Claiming {
            now,
            lease_until: now.shifted(trip.lease_micros),
            limit: trip.room(),
            gate: Some(route.gate),
        };
        let claimed = self.store.queue.claim(lane, claiming).await?;
        let filled = Filled {
            is_drained: claimed.claims.is_empty(),
            closed_until: claimed.closed.map(|closed| closed.until),
        };
        if claimed.claims.len() == claiming.limit {
            self.pressure.note_much();
        }
        let watch = Watch {
            lane,
            route,
            workspace: &trip.workspace,
            now,
        };
        let (waiting, ended) = self.guard(&watch, claimed.claims).await?;
        ended.into_iter().for_each(|ended| trip.end(ended));
        for waiting in self.begin(waiting, now).await? {
            trip.begin(waiting, self.post.clone(), claiming.lease_until);
        }
        Ok(filled)
    }
}

impl Deliverer {
    /// Says that these are about to go; answers those that are still ours.
    async fn begin(&self, waiting: Vec<Waiting>, now: Timestamp) -> Result<Vec<Waiting>> {
        if waiting.is_empty() {
            return Ok(waiting);
        }
        let claims: Vec<Claim> = waiting.iter().map(|it| it.claim.clone()).collect();
        let held = self.store.queue.begin(&claims, now).await?;
        let ours = waiting.into_iter().zip(held).filter(|(_, held)| *held);
        Ok(ours.map(|(waiting, _)| waiting).collect())
    }
}

/// What filling came to.
struct Filled {
    is_drained: bool,
    closed_until: Option<Timestamp>,
}

/// What is under way to a channel.
struct Trip {
    route: Route,
    channel: Arc<dyn Channel>,
    workspace: Arc<Workspace>,
    permits: Arc<Semaphore>,
    window: usize,
    lease_micros: i64,
    under_way: usize,
    ends: (mpsc::UnboundedSender<Ended>, mpsc::UnboundedReceiver<Ended>),
}

impl Trip {
    fn new(route: &Route, channel: &Arc<dyn Channel>, workspace: Workspace) -> Self {
        let concurrency = channel.concurrency().max(1);
        Self {
            route: route.clone(),
            channel: channel.clone(),
            workspace: Arc::new(workspace),
            permits: Arc::new(Semaphore::new(concurrency)),
            window: concurrency * AHEAD,
            lease_micros: timeout_micros(channel.as_ref()) + PATIENCE_MICROS,
            under_way: 0,
            ends: mpsc::unbounded_channel(),
        }
    }

    /// How many more may be claimed. Few are not worth a transaction while others are under way.
    const fn room(&self) -> usize {
        let room = self.window.saturating_sub(self.under_way);
        if room * 2 >= self.window { room } else { 0 }
    }

    fn end(&mut self, ended: Ended) {
        self.under_way += 1;
        // The other half is in the same struct.
        let _ = self.ends.0.send(ended);
    }

    fn begin(&mut self, waiting: Waiting, post: Arc<Post>, lease_until: Timestamp) {
        self.under_way += 1;
        let send = Send {
            route: self.route.clone(),
            channel: self.channel.clone(),
            workspace: self.workspace.clone(),
            permits: self.permits.clone(),
            post,
            lease_until,
        };
        let ends = self.ends.0.clone();
        tokio::spawn(async move {
            // Whoever serves the lane may be gone: then the lease ends.
            let _ = ends.send(send.run(waiting).await);
        });
    }

    /// Waits until something has ended, and takes all that has; nothing if nothing is under
    /// way.
    async fn ended(&mut self) -> Vec<Ended> {
        if self.under_way == 0 {
            return Vec::new();
        }
        let mut ended = Vec::with_capacity(self.under_way);
        self.ends.1.recv_many(&mut ended, self.under_way).await;
        self.under_way -= ended.len();
        ended
    }
}

/// One message on its way.
struct Send {
    route: Route,
    channel: Arc<dyn Channel>,
    workspace: Arc<Workspace>,
    permits: Arc<Semaphore>,
    post: Arc<Post>,
    lease_until: Timestamp,
}

impl Send {
    async fn run(self, waiting: Waiting) -> Ended {
        let verdict = self.verdict(&waiting).await;
        Ended::new(waiting.claim, verdict).to(waiting.address)
    }

    async fn verdict(&self, waiting: &Waiting) -> Verdict {
        let (claim, policy) = (&waiting.claim, self.route.policy);
        if claim.is_interrupted && policy.on_unknown == OnUnknown::Ask {
            return interrupted(tried(claim), policy);
        }
        let permit = self.permits.acquire().await;
        if permit.is_err() || !self.is_in_time() {
            return held(claim.message.id, Reason::RateLimit, clock::now());
        }
        let outcome = match self.post.letter(&self.workspace, waiting).await {
            Ok(letter) => self.channel.send(&letter).await,
            Err(refusal) => Outcome::Refused(refusal),
        };
        let mut verdict = judge(tried(claim), outcome, policy);
        verdict.report.channel = Some(claim.message.channel.clone());
        verdict
    }

    /// Whether the lease holds for as long as sending may take.
    fn is_in_time(&self) -> bool {
        let timeout = timeout_micros(self.channel.as_ref());
        clock::now().shifted(timeout) <= self.lease_until
    }
}

fn timeout_micros(channel: &dyn Channel) -> i64 {
    i64::try_from(channel.timeout().as_micros()).unwrap_or(i64::MAX / 4)
}

pub fn tried(claim: &Claim) -> Tried {
    Tried {
        message: claim.message.id,
        attempt: claim.attempts,
        counted: claim.attempts.saturating_sub(claim.before),
        now: clock::now(),
        chance: u64::from_le_bytes(clock::random()),
    }
}
