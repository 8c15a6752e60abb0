//! Serving a lane whose channel hands messages on: as many at a time as the channel takes,
//! settled together as they end.

use std::sync::Arc;

use kurier_core::message::{
    Blame, Category, OnUnknown, Outcome, Policy, Reason, Refusal, Request, Signal, Tried, Verdict,
    held, interrupted, judge,
};
use kurier_core::time::Timestamp;
use kurier_store::{Claim, Claiming, Lane, Lesson, Result, Settled, Store};
use tokio::sync::{Semaphore, mpsc};

use super::post::Post;
use super::{Deliverer, Route, Served, Waiting};
use crate::channel::Channel;
use crate::clock;
use crate::metrics as names;

/// So long a message may wait for its turn after it was claimed.
const PATIENCE_MICROS: i64 = 10_000_000;
/// So many times what the channel takes at once is claimed, so that it never waits for us.
const AHEAD: usize = 4;

/// A claim and what becomes of it.
pub struct Ended {
    pub claim: Claim,
    pub verdict: Verdict,
}

impl Deliverer {
    pub(super) async fn serve_channel(
        &self,
        lane: &Lane,
        route: &Route,
        channel: &Arc<dyn Channel>,
    ) -> Result<Served> {
        let mut trip = Trip::new(route, channel);
        let mut served = Served::default();
        let mut is_drained = false;
        loop {
            if !is_drained && trip.room() > 0 {
                let closed = self.fill(lane, route, &mut trip).await?;
                served.closed_until = closed.until;
                is_drained = closed.is_drained;
            }
            let ended = trip.ended().await;
            if ended.is_empty() {
                return Ok(served);
            }
            served.settled += ended.len();
            is_drained &= ended.len() < trip.window / 2;
            settle(&self.store, lane, route, ended, clock::now()).await?;
        }
    }

    /// Claims as many as there is room for, and sets them on their way.
    async fn fill(&self, lane: &Lane, route: &Route, trip: &mut Trip) -> Result<Filled> {
        let now = clock::now();
        let claiming = Claiming {
            now,
            lease_until: now.shifted(trip.lease_micros),
            limit: trip.room(),
            gate: Some(route.gate),
        };
        let claimed = self.store.queue.claim(lane, claiming).await?;
        let filled = Filled {
            is_drained: claimed.claims.is_empty(),
            until: claimed.closed.map(|closed| closed.until),
        };
        if claimed.claims.len() == claiming.limit {
            self.pressure.note_much();
        }
        let (waiting, ended) = self.guard(lane, route, claimed.claims, now).await?;
        ended.into_iter().for_each(|ended| trip.end(ended));
        for waiting in waiting {
            trip.begin(waiting, self.post.clone(), claiming.lease_until);
        }
        Ok(filled)
    }

    /// Shows messages to the guards; answers who may go, and what becomes of the others.
    pub(super) async fn guard(
        &self,
        lane: &Lane,
        route: &Route,
        claims: Vec<Claim>,
        now: Timestamp,
    ) -> Result<(Vec<Waiting>, Vec<Ended>)> {
        let mut ended = Vec::new();
        let mut waiting = Vec::with_capacity(claims.len());
        for claim in claims {
            match serde_json::from_str::<Request>(&claim.message.payload) {
                Ok(request) => waiting.push(Waiting { claim, request }),
                Err(error) => ended.push(unreadable(claim, &error, now)),
            }
        }
        for guard in &self.guards {
            if waiting.is_empty() {
                break;
            }
            let verdicts = guard.judge(lane, route, &waiting, now).await?;
            let (mut kept, mut go) = (Vec::new(), Vec::with_capacity(waiting.len()));
            for (it, verdict) in waiting.into_iter().zip(verdicts) {
                match verdict {
                    Some(verdict) => kept.push(Ended {
                        claim: it.claim,
                        verdict,
                    }),
                    None => go.push(it),
                }
            }
            ended.extend(kept);
            waiting = go;
        }
        Ok((waiting, ended))
    }
}

/// What filling came to.
struct Filled {
    is_drained: bool,
    until: Option<Timestamp>,
}

/// What is under way to a channel.
struct Trip {
    route: Route,
    channel: Arc<dyn Channel>,
    permits: Arc<Semaphore>,
    window: usize,
    lease_micros: i64,
    under_way: usize,
    ends: (mpsc::UnboundedSender<Ended>, mpsc::UnboundedReceiver<Ended>),
}

impl Trip {
    fn new(route: &Route, channel: &Arc<dyn Channel>) -> Self {
        let concurrency = channel.concurrency().max(1);
        let timeout = i64::try_from(channel.timeout().as_micros()).unwrap_or(i64::MAX / 4);
        Self {
            route: route.clone(),
            channel: channel.clone(),
            permits: Arc::new(Semaphore::new(concurrency)),
            window: concurrency * AHEAD,
            lease_micros: timeout + PATIENCE_MICROS,
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
    permits: Arc<Semaphore>,
    post: Arc<Post>,
    lease_until: Timestamp,
}

impl Send {
    async fn run(self, waiting: Waiting) -> Ended {
        let Waiting { claim, request } = waiting;
        let verdict = self.verdict(&claim, &request).await;
        Ended { claim, verdict }
    }

    async fn verdict(&self, claim: &Claim, request: &Request) -> Verdict {
        let policy = self.route.policy;
        if claim.is_interrupted && policy.on_unknown == OnUnknown::Ask {
            return interrupted(tried(claim), policy);
        }
        let Ok(_permit) = self.permits.acquire().await else {
            return held(claim.message.id, Reason::RateLimit, clock::now());
        };
        if !self.is_in_time() {
            return held(claim.message.id, Reason::RateLimit, clock::now());
        }
        match self.post.letter(claim, request).await {
            Ok((letter, version)) => {
                let outcome = self.channel.send(&letter).await;
                let mut verdict = judge(tried(claim), outcome, policy);
                verdict.report.template_version = version;
                verdict.report.channel = Some(claim.message.channel.clone());
                verdict
            }
            Err(refusal) => refused(claim, refusal, policy),
        }
    }

    /// Whether the lease holds for as long as sending may take.
    fn is_in_time(&self) -> bool {
        let timeout = i64::try_from(self.channel.timeout().as_micros()).unwrap_or(i64::MAX / 4);
        clock::now().shifted(timeout) <= self.lease_until
    }
}

fn refused(claim: &Claim, refusal: Refusal, policy: Policy) -> Verdict {
    judge(tried(claim), Outcome::Refused(refusal), policy)
}

fn tried(claim: &Claim) -> Tried {
    Tried {
        message: claim.message.id,
        attempt: claim.attempts,
        counted: claim.attempts.saturating_sub(claim.before),
        now: clock::now(),
        chance: u64::from_le_bytes(clock::random()),
    }
}

/// A row that this version cannot read: it is put aside with its reason.
fn unreadable(claim: Claim, error: &serde_json::Error, now: Timestamp) -> Ended {
    let refusal = Refusal {
        category: Category::Permanent,
        blame: Blame::Message,
        code: "unreadable".into(),
        detail: error.to_string(),
        retry_after: None,
    };
    let policy = Route::outbox().policy;
    let tried = Tried {
        now,
        ..tried(&claim)
    };
    let outcome = Outcome::Refused(refusal);
    let verdict = judge(tried, outcome, policy);
    Ended { claim, verdict }
}

/// Settles what has ended, and tells the log and the lane's gate.
pub async fn settle(
    store: &Store,
    lane: &Lane,
    route: &Route,
    ended: Vec<Ended>,
    now: Timestamp,
) -> Result<()> {
    let lesson = Lesson {
        lane: lane.clone(),
        limits: route.gate.breaker,
        now,
        signals: ended.iter().map(|it| it.verdict.signal).collect(),
        rests_until: ended.iter().filter_map(|it| it.verdict.rests_until).max(),
    };
    let is_silent = lesson
        .signals
        .iter()
        .all(|signal| *signal == Signal::Silent);
    let lesson = (!is_silent).then_some(lesson);
    let kinds: Vec<_> = ended.iter().map(|it| it.verdict.kind).collect();
    let settled = ended.into_iter().map(|it| settled(it, now));
    let kept = store.queue.settle(settled.collect(), now, lesson).await?;
    for (kind, _) in kinds.iter().zip(kept).filter(|(_, kept)| *kept) {
        metrics::counter!(names::DECISIONS, "kind" => kind.as_str()).increment(1);
        metrics::counter!(names::MESSAGES, "kind" => kind.as_str()).increment(1);
    }
    Ok(())
}

fn settled(ended: Ended, now: Timestamp) -> Settled {
    let Ended { claim, verdict } = ended;
    let contact = claim.message.contact;
    let event = verdict
        .report
        .event(verdict.kind, claim.fence, contact, now);
    Settled {
        claim,
        then: verdict.then,
        events: vec![event],
    }
}
