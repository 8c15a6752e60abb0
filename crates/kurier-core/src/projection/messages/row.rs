//! A message as a row, and back.

use serde::Serialize;

use super::super::{Cell, Row};
use crate::id::{ContactId, InstanceId, JourneyId, MessageId, WorkspaceId};
use crate::journey::Request;
use crate::time::Timestamp;

/// How far a message has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageState {
    /// A channel is to take it.
    Queued,
    /// A channel has taken it.
    Sent,
}

impl MessageState {
    pub const ALL: &[Self] = &[Self::Queued, Self::Sent];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Sent => "sent",
        }
    }

    pub fn of(text: &str) -> Option<Self> {
        let mut all = Self::ALL.iter();
        all.find(|state| state.as_str() == text).copied()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
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
    vec![
        workspace.into(),
        message.contact.into(),
        Cell::Id(request.message.as_uuid()),
        Cell::Id(request.journey.as_uuid()),
        i64::from(request.version).into(),
        Cell::Id(request.instance.as_uuid()),
        request.node.as_str().into(),
        request.channel.as_str().into(),
        request.template.as_str().into(),
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
    let request = Request {
        message: MessageId::from_uuid(id(2)?),
        journey: JourneyId::from_uuid(id(3)?),
        version: u32::try_from(int(4)?).ok()?,
        instance: InstanceId::from_uuid(id(5)?),
        node: text(6)?,
        channel: text(7)?,
        template: text(8)?,
        priority: u8::try_from(int(9)?).ok()?,
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
