//! What an event of the log sets in motion: merges, exits, waits, triggers, in this order.

use super::super::record::{Cancellation, Triggering, Update};
use super::super::rule::{Rule, key_text};
use super::super::scene::Scene;
use super::super::step::Input;
use super::super::{Ending, Instance, Node};
use super::decide::{Cause, Entry};
use super::merge::merges;
use super::{Journeys, instant};
use crate::columns::{World, fact};
use crate::event::{Event, Kind, Recorded};
use crate::expr::EventFact;
use crate::segment::Membership;

/// What an event may have changed for a rule.
struct News<'a> {
    event_type: Option<&'a str>,
    has_traits: bool,
    is_whole: bool,
}

impl Journeys {
    pub(super) fn react(&mut self, recorded: &Recorded, world: &World) -> Vec<Event> {
        let cause = Cause {
            id: recorded.event.id,
            now: instant(recorded),
        };
        match recorded.event.kind {
            kind if kind.is_from_client() => self.client_event(recorded, cause, world),
            Kind::ContactUpdated => self.updated(recorded, cause, world),
            Kind::SegmentEntered => self.crossed(recorded, true, cause, world),
            Kind::SegmentLeft => self.crossed(recorded, false, cause, world),
            Kind::JourneyTriggered => self.triggered(recorded, cause, world),
            Kind::JourneyCancelled => self.cancelled(recorded, cause, world),
            Kind::ContactErased => self.merge(&merges(recorded, world), cause, world),
            _ => Vec::new(),
        }
    }

    /// Who follows must look when it comes to lead: what was looked at in between is not
    /// in the log.
    pub(super) fn expect(&mut self, recorded: &Recorded, world: &World) -> Vec<Event> {
        let kind = recorded.event.kind;
        let is_update = kind == Kind::ContactUpdated;
        let merges = match is_update {
            true => Vec::new(),
            false => merges(recorded, world),
        };
        let is_whole = !merges.is_empty();
        self.merges.extend(merges);
        let contact = recorded.event.contact.and_then(|id| world.number(id));
        let Some(contact) = contact.filter(|contact| self.shelf.has_contact(*contact)) else {
            return Vec::new();
        };
        let fact = fact(recorded);
        let news = News {
            event_type: fact.as_ref().map(|fact| fact.event_type.as_str()),
            has_traits: is_update || kind == Kind::Identify,
            is_whole,
        };
        for slot in self.watching(contact, &news) {
            self.look_soon(slot);
        }
        Vec::new()
    }

    fn client_event(&mut self, recorded: &Recorded, cause: Cause, world: &World) -> Vec<Event> {
        // Where nothing was ever published, nothing can begin or go on.
        if self.versions.is_empty() {
            return Vec::new();
        }
        let merges = merges(recorded, world);
        let is_whole = !merges.is_empty();
        let mut events = self.merge(&merges, cause, world);
        let contact = recorded.event.contact.and_then(|id| world.number(id));
        let (Some(contact), Some(fact)) = (contact, fact(recorded)) else {
            return events;
        };
        let news = News {
            event_type: Some(&fact.event_type),
            has_traits: recorded.event.kind == Kind::Identify,
            is_whole,
        };
        events.extend(self.look(contact, &news, cause, world));
        events.extend(self.meet(contact, &fact, cause, world));
        events.extend(self.fire(contact, &fact, cause, world));
        events
    }

    /// Exits and conditions that read what changed.
    fn look(&mut self, contact: u32, news: &News<'_>, cause: Cause, world: &World) -> Vec<Event> {
        let mut events = Vec::new();
        for slot in self.watching(contact, news) {
            events.extend(self.advance(slot, (Input::Changed, None), cause, world));
        }
        events
    }

    /// A contact's instances with a rule that reads what changed.
    fn watching(&self, contact: u32, news: &News<'_>) -> Vec<u32> {
        let concerned = |slot: &u32| {
            let kept = self.shelf.get(*slot);
            kept.is_some_and(|kept| self.rules(&kept.instance).any(|rule| news.concern(rule)))
        };
        let slots = self.shelf.of_contact(contact).into_iter();
        slots.filter(concerned).collect()
    }

    /// The rules that may move an instance when what they read changes.
    pub(super) fn rules<'a>(
        &'a self,
        instance: &Instance,
    ) -> impl Iterator<Item = &'a Rule> + use<'a> {
        let definition = &self.versions[instance.version as usize];
        let waits_for = match definition.node(instance.node) {
            Some(Node::Wait(wait)) => wait.rule(),
            _ => None,
        };
        definition.exit_when.iter().chain(waits_for)
    }

    /// Instances that wait for this event.
    fn meet(&mut self, contact: u32, fact: &EventFact, cause: Cause, world: &World) -> Vec<Event> {
        let Some(name) = self.names.get(&fact.event_type).copied() else {
            return Vec::new();
        };
        let mut events = Vec::new();
        for slot in self.shelf.awaiting(contact, name) {
            let is_behind = |position| position < self.position;
            let awaits = self.shelf.get(slot);
            if awaits.is_some_and(|kept| is_behind(kept.instance.since)) {
                events.extend(self.advance(slot, (Input::Event, Some(fact)), cause, world));
            }
        }
        events
    }

    /// Journeys that this event begins.
    fn fire(&mut self, contact: u32, fact: &EventFact, cause: Cause, world: &World) -> Vec<Event> {
        let mut events = Vec::new();
        for journey in self.lives.begun_by(&fact.event_type) {
            events.extend(self.trigger(journey, contact, Some(fact), cause, world));
        }
        events
    }

    fn trigger(
        &mut self,
        journey: u32,
        contact: u32,
        event: Option<&EventFact>,
        cause: Cause,
        world: &World,
    ) -> Vec<Event> {
        let live = self.lives.get(journey);
        let definition = self.versions[live.version as usize].clone();
        let Some(Node::Trigger(trigger)) = definition.node(definition.start) else {
            return Vec::new();
        };
        let scene = Scene {
            view: world.subject(contact),
            definition: &definition,
            instance: None,
            event,
        };
        if !live.admits() || !trigger.fires(&scene, cause.now) {
            return Vec::new();
        }
        let source = definition.reentry.key.as_ref();
        let key = source.and_then(|source| key_text(&source.value(&scene, cause.now)?));
        let entry = Entry {
            journey,
            contact,
            trigger: cause.id,
            key,
            state: trigger.state(&scene, cause.now),
        };
        self.begin(entry, cause, world)
    }

    fn crossed(
        &mut self,
        recorded: &Recorded,
        entered: bool,
        cause: Cause,
        world: &World,
    ) -> Vec<Event> {
        let membership = serde_json::from_str::<Membership>(&recorded.event.payload);
        let contact = recorded.event.contact.and_then(|id| world.number(id));
        let (Ok(Membership { segment }), Some(contact)) = (membership, contact) else {
            return Vec::new();
        };
        let mut events = Vec::new();
        for journey in self.lives.begun_by_segment(segment, entered) {
            events.extend(self.trigger(journey, contact, None, cause, world));
        }
        events
    }

    fn triggered(&mut self, recorded: &Recorded, cause: Cause, world: &World) -> Vec<Event> {
        let triggering = serde_json::from_str::<Triggering>(&recorded.event.payload);
        let contact = recorded.event.contact.and_then(|id| world.number(id));
        let (Ok(triggering), Some(contact)) = (triggering, contact) else {
            return Vec::new();
        };
        let Some(journey) = self.lives.find(triggering.journey) else {
            return Vec::new();
        };
        if !self.lives.get(journey).admits() {
            return Vec::new();
        }
        let entry = Entry {
            journey,
            contact,
            trigger: cause.id,
            key: triggering.key,
            state: triggering.state,
        };
        self.begin(entry, cause, world)
    }

    fn cancelled(&mut self, recorded: &Recorded, cause: Cause, world: &World) -> Vec<Event> {
        let cancelled = serde_json::from_str::<Cancellation>(&recorded.event.payload);
        let found = cancelled.ok().and_then(|it| self.shelf.find(it.instance));
        found.map_or_else(Vec::new, |slot| {
            self.end(slot, Ending::Cancelled, cause, world)
        })
    }

    /// The contact has the attributes that a run gave it: the run goes on, and others see.
    fn updated(&mut self, recorded: &Recorded, cause: Cause, world: &World) -> Vec<Event> {
        let Ok(update) = serde_json::from_str::<Update>(&recorded.event.payload) else {
            return Vec::new();
        };
        let mut events = Vec::new();
        let slot = self.shelf.find(update.instance).filter(|slot| {
            let kept = self.shelf.get(*slot);
            kept.is_some_and(|kept| kept.instance.seq == update.seq)
        });
        if let Some(slot) = slot {
            events.extend(self.advance(slot, (Input::Updated, None), cause, world));
        }
        let news = News {
            event_type: None,
            has_traits: true,
            is_whole: false,
        };
        if let Some(contact) = recorded.event.contact.and_then(|id| world.number(id)) {
            events.extend(self.look(contact, &news, cause, world));
        }
        events
    }
}

impl News<'_> {
    fn concern(&self, rule: &Rule) -> bool {
        let reads = rule.reads();
        let by_event = self
            .event_type
            .is_some_and(|name| reads.any_event || reads.events.contains(name));
        // Any event may tell a user id that was not known.
        let by_contact = match self.has_traits {
            true => !reads.contact.is_empty(),
            false => reads.contact.contains("user_id"),
        };
        self.is_whole || by_event || by_contact
    }
}
