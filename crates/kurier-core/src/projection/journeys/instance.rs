//! A run as a row, and back.

use super::super::{Cell, Row};
use crate::event::{Position, Recorded};
use crate::expr::FOREVER;
use crate::id::{ContactId, EventId, InstanceId, JourneyId, MessageId, WorkspaceId};
use crate::journey::{Definition, Ending, Instance, NodeIndex, Record, Status};
use crate::time::Timestamp;
use crate::value::Object;

/// A run of a contact through a journey; where it went is its [`super::Passage`]s.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceSummary {
    pub id: InstanceId,
    pub journey: JourneyId,
    pub version: u32,
    /// `None` once the contact was erased, until the run ends.
    pub contact: Option<ContactId>,
    pub key: Option<String>,
    /// The event that began it.
    pub trigger: Option<EventId>,
    pub status: Status,
    pub ending: Option<Ending>,
    pub node: String,
    /// It came to its node while the journey was paused.
    pub is_held: bool,
    pub awaits: Option<String>,
    pub wake: Option<Timestamp>,
    /// How many decisions were made about it.
    pub seq: u32,
    /// How many nodes it has passed.
    pub steps: u32,
    pub entered_at: Timestamp,
    /// When it came to its node.
    pub moved_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// The last message it asked for, and the node that did.
    pub last_message: Option<(MessageId, String)>,
    /// Custom keys, as JSON.
    pub state: Option<String>,
}

impl InstanceSummary {
    /// The run that a first record begins.
    pub fn begun(recorded: &Recorded, record: &Record) -> Self {
        let at = recorded.event.occurred_at;
        Self {
            id: record.run.instance,
            journey: record.run.journey,
            version: record.run.version,
            contact: recorded.event.contact,
            key: record.key.clone(),
            trigger: record.trigger,
            status: Status::Active,
            ending: None,
            node: String::new(),
            is_held: false,
            awaits: None,
            wake: None,
            seq: 0,
            steps: 0,
            entered_at: at,
            moved_at: at,
            ended_at: None,
            last_message: None,
            state: None,
        }
    }

    /// Applies a record, which must be the next of the run.
    pub fn advance(&mut self, recorded: &Recorded, record: &Record) {
        let (run, at) = (&record.run, recorded.event.occurred_at);
        if !run.hops.is_empty() || self.is_held != run.held {
            self.moved_at = at;
        }
        self.seq = run.seq;
        self.steps += u32::try_from(run.hops.len()).unwrap_or(u32::MAX);
        self.node.clone_from(&run.at);
        self.is_held = run.held;
        self.awaits.clone_from(&run.awaits);
        self.wake = run.wake;
        self.ending = run.ending;
        self.status = run.ending.map_or(Status::Active, Ending::status);
        self.ended_at = run.ending.map(|_| at);
        if self.contact.is_none() {
            return;
        }
        // When two contacts became one, later records name the one that remains.
        self.contact = recorded.event.contact.or(self.contact);
        if let Some(last) = run.messages.last() {
            self.last_message = Some((last.message, last.node.clone()));
        }
        self.remember(&record.state);
    }

    fn remember(&mut self, state: &Object) {
        if state.is_empty() {
            return;
        }
        let mut kept = self.state_keys();
        kept.extend(
            state
                .iter()
                .map(|(key, value)| (key.clone(), value.clone())),
        );
        self.state = serde_json::to_string(&kept).ok();
    }

    /// The custom keys of its state.
    pub fn state_keys(&self) -> Object {
        let state = self.state.as_deref().map(serde_json::from_str);
        state.and_then(Result::ok).unwrap_or_default()
    }

    /// Its state as expressions see it, with the reserved keys; without a definition only the
    /// custom ones.
    pub fn state_data(&self, definition: Option<&Definition>) -> Object {
        let (Some(definition), Some(trigger)) = (definition, self.trigger) else {
            return self.state_keys();
        };
        let find = |id: &str| definition.find(id).unwrap_or(NodeIndex::NOWHERE);
        let last_message = self.last_message.as_ref();
        let instance = Instance {
            id: self.id,
            trigger,
            last_message: last_message.map(|(message, node)| (*message, find(node))),
            key: None,
            state: Some(Box::new(self.state_keys())),
            entered_at: self.entered_at,
            arrived_at: self.moved_at,
            due: self.wake.unwrap_or(FOREVER),
            since: Position(0),
            contact: 0,
            version: 0,
            node: find(&self.node),
            seq: self.seq,
            steps: self.steps,
            is_held: self.is_held,
        };
        instance.state_data(definition)
    }

    /// Forgets whose run it is, and what says something of the person.
    pub fn forget(&mut self) {
        (self.contact, self.key, self.trigger) = (None, None, None);
        (self.last_message, self.state) = (None, None);
    }
}

pub fn row_of(workspace: WorkspaceId, it: &InstanceSummary) -> Row {
    vec![
        workspace.into(),
        Cell::Id(it.id.as_uuid()),
        Cell::Id(it.journey.as_uuid()),
        i64::from(it.version).into(),
        it.contact.into(),
        it.key.clone().into(),
        it.trigger.map_or(Cell::Null, |id| Cell::Id(id.as_uuid())),
        it.status.as_str().into(),
        it.ending.map(Ending::as_str).into(),
        it.node.as_str().into(),
        i64::from(it.is_held).into(),
        it.awaits.clone().into(),
        it.wake.into(),
        i64::from(it.seq).into(),
        i64::from(it.steps).into(),
        it.entered_at.into(),
        it.moved_at.into(),
        it.ended_at.into(),
        it.last_message
            .as_ref()
            .map_or(Cell::Null, |(id, _)| Cell::Id(id.as_uuid())),
        it.last_message
            .as_ref()
            .map(|(_, node)| node.as_str())
            .into(),
        it.state.clone().into(),
    ]
}

/// Reads a row of [`super::JOURNEY_INSTANCE`]; `None` if it is not one that this version wrote.
pub fn instance_of_row(row: &Row) -> Option<(WorkspaceId, InstanceSummary)> {
    let text = |column: usize| row.get(column)?.as_text().map(str::to_owned);
    let int = |column: usize| row.get(column)?.as_int();
    let number = |column: usize| u32::try_from(int(column)?).ok();
    let time = |column: usize| int(column).map(Timestamp::from_micros);
    let id = |column: usize| row.get(column)?.as_id();
    let ending = text(8).map(|text| Ending::named(&text).ok_or(()));
    let summary = InstanceSummary {
        id: InstanceId::from_uuid(id(1)?),
        journey: JourneyId::from_uuid(id(2)?),
        version: number(3)?,
        contact: id(4).map(ContactId::from_uuid),
        key: text(5),
        trigger: id(6).map(EventId::from_uuid),
        status: Status::named(&text(7)?)?,
        ending: ending.transpose().ok()?,
        node: text(9)?,
        is_held: int(10)? != 0,
        awaits: text(11),
        wake: time(12),
        seq: number(13)?,
        steps: number(14)?,
        entered_at: time(15)?,
        moved_at: time(16)?,
        ended_at: time(17),
        last_message: id(18).map(MessageId::from_uuid).zip(text(19)),
        state: text(20),
    };
    Some((WorkspaceId::from_uuid(id(0)?), summary))
}
