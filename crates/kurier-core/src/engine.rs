//! A workspace as the reactor runs it: its realm and its journeys, folded together. What
//! they decide is answered as events; those come back through the log.

mod decide;
mod snapshot;

use std::collections::HashMap;

use crate::event::{Event, Recorded};
use crate::id::WorkspaceId;
use crate::journey::Journeys;
use crate::realm::{Realm, Role};
use crate::time::Timestamp;

pub use decide::{Decision, Tide, decide};
pub use snapshot::Snapshot;

pub type Engines = HashMap<WorkspaceId, Engine>;

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

    /// How much memory it takes, about.
    pub fn bytes(&self) -> usize {
        self.realm.bytes() + self.journeys.bytes()
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

    /// Lets time pass for segments.
    pub fn tick_segments(&mut self, to: Timestamp) -> Vec<Event> {
        match self.realm.due() <= to {
            true => self.realm.tick(to),
            false => Vec::new(),
        }
    }

    /// Lets time pass for instances, of which at most `max` move.
    pub fn tick_journeys(&mut self, to: Timestamp, max: usize) -> Vec<Event> {
        match self.journeys.due() <= to {
            true => self.journeys.tick(to, self.realm.world(), max),
            false => Vec::new(),
        }
    }

    /// Lets time pass, with at most `max` instances moving.
    pub fn tick(&mut self, to: Timestamp, max: usize) -> Vec<Event> {
        let mut events = self.tick_segments(to);
        events.extend(self.tick_journeys(to, max));
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

    /// Who begins to lead looks at every segment once.
    pub fn doubt(&mut self) {
        self.realm.doubt();
    }
}

#[cfg(test)]
impl Engine {
    pub fn of_realm(realm: Realm) -> Self {
        Self {
            realm,
            journeys: Journeys::default(),
        }
    }

    pub fn into_realm(self) -> Realm {
        self.realm
    }
}
