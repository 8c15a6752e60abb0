//! A message as a row, and back.

use super::super::{Cell, Row};
use crate::id::{ContactId, InstanceId, JourneyId, MessageId, WorkspaceId};
use crate::message::{MessageState, Origin, Request};
use crate::time::Timestamp;
use crate::value::Object;

#[derive(Debug, Clone, PartialEq)]
pub struct MessageSummary {
    pub request: Request,
    pub contact: ContactId,
    pub state: MessageState,
    /// The channel that took it.
    pub sent_by: Option<String>,
    pub requested_at: Timestamp,
    pub changed_at: Timestamp,
}

pub fn row_of(workspace: WorkspaceId, message: &MessageSummary) -> Row {
    let request = &message.request;
    let origin = request.origin.as_ref();
    vec![
        workspace.into(),
        message.contact.into(),
        Cell::Id(request.message.as_uuid()),
        origin.map(|it| Cell::Id(it.journey.as_uuid())).into(),
        origin.map(|it| i64::from(it.version)).into(),
        origin.map(|it| Cell::Id(it.instance.as_uuid())).into(),
        origin.map(|it| it.node.as_str()).into(),
        request.channel.as_str().into(),
        request.template.clone().into(),
        i64::from(request.priority).into(),
        message.state.as_str().into(),
        message.sent_by.clone().into(),
        message.requested_at.into(),
        message.changed_at.into(),
    ]
}

/// Reads a row of [`super::MESSAGE`]; `None` if it is not one that this version wrote.
pub fn message_of_row(row: &Row) -> Option<(WorkspaceId, MessageSummary)> {
    let id = |column: usize| row.get(column)?.as_id();
    let int = |column: usize| row.get(column)?.as_int();
    let text = |column: usize| Some(row.get(column)?.as_text()?.to_owned());
    let origin = || {
        Some(Origin {
            journey: JourneyId::from_uuid(id(3)?),
            version: u32::try_from(int(4)?).ok()?,
            instance: InstanceId::from_uuid(id(5)?),
            node: text(6)?,
        })
    };
    let request = Request {
        message: MessageId::from_uuid(id(2)?),
        origin: origin(),
        channel: text(7)?,
        template: text(8),
        body: None,
        to: None,
        topic: None,
        inputs: Object::new(),
        priority: u8::try_from(int(9)?).ok()?,
        scheduled_at: None,
    };
    let summary = MessageSummary {
        request,
        contact: ContactId::from_uuid(id(1)?),
        state: MessageState::of(&text(10)?)?,
        sent_by: text(11),
        requested_at: Timestamp::from_micros(int(12)?),
        changed_at: Timestamp::from_micros(int(13)?),
    };
    Some((WorkspaceId::from_uuid(id(0)?), summary))
}
