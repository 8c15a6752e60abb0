//! Who is to be given to a static segment and who is to be taken from it, as a body says it.

use std::collections::HashSet;

use axum::http::StatusCode;
use kurier_core::id::{ContactId, IdentityKey};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::problem::{Fault, Problem};
use crate::flow::segment::EDIT_MAX;

/// Contacts to give and to take, at most 1,000 in all.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"add": ["7c9e6679-7425-80de-944b-e07fc1f90ae7", {"user_id": "ann"}]}))]
pub struct EditInput {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    add: Vec<ContactName>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    remove: Vec<ContactName>,
}

/// A contact's id, or an object with its user id.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[serde(untagged, deny_unknown_fields)]
pub enum ContactName {
    Id(String),
    UserId { user_id: String },
}

/// Who is named in a body, and where.
pub struct Wanted {
    add: Vec<Named>,
    remove: Vec<Named>,
}

struct Named {
    pointer: String,
    shown: String,
    id: ContactId,
}

impl Wanted {
    /// Reads a body, or says everything that is wrong with it.
    pub fn read(body: &Value, key: &IdentityKey) -> Result<Self, Problem> {
        let mut faults = Vec::new();
        let Some(object) = body.as_object() else {
            let fault = fault("", "must be an object with `add`, `remove` or both");
            return Err(refused(vec![fault]));
        };
        let unknown = object
            .keys()
            .filter(|name| !["add", "remove"].contains(&name.as_str()));
        faults.extend(unknown.map(|name| {
            let pointer = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
            fault(&pointer, "is not known here; `add` and `remove` are")
        }));
        let wanted = Self {
            add: read_list(object.get("add"), "/add", key, &mut faults),
            remove: read_list(object.get("remove"), "/remove", key, &mut faults),
        };
        let named = wanted.add.len() + wanted.remove.len();
        if faults.is_empty() && named == 0 {
            faults.push(fault("", "names nobody to add or to remove"));
        }
        if named > EDIT_MAX {
            let detail = format!("names {named} contacts; at most {EDIT_MAX} at a time");
            faults.push(fault("", &detail));
        }
        wanted.contradictions(&mut faults);
        faults
            .is_empty()
            .then_some(wanted)
            .ok_or_else(|| refused(faults))
    }

    fn contradictions(&self, faults: &mut Vec<Fault>) {
        let added: HashSet<ContactId> = self.add.iter().map(|named| named.id).collect();
        let both = self.remove.iter().filter(|named| added.contains(&named.id));
        faults.extend(both.map(|named| {
            let detail = format!("{} is to be added as well", named.shown);
            fault(&named.pointer, &detail)
        }));
    }

    pub fn ids(&self) -> Vec<ContactId> {
        [self.added(), self.removed()].concat()
    }

    pub fn added(&self) -> Vec<ContactId> {
        self.add.iter().map(|named| named.id).collect()
    }

    pub fn removed(&self) -> Vec<ContactId> {
        self.remove.iter().map(|named| named.id).collect()
    }

    /// Names everyone who is not known.
    pub fn check(&self, is_known: impl Fn(ContactId) -> bool) -> Result<(), Problem> {
        let all = self.add.iter().chain(&self.remove);
        let unknown = all.filter(|named| !is_known(named.id)).map(|named| {
            let detail = format!("there is no contact with the {}", named.shown);
            fault(&named.pointer, &detail)
        });
        let faults: Vec<Fault> = unknown.collect();
        if faults.is_empty() {
            Ok(())
        } else {
            Err(refused(faults))
        }
    }
}

fn read_list(
    list: Option<&Value>,
    pointer: &str,
    key: &IdentityKey,
    faults: &mut Vec<Fault>,
) -> Vec<Named> {
    let items = match list {
        None => return Vec::new(),
        Some(Value::Array(items)) => items,
        Some(_) => {
            faults.push(fault(pointer, "must be a list of contacts"));
            return Vec::new();
        }
    };
    let mut named = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let pointer = format!("{pointer}/{index}");
        match read_name(item, key) {
            Ok((shown, id)) => named.push(Named { pointer, shown, id }),
            Err(detail) => faults.push(fault(&pointer, &detail)),
        }
    }
    named
}

fn read_name(item: &Value, key: &IdentityKey) -> Result<(String, ContactId), String> {
    match ContactName::deserialize(item) {
        Ok(ContactName::Id(text)) => {
            let shown = format!("id `{}`", short(&text));
            let id = text.parse().map_err(|_| {
                format!("{shown} is no contact's id; by user id write {{\"user_id\": …}}")
            })?;
            Ok((shown, id))
        }
        Ok(ContactName::UserId { user_id }) => {
            let shown = format!("user id `{}`", short(&user_id));
            Ok((shown, key.contact_of_user(&user_id)))
        }
        Err(_) => Err("must be a contact's id, or an object with its `user_id`".into()),
    }
}

fn short(text: &str) -> String {
    text.chars().take(64).collect()
}

fn fault(pointer: &str, detail: &str) -> Fault {
    Fault {
        pointer: pointer.to_owned(),
        detail: detail.to_owned(),
    }
}

fn refused(faults: Vec<Fault>) -> Problem {
    let detail = "nobody was added or removed";
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_members", detail).with(faults)
}
