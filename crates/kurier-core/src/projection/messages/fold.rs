//! One batch of events over the messages it touches.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{Cell, Change, Folded, Loaded, UnreadableRow};
use super::row::{MessageSummary, message_of_row, row_of};
use super::{MESSAGE, key};
use crate::event::{Erasure, Kind, Recorded};
use crate::id::{ContactId, WorkspaceId};
use crate::message::{Handover, MessageState, Request};

#[derive(Default)]
pub struct Fold {
    messages: BTreeMap<Vec<Cell>, (WorkspaceId, MessageSummary)>,
    /// Messages to write.
    dirty: BTreeSet<Vec<Cell>>,
    folded: Folded,
}

impl Fold {
    pub fn new(loaded: Vec<Loaded>) -> Result<Self, UnreadableRow> {
        let mut fold = Self::default();
        for Loaded { table, rows } in loaded {
            for row in rows {
                let read = message_of_row(&row).ok_or_else(|| UnreadableRow::new(table, &row))?;
                fold.messages.insert(row[..MESSAGE.key].to_vec(), read);
            }
        }
        Ok(fold)
    }

    pub fn event(&mut self, recorded: &Recorded) {
        let result = match recorded.event.kind {
            Kind::MessageRequested => self.requested(recorded),
            Kind::MessageSent => self.sent(recorded),
            Kind::ContactErased => self.erased(recorded),
            _ => Ok(()),
        };
        // Of what was erased nothing is left to fold.
        if let Err(error) = result.or_else(|error| unless_erased(recorded, error)) {
            let poison = (recorded.position, error.to_string());
            self.folded.poison.push(poison);
        }
    }

    fn requested(&mut self, recorded: &Recorded) -> Result<(), serde_json::Error> {
        let request: Request = serde_json::from_str(&recorded.event.payload)?;
        let Some(contact) = recorded.event.contact else {
            return Ok(());
        };
        let key = key(recorded.workspace, contact, request.message);
        if self.messages.contains_key(&key) {
            return Ok(());
        }
        let at = recorded.event.occurred_at;
        let summary = MessageSummary {
            request,
            contact,
            state: MessageState::Queued,
            sent_by: None,
            requested_at: at,
            changed_at: at,
        };
        self.messages
            .insert(key.clone(), (recorded.workspace, summary));
        self.dirty.insert(key);
        Ok(())
    }

    fn sent(&mut self, recorded: &Recorded) -> Result<(), serde_json::Error> {
        let handover: Handover = serde_json::from_str(&recorded.event.payload)?;
        let Some(contact) = recorded.event.contact else {
            return Ok(());
        };
        let key = key(recorded.workspace, contact, handover.message);
        if let Some((_, message)) = self.messages.get_mut(&key) {
            message.state = MessageState::Sent;
            message.sent_by = Some(handover.channel);
            message.changed_at = recorded.event.occurred_at;
            self.dirty.insert(key);
        }
        Ok(())
    }

    fn erased(&mut self, recorded: &Recorded) -> Result<(), serde_json::Error> {
        let erasure: Erasure = serde_json::from_str(&recorded.event.payload)?;
        for contact in erasure.contacts {
            self.forget(recorded.workspace, contact);
        }
        Ok(())
    }

    fn forget(&mut self, workspace: WorkspaceId, contact: ContactId) {
        let prefix: Vec<Cell> = vec![workspace.into(), contact.into()];
        self.messages.retain(|key, _| !key.starts_with(&prefix));
        self.dirty.retain(|key| !key.starts_with(&prefix));
        let drop = Change::Drop(&MESSAGE, prefix);
        self.folded.changes.push(drop);
    }

    pub fn finish(mut self) -> Folded {
        for key in &self.dirty {
            let (workspace, message) = &self.messages[key];
            let put = Change::Put(&MESSAGE, row_of(*workspace, message));
            self.folded.changes.push(put);
        }
        self.folded
    }
}

fn unless_erased(recorded: &Recorded, error: serde_json::Error) -> Result<(), serde_json::Error> {
    let is_erased = recorded.said().is_ok_and(|said| said.erased);
    is_erased.then_some(()).ok_or(error)
}
