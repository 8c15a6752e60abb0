//! Runs journeys over events with a clock of its own: the realm and the journeys that run
//! live, around a log in memory. Nothing is sent; what would be is reported.

mod summary;

pub use summary::Summary;

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::record::{HopRecord, Publication, Record};
use super::{Course, Ending, Journeys};
use crate::accept::{Problem, Reception, accept};
use crate::columns::World;
use crate::engine::Engine;
use crate::event::{Event, Kind, Position, Recorded};
use crate::expr::FOREVER;
use crate::id::{ContactId, EventId, IdentityKey, InstanceId, JourneyId, SegmentId, WorkspaceId};
use crate::message::Request;
use crate::realm::Role;
use crate::segment::{self, Definition as Segment};
use crate::time::Timestamp;
use crate::value::Value;

pub struct Simulation {
    key: IdentityKey,
    workspace: WorkspaceId,
    engine: Engine,
    segments: BTreeMap<String, SegmentId>,
    position: Position,
    now: Timestamp,
    /// Waits to be folded.
    inbox: VecDeque<Event>,
    /// What clients call contacts.
    users: HashMap<ContactId, String>,
    runs: Vec<Run>,
    by_instance: HashMap<InstanceId, usize>,
    messages: Vec<Message>,
}

/// One run, as the log tells it.
#[derive(Debug, Clone)]
pub struct Run {
    pub instance: InstanceId,
    pub journey: JourneyId,
    pub version: u32,
    pub user: String,
    pub key: Option<String>,
    pub entered_at: Timestamp,
    pub finished_at: Option<Timestamp>,
    pub hops: Vec<HopRecord>,
    pub because: Vec<Vec<String>>,
    /// Where it is or was last.
    pub at: String,
    pub ending: Option<Ending>,
}

impl Run {
    /// The nodes it came to, in order.
    pub fn nodes(&self) -> Vec<&str> {
        let first = self.hops.first().map_or(self.at.as_str(), |hop| &hop.node);
        let others = self.hops.iter().map(|hop| hop.to.as_str());
        std::iter::once(first).chain(others).collect()
    }

    /// `start -next> wait -timeout> done (exit)`.
    pub fn path(&self) -> String {
        let path = match self.hops.is_empty() {
            true => self.at.clone(),
            false => Course::path(&self.hops),
        };
        match self.ending {
            Some(ending) => format!("{path} ({ending})"),
            None => path,
        }
    }
}

/// A message that would have been sent.
#[derive(Debug, Clone)]
pub struct Message {
    pub at: Timestamp,
    pub user: String,
    pub request: Request,
}

impl Default for Simulation {
    fn default() -> Self {
        Self::new(IdentityKey::new([0; 32]))
    }
}

impl Simulation {
    pub fn new(key: IdentityKey) -> Self {
        Self {
            key,
            workspace: WorkspaceId::from_bytes([0; 16]),
            engine: Engine::default(),
            segments: BTreeMap::new(),
            position: Position(0),
            now: Timestamp::from_micros(0),
            inbox: VecDeque::new(),
            users: HashMap::new(),
            runs: Vec::new(),
            by_instance: HashMap::new(),
            messages: Vec::new(),
        }
    }

    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// In the order in which they began.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// In the order in which they were asked for.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    pub const fn journeys(&self) -> &Journeys {
        self.engine.journeys()
    }

    pub fn world(&self) -> &World {
        self.engine.realm().world()
    }

    pub fn contact(&self, user: &str) -> ContactId {
        self.key.contact_of_user(user)
    }

    /// Makes a segment, now.
    pub fn define_segment(&mut self, name: &str, expression: &str) -> Result<(), segment::Fault> {
        let id = SegmentId::of_name(name);
        self.define(&Segment::new(id, name, Some(expression))?);
        Ok(())
    }

    /// Makes a segment that there is elsewhere, now.
    pub fn define(&mut self, segment: &Segment) {
        let name = segment.name.clone();
        self.segments.insert(name, segment.segment);
        self.operate(Kind::SegmentCreated, None, segment);
    }

    /// Publishes a definition that was found good, now.
    pub fn publish(&mut self, journey: JourneyId, version: u32, definition: Value) {
        let publication = Publication {
            journey,
            version,
            definition,
            segments: self.segments.clone(),
        };
        self.operate(Kind::JourneyPublished, None, &publication);
    }

    /// Says what an operator or a program does, now.
    pub fn operate(
        &mut self,
        kind: Kind,
        contact: Option<ContactId>,
        payload: &impl serde::Serialize,
    ) {
        let id = EventId::of_message(&format!("simulated {}", self.position));
        let payload = serde_json::to_string(payload).expect("payloads serialise");
        self.append(Event {
            id,
            kind,
            contact,
            occurred_at: self.now,
            recorded_at: self.now,
            payload,
        });
    }

    /// Takes an event in as ingest does, at an instant; time passes up to it.
    pub fn say(&mut self, raw: &str, at: Timestamp) -> Result<(), Vec<Problem>> {
        self.pass_to(at);
        let number = self.position.0;
        let fresh_id = &|| EventId::of_message(&format!("said {number}"));
        let reception = Reception {
            key: &self.key,
            received_at: self.now,
            sent_at: None,
            kind: None,
            fresh_id,
        };
        let event = accept(raw, &reception)?;
        self.append(event);
        Ok(())
    }

    /// Takes in what stands in a log, if somebody else said it: what Kurier decided then is
    /// decided here anew. Time passes up to it.
    pub fn replay(&mut self, recorded: &Recorded) {
        let kind = recorded.event.kind;
        match kind {
            Kind::SegmentCreated | Kind::SegmentChanged => self.learn_segment(recorded),
            Kind::SegmentDeleted
            | Kind::SegmentEdited
            | Kind::ContactErased
            | Kind::TemplatePublished => {}
            kind if kind.is_from_client() => {}
            _ => return,
        }
        self.pass_to(recorded.event.recorded_at);
        self.append(Event::clone(&recorded.event));
    }

    fn learn_segment(&mut self, recorded: &Recorded) {
        if let Ok(segment) = serde_json::from_str::<Segment>(&recorded.event.payload) {
            self.segments.insert(segment.name, segment.segment);
        }
    }

    /// Lets time pass: whatever is due happens at its instant, in order.
    pub fn pass_to(&mut self, to: Timestamp) {
        while self.engine.due() <= to && self.engine.due() != FOREVER {
            self.now = self.now.max(self.engine.due());
            let events = self.engine.tick(self.now, 1);
            self.inbox.extend(events);
            self.drain();
        }
        self.now = self.now.max(to);
    }

    /// When time alone would next change something.
    pub fn due(&self) -> Timestamp {
        self.engine.due()
    }

    fn append(&mut self, event: Event) {
        self.inbox.push_back(event);
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(event) = self.inbox.pop_front() {
            self.position.0 += 1;
            let recorded = Recorded {
                position: self.position,
                workspace: self.workspace,
                event: event.into(),
            };
            self.observe(&recorded);
            self.inbox.extend(self.engine.fold(&recorded, Role::Lead));
        }
    }

    fn observe(&mut self, recorded: &Recorded) {
        match recorded.event.kind {
            Kind::MessageRequested => self.observe_message(recorded),
            Kind::JourneyEntered | Kind::JourneyMoved | Kind::JourneyFinished => {
                self.observe_record(recorded);
            }
            kind if kind.is_from_client() => self.observe_contact(recorded),
            _ => {}
        }
    }

    fn observe_contact(&mut self, recorded: &Recorded) {
        let (Some(contact), Ok(said)) = (recorded.event.contact, recorded.said()) else {
            return;
        };
        let name = said.user_id.as_deref().or(said.anonymous_id.as_deref());
        if let Some(name) = name {
            self.users.entry(contact).or_insert_with(|| name.to_owned());
        }
    }

    fn user(&self, contact: Option<ContactId>) -> String {
        let known = contact
            .and_then(|contact| self.users.get(&contact))
            .cloned();
        known.unwrap_or_else(|| contact.map_or_else(String::new, |id| id.to_string()))
    }

    fn observe_message(&mut self, recorded: &Recorded) {
        if let Ok(request) = serde_json::from_str(&recorded.event.payload) {
            let (at, user) = (
                recorded.event.occurred_at,
                self.user(recorded.event.contact),
            );
            self.messages.push(Message { at, user, request });
        }
    }

    fn observe_record(&mut self, recorded: &Recorded) {
        let Ok(record) = serde_json::from_str::<Record>(&recorded.event.payload) else {
            return;
        };
        let (course, at) = (record.run, recorded.event.occurred_at);
        let next = self.runs.len();
        let index = *self.by_instance.entry(course.instance).or_insert(next);
        if index == next {
            let user = self.user(recorded.event.contact);
            self.runs.push(Run {
                instance: course.instance,
                journey: course.journey,
                version: course.version,
                user,
                key: record.key,
                entered_at: at,
                finished_at: None,
                hops: Vec::new(),
                because: Vec::new(),
                at: String::new(),
                ending: None,
            });
        }
        let run = &mut self.runs[index];
        run.hops.extend(course.hops);
        run.because.extend(record.because);
        run.at = course.at;
        run.ending = course.ending;
        run.finished_at = course.ending.map(|_| at);
    }
}
