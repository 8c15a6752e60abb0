//! Delivers: claims what is queued, hands it to its channel, and settles it with what the log
//! is told of it, in one transaction. Any number of processes may run this: a message is
//! leased to one at a time.

use std::sync::Arc;
use std::time::Duration;

use kurier_core::event::Kind;
use kurier_core::time::Timestamp;
use kurier_store::{Claim, Result, Settled, Settlement, Store};
use tokio::sync::Notify;

use crate::channel::outbox;
use crate::clock;
use crate::http::Pressure;
use crate::metrics as names;

const CLAIMS_MAX: usize = 1_000;
/// A worker that has not settled by then is taken for dead.
const LEASE_MICROS: i64 = 10_000_000;
/// Another process may queue without telling us.
const LOOK_EVERY: Duration = Duration::from_secs(1);
const RETRY_AFTER: Duration = Duration::from_secs(1);

pub struct Deliverer {
    store: Store,
    pressure: Arc<Pressure>,
    wake: Notify,
}

impl Deliverer {
    pub fn new(store: Store, pressure: Arc<Pressure>) -> Self {
        Self {
            store,
            pressure,
            wake: Notify::new(),
        }
    }

    /// Says that there may be something to deliver.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// Runs until the task is dropped.
    pub async fn run(&self) {
        loop {
            match self.turn().await {
                Ok(0) => {
                    let _ = tokio::time::timeout(LOOK_EVERY, self.wake.notified()).await;
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::error!(%error, "delivering failed, will try again");
                    tokio::time::sleep(RETRY_AFTER).await;
                }
            }
        }
    }

    /// Delivers what is due, up to a limit; answers how many there were.
    pub async fn turn(&self) -> Result<usize> {
        let now = clock::now();
        let until = now.shifted(LEASE_MICROS);
        let claims = self.store.queue.claim(now, until, CLAIMS_MAX).await?;
        let count = claims.len();
        if count == CLAIMS_MAX {
            self.pressure.note_much();
        }
        if count == 0 {
            return Ok(0);
        }
        let settled = claims.into_iter().map(|claim| deliver(claim, now));
        let kept = self.store.queue.settle(settled.collect()).await?;
        let sent = kept.iter().filter(|kept| **kept).count();
        let kind = Kind::MessageSent.as_str();
        metrics::counter!(names::DECISIONS, "kind" => kind).increment(sent as u64);
        metrics::counter!(names::MESSAGES_SENT, "channel" => outbox::NAME).increment(sent as u64);
        Ok(count)
    }
}

fn deliver(claim: Claim, now: Timestamp) -> Settled {
    let handover = outbox::take(&claim);
    let event = handover.event(claim.message.contact, now);
    Settled {
        claim,
        how: Settlement::Done,
        event: Some(event),
    }
}

#[cfg(test)]
mod tests;
