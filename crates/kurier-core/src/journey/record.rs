//! What stands in the log about journeys: the payloads of `journey.*`, `message.requested`
//! and `contact.updated`. A decision about a run is one [`Record`]; everything the engine
//! knows about the run follows from its records.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Ending;
use super::step::By;
use crate::event::{Event, Kind, Position};
use crate::id::{ContactId, EventId, InstanceId, JourneyId, MessageId, SegmentId};
use crate::time::Timestamp;
use crate::value::{Object, Value};

/// `journey.published`: a version, with what it names as it was then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Publication {
    pub journey: JourneyId,
    pub version: u32,
    /// The definition as it was given.
    pub definition: Value,
    /// The segments it may name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub segments: BTreeMap<String, SegmentId>,
}

/// `journey.drafted`: a definition to go on working at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    pub journey: JourneyId,
    /// The definition as it was given, perhaps with faults; it has a name.
    pub definition: Value,
}

/// `journey.paused`, `journey.resumed` and `journey.retired`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    pub journey: JourneyId,
}

/// `journey.triggered`: somebody sends a contact into a journey.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Triggering {
    pub journey: JourneyId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Custom state to begin with.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub state: Object,
}

/// `journey.cancelled`: somebody takes a run out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancellation {
    pub instance: InstanceId,
}

/// `journey.entered`, `journey.moved` and `journey.finished`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Where the run went. It says nothing about the person, and stays when all else of the
    /// record is erased.
    pub run: Course,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What began the run; in its first record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<EventId>,
    /// Custom keys of the state that were set.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub state: Object,
    /// The reasons for each hop.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Course {
    pub journey: JourneyId,
    pub version: u32,
    pub instance: InstanceId,
    /// Counts the decisions about a run, from 1.
    pub seq: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hops: Vec<HopRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Sent>,
    /// Where the run is now.
    pub at: String,
    /// Only events behind this position can move it.
    pub since: Position,
    /// When time alone may move it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake: Option<Timestamp>,
    /// The type of the event it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awaits: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<Ending>,
}

/// One node left behind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HopRecord {
    pub node: String,
    pub by: By,
    pub to: String,
}

/// A message that a node asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    pub message: MessageId,
    pub node: String,
}

/// `journey.parked`: a trigger that waits for the run before it to end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parking {
    pub journey: JourneyId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    pub trigger: EventId,
    /// Where the log was read to when it was decided.
    pub since: Position,
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub state: Object,
}

/// `contact.updated`: attributes that a run gave its contact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Update {
    pub traits: Object,
    pub instance: InstanceId,
    /// The decision it belongs to.
    pub seq: u32,
}

impl Course {
    /// Where a run went, by a record's payload, whether or not its person was erased.
    pub fn of(payload: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Part {
            run: Course,
        }
        let part = serde_json::from_str::<Part>(payload).ok()?;
        Some(part.run)
    }

    /// The id of the event that tells it.
    pub fn event_id(&self, cause: EventId) -> EventId {
        let reactor = format!("journey:{}", self.instance);
        EventId::derived(&reactor, cause, self.seq)
    }

    /// The hops as a person reads them: `start -next> wait`.
    pub fn path(hops: &[HopRecord]) -> String {
        let mut path = hops
            .first()
            .map_or_else(String::new, |hop| hop.node.clone());
        for hop in hops {
            path.push_str(&format!(" -{}> {}", hop.by, hop.to));
        }
        path
    }
}

impl Record {
    /// Whether what it said of the person was erased.
    pub fn is_erased(payload: &str) -> bool {
        #[derive(Deserialize)]
        struct Erased {
            #[serde(default)]
            erased: bool,
        }
        serde_json::from_str::<Erased>(payload).is_ok_and(|payload| payload.erased)
    }
}

/// What stands in the log about a contact because of a run.
pub fn event(
    id: EventId,
    kind: Kind,
    contact: ContactId,
    at: Timestamp,
    payload: &impl Serialize,
) -> Event {
    Event {
        id,
        kind,
        contact: Some(contact),
        occurred_at: at,
        recorded_at: at,
        payload: serde_json::to_string(payload).expect("a record serialises"),
    }
}
