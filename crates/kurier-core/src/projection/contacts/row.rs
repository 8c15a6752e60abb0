//! Contacts as rows, and back.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::super::{Cell, Row};
use crate::contact::{Contact, Standing};
use crate::event::Position;
use crate::id::{ContactId, WorkspaceId};
use crate::time::Timestamp;

/// The lists of a contact, kept in one JSON column.
#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Identifiers {
    anonymous_ids: BTreeSet<String>,
    former_user_ids: BTreeSet<String>,
    groups: BTreeSet<String>,
    absorbed: BTreeSet<ContactId>,
}

pub fn row_of(workspace: WorkspaceId, id: ContactId, standing: &Standing) -> Row {
    match standing {
        Standing::Live(contact) => live_row(workspace, contact),
        Standing::Merged { into } => bare_row(workspace, id, "merged", Some(*into), None),
        Standing::Erased { at } => bare_row(workspace, id, "erased", None, Some(*at)),
    }
}

fn live_row(workspace: WorkspaceId, contact: &Contact) -> Row {
    let identifiers = Identifiers {
        anonymous_ids: contact.anonymous_ids.clone(),
        former_user_ids: contact.former_user_ids.clone(),
        groups: contact.groups.clone(),
        absorbed: contact.absorbed.clone(),
    };
    let json = |text: serde_json::Result<String>| Cell::Json(text.expect("maps of text serialise"));
    vec![
        workspace.into(),
        contact.id.into(),
        "live".into(),
        Cell::Null,
        contact.user_id.clone().into(),
        contact.email().into(),
        contact.phone().into(),
        json(serde_json::to_string(&contact.attributes)),
        json(serde_json::to_string(&identifiers)),
        contact.created_at.into(),
        contact.updated_at.into(),
        contact.last_seen_at.into(),
        contact.event_count.into(),
        contact.erased_before.into(),
        contact.revision.0.into(),
    ]
}

fn bare_row(
    workspace: WorkspaceId,
    id: ContactId,
    standing: &str,
    merged_into: Option<ContactId>,
    erased_at: Option<Timestamp>,
) -> Row {
    let mut row = vec![Cell::Null; super::CONTACT.columns.len()];
    row[0] = workspace.into();
    row[1] = id.into();
    row[2] = standing.into();
    row[3] = merged_into.into();
    row[13] = erased_at.into();
    row
}

/// Reads a row of [`super::CONTACT`]; `None` if it is not one that this version wrote.
pub fn contact_standing(row: &Row) -> Option<(WorkspaceId, ContactId, Standing)> {
    let workspace = WorkspaceId::from_uuid(row.first()?.as_id()?);
    let id = ContactId::from_uuid(row.get(1)?.as_id()?);
    let standing = match row.get(2)?.as_text()? {
        "live" => Standing::Live(Box::new(contact_of_row(row)?)),
        "merged" => Standing::Merged {
            into: ContactId::from_uuid(row.get(3)?.as_id()?),
        },
        "erased" => Standing::Erased {
            at: Timestamp::from_micros(row.get(13)?.as_int()?),
        },
        _ => return None,
    };
    Some((workspace, id, standing))
}

/// Reads a live contact's row.
pub fn contact_of_row(row: &Row) -> Option<Contact> {
    let time = |column: usize| Some(Timestamp::from_micros(row.get(column)?.as_int()?));
    let identifiers: Identifiers = serde_json::from_str(row.get(8)?.as_text()?).ok()?;
    Some(Contact {
        id: ContactId::from_uuid(row.get(1)?.as_id()?),
        user_id: row.get(4)?.as_text().map(str::to_owned),
        anonymous_ids: identifiers.anonymous_ids,
        former_user_ids: identifiers.former_user_ids,
        groups: identifiers.groups,
        attributes: serde_json::from_str(row.get(7)?.as_text()?).ok()?,
        absorbed: identifiers.absorbed,
        created_at: time(9)?,
        updated_at: time(10)?,
        last_seen_at: time(11)?,
        event_count: row.get(12)?.as_int()?,
        erased_before: time(13),
        revision: Position(row.get(14)?.as_int()?),
    })
}
