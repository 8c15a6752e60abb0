//! A workspace as the reactor runs it: its realm and its journeys, folded together. What
//! they decide is answered as events; those come back through the log.

use crate::event::{Event, Recorded};
use crate::journey::Journeys;
use crate::realm::{Realm, Role};
use crate::time::Timestamp;

#[derive(Debug, Default)]
pub struct Engine {
    realm: Realm,
    journeys: Journeys,
}

impl Engine {
    pub const fn realm(&self) -> &Realm {
        &self.realm
    }

    pub const fn journeys(&self) -> &Journeys {
        &self.journeys
    }

    /// The first instant at which time alone may change something.
    pub fn due(&self) -> Timestamp {
        self.realm.due().min(self.journeys.due())
    }

    /// Whether instances are to move before an event is folded: their time came before it.
    /// Who leads ticks until there are none.
    pub fn is_due_before(&self, recorded: &Recorded) -> bool {
        self.journeys.is_due_before(recorded)
    }

    /// Moves instances whose time came before an event, at most `max`.
    pub fn tick_before(&mut self, recorded: &Recorded, max: usize) -> Vec<Event> {
        self.journeys.tick_before(recorded, self.realm.world(), max)
    }

    /// Lets time pass, with at most `max` instances moving.
    pub fn tick(&mut self, to: Timestamp, max: usize) -> Vec<Event> {
        let mut events = match self.realm.due() <= to {
            true => self.realm.tick(to),
            false => Vec::new(),
        };
        events.extend(self.journeys.tick(to, self.realm.world(), max));
        events
    }

    pub fn fold(&mut self, recorded: &Recorded, role: Role) -> Vec<Event> {
        let mut events = self.realm.fold(recorded, role);
        events.extend(self.journeys.fold(recorded, self.realm.world(), role));
        events
    }

    /// Recalls, before leading from a checkpoint, what was decided up to it.
    pub fn recall(&mut self, recorded: &Recorded) {
        self.realm.recall(recorded);
        self.journeys.recall(recorded, self.realm.world());
    }
}
