//! Serving a lane whose messages nobody hands on: what the guards let pass is sent when it is
//! settled, so nothing can be lost or doubled on the way.

use kurier_core::event::Kind;
use kurier_core::id::MessageId;
use kurier_core::message::{Report, Signal, Then, Verdict};
use kurier_store::{Claim, Lane, Result};

use super::settle::{Ended, settle_in_hand};
use super::{Deliverer, Route, Served, Watch};
use crate::channel::outbox;

const HELD_MAX: usize = 1_000;

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

    /// Two hands where there is much: while one is settled, the other is looked at.
    async fn serve_at_once(
        &self,
        lane: &Lane,
        route: &Route,
        end: impl Fn(Claim) -> Ended + std::marker::Send + Sync,
    ) -> Result<Served> {
        let mut settled = self.pass_on(lane, route, &end).await?;
        if settled == HELD_MAX {
            let hands = [&end, &end].map(|end| self.pass_all(lane, route, end));
            let [one, other] = hands;
            let (one, other) = tokio::try_join!(one, other)?;
            settled += one + other;
        }
        Ok(Served {
            settled,
            ..Served::default()
        })
    }

    async fn pass_all(
        &self,
        lane: &Lane,
        route: &Route,
        end: &(impl Fn(Claim) -> Ended + std::marker::Send + Sync),
    ) -> Result<usize> {
        let mut all = 0;
        loop {
            self.pressure.note_much();
            let settled = self.pass_on(lane, route, end).await?;
            all += settled;
            if settled < HELD_MAX || self.is_stopping() {
                return Ok(all);
            }
        }
    }

    async fn pass_on(
        &self,
        lane: &Lane,
        route: &Route,
        end: &(impl Fn(Claim) -> Ended + std::marker::Send + Sync),
    ) -> Result<usize> {
        // Before anything is held: who holds waits for nobody who wants to hold.
        let workspace = self.workspaces.find(&self.store, lane.workspace).await?;
        let held = self.store.queue.hold(lane, HELD_MAX).await?;
        if held.claims.is_empty() {
            return Ok(0);
        }
        let now = self.clock.now();
        let watch = Watch {
            lane,
            route,
            workspace: &workspace,
            now,
        };
        let (waiting, mut ended) = self.guard(&watch, held.claims).await?;
        ended.extend(waiting.into_iter().map(|it| end(it.claim)));
        let count = ended.len();
        settle_in_hand(held.hand, ended, now).await?;
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
