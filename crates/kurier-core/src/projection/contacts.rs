//! The contacts of a workspace, the timeline of each, and the addresses that were erased.
//! One projection, because an event's place in a timeline depends on who its contact has
//! become by then.

mod fold;
mod row;

pub use row::{contact_of_row, contact_standing};

use std::collections::BTreeMap;

use serde::de::IgnoredAny;

use super::table::ColumnKind::{Id, Int, Json, Text};
use super::{Cell, Column, Folded, Loaded, Need, Projection, Table, UnreadableRow};
use crate::event::{Event, Kind, Recorded, Said};
use crate::id::{AddressKey, ContactId, WorkspaceId};
use fold::Fold;

pub const CONTACT: Table = Table {
    name: "contact",
    key: 2,
    columns: &[
        Column::new("workspace", Id),
        Column::new("id", Id),
        Column::new("standing", Text),
        Column::new("merged_into", Id),
        Column::new("user_id", Text),
        Column::new("email", Text),
        Column::new("phone", Text),
        Column::new("attributes", Json),
        Column::new("identifiers", Json),
        Column::new("created_at", Int),
        Column::new("updated_at", Int),
        Column::new("last_seen_at", Int),
        Column::new("event_count", Int),
        Column::new("erased_at", Int),
        Column::new("revision", Int),
    ],
};

pub const TIMELINE: Table = Table {
    name: "timeline",
    key: 4,
    columns: &[
        Column::new("workspace", Id),
        Column::new("contact", Id),
        Column::new("occurred_at", Int),
        Column::new("position", Int),
        Column::new("recorded_at", Int),
        Column::new("kind", Text),
        Column::new("title", Text),
    ],
};

pub const ERASURE: Table = Table {
    name: "erasure",
    key: 2,
    columns: &[
        Column::new("workspace", Id),
        Column::new("address", Id),
        Column::new("erased_at", Int),
    ],
};

/// The projection of [`CONTACT`], [`TIMELINE`] and [`ERASURE`].
pub struct Contacts;

impl Projection for Contacts {
    fn name(&self) -> &'static str {
        "contacts"
    }

    fn tables(&self) -> &'static [&'static Table] {
        &[&CONTACT, &TIMELINE, &ERASURE]
    }

    fn needs(&self, events: &[Recorded]) -> Vec<Need> {
        let (mut contacts, mut addresses) = (Vec::new(), Vec::new());
        for recorded in events {
            contacts.extend(
                recorded
                    .event
                    .contact
                    .map(|id| contact_key(recorded.workspace, id)),
            );
            if let Some(said) = readable(recorded) {
                contacts.extend(
                    said.joins
                        .iter()
                        .map(|id| contact_key(recorded.workspace, *id)),
                );
                addresses.extend(said.address.map(|key| address_key(recorded.workspace, key)));
            }
        }
        vec![
            Need::new(&CONTACT, contacts),
            Need::new(&ERASURE, addresses),
        ]
    }

    fn follows(&self, loaded: &[Loaded]) -> Vec<Need> {
        let rows = loaded
            .iter()
            .filter(|loaded| loaded.table == &CONTACT)
            .flat_map(|loaded| &loaded.rows);
        let targets = rows.filter(|row| matches!(row[3], Cell::Id(_)));
        vec![Need::new(
            &CONTACT,
            targets
                .map(|row| vec![row[0].clone(), row[3].clone()])
                .collect(),
        )]
    }

    fn fold(&self, loaded: Vec<Loaded>, events: &[Recorded]) -> Result<Folded, UnreadableRow> {
        let mut fold = Fold::new(loaded)?;
        for recorded in events {
            fold.event(recorded);
        }
        Ok(fold.finish())
    }
}

/// A client's payload, when it is one.
fn readable(recorded: &Recorded) -> Option<Said<'_>> {
    let is_client = recorded.event.kind.is_from_client();
    is_client.then(|| recorded.said().ok()).flatten()
}

fn contact_key(workspace: WorkspaceId, id: ContactId) -> Vec<Cell> {
    vec![workspace.into(), id.into()]
}

fn address_key(workspace: WorkspaceId, address: AddressKey) -> Vec<Cell> {
    vec![workspace.into(), Cell::Id(address.as_uuid())]
}

/// Whether an event of this kind says what became of a contact: it stands in its timeline, and
/// goes when the contact is erased.
const fn befalls_contact(kind: Kind) -> bool {
    use Kind::{
        AddressReleased, AddressSuppressed, JourneyCancelled, JourneyEntered, JourneyFinished,
        JourneyMoved, JourneyParked, JourneyTriggered,
    };
    let by_journey = matches!(
        kind,
        JourneyTriggered
            | JourneyParked
            | JourneyEntered
            | JourneyMoved
            | JourneyFinished
            | JourneyCancelled
    );
    by_journey || kind.is_of_message() || matches!(kind, AddressSuppressed | AddressReleased)
}

/// Whether an event says more than what stays of it when its contact is erased: that a run
/// ended for the erasure need not be buried, nor hashes of addresses.
fn is_burial_due(event: &Event) -> bool {
    const STAYING: [&str; 3] = ["erased", "joins", "run"];
    let members = serde_json::from_str::<BTreeMap<String, IgnoredAny>>(&event.payload);
    let goes = |name: &String| !STAYING.contains(&name.as_str());
    let is_of_address = matches!(event.kind, Kind::AddressSuppressed | Kind::AddressReleased);
    !is_of_address && members.is_ok_and(|members| members.keys().any(goes))
}

#[cfg(test)]
mod tests;
