//! Serving a lane whose messages nobody hands on: what the guards let pass is sent when it is
//! settled, so nothing can be lost or doubled on the way.

use kurier_core::event::Kind;
use kurier_core::id::MessageId;
use kurier_core::message::{Report, Signal, Then, Verdict};
use kurier_store::{Claim, Claiming, Lane, Result};

use super::settle::Ended;
use super::{Deliverer, Route, Served, Watch};
use crate::channel::outbox;
use crate::clock;

const CLAIMS_MAX: usize = 1_000;
/// A worker that has not settled by then is taken for dead.
const LEASE_MICROS: i64 = 10_000_000;

impl Deliverer {
    pub(super) async fn serve_outbox(&self, lane: &Lane, route: &Route) -> Result<Served> {
        let keep = |claim: Claim| {
            let verdict = kept(claim.message.id, claim.attempts);
            Ended::new(claim, verdict)
        };
        self.serve_at_once(lane, route, keep).await
    }

    /// Messages for a channel that is not there come to their end, and can be queued again
    /// when it is.
    pub(super) async fn serve_nowhere(&self, lane: &Lane, route: &Route) -> Result<Served> {
        let lose = |claim: Claim| {
            let detail = format!("there is no channel `{}`", lane.channel);
            Ended::hopeless(claim, "channel", detail)
        };
        self.serve_at_once(lane, route, lose).await
    }

    async fn serve_at_once(
        &self,
        lane: &Lane,
        route: &Route,
        end: impl Fn(Claim) -> Ended + std::marker::Send + Sync,
    ) -> Result<Served> {
        let mut served = Served::default();
        loop {
            let settled = self.pass_on(lane, route, &end).await?;
            served.settled += settled;
            if settled < CLAIMS_MAX {
                return Ok(served);
            }
            self.pressure.note_much();
        }
    }

    async fn pass_on(
        &self,
        lane: &Lane,
        route: &Route,
        end: &(impl Fn(Claim) -> Ended + std::marker::Send + Sync),
    ) -> Result<usize> {
        let now = clock::now();
        let claiming = Claiming {
            now,
            lease_until: now.shifted(LEASE_MICROS),
            limit: CLAIMS_MAX,
            gate: None,
        };
        let claimed = self.store.queue.claim(lane, claiming).await?;
        if claimed.claims.is_empty() {
            return Ok(0);
        }
        let workspace = self.workspaces.find(&self.store, lane.workspace).await?;
        let watch = Watch {
            lane,
            route,
            workspace: &workspace,
            now,
        };
        let (waiting, mut ended) = self.guard(&watch, claimed.claims).await?;
        ended.extend(waiting.into_iter().map(|it| end(it.claim)));
        let count = ended.len();
        self.settle(lane, route, &workspace, ended).await?;
        Ok(count)
    }
}

fn kept(message: MessageId, attempt: u32) -> Verdict {
    let mut report = Report::new(message, attempt);
    report.channel = Some(outbox::NAME.to_owned());
    Verdict {
        kind: Kind::MessageSent,
        report,
        then: Then::Gone,
        signal: Signal::Silent,
        suppresses: false,
        rests_until: None,
    }
}
