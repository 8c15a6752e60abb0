//! A workspace as the reactor knows it: its world and who is in which segment. It is a fold
//! of the log; deciding who crosses a segment's border is part of folding, so doing it again
//! from the same log decides the same.

mod changes;
mod snapshot;

use std::collections::BTreeMap;

use crate::columns::{Bitmap, Prepared, Scan, Touched, World};
use crate::event::{Event, Kind, Position, Recorded};
use crate::expr::{Checked, FOREVER, Reads, Reason};
use crate::id::{ContactId, EventId, SegmentId};
use crate::segment::{Definition, Edit, Membership, crossing};
use crate::time::Timestamp;
use changes::{Changes, concerns};

/// A segment whose due instant is not known is looked at as soon as time passes.
const UNKNOWN: Timestamp = Timestamp::from_micros(i64::MIN);

#[derive(Debug, Clone, Default)]
pub struct Realm {
    world: World,
    segments: BTreeMap<SegmentId, Live>,
    /// Members of segments that are still to be folded: they were told before a crash.
    recalled: BTreeMap<SegmentId, Bitmap>,
    changes: Changes,
    /// The latest instant this realm has seen; it never goes back.
    now: Timestamp,
}

/// A segment with its members.
#[derive(Debug, Clone)]
struct Live {
    /// `None`: a static segment, whose members are given.
    dynamic: Option<Dynamic>,
    members: Bitmap,
    /// When time alone may next change who is a member.
    due: Timestamp,
    /// To be looked at whenever it is due.
    doubted: bool,
}

impl Live {
    fn is_due(&self, now: Timestamp) -> bool {
        self.doubted || self.due <= now
    }
}

#[derive(Debug, Clone)]
struct Dynamic {
    checked: Checked,
    reads: Reads,
    /// Ready to be decided for one contact after another.
    prepared: Prepared,
}

/// Whether a fold decides, or only follows what another has decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Lead,
    Follow,
}

impl Realm {
    pub const fn world(&self) -> &World {
        &self.world
    }

    pub fn members(&self, segment: SegmentId) -> Option<&Bitmap> {
        Some(&self.segments.get(&segment)?.members)
    }

    /// How many bytes the realm takes, about.
    pub fn bytes(&self) -> usize {
        let members = self.segments.values().map(|live| live.members.bytes());
        self.world.bytes() + members.sum::<usize>()
    }

    /// Folds an event. Who leads gets the crossings it caused, to be appended.
    pub fn fold(&mut self, recorded: &Recorded, role: Role) -> Vec<Event> {
        self.now = self.now.max(recorded.event.recorded_at);
        match recorded.event.kind {
            Kind::SegmentCreated | Kind::SegmentChanged => self.define(recorded, role),
            Kind::SegmentDeleted => self.delete(recorded),
            Kind::SegmentEdited => self.edit(recorded, role),
            Kind::SegmentEntered | Kind::SegmentLeft => self.cross(recorded, role),
            _ => {
                let touched = self.world.fold(recorded);
                self.changes.note(&touched, recorded.position);
                match role {
                    Role::Lead => self.review(&touched, recorded),
                    Role::Follow => self.expect(&touched),
                }
            }
        }
    }

    /// The first instant at which time alone may change a segment.
    pub fn due(&self) -> Timestamp {
        self.segments
            .values()
            .map(|live| if live.doubted { UNKNOWN } else { live.due })
            .min()
            .unwrap_or(FOREVER)
    }

    /// Lets time pass: reviews the segments that are due, and answers who crossed.
    pub fn tick(&mut self, now: Timestamp) -> Vec<Event> {
        self.now = self.now.max(now);
        let now = self.now;
        let mut events = Vec::new();
        for (id, live) in &mut self.segments {
            if !live.is_due(now) {
                continue;
            }
            let cause = EventId::of_message(&format!("tick:{id}:{}", now.as_micros()));
            // When it was due is when it happened, where that is known.
            let is_known = live.due != UNKNOWN && live.due <= now;
            let happened = if is_known { live.due } else { now };
            let (world, at) = (&self.world, (happened, now));
            events.extend(live.rescan(world, now, |entered, contact| {
                crossing(*id, contact, entered, cause, at)
            }));
        }
        events
    }

    fn define(&mut self, recorded: &Recorded, role: Role) -> Vec<Event> {
        // What cannot be read changes nothing: the projection sets it aside and says so.
        let Ok(definition) = serde_json::from_str::<Definition>(&recorded.event.payload) else {
            return Vec::new();
        };
        let Ok(checked) = definition.checked() else {
            return Vec::new();
        };
        let id = definition.segment;
        let recalled = self.recalled.remove(&id);
        let known = self.segments.remove(&id).map(|live| live.members);
        let known = known.or(recalled);
        let mut live = Live::new(&self.world, checked, known.unwrap_or_default());
        let at = (recorded.event.recorded_at, recorded.event.recorded_at);
        let cause = recorded.event.id;
        let events = match role {
            Role::Lead => live.rescan(&self.world, self.now, |entered, contact| {
                crossing(id, contact, entered, cause, at)
            }),
            Role::Follow => {
                live.due = UNKNOWN;
                Vec::new()
            }
        };
        self.segments.insert(id, live);
        events
    }

    fn delete(&mut self, recorded: &Recorded) -> Vec<Event> {
        if let Ok(Membership { segment }) = serde_json::from_str(&recorded.event.payload) {
            self.segments.remove(&segment);
        }
        Vec::new()
    }

    /// Recalls, before leading from a checkpoint, a crossing that was decided up to it: it may
    /// stand behind it in the log.
    pub fn recall(&mut self, recorded: &Recorded) {
        if matches!(
            recorded.event.kind,
            Kind::SegmentEntered | Kind::SegmentLeft
        ) {
            self.now = self.now.max(recorded.event.recorded_at);
            self.cross(recorded, Role::Follow);
            self.recall_early(recorded);
        }
    }

    /// A segment may have been told of and not be decided.
    fn recall_early(&mut self, recorded: &Recorded) {
        let membership = serde_json::from_str::<Membership>(&recorded.event.payload);
        if let (Ok(Membership { segment }), Some(contact)) = (membership, recorded.event.contact)
            && !self.segments.contains_key(&segment)
        {
            let number = self.world.number_or_new(contact);
            let entered = recorded.event.kind == Kind::SegmentEntered;
            self.recalled
                .entry(segment)
                .or_default()
                .set(number, entered);
        }
    }

    /// Gives members to a static segment and takes them from it.
    fn edit(&mut self, recorded: &Recorded, role: Role) -> Vec<Event> {
        let Ok(edit) = serde_json::from_str::<Edit>(&recorded.event.payload) else {
            return Vec::new();
        };
        let (world, live) = (&self.world, self.segments.get_mut(&edit.segment));
        let Some(live) = live.filter(|live| role == Role::Lead && live.dynamic.is_none()) else {
            return Vec::new();
        };
        let at = (recorded.event.recorded_at, recorded.event.recorded_at);
        let given = edit.add.iter().map(|contact| (*contact, true));
        let taken = edit.remove.iter().map(|contact| (*contact, false));
        let crossed = given.chain(taken).filter_map(|(contact, entered)| {
            let number = world.number(contact)?;
            live.members.set(number, entered).then(|| {
                let contact = world.contact_id(number);
                crossing(edit.segment, contact, entered, recorded.event.id, at)
            })
        });
        crossed.collect()
    }

    /// Notes a crossing that stands in the log. Who leads has decided it before it was written,
    /// and may have decided otherwise since.
    fn cross(&mut self, recorded: &Recorded, role: Role) -> Vec<Event> {
        let entered = recorded.event.kind == Kind::SegmentEntered;
        let membership = serde_json::from_str::<Membership>(&recorded.event.payload);
        let (Ok(Membership { segment }), Some(contact)) = (membership, recorded.event.contact)
        else {
            return Vec::new();
        };
        // What it said may be erased already: that it is a member is not forgotten for that.
        let number = self.world.number_or_new(contact);
        if let Some(live) = self.segments.get_mut(&segment)
            && role == Role::Follow
        {
            live.members.set(number, entered);
        }
        Vec::new()
    }

    /// Looks again at the contacts an event touched, in the segments that read what it changed.
    fn review(&mut self, touched: &Touched, recorded: &Recorded) -> Vec<Event> {
        let at = (recorded.event.recorded_at, recorded.event.recorded_at);
        let (world, now) = (&self.world, self.now);
        let mut events = Vec::new();
        for (id, live) in &mut self.segments {
            let Some(dynamic) = live
                .dynamic
                .as_mut()
                .filter(|d| concerns(&d.reads, touched))
            else {
                live.follow_gone(world, touched, |contact, entered| {
                    events.push(crossing(*id, contact, entered, recorded.event.id, at));
                });
                continue;
            };
            for number in &touched.contacts {
                let verdict = world.verdict(&mut dynamic.prepared, *number, now);
                live.due = live.due.min(verdict.until);
                if live.members.set(*number, verdict.holds) {
                    let contact = world.contact_id(*number);
                    events.push(crossing(*id, contact, verdict.holds, recorded.event.id, at));
                }
            }
        }
        events
    }

    /// Who follows must know when to look, should it come to lead.
    fn expect(&mut self, touched: &Touched) -> Vec<Event> {
        let concerned = |live: &&mut Live| {
            live.dynamic
                .as_ref()
                .is_some_and(|d| d.reads.time && concerns(&d.reads, touched))
        };
        self.segments
            .values_mut()
            .filter(concerned)
            .for_each(|live| live.due = UNKNOWN);
        Vec::new()
    }

    /// Who begins to lead looks at every segment once: should what was followed differ from
    /// what the world says, the crossings are told.
    pub fn doubt(&mut self) {
        let dynamic = self
            .segments
            .values_mut()
            .filter(|live| live.dynamic.is_some());
        dynamic.for_each(|live| live.doubted = true);
    }

    /// Who would be in a segment with this expression.
    pub fn preview(&self, checked: &Checked, now: Timestamp) -> Scan {
        self.world.scan(&checked.plan, now)
    }

    /// Where in the log anything changed last that is read; `None` while that is not known.
    pub fn last_change(&self, reads: &Reads) -> Option<Position> {
        self.changes.last(reads)
    }

    /// Why a contact is in a segment, or is not.
    pub fn explain(
        &self,
        segment: SegmentId,
        contact: ContactId,
        now: Timestamp,
    ) -> Option<(bool, Vec<Reason>)> {
        let live = self.segments.get(&segment)?;
        let number = self.world.number(contact)?;
        let Some(dynamic) = &live.dynamic else {
            return Some((live.members.contains(number), Vec::new()));
        };
        let subject = self.world.subject(number);
        let holds = dynamic.checked.evaluate(&subject, None, now).holds;
        Some((holds, dynamic.checked.explain(&subject, None, now)))
    }
}

impl Live {
    fn new(world: &World, checked: Option<Checked>, members: Bitmap) -> Self {
        let dynamic = checked.map(|checked| Dynamic {
            reads: checked.plan.reads(),
            prepared: world.prepare(&checked.plan),
            checked,
        });
        Self {
            dynamic,
            members,
            due: FOREVER,
            doubted: false,
        }
    }

    /// Finds all members anew and answers an event for each that differs.
    fn rescan(
        &mut self,
        world: &World,
        now: Timestamp,
        crossed: impl Fn(bool, ContactId) -> Event,
    ) -> Vec<Event> {
        let Some(dynamic) = &self.dynamic else {
            self.due = FOREVER;
            return Vec::new();
        };
        let scan = world.scan(&dynamic.checked.plan, now);
        let differ = scan.members.difference(&self.members);
        let events =
            differ.map(|number| crossed(scan.members.contains(number), world.contact_id(number)));
        let events = events.collect();
        self.members = scan.members;
        self.due = scan.until;
        self.doubted = false;
        events
    }

    /// Who is nobody any more leaves a static segment; who became part of another is in it as
    /// that one.
    fn follow_gone(
        &mut self,
        world: &World,
        touched: &Touched,
        mut crossed: impl FnMut(ContactId, bool),
    ) {
        let gone = |number: &&u32| !world.is_live(**number);
        for number in touched.contacts.iter().filter(gone) {
            if !self.members.set(*number, false) {
                continue;
            }
            let contact = world.contact_id(*number);
            crossed(contact, false);
            if let Some(root) = world.number(contact)
                && self.members.set(root, true)
            {
                crossed(world.contact_id(root), true);
            }
        }
    }
}

#[cfg(test)]
mod tests;
