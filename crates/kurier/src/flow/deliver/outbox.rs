//! Serving a lane whose messages nobody hands on: what the guards let pass is sent when it is
//! settled, so nothing can be lost or doubled on the way.

use kurier_core::event::Kind;
use kurier_core::message::{Report, Signal, Then, Verdict};
use kurier_store::{Claiming, Lane, Result};

use super::lane::{Ended, settle};
use super::{Deliverer, Route, Served};
use crate::channel::outbox;
use crate::clock;

const CLAIMS_MAX: usize = 1_000;
/// A worker that has not settled by then is taken for dead.
const LEASE_MICROS: i64 = 10_000_000;

impl Deliverer {
    pub(super) async fn serve_outbox(&self, lane: &Lane, route: &Route) -> Result<Served> {
        let mut served = Served::default();
        loop {
            let settled = self.pass_on(lane, route).await?;
            served.settled += settled;
            if settled < CLAIMS_MAX {
                return Ok(served);
            }
            self.pressure.note_much();
        }
    }

    async fn pass_on(&self, lane: &Lane, route: &Route) -> Result<usize> {
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
        let (waiting, mut ended) = self.guard(lane, route, claimed.claims, now).await?;
        ended.extend(waiting.into_iter().map(|it| Ended {
            verdict: kept(it.claim.message.id, it.claim.attempts),
            claim: it.claim,
        }));
        let count = ended.len();
        settle(&self.store, lane, route, ended, now).await?;
        Ok(count)
    }
}

fn kept(message: kurier_core::id::MessageId, attempt: u32) -> Verdict {
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
