//! One batch of events over the contacts it touches.

use std::collections::{HashMap, HashSet};

use super::super::{Cell, Change, Folded, Loaded, Row, UnreadableRow};
use super::row::{contact_standing, row_of};
use super::{CONTACT, ERASURE, TIMELINE, befalls_contact, is_burial_due};
use crate::contact::{Contact, Standing};
use crate::event::{Erasure, Kind, Recorded, Said};
use crate::id::{AddressKey, ContactId, WorkspaceId};
use crate::time::Timestamp;
use crate::value::{self, Object};

/// Merges may be chained; nobody is merged this often.
const HOPS_MAX: usize = 1_000;

type ContactKey = (WorkspaceId, ContactId);

#[derive(Default)]
pub struct Fold {
    contacts: HashMap<ContactKey, Standing>,
    erasures: HashMap<(WorkspaceId, AddressKey), Timestamp>,
    /// Contacts to write, in the order they were first changed.
    dirty: Vec<ContactKey>,
    is_dirty: HashSet<ContactKey>,
    folded: Folded,
}

impl Fold {
    pub fn new(loaded: Vec<Loaded>) -> Result<Self, UnreadableRow> {
        let mut fold = Self::default();
        for Loaded { table, rows } in loaded {
            for row in rows {
                let read = match table {
                    table if table == &CONTACT => fold.load_contact(&row),
                    _ => fold.load_erasure(&row),
                };
                read.ok_or_else(|| UnreadableRow::new(table, &row))?;
            }
        }
        Ok(fold)
    }

    fn load_contact(&mut self, row: &Row) -> Option<()> {
        let (workspace, id, standing) = contact_standing(row)?;
        self.contacts.insert((workspace, id), standing);
        Some(())
    }

    fn load_erasure(&mut self, row: &Row) -> Option<()> {
        let workspace = WorkspaceId::from_uuid(row.first()?.as_id()?);
        let address = AddressKey::from_uuid(row.get(1)?.as_id()?);
        let at = Timestamp::from_micros(row.get(2)?.as_int()?);
        self.erasures.insert((workspace, address), at);
        Some(())
    }

    pub fn event(&mut self, recorded: &Recorded) {
        let result = match recorded.event.kind {
            Kind::ContactErased => self.erased(recorded),
            Kind::ContactUpdated => self.updated(recorded),
            kind if kind.is_from_client() => self.client_event(recorded),
            kind if befalls_contact(kind) => self.befallen(recorded),
            _ => Ok(()),
        };
        if let Err(error) = result {
            self.folded
                .poison
                .push((recorded.position, error.to_string()));
        }
    }

    fn client_event(&mut self, recorded: &Recorded) -> Result<(), serde_json::Error> {
        let (Some(contact), said) = (recorded.event.contact, recorded.said()?) else {
            return Ok(());
        };
        let root = self.root((recorded.workspace, contact));
        if self.has_folded(root, recorded) {
            return Ok(());
        }
        for join in &said.joins {
            self.join((recorded.workspace, *join), root, recorded, &said);
        }
        if said.erased {
            return Ok(());
        }
        let erased = said
            .address
            .and_then(|address| self.erasures.get(&(recorded.workspace, address)));
        let erased = erased.copied();
        let contact = self.live(root, recorded.event.recorded_at);
        contact.erased_before = contact.erased_before.max(erased);
        contact.apply(recorded, &said)?;
        self.mark(root);
        self.add_to_timeline(root, recorded, &said);
        Ok(())
    }

    /// Kurier's own changes are changes, not something the contact did.
    fn updated(&mut self, recorded: &Recorded) -> Result<(), serde_json::Error> {
        #[derive(serde::Deserialize)]
        struct Updated {
            #[serde(default)]
            traits: Object,
        }
        let Updated { traits } = serde_json::from_str(&recorded.event.payload)?;
        let root = recorded
            .event
            .contact
            .map(|id| self.root((recorded.workspace, id)));
        if root.is_some_and(|root| self.has_folded(root, recorded)) {
            return Ok(());
        }
        let standing = root.and_then(|root| self.contacts.get_mut(&root));
        let (Some(root), Some(Standing::Live(contact))) = (root, standing) else {
            self.note_belated(root, recorded);
            return Ok(());
        };
        value::merge(&mut contact.attributes, traits);
        contact.touch(recorded);
        self.mark(root);
        self.add_to_timeline(root, recorded, &Said::default());
        Ok(())
    }

    /// What became of a contact is told in its timeline, and is nothing it did.
    fn befallen(&mut self, recorded: &Recorded) -> Result<(), serde_json::Error> {
        let contact = recorded.event.contact;
        let root = contact.map(|id| self.root((recorded.workspace, id)));
        let standing = root.and_then(|root| self.contacts.get(&root));
        let (Some(root), Some(Standing::Live(_))) = (root, standing) else {
            self.note_belated(root, recorded);
            return Ok(());
        };
        if !self.has_folded(root, recorded) && !recorded.said()?.erased {
            self.add_to_timeline(root, recorded, &Said::default());
        }
        Ok(())
    }

    /// Whether the event was folded before: events come in order, so whoever has come further
    /// has had it, or is made of contacts that had.
    fn has_folded(&self, root: ContactKey, recorded: &Recorded) -> bool {
        let standing = self.contacts.get(&root);
        matches!(standing, Some(Standing::Live(contact)) if contact.revision >= recorded.position)
    }

    /// Notes what says something about a contact that is erased and has not come back.
    fn note_belated(&mut self, root: Option<ContactKey>, recorded: &Recorded) {
        let standing = root.and_then(|root| self.contacts.get(&root));
        let is_erased = matches!(standing, Some(Standing::Erased { .. }));
        if is_erased && is_burial_due(&recorded.event) {
            self.folded.belated.push(recorded.position);
        }
    }

    /// The contact that `key` is part of by now.
    fn root(&self, mut key: ContactKey) -> ContactKey {
        for _ in 0..HOPS_MAX {
            match self.contacts.get(&key) {
                Some(Standing::Merged { into }) => key = (key.0, *into),
                _ => break,
            }
        }
        key
    }

    /// The live contact at a root: made if it is new, revived if it was erased.
    fn live(&mut self, key: ContactKey, at: Timestamp) -> &mut Contact {
        let slot = self.contacts.entry(key);
        let standing = slot.or_insert_with(|| Standing::Live(Box::new(Contact::new(key.1, at))));
        if let Standing::Erased { at: erased_at } = standing {
            let mut contact = Contact::new(key.1, at);
            contact.erased_before = Some(*erased_at);
            *standing = Standing::Live(Box::new(contact));
        }
        match standing {
            Standing::Live(contact) => contact,
            _ => unreachable!("a root is not merged, and an erased one was just revived"),
        }
    }

    /// Joins `from` to `root`. Its history comes along unless it was someone else's already.
    fn join(&mut self, from: ContactKey, root: ContactKey, recorded: &Recorded, said: &Said<'_>) {
        if from == root {
            return;
        }
        let is_alias = recorded.event.kind == Kind::Alias;
        let source = if is_alias { self.root(from) } else { from };
        if source == root {
            return;
        }
        let merged = Standing::Merged { into: root.1 };
        if self.contacts.get(&source) == Some(&merged) {
            return;
        }
        if let Some(Standing::Live(other)) = self.contacts.insert(source, merged) {
            let contact = self.live(root, recorded.event.recorded_at);
            // The id it goes by now, before it takes in the one it went by.
            contact.know_as(said);
            contact.absorb(*other);
            self.mark(root);
        }
        self.mark(source);
    }

    fn erased(&mut self, recorded: &Recorded) -> Result<(), serde_json::Error> {
        let erasure: Erasure = serde_json::from_str(&recorded.event.payload)?;
        let at = recorded.event.recorded_at;
        for contact in erasure.contacts {
            let key = (recorded.workspace, contact);
            self.contacts.insert(key, Standing::Erased { at });
            self.mark(key);
            let prefix = vec![key.0.into(), key.1.into()];
            self.folded.changes.push(Change::Drop(&TIMELINE, prefix));
        }
        for address in erasure.addresses {
            self.erasures.insert((recorded.workspace, address), at);
            let row = vec![
                recorded.workspace.into(),
                Cell::Id(address.as_uuid()),
                at.into(),
            ];
            self.folded.changes.push(Change::Put(&ERASURE, row));
        }
        Ok(())
    }

    fn add_to_timeline(&mut self, key: ContactKey, recorded: &Recorded, said: &Said<'_>) {
        let row = vec![
            key.0.into(),
            key.1.into(),
            recorded.event.occurred_at.into(),
            recorded.position.0.into(),
            recorded.event.recorded_at.into(),
            recorded.event.kind.as_str().into(),
            said.title().into(),
        ];
        self.folded.changes.push(Change::Put(&TIMELINE, row));
    }

    fn mark(&mut self, key: ContactKey) {
        if self.is_dirty.insert(key) {
            self.dirty.push(key);
        }
    }

    /// Each contact is written once, however many events changed it.
    pub fn finish(mut self) -> Folded {
        for key in self.dirty {
            let row = row_of(key.0, key.1, &self.contacts[&key]);
            self.folded.changes.push(Change::Put(&CONTACT, row));
        }
        self.folded
    }
}
