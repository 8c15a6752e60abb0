//! What a leader decides: who enters, how far an instance goes, who ends. Every decision
//! becomes a record, is applied, and is answered as events to append.

use std::sync::Arc;

use super::super::record::{Course, HopRecord, Parking, Record, Sent, Update, event};
use super::super::reentry::{Admission, admit};
use super::super::step::{Context, Effect, Hop, Input, Step, remember, step};
use super::super::{Definition, Ending, Instance, Node, NodeIndex, Supply};
use super::shelf::RunKey;
use super::{Journeys, PARALLEL_MAX};
use crate::columns::World;
use crate::event::{Event, Kind};
use crate::expr::{EventFact, FOREVER};
use crate::id::{ContactId, EventId, InstanceId, MessageId};
use crate::message::{Origin, Request};
use crate::time::Timestamp;
use crate::value::Object;

/// What a decision follows from, and when.
#[derive(Debug, Clone, Copy)]
pub struct Cause {
    pub id: EventId,
    pub now: Timestamp,
}

/// A trigger that fired for a contact.
#[derive(Debug, Clone)]
pub struct Entry {
    pub journey: u32,
    pub contact: u32,
    pub trigger: EventId,
    pub key: Option<String>,
    pub state: Object,
}

impl Journeys {
    /// Lets a trigger do what the re-entry policy says.
    pub(super) fn begin(&mut self, entry: Entry, cause: Cause, world: &World) -> Vec<Event> {
        let definition = self.current_of(entry.journey);
        let run = RunKey::new(entry.journey, entry.contact, entry.key.as_deref());
        let holder = self.shelf.holder(run);
        match admit(definition.reentry.policy, holder.is_some()) {
            Admission::Skip => Vec::new(),
            Admission::Park => self.park_entry(run, entry, cause, world),
            Admission::Enter => self.enter(entry, cause, world),
            Admission::Replace => {
                let ended = holder.map(|slot| self.end(slot, Ending::Restarted, cause, world));
                let mut events = ended.unwrap_or_default();
                events.extend(self.enter(entry, cause, world));
                events
            }
        }
    }

    fn current_of(&self, journey: u32) -> Arc<Definition> {
        self.versions[self.lives.get(journey).version as usize].clone()
    }

    fn park_entry(&mut self, run: RunKey, entry: Entry, cause: Cause, world: &World) -> Vec<Event> {
        let parking = Parking {
            journey: self.lives.get(entry.journey).id,
            key: entry.key,
            trigger: entry.trigger,
            since: self.position,
            state: entry.state,
        };
        let contact = world.contact_id(entry.contact);
        let id = parking.event_id(contact, cause.id);
        let event = event(id, Kind::JourneyParked, contact, cause.now, &parking);
        self.park(run, parking);
        vec![event]
    }

    /// Begins a run.
    pub(super) fn enter(&mut self, entry: Entry, cause: Cause, world: &World) -> Vec<Event> {
        let live = self.lives.get(entry.journey);
        let contact = world.contact_id(entry.contact);
        let id = InstanceId::begun(live.id, contact, entry.trigger);
        if self.shelf.find(id).is_some() || self.is_crowded(&entry) {
            return Vec::new();
        }
        let definition = self.versions[live.version as usize].clone();
        let mut instance = Instance {
            id,
            trigger: entry.trigger,
            last_message: None,
            key: entry.key.as_deref().map(Into::into),
            state: None,
            entered_at: cause.now,
            arrived_at: cause.now,
            due: FOREVER,
            since: self.position,
            contact: entry.contact,
            version: live.version,
            node: definition.start,
            seq: 0,
            steps: 0,
            is_held: false,
        };
        remember(&mut instance, &entry.state);
        let cx = self.context(&definition, entry.contact, (cause.now, false), None, world);
        let step = step(instance, Input::Arrive, &cx);
        self.settle(step, entry.state, cause, world)
    }

    /// Only `parallel` can crowd a journey with one contact.
    fn is_crowded(&self, entry: &Entry) -> bool {
        let slots = self.shelf.of_contact(entry.contact);
        let here = slots.iter().filter_map(|slot| self.shelf.get(*slot));
        here.filter(|kept| kept.journey == entry.journey).count() >= PARALLEL_MAX
    }

    fn context<'a>(
        &'a self,
        definition: &'a Definition,
        contact: u32,
        (now, is_paused): (Timestamp, bool),
        event: Option<&'a EventFact>,
        world: &'a World,
    ) -> Context<'a> {
        Context {
            definition,
            view: world.subject(contact),
            templates: &self.templates,
            channels: &self.channels,
            event,
            now,
            position: self.position,
            is_paused,
        }
    }

    /// Lets an input move an instance.
    pub(super) fn advance(
        &mut self,
        slot: u32,
        (input, fact): (Input, Option<&EventFact>),
        cause: Cause,
        world: &World,
    ) -> Vec<Event> {
        let Some(kept) = self.shelf.get(slot) else {
            return Vec::new();
        };
        self.looks += 1;
        let is_paused = self.lives.get(kept.journey).is_paused;
        let definition = self.versions[kept.instance.version as usize].clone();
        let before = kept.instance.clone();
        // What was written down late is not before what came of it.
        let cause = Cause {
            now: cause.now.max(before.arrived_at),
            ..cause
        };
        let at = (cause.now, is_paused);
        let cx = self.context(&definition, before.contact, at, fact, world);
        let step = step(before.clone(), input, &cx);
        if step.is_idle() && step.instance.is_held == before.is_held {
            // Looking again at once would find the same.
            let due = step.instance.due.max(cause.now.shifted(1));
            self.arm(slot, before.due, due);
            return Vec::new();
        }
        self.settle(step, Object::new(), cause, world)
    }

    /// A timer came due.
    pub(super) fn wake(&mut self, due: Timestamp, slot: u32, world: &World) -> Vec<Event> {
        let Some(kept) = self.shelf.get(slot) else {
            return Vec::new();
        };
        let instance = &kept.instance;
        let reactor = format!("timer:{}", instance.id);
        let id = EventId::derived(&reactor, instance.trigger, instance.seq);
        // Never before what is known: a look in the past would see what was not there yet.
        let now = due.max(self.now);
        self.advance(slot, (Input::Due, None), Cause { id, now }, world)
    }

    /// Ends a run from outside.
    pub(super) fn end(
        &mut self,
        slot: u32,
        ending: Ending,
        cause: Cause,
        world: &World,
    ) -> Vec<Event> {
        let Some(kept) = self.shelf.get(slot) else {
            return Vec::new();
        };
        let step = Step {
            instance: kept.instance.clone(),
            hops: Vec::new(),
            effects: vec![Effect::Finish { ending }],
        };
        self.settle(step, Object::new(), cause, world)
    }

    /// Makes records of a step, applies them, and answers everything to append: what a
    /// decision asks for stands before it.
    fn settle(&mut self, step: Step, given: Object, cause: Cause, world: &World) -> Vec<Event> {
        let definition = self.versions[step.instance.version as usize].clone();
        let contact = world.contact_id(step.instance.contact);
        let outcome = Outcome {
            definition: &definition,
            journey: self
                .lives
                .get(self.lives.of_version(step.instance.version))
                .id,
            contact,
            cause,
            given,
        };
        let mut events = outcome.effects(&step);
        for record in outcome.records(&step) {
            events.push(outcome.event(&record));
            self.apply(&record, Some(step.instance.contact), cause.now);
        }
        if step
            .ending()
            .is_some_and(|ending| ending != Ending::Restarted)
        {
            events.extend(self.follow_up(&step.instance, cause.now, world));
        }
        events
    }

    /// What was parked behind a run that has ended begins.
    fn follow_up(&mut self, instance: &Instance, now: Timestamp, world: &World) -> Vec<Event> {
        if self.parked.is_empty() {
            return Vec::new();
        }
        let journey = self.lives.of_version(instance.version);
        let run = RunKey::new(journey, instance.contact, instance.key.as_deref());
        self.start_parked(run, now, world)
    }
}

/// One step, to be written down.
struct Outcome<'a> {
    definition: &'a Definition,
    journey: crate::id::JourneyId,
    contact: ContactId,
    cause: Cause,
    /// State that the run was given when it began.
    given: Object,
}

impl Outcome<'_> {
    /// The records of a step: one, or two where a run begins and ends in the same step.
    fn records(&self, step: &Step) -> Vec<Record> {
        let record = self.record(step);
        if record.run.seq > 1 || record.run.ending.is_none() {
            return vec![record];
        }
        let mut end = record.clone();
        end.run.seq = 2;
        end.run.hops.clear();
        end.run.messages.clear();
        (end.key, end.trigger) = (None, None);
        end.state.clear();
        end.because.clear();
        let mut begin = record;
        begin.run.ending = None;
        vec![begin, end]
    }

    fn record(&self, step: &Step) -> Record {
        let instance = &step.instance;
        let (is_first, ending) = (instance.seq == 0, step.ending());
        let mut state = self.given.clone();
        let (mut messages, mut awaits) = (Vec::new(), None);
        for effect in &step.effects {
            match effect {
                Effect::Remember { state: set } => state.extend(set.clone()),
                Effect::SendMessage { message, node, .. } => messages.push(Sent {
                    message: *message,
                    node: self.definition.id_of(*node).to_owned(),
                }),
                Effect::AwaitEvent { event_type } => awaits = Some(event_type.clone()),
                _ => {}
            }
        }
        let reasons = step.hops.iter().any(|hop| !hop.because.is_empty());
        let because = step.hops.iter().map(|hop| hop.because.clone());
        Record {
            run: Course {
                journey: self.journey,
                version: self.definition.version,
                instance: instance.id,
                seq: instance.seq + 1,
                hops: step.hops.iter().map(|hop| self.hop(hop)).collect(),
                messages,
                at: self.definition.id_of(instance.node).to_owned(),
                since: instance.since,
                wake: (ending.is_none() && instance.due != FOREVER).then_some(instance.due),
                awaits,
                held: instance.is_held,
                ending,
            },
            key: instance
                .key
                .as_deref()
                .filter(|_| is_first)
                .map(str::to_owned),
            trigger: is_first.then_some(instance.trigger),
            state,
            because: if reasons {
                because.collect()
            } else {
                Vec::new()
            },
        }
    }

    fn hop(&self, hop: &Hop) -> HopRecord {
        HopRecord {
            node: self.definition.id_of(hop.node).to_owned(),
            by: hop.by,
            to: self.definition.id_of(hop.to).to_owned(),
        }
    }

    fn event(&self, record: &Record) -> Event {
        let kind = match (record.run.seq, record.run.ending) {
            (_, Some(_)) => Kind::JourneyFinished,
            (1, None) => Kind::JourneyEntered,
            _ => Kind::JourneyMoved,
        };
        let id = record.run.event_id(self.cause.id);
        event(id, kind, self.contact, self.cause.now, record)
    }

    fn effects(&self, step: &Step) -> Vec<Event> {
        let effects = step.effects.iter();
        effects
            .filter_map(|effect| self.effect(effect, step))
            .collect()
    }

    fn request(
        &self,
        (message, node): (MessageId, NodeIndex),
        supply: &Supply,
        instance: &Instance,
    ) -> Option<Request> {
        let Some(Node::SendMessage(send)) = self.definition.node(node) else {
            return None;
        };
        let origin = Origin {
            journey: self.journey,
            version: self.definition.version,
            instance: instance.id,
            node: self.definition.id_of(node).to_owned(),
        };
        Some(supply.request(message, origin, send))
    }

    fn effect(&self, effect: &Effect, step: &Step) -> Option<Event> {
        let (instance, now) = (&step.instance, self.cause.now);
        match effect {
            Effect::SendMessage {
                message,
                node,
                supply,
            } => {
                let request = self.request((*message, *node), supply, instance)?;
                let (id, kind) = (
                    EventId::from_uuid(message.as_uuid()),
                    Kind::MessageRequested,
                );
                Some(event(id, kind, self.contact, now, &request))
            }
            Effect::UpdateContact { traits } => {
                let (traits, seq) = (traits.clone(), instance.seq + 1);
                let reactor = format!("update:{}", instance.id);
                let id = EventId::derived(&reactor, self.cause.id, seq);
                let instance = instance.id;
                let update = Update {
                    traits,
                    instance,
                    seq,
                };
                Some(event(id, Kind::ContactUpdated, self.contact, now, &update))
            }
            _ => None,
        }
    }
}
