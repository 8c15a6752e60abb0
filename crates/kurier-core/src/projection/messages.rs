//! The ledger: the messages of a workspace and what became of each.

mod fold;
mod row;

pub use row::{Attempt, MessageSummary, Told, message_of_row};

use super::table::ColumnKind::{Id, Int, Text};
use super::{Cell, Column, Folded, Loaded, Need, Projection, Table, UnreadableRow};
use crate::event::{Kind, Recorded};
use crate::id::{ContactId, MessageId, WorkspaceId};
use crate::message::{Report, Request};
use fold::Fold;

/// The contact is part of the key, so that all that is a contact's goes with it; a message to
/// nobody we know stands under no contact's id.
pub const MESSAGE: Table = Table {
    name: "message",
    key: 3,
    columns: &[
        Column::new("workspace", Id),
        Column::new("contact", Id),
        Column::new("id", Id),
        Column::new("journey", Id),
        Column::new("version", Int),
        Column::new("instance", Id),
        Column::new("node", Text),
        Column::new("channel", Text),
        Column::new("template", Text),
        Column::new("topic", Text),
        Column::new("address", Text),
        Column::new("priority", Int),
        Column::new("state", Text),
        Column::new("reason", Text),
        Column::new("code", Text),
        Column::new("discarded", Int),
        Column::new("attempts", Int),
        Column::new("standing", Text),
        Column::new("request", Text),
        Column::new("requested_at", Int),
        Column::new("changed_at", Int),
    ],
};

/// The projection of [`MESSAGE`].
pub struct Messages;

impl Projection for Messages {
    fn name(&self) -> &'static str {
        "messages"
    }

    fn tables(&self) -> &'static [&'static Table] {
        &[&MESSAGE]
    }

    fn folds(&self, kind: Kind) -> bool {
        kind.is_of_message() || kind == Kind::ContactErased
    }

    fn needs(&self, events: &[Recorded]) -> Vec<Need> {
        let about = events.iter().filter_map(message_of);
        let keys = about.map(|(workspace, contact, id)| key(workspace, contact, id));
        vec![Need::new(&MESSAGE, keys.collect())]
    }

    fn follows(&self, _: &[Loaded]) -> Vec<Need> {
        Vec::new()
    }

    fn fold(&self, loaded: Vec<Loaded>, events: &[Recorded]) -> Result<Folded, UnreadableRow> {
        let mut fold = Fold::new(loaded)?;
        events.iter().for_each(|recorded| fold.event(recorded));
        Ok(fold.finish())
    }
}

/// The message an event is about, if it is about one.
fn message_of(recorded: &Recorded) -> Option<(WorkspaceId, ContactId, MessageId)> {
    let payload = &recorded.event.payload;
    let message = match recorded.event.kind {
        Kind::MessageRequested => serde_json::from_str::<Request>(payload).ok()?.message,
        kind if kind.is_of_message() => serde_json::from_str::<Report>(payload).ok()?.message,
        _ => return None,
    };
    Some((recorded.workspace, contact_of(recorded), message))
}

fn contact_of(recorded: &Recorded) -> ContactId {
    let nobody = ContactId::from_bytes([0; 16]);
    recorded.event.contact.unwrap_or(nobody)
}

fn key(workspace: WorkspaceId, contact: ContactId, id: MessageId) -> Vec<Cell> {
    vec![workspace.into(), contact.into(), Cell::Id(id.as_uuid())]
}

#[cfg(test)]
mod tests;
