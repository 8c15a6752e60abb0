//! A log with a reactor around an engine, as it runs live: it folds a batch, lets time pass,
//! and commits what it decided with its checkpoint; clients append in between, and it may
//! die at any point.

use std::collections::{BTreeMap, BTreeSet};

use crate::accept::{Reception, accept};
use crate::columns::World;
use crate::engine::{Decision, Engine, Engines, Snapshot, Tide, decide};
use crate::event::{Erasure, Event, Kind, Position, Recorded};
use crate::id::{EventId, IdentityKey, InstanceId, JourneyId, TemplateId, WorkspaceId};
use crate::journey::{Course, Ending, Publication, Record, read_document};
use crate::message::Request;
use crate::realm::Role;
use crate::time::Timestamp;
use crate::value::Value;

/// So many events are committed at a time.
const PART: usize = 2;

pub struct Ring {
    pub key: IdentityKey,
    pub log: Vec<Recorded>,
    ids: BTreeSet<EventId>,
    pub engine: Engine,
    pub checkpoint: usize,
    kept: Option<Vec<u8>>,
    pub now: Timestamp,
    said: usize,
}

const fn workspace() -> WorkspaceId {
    WorkspaceId::from_bytes([7; 16])
}

pub fn journey(name: &str) -> JourneyId {
    JourneyId::of_name(name)
}

/// A version of a template; each reads something else.
pub fn template(name: &str, version: u32) -> crate::template::Publication {
    let of_run = ["journey.state.k", "journey.state", "journey.key"][version as usize % 3];
    crate::template::Publication {
        id: TemplateId::of_name(name),
        name: name.to_owned(),
        version,
        document: Value::Null,
        reads: vec!["contact.plan".to_owned(), of_run.to_owned()],
        topic: Some(format!("topic-{version}")),
        hash: String::new(),
    }
}

/// A message as it was asked for: when, which, and with what.
pub type Asked = (Timestamp, String, String);

pub fn asked(at: Timestamp, which: &str, request: &Request) -> Asked {
    let supply = (&request.to, &request.topic, &request.inputs);
    let supply = serde_json::to_string(&supply).expect("JSON");
    (at, which.to_owned(), supply)
}

impl Ring {
    pub fn new() -> Self {
        Self {
            key: IdentityKey::new([1; 32]),
            log: Vec::new(),
            ids: BTreeSet::new(),
            engine: Engine::default(),
            checkpoint: 0,
            kept: None,
            now: "2026-01-01T00:00:00Z".parse().expect("a time"),
            said: 0,
        }
    }

    pub fn append(&mut self, event: Event) {
        if !self.ids.insert(event.id) {
            return;
        }
        let position = Position(self.log.len() as i64 + 1);
        self.log.push(Recorded {
            position,
            workspace: workspace(),
            event: event.into(),
        });
    }

    pub fn say(&mut self, raw: &str) {
        self.said += 1;
        let number = self.said;
        let fresh_id = &|| EventId::of_message(&format!("said {number}"));
        let reception = Reception {
            key: &self.key,
            received_at: self.now,
            sent_at: None,
            kind: None,
            fresh_id,
        };
        let event = accept(raw, &reception).expect("accepted");
        self.append(event);
    }

    pub fn track(&mut self, user: &str, event: &str, properties: &str) {
        self.say(&format!(
            r#"{{"type": "track", "userId": "{user}", "event": "{event}", "properties": {properties}}}"#
        ));
    }

    pub fn operate(&mut self, kind: Kind, user: Option<&str>, payload: &impl serde::Serialize) {
        self.said += 1;
        let event = Event {
            id: EventId::of_message(&format!("operated {}", self.said)),
            kind,
            contact: user.map(|user| self.key.contact_of_user(user)),
            occurred_at: self.now,
            recorded_at: self.now,
            payload: serde_json::to_string(payload).expect("JSON"),
        };
        self.append(event);
    }

    pub fn publish(&mut self, name: &str, version: u32, definition: &str) {
        let publication = Publication {
            journey: journey(name),
            version,
            definition: read_document(definition).expect("a document"),
            segments: BTreeMap::new(),
        };
        self.operate(Kind::JourneyPublished, None, &publication);
    }

    /// Publishes templates with these names, which read what any contact and run may have.
    pub fn templates(&mut self, version: u32, names: impl Iterator<Item = String>) {
        for name in names {
            self.operate(Kind::TemplatePublished, None, &template(&name, version));
        }
    }

    /// Erases a contact as operators do: with all that became part of it.
    pub fn erase(&mut self, user: &str) {
        let mut world = World::new();
        self.log
            .iter()
            .for_each(|recorded| drop(world.fold(recorded)));
        let Some(root) = world.number(self.key.contact_of_user(user)) else {
            return;
        };
        let ids = (0..world.len() as u32).map(|number| world.contact_id(number));
        let erasure = Erasure {
            contacts: ids.filter(|id| world.number(*id) == Some(root)).collect(),
            addresses: Vec::new(),
            positions: Vec::new(),
            seen: Position(0),
        };
        self.operate(Kind::ContactErased, Some(user), &erasure);
    }

    /// Folds up to `max` events and lets time pass; answers what was decided.
    pub fn decide(&mut self, max: usize) -> Vec<Decision> {
        let to = (self.checkpoint + max).min(self.log.len());
        let tide = Tide {
            now: self.now,
            settled: self.now,
            is_behind: to < self.log.len(),
        };
        let mut engines = Engines::from([(workspace(), std::mem::take(&mut self.engine))]);
        let from = Position(self.checkpoint as i64);
        let batch = &self.log[self.checkpoint..to];
        let decided = decide(&mut engines, (from, batch), tide, PART);
        self.engine = engines.remove(&workspace()).expect("there");
        decided
    }

    /// Commits what was decided, in parts: of so many as are `left`. A portion that is small
    /// is committed at once with the checkpoint.
    pub fn commit(&mut self, decided: Vec<Decision>, mut left: usize) {
        for decision in decided {
            for part in decision.parts(PART) {
                if left == 0 {
                    return;
                }
                left -= 1;
                // What is written down is written at the reactor's time, whenever it was so.
                for (_, event) in part.iter().cloned() {
                    let recorded_at = self.now;
                    self.append(Event {
                        recorded_at,
                        ..event
                    });
                }
            }
            self.checkpoint = decision.to.0 as usize;
        }
    }

    /// Commits what was decided, but for so many of the last parts.
    pub fn commit_but(&mut self, decided: Vec<Decision>, lost: usize) {
        let parts = decided.iter().map(|decision| decision.parts(PART).count());
        let left = parts.sum::<usize>().saturating_sub(lost);
        self.commit(decided, left);
    }

    pub fn react(&mut self, max: usize) {
        let decided = self.decide(max);
        self.commit(decided, usize::MAX);
    }

    /// Until there is nothing to do.
    pub fn drain(&mut self) {
        while self.checkpoint < self.log.len() || self.engine.due() <= self.now {
            self.react(100);
        }
    }

    pub fn pass(&mut self, seconds: i64) {
        self.now = self.now.shifted(seconds * 1_000_000);
    }

    /// Lets time pass while the reactor runs.
    pub fn live(&mut self, seconds: i64) {
        self.drain();
        self.pass(seconds);
        self.drain();
    }

    /// Writes down what there is.
    pub fn keep(&mut self) {
        let Some(last) = self.checkpoint.checked_sub(1) else {
            return;
        };
        let engines = Engines::from([(workspace(), std::mem::take(&mut self.engine))]);
        let last = &self.log[last];
        let (at, known) = (
            (last.position, last.event.id),
            Position(self.log.len() as i64),
        );
        let snapshot = Snapshot::of(at, known, &engines).expect("copied");
        let mut bytes = Vec::new();
        snapshot.write(&mut bytes).expect("written");
        self.engine = engines.into_values().next().expect("there");
        self.kept = Some(bytes);
    }

    /// Another process follows the log to the checkpoint, from the last snapshot or from the
    /// start, and recalls what was decided.
    pub fn successor(&self) -> Engine {
        let (mut from, mut engine) = (0, Engine::default());
        if let Some(bytes) = &self.kept {
            let read = Snapshot::read(&mut bytes.as_slice()).expect("read");
            from = read.0.0 as usize;
            engine = read.2.into_values().next().expect("there");
        }
        for recorded in &self.log[from..self.checkpoint] {
            assert_eq!(engine.fold(recorded, Role::Follow), []);
        }
        let behind = &self.log[self.checkpoint..];
        behind.iter().for_each(|recorded| engine.recall(recorded));
        engine.doubt();
        // Beginning to lead, it lets happen what decisions were waited for.
        assert_eq!(
            engine.tick_journeys(Timestamp::from_micros(i64::MAX), 0),
            []
        );
        engine
    }

    /// The process dies and another takes its place.
    pub fn restart(&mut self) {
        self.engine = self.successor();
    }

    pub fn records(&self) -> Vec<(&Recorded, Record)> {
        let kinds = [
            Kind::JourneyEntered,
            Kind::JourneyMoved,
            Kind::JourneyFinished,
        ];
        let ours = self.log.iter().filter(|r| kinds.contains(&r.event.kind));
        ours.map(|recorded| {
            let record = serde_json::from_str(&recorded.event.payload).expect("a record");
            (recorded, record)
        })
        .collect()
    }

    /// The paths of all runs, in the order in which they began.
    pub fn paths(&self) -> Vec<String> {
        self.runs().into_iter().map(|(_, path)| path).collect()
    }

    /// All runs with their paths, in the order in which they began.
    pub fn runs(&self) -> Vec<(InstanceId, String)> {
        let mut order: Vec<InstanceId> = Vec::new();
        let mut paths: BTreeMap<InstanceId, (Vec<_>, String, Option<Ending>)> = BTreeMap::new();
        for (recorded, record) in self.records() {
            let run = record.run;
            if recorded.event.kind == Kind::JourneyEntered {
                order.push(run.instance);
            }
            let path = paths.entry(run.instance).or_default();
            path.0.extend(run.hops);
            (path.1, path.2) = (run.at, run.ending);
        }
        let tell = |id: &InstanceId| {
            let (hops, at, ending) = &paths[id];
            let path = match hops.is_empty() {
                true => at.clone(),
                false => Course::path(hops),
            };
            ending.map_or_else(|| path.clone(), |ending| format!("{path} ({ending})"))
        };
        order.iter().map(|id| (*id, tell(id))).collect()
    }

    /// The runs with their paths, and the messages that were asked for.
    pub fn outcome(&self) -> (BTreeMap<InstanceId, String>, BTreeSet<Asked>) {
        let requests = self.requests().into_iter();
        let messages = requests.map(|(at, it)| asked(at, &it.message.to_string(), &it));
        (self.runs().into_iter().collect(), messages.collect())
    }

    pub fn messages(&self) -> Vec<(Timestamp, String)> {
        let asked = self.requests().into_iter();
        asked
            .map(|(at, request)| (at, request.template_name().to_owned()))
            .collect()
    }

    /// What was asked for, and when.
    pub fn requests(&self) -> Vec<(Timestamp, Request)> {
        let asked = self.log.iter();
        let asked = asked.filter(|recorded| recorded.event.kind == Kind::MessageRequested);
        asked
            .map(|recorded| {
                let request = serde_json::from_str(&recorded.event.payload);
                (recorded.event.occurred_at, request.expect("a request"))
            })
            .collect()
    }

    pub fn count(&self, kind: Kind) -> usize {
        let all = self.log.iter();
        all.filter(|recorded| recorded.event.kind == kind).count()
    }
}
