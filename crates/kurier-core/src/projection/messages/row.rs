//! A message as a row, and back.

use serde::{Deserialize, Serialize};

use super::super::{Cell, Row};
use crate::event::{Kind, Position};
use crate::id::{ContactId, WorkspaceId};
use crate::message::{MessageState, Reason, Refusal, Request};
use crate::time::Timestamp;

#[derive(Debug, Clone, PartialEq)]
pub struct MessageSummary {
    pub request: Request,
    /// None for one to nobody we know.
    pub contact: Option<ContactId>,
    pub state: MessageState,
    /// Why it is in that state, where there is a reason.
    pub reason: Option<Reason>,
    /// What the channel said last, as a machine may tell it by.
    pub code: Option<String>,
    /// Somebody put it away.
    pub is_discarded: bool,
    /// How often it was handed to a channel.
    pub attempts: u32,
    pub standing: Standing,
    pub requested_at: Timestamp,
    pub changed_at: Timestamp,
}

/// What is known of a message beside its state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// The channel that took it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_by: Option<String>,
    /// What the provider calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
    /// When it is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_at: Option<Timestamp>,
    /// The newest attempts, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tries: Vec<Attempt>,
    /// What the log was told of it, the newest, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<Told>,
}

/// One event of the log about a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    pub position: Position,
    #[serde(with = "kind_name")]
    pub kind: Kind,
    pub at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

/// One time that a message was handed to a channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    pub attempt: u32,
    pub began_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// The message's state when it ended; `sending` until then.
    pub outcome: MessageState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
}

mod kind_name {
    use serde::{Deserialize as _, Deserializer, Serializer, de};

    use crate::event::Kind;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
    pub fn serialize<S: Serializer>(kind: &Kind, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(kind.as_str())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Kind, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse()
            .map_err(|_| de::Error::custom("no kind of event"))
    }
}

pub fn row_of(workspace: WorkspaceId, contact: ContactId, message: &MessageSummary) -> Row {
    let request = &message.request;
    let origin = request.origin.as_ref();
    let json = |text: serde_json::Result<String>| Cell::Text(text.expect("it serialises"));
    vec![
        workspace.into(),
        contact.into(),
        Cell::Id(request.message.as_uuid()),
        origin.map(|it| Cell::Id(it.journey.as_uuid())).into(),
        origin.map(|it| i64::from(it.version)).into(),
        origin.map(|it| Cell::Id(it.instance.as_uuid())).into(),
        origin.map(|it| it.node.as_str()).into(),
        request.channel.as_str().into(),
        request.template.clone().into(),
        request.topic.clone().into(),
        request.to.clone().into(),
        i64::from(request.priority).into(),
        message.state.as_str().into(),
        message.reason.map(Reason::as_str).into(),
        message.code.clone().into(),
        i64::from(message.is_discarded).into(),
        i64::from(message.attempts).into(),
        json(serde_json::to_string(&message.standing)),
        json(serde_json::to_string(request)),
        message.requested_at.into(),
        message.changed_at.into(),
    ]
}

/// Reads a row of [`super::MESSAGE`]; `None` if it is not one that this version wrote.
pub fn message_of_row(row: &Row) -> Option<(WorkspaceId, MessageSummary)> {
    let id = |column: usize| row.get(column)?.as_id();
    let int = |column: usize| row.get(column)?.as_int();
    let text = |column: usize| row.get(column)?.as_text();
    let contact = id(1)?;
    let reason = match text(13) {
        Some(reason) => Some(Reason::of(reason)?),
        None => None,
    };
    let summary = MessageSummary {
        request: serde_json::from_str(text(18)?).ok()?,
        contact: (!contact.is_nil()).then(|| ContactId::from_uuid(contact)),
        state: MessageState::of(text(12)?)?,
        reason,
        code: text(14).map(str::to_owned),
        is_discarded: int(15)? != 0,
        attempts: u32::try_from(int(16)?).ok()?,
        standing: serde_json::from_str(text(17)?).ok()?,
        requested_at: Timestamp::from_micros(int(19)?),
        changed_at: Timestamp::from_micros(int(20)?),
    };
    Some((WorkspaceId::from_uuid(id(0)?), summary))
}
