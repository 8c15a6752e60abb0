//! The demo's past, lived through: what its people did is appended stretch by stretch, reacted to
//! and delivered at the time of it, by the same flows that do so now. So the runs and messages of
//! the thirty days are in the log on their own days.

use kurier_core::event::Event;
use kurier_core::time::Timestamp;
use kurier_store::{Result, Scope, Store};

use super::BATCH_MAX;
use crate::app::App;
use crate::clock::Clock;
use crate::flow::{Deliverer, Reactor};

/// What happens in such a stretch is reacted to at its end.
const STRETCH: i64 = 2 * 3_600 * 1_000_000;

pub struct Past {
    store: Store,
    scope: Scope,
    clock: Clock,
    reactor: Reactor,
    deliverer: Deliverer,
}

impl Past {
    /// Nothing else may react or deliver meanwhile.
    pub fn new(app: &App, scope: Scope, start: Timestamp) -> Self {
        let (store, clock) = (app.store.clone(), Clock::told(start));
        let reactor = Reactor::new(store.clone(), app.pressure.clone(), None);
        let (channels, post) = (app.channels.clone(), app.post.clone());
        let deliverer = Deliverer::new(store.clone(), channels, post, app.pressure.clone());
        Self {
            reactor: reactor.by(clock.clone()),
            deliverer: deliverer.by(clock.clone()),
            store,
            scope,
            clock,
        }
    }

    /// All of it up to an instant; the events are in order.
    pub async fn live_through(&self, mut events: Vec<Event>, end: Timestamp) -> Result<()> {
        let mut until = self.clock.now();
        while until < end {
            until = until.shifted(STRETCH).min(end);
            let later = events.partition_point(|event| event.recorded_at <= until);
            let rest = events.split_off(later);
            self.live(events, until).await?;
            events = rest;
        }
        Ok(())
    }

    /// What happened until an instant, and whatever follows from it by then.
    pub async fn live(&self, mut events: Vec<Event>, until: Timestamp) -> Result<()> {
        while !events.is_empty() {
            let rest = events.split_off(events.len().min(BATCH_MAX));
            self.store.log.append(self.scope, events).await?;
            events = rest;
        }
        self.clock.tell(until);
        self.reactor.drain().await?;
        while self.deliverer.turn().await? > 0 {
            self.reactor.drain().await?;
        }
        Ok(())
    }

    /// The present begins: another reacts from here on.
    pub async fn end(self) {
        self.reactor.release().await;
    }
}
