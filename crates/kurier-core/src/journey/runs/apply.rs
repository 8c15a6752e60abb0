//! How a record changes an instance: the one place where instances change.

use super::super::record::Record;
use super::super::step::remember;
use super::super::{Instance, NodeIndex, Policy};
use super::Journeys;
use super::shelf::RunKey;
use crate::columns::World;
use crate::event::Recorded;
use crate::expr::FOREVER;
use crate::time::Timestamp;

impl Journeys {
    /// Takes a record from the log.
    pub(super) fn recall_record(&mut self, recorded: &Recorded, world: &World) {
        let Ok(record) = serde_json::from_str::<Record>(&recorded.event.payload) else {
            return;
        };
        // Of a contact that was erased since, nothing runs any more.
        if Record::is_erased(&recorded.event.payload) {
            return;
        }
        self.merge_up_to(record.run.since);
        let contact = recorded.event.contact.and_then(|id| world.number_of(id));
        self.apply(&record, contact, recorded.event.occurred_at);
        if record.run.since < self.position
            && let Some(slot) = self.shelf.find(record.run.instance)
        {
            self.look_soon(slot);
        }
    }

    /// Has an instance looked at, if it has a rule to look at: what a leader saw since its
    /// last record is not in the log.
    pub(super) fn look_soon(&mut self, slot: u32) {
        let Some(kept) = self.shelf.get(slot) else {
            return;
        };
        let (instance, due) = (&kept.instance, kept.instance.due);
        let rests = !instance.is_held && !self.is_updating(instance);
        if rests && self.rules(instance).next().is_some() {
            self.arm(slot, due, due.min(self.now));
        }
    }

    /// Applies a record made at an instant. One that is not the next of its run is nothing
    /// new.
    pub(super) fn apply(&mut self, record: &Record, contact: Option<u32>, at: Timestamp) {
        let slot = match record.run.seq {
            1 => self.admit(record, contact, at),
            _ => self.shelf.find(record.run.instance),
        };
        let Some(slot) = slot else {
            return;
        };
        let Some(kept) = self.shelf.get(slot) else {
            return;
        };
        if kept.instance.seq + 1 != record.run.seq {
            return;
        }
        let (journey, before) = (kept.journey, kept.instance.due);
        if record.run.ending.is_some() {
            self.arm(slot, before, FOREVER);
            if let Some(ended) = self.shelf.remove(slot) {
                let instance = &ended.instance;
                let key = instance.key.as_deref();
                let run = RunKey::new(journey, instance.contact, key);
                self.reclaim(run);
                self.release(run, at);
            }
            return;
        }
        let definition = self.versions[kept.instance.version as usize].clone();
        let find = |id: &str| definition.find(id).unwrap_or(NodeIndex::NOWHERE);
        self.shelf
            .change(slot, |instance| advance(instance, record, at, find));
        self.arm(slot, before, record.run.wake.unwrap_or(FOREVER));
        let awaits = record.run.awaits.as_deref().map(|name| self.name(name));
        self.shelf.await_event(slot, awaits);
    }

    /// Two contacts that became one may have a run with the same key each: when the one that
    /// has the key ends, the other has it.
    fn reclaim(&mut self, run: RunKey) {
        for slot in self.shelf.of_contact(run.contact) {
            let Some(kept) = self.shelf.get(slot) else {
                continue;
            };
            let policy = self.versions[kept.instance.version as usize].reentry.policy;
            if policy != Policy::Parallel && kept.run() == run {
                self.shelf.claim(run, slot);
            }
        }
    }

    /// Sets when time alone may move an instance.
    pub(super) fn arm(&mut self, slot: u32, before: Timestamp, due: Timestamp) {
        self.shelf.change(slot, |instance| instance.due = due);
        if let Some(kept) = self.shelf.get(slot) {
            let id = kept.instance.id;
            self.lives.arm(kept.journey, (slot, id), (before, due));
        }
    }

    /// Makes the instance of a run's first record; none if it is known, or nobody's.
    fn admit(&mut self, record: &Record, contact: Option<u32>, at: Timestamp) -> Option<u32> {
        let run = &record.run;
        if self.shelf.find(run.instance).is_some() {
            return None;
        }
        let journey = self.lives.find(run.journey)?;
        let version = self.lives.version(journey, run.version)?;
        let (contact, trigger) = (contact?, record.trigger?);
        let instance = Instance {
            id: run.instance,
            trigger,
            last_message: None,
            key: record.key.as_deref().map(Into::into),
            state: None,
            entered_at: at,
            arrived_at: at,
            due: FOREVER,
            since: run.since,
            contact,
            version,
            node: self.versions[version as usize].start,
            seq: 0,
            steps: 0,
            is_held: false,
        };
        let key = RunKey::new(journey, contact, record.key.as_deref());
        if self
            .parked
            .get(&key)
            .is_some_and(|parked| parked.trigger == trigger)
        {
            self.parked.remove(&key);
        }
        let is_unique = self.versions[version as usize].reentry.policy != Policy::Parallel;
        let slot = self.shelf.insert(instance, journey);
        if is_unique {
            self.shelf.claim(key, slot);
        }
        Some(slot)
    }
}

fn advance(
    instance: &mut Instance,
    record: &Record,
    at: Timestamp,
    find: impl Fn(&str) -> NodeIndex,
) {
    let run = &record.run;
    instance.seq = run.seq;
    instance.steps += run.hops.len() as u32;
    instance.node = find(&run.at);
    instance.since = run.since;
    if !run.hops.is_empty() || instance.is_held != run.held {
        instance.arrived_at = at;
    }
    instance.is_held = run.held;
    remember(instance, &record.state);
    if let Some(last) = run.messages.last() {
        instance.last_message = Some((last.message, find(&last.node)));
    }
}
