//! All instances of a workspace, in memory, as a fold of the log. Who leads decides while it
//! folds, and what it decides are events; who follows takes the decisions from the log. Both
//! change an instance by applying the same record, so both know the same.
//!
//! Work is found by contact and event type, by contact, and by due time: waiting instances
//! are never searched through.

mod apply;
mod decide;
mod live;
mod merge;
mod parked;
mod react;
mod recall;
mod shelf;
mod snapshot;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use super::{Definition, Instance, Node};
use crate::columns::World;
use crate::event::{Event, Kind, Position, Recorded};
use crate::id::{InstanceId, JourneyId};
use crate::message::Channels;
use crate::realm::Role;
use crate::template::Templates;
use crate::time::Timestamp;
use live::{Lives, Timer};
use merge::Merge;
use parked::Parked;
use recall::Next;
use shelf::{RunKey, Shelf};

/// So many runs of one journey may a contact have at a time, whatever the policy.
pub const PARALLEL_MAX: usize = 1_000;

/// A look that moves nobody is this much cheaper than a move.
const LOOKS_PER_MOVE: usize = 100;

#[derive(Debug, Default)]
pub struct Journeys {
    lives: Lives,
    versions: Vec<Arc<Definition>>,
    /// The versions as they were published.
    publications: Vec<Box<str>>,
    /// What messages are to be given on their way.
    templates: Templates,
    channels: Channels,
    /// Event types that are waited for, as numbers.
    names: HashMap<String, u32>,
    shelf: Shelf,
    /// Triggers that wait for a run to end.
    parked: BTreeMap<RunKey, Parked>,
    /// Who became part of whom, while following: decisions may stand behind it that were
    /// made before it.
    merges: VecDeque<Merge>,
    /// The latest instant at which somebody else said something.
    now: Timestamp,
    position: Position,
    /// What was decided and stands up to here is known already: it was when a snapshot was
    /// taken, though the log was read less far.
    known: Position,
    /// What is to be decided first, between recalling and leading.
    next: Option<Next>,
    looks: u64,
}

impl Journeys {
    /// Folds an event that the world has folded. Who leads must have let time pass up to it
    /// before the world did ([`Self::tick`]), and gets what is to be appended.
    pub fn fold(&mut self, recorded: &Recorded, world: &World, role: Role) -> Vec<Event> {
        self.next = None;
        // What the reactor said itself is no news: neither when it was written nor where it
        // stands may tell anything, for both differ after a crash.
        if !is_own(recorded.event.kind) {
            self.now = self.now.max(instant(recorded));
            self.position = recorded.position;
        }
        match recorded.event.kind {
            Kind::JourneyPublished => self.publish(&recorded.event.payload),
            Kind::TemplatePublished => self.templates.fold(recorded),
            Kind::ChannelConfigured | Kind::ChannelRemoved => self.channels.fold(recorded),
            Kind::JourneyPaused | Kind::JourneyResumed | Kind::JourneyRetired => {
                self.stand(recorded);
            }
            kind if is_decision(kind) => {
                if role == Role::Follow {
                    self.take(recorded, world);
                }
            }
            _ => {
                return match role {
                    Role::Lead => self.lead(recorded, world),
                    Role::Follow => self.expect(recorded, world),
                };
            }
        }
        Vec::new()
    }

    fn lead(&mut self, recorded: &Recorded, world: &World) -> Vec<Event> {
        self.merge_up_to(Position(i64::MAX));
        self.react(recorded, world)
    }

    /// The first instant at which time alone moves an instance.
    pub fn due(&self) -> Timestamp {
        self.lives.due()
    }

    /// Whether time moves an instance before an event is folded. What the reactor said itself
    /// followed from what had moved by then.
    pub fn is_due_before(&self, recorded: &Recorded) -> bool {
        !is_own(recorded.event.kind) && self.due() <= instant(recorded)
    }

    /// Lets time pass up to an instant, for at most `max` instances that move: each moves at
    /// the instant it is due, so being late changes nothing but the lateness.
    pub fn tick(&mut self, to: Timestamp, world: &World, max: usize) -> Vec<Event> {
        self.pass(to, world, max, true)
    }

    /// The same, before an event is folded that stands in the log already.
    pub fn tick_before(&mut self, recorded: &Recorded, world: &World, max: usize) -> Vec<Event> {
        self.pass(instant(recorded), world, max, false)
    }

    /// `yields`: a contact's update that was decided earlier is read before its instances
    /// move on. It comes back in a moment, unless much stands in the log before it.
    fn pass(&mut self, to: Timestamp, world: &World, max: usize, yields: bool) -> Vec<Event> {
        self.merge_up_to(Position(i64::MAX));
        let (mut events, mut later) = (Vec::new(), Vec::new());
        let (mut moves, mut looks) = (0, 0);
        while moves < max && looks < max.saturating_mul(LOOKS_PER_MOVE) {
            let Some(timer) = self.lives.take_due(to) else {
                break;
            };
            looks += 1;
            if yields && self.awaits_update(timer) {
                later.push(timer);
                continue;
            }
            let moved = match timer {
                Timer::Ready(run, since) => self.start_parked(run, since.max(self.now), world),
                Timer::Due(due, slot) => self.wake(due, slot, world),
            };
            moves += usize::from(!moved.is_empty());
            events.extend(moved);
        }
        for timer in later {
            match timer {
                Timer::Ready(run, since) => self.lives.make_ready(run, since),
                Timer::Due(due, slot) => self.arm(slot, due, due),
            }
        }
        events
    }

    /// Whether an instance of the same contact waits for an update to be made.
    fn awaits_update(&self, timer: Timer) -> bool {
        let contact = match timer {
            Timer::Ready(run, _) => Some(run.contact),
            Timer::Due(_, slot) => self.shelf.get(slot).map(|kept| kept.instance.contact),
        };
        let slots = contact.map_or_else(Vec::new, |contact| self.shelf.of_contact(contact));
        slots.iter().any(|slot| {
            let kept = self.shelf.get(*slot);
            kept.is_some_and(|kept| self.is_updating(&kept.instance))
        })
    }

    /// Whether an instance waits for its update to be made.
    fn is_updating(&self, instance: &Instance) -> bool {
        let node = self.definition_of(instance).node(instance.node);
        matches!(node, Some(Node::UpdateContact(_))) && !instance.is_held
    }

    /// How many instances there are.
    pub fn len(&self) -> usize {
        self.shelf.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn instances(&self) -> impl Iterator<Item = &Instance> {
        self.shelf.instances()
    }

    pub fn instance(&self, id: InstanceId) -> Option<&Instance> {
        let slot = self.shelf.find(id)?;
        Some(&self.shelf.get(slot)?.instance)
    }

    /// The definition that an instance runs on.
    pub fn definition_of(&self, instance: &Instance) -> &Definition {
        &self.versions[instance.version as usize]
    }

    /// The version that who enters now enters.
    pub fn current(&self, journey: JourneyId) -> Option<&Definition> {
        let live = self.lives.find(journey)?;
        Some(&self.versions[self.lives.get(live).version as usize])
    }

    /// How often an instance was looked at so far.
    pub const fn looks(&self) -> u64 {
        self.looks
    }

    /// How many triggers wait for a run to end.
    pub fn parked(&self) -> usize {
        self.parked.len()
    }

    /// How many bytes instances and their indexes take, roughly.
    pub fn bytes(&self) -> usize {
        self.shelf.bytes() + self.lives.bytes() + self.parked.len() * 200
    }

    fn name(&mut self, event_type: &str) -> u32 {
        if let Some(name) = self.names.get(event_type) {
            return *name;
        }
        let name = self.names.len() as u32;
        self.names.insert(event_type.to_owned(), name);
        name
    }
}

/// When an event counts as having happened. Of what clients say that is when we took it in,
/// for their clocks are theirs. Of what Kurier says itself it is when it was so: it may have
/// been written down later.
fn instant(recorded: &Recorded) -> Timestamp {
    match recorded.event.kind.is_from_client() {
        true => recorded.event.recorded_at,
        false => recorded.event.occurred_at,
    }
}

/// Whether the reactor says it: it was so when it was decided, and written down later.
const fn is_own(kind: Kind) -> bool {
    use Kind::{ContactUpdated, MessageRequested, SegmentEntered, SegmentLeft};
    let beside = matches!(
        kind,
        ContactUpdated | MessageRequested | SegmentEntered | SegmentLeft
    );
    beside || is_decision(kind)
}

/// Whether an event is what a leader decided about a run.
const fn is_decision(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::JourneyEntered | Kind::JourneyMoved | Kind::JourneyFinished | Kind::JourneyParked
    )
}
