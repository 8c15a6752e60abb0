//! One batch of events over the messages it touches.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{Cell, Change, Folded, Loaded, UnreadableRow};
use super::row::{Attempt, MessageSummary, Standing, Told, message_of_row, row_of};
use super::{MESSAGE, contact_of, key};
use crate::event::{Erasure, Kind, Recorded};
use crate::id::{ContactId, WorkspaceId};
use crate::message::{MessageState, Reason, Report, Request};

/// So many attempts are kept of a message; of older ones only the number.
const TRIES_MAX: usize = 50;
/// So many events are kept of a message: every attempt may have a beginning and an end.
const TOLD_MAX: usize = 2 * TRIES_MAX;

#[derive(Default)]
pub struct Fold {
    messages: BTreeMap<Vec<Cell>, (WorkspaceId, ContactId, MessageSummary)>,
    /// Messages to write.
    dirty: BTreeSet<Vec<Cell>>,
    folded: Folded,
}

impl Fold {
    pub fn new(loaded: Vec<Loaded>) -> Result<Self, UnreadableRow> {
        let mut fold = Self::default();
        for Loaded { table, rows } in loaded {
            for row in rows {
                let unreadable = || UnreadableRow::new(table, &row);
                let (workspace, message) = message_of_row(&row).ok_or_else(unreadable)?;
                let contact = row[1].as_id().map(ContactId::from_uuid);
                let known = (workspace, contact.ok_or_else(unreadable)?, message);
                fold.messages.insert(row[..MESSAGE.key].to_vec(), known);
            }
        }
        Ok(fold)
    }

    pub fn event(&mut self, recorded: &Recorded) {
        let result = match recorded.event.kind {
            Kind::MessageRequested => self.requested(recorded),
            Kind::ContactErased => self.erased(recorded),
            kind if kind.is_of_message() => self.reported(recorded),
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
        let contact = contact_of(recorded);
        let key = key(recorded.workspace, contact, request.message);
        if self.messages.contains_key(&key) {
            return Ok(());
        }
        let at = recorded.event.occurred_at;
        let mut summary = MessageSummary {
            contact: recorded.event.contact,
            state: MessageState::Queued,
            reason: None,
            code: None,
            is_discarded: false,
            attempts: 0,
            standing: Standing {
                next_at: request.scheduled_at,
                ..Standing::default()
            },
            request,
            requested_at: at,
            changed_at: at,
        };
        note_told(&mut summary, recorded, None);
        let known = (recorded.workspace, contact, summary);
        self.messages.insert(key.clone(), known);
        self.dirty.insert(key);
        Ok(())
    }

    fn reported(&mut self, recorded: &Recorded) -> Result<(), serde_json::Error> {
        let report: Report = serde_json::from_str(&recorded.event.payload)?;
        let key = key(recorded.workspace, contact_of(recorded), report.message);
        if let Some((_, _, message)) = self.messages.get_mut(&key) {
            apply(message, recorded, report);
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
            let (workspace, contact, message) = &self.messages[key];
            let put = Change::Put(&MESSAGE, row_of(*workspace, *contact, message));
            self.folded.changes.push(put);
        }
        self.folded
    }
}

/// What a report makes of a message. Told twice, the second time changes nothing.
fn apply(message: &mut MessageSummary, recorded: &Recorded, report: Report) {
    let at = recorded.event.occurred_at;
    let kind = recorded.event.kind;
    message.changed_at = at;
    note_told(message, recorded, report.reason);
    if kind == Kind::MessageDiscarded {
        message.is_discarded = true;
        return;
    }
    message.state = state(kind);
    message.reason = report.reason;
    message.code = report.refusal.as_ref().map(|refusal| refusal.code.clone());
    message.is_discarded = false;
    message.attempts = message.attempts.max(report.attempt);
    note_try(message, &report, at);
    let standing = &mut message.standing;
    standing.next_at = report.until;
    standing.sent_by = report.channel.or(standing.sent_by.take());
    standing.receipt = report.receipt.or(standing.receipt.take());
}

const fn state(kind: Kind) -> MessageState {
    match kind {
        Kind::MessageSending => MessageState::Sending,
        Kind::MessageSent => MessageState::Sent,
        Kind::MessageRetried => MessageState::Retrying,
        Kind::MessageSkipped => MessageState::Skipped,
        Kind::MessageFailed => MessageState::Failed,
        Kind::MessageUnknown => MessageState::Unknown,
        _ => MessageState::Queued,
    }
}

fn note_told(message: &mut MessageSummary, recorded: &Recorded, reason: Option<Reason>) {
    let told = &mut message.standing.told;
    if told
        .last()
        .is_some_and(|last| last.position >= recorded.position)
    {
        return;
    }
    told.push(Told {
        position: recorded.position,
        kind: recorded.event.kind,
        at: recorded.event.occurred_at,
        reason,
    });
    let excess = told.len().saturating_sub(TOLD_MAX);
    told.drain(..excess);
}

/// An attempt begins with `message.sending` and ends with the next report of its number.
fn note_try(message: &mut MessageSummary, report: &Report, at: crate::time::Timestamp) {
    let tries = &mut message.standing.tries;
    let known = tries.iter_mut().find(|it| it.attempt == report.attempt);
    match (known, message.state) {
        (None, MessageState::Sending) => {
            tries.push(Attempt {
                attempt: report.attempt,
                began_at: at,
                ended_at: None,
                outcome: MessageState::Sending,
                refusal: None,
            });
            let excess = tries.len().saturating_sub(TRIES_MAX);
            tries.drain(..excess);
        }
        (Some(known), state) if state != MessageState::Sending => {
            known.ended_at = Some(at);
            known.outcome = state;
            known.refusal.clone_from(&report.refusal);
        }
        _ => {}
    }
}

fn unless_erased(recorded: &Recorded, error: serde_json::Error) -> Result<(), serde_json::Error> {
    let is_erased = recorded.said().is_ok_and(|said| said.erased);
    is_erased.then_some(()).ok_or(error)
}
