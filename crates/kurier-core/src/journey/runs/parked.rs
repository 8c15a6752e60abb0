//! Triggers that wait for the run before them to end: one for each run's key, the latest.

use super::super::record::Parking;
use super::Journeys;
use super::decide::{Cause, Entry};
use super::shelf::RunKey;
use crate::columns::World;
use crate::event::{Event, Recorded};
use crate::id::{ContactId, EventId};
use crate::time::Timestamp;
use crate::value::Object;

#[derive(Debug, Clone, PartialEq)]
pub struct Parked {
    pub trigger: EventId,
    pub key: Option<Box<str>>,
    pub state: Object,
}

impl Parking {
    /// The id of the event that tells it.
    pub(super) fn event_id(&self, contact: ContactId, cause: EventId) -> EventId {
        let key = RunKey::new(0, 0, self.key.as_deref()).key;
        let reactor = format!("parked:{}:{contact}:{key:x}", self.journey);
        EventId::derived(&reactor, cause, 0)
    }
}

impl Journeys {
    pub(super) fn park(&mut self, run: RunKey, parking: Parking) {
        let parked = Parked {
            trigger: parking.trigger,
            key: parking.key.map(Into::into),
            state: parking.state,
        };
        self.parked.insert(run, parked);
    }

    pub(super) fn recall_parking(&mut self, recorded: &Recorded, world: &World) {
        let Ok(parking) = serde_json::from_str::<Parking>(&recorded.event.payload) else {
            return;
        };
        self.merge_up_to(parking.since);
        let contact = recorded.event.contact.and_then(|id| world.number_of(id));
        let live = self.lives.find(parking.journey);
        if let (Some(contact), Some(live)) = (contact, live)
            && parking.since >= self.lives.get(live).retired_at
        {
            let run = RunKey::new(live, contact, parking.key.as_deref());
            self.park(run, parking);
        }
    }

    /// Begins what was parked for a run's key, now that it is free; later, if the journey is
    /// paused.
    pub(super) fn start_parked(
        &mut self,
        run: RunKey,
        now: Timestamp,
        world: &World,
    ) -> Vec<Event> {
        self.lives.take_ready(run);
        let Some(parked) = self.parked.get(&run) else {
            return Vec::new();
        };
        if self.shelf.holder(run).is_some() {
            return Vec::new();
        }
        if !self.lives.get(run.journey).admits() {
            self.lives.make_ready(run, now);
            return Vec::new();
        }
        let entry = Entry {
            journey: run.journey,
            contact: run.contact,
            trigger: parked.trigger,
            key: parked.key.as_deref().map(str::to_owned),
            state: parked.state.clone(),
        };
        let cause = Cause {
            id: parked.trigger,
            now,
        };
        self.parked.remove(&run);
        self.enter(entry, cause, world)
    }

    /// A run's key is free since then: what was parked behind it may begin.
    pub(super) fn release(&mut self, run: RunKey, since: Timestamp) {
        if self.parked.contains_key(&run) {
            self.lives.make_ready(run, since);
        }
    }

    /// An erased contact begins nothing.
    pub(super) fn forget_parked(&mut self, contact: u32) {
        self.parked.retain(|run, _| run.contact != contact);
    }

    /// A contact's parked triggers follow it; what it has already stays.
    pub(super) fn rehome_parked(&mut self, from: u32, to: u32) {
        let least = |contact| RunKey {
            contact,
            journey: 0,
            key: 0,
        };
        let range = self.parked.range(least(from)..least(from + 1));
        let runs: Vec<RunKey> = range.map(|(run, _)| *run).collect();
        for run in runs {
            if let Some(parked) = self.parked.remove(&run) {
                let since = self.lives.take_ready(run).unwrap_or(self.now);
                let run = RunKey { contact: to, ..run };
                self.parked.entry(run).or_insert(parked);
                self.release(run, since);
            }
        }
    }
}
