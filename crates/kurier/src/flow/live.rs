//! Contacts by id, as they go by now.

use std::collections::HashMap;

use kurier_core::contact::{Contact, Standing};
use kurier_core::id::ContactId;
use kurier_core::projection::{CONTACT, Need, contact_standing};
use kurier_store::{Error, Result, Scope, Store};

/// Merges may be chained; nobody is merged this often.
const HOPS_MAX: usize = 1_000;

/// The live contacts at these ids, or those they have become part of, by the id asked for.
pub async fn live_contacts(
    store: &Store,
    scope: Scope,
    ids: &[ContactId],
) -> Result<HashMap<ContactId, Contact>> {
    // Which ids lead to an id that is still to be looked at.
    let mut asked: HashMap<ContactId, Vec<ContactId>> =
        ids.iter().map(|id| (*id, vec![*id])).collect();
    let mut found = HashMap::new();
    for _ in 0..HOPS_MAX {
        if asked.is_empty() {
            break;
        }
        let mut next: HashMap<ContactId, Vec<ContactId>> = HashMap::new();
        for (id, standing) in standings(store, scope, asked.keys().copied()).await? {
            let askers = asked.remove(&id).unwrap_or_default();
            match standing {
                Standing::Live(contact) => {
                    found.extend(askers.into_iter().map(|asker| (asker, (*contact).clone())));
                }
                Standing::Merged { into } => next.entry(into).or_default().extend(askers),
                Standing::Erased { .. } => {}
            }
        }
        asked = next;
    }
    Ok(found)
}

async fn standings(
    store: &Store,
    scope: Scope,
    ids: impl Iterator<Item = ContactId>,
) -> Result<Vec<(ContactId, Standing)>> {
    let keys = ids.map(|id| vec![scope.0.into(), id.into()]).collect();
    let loaded = store.views.load(vec![Need::new(&CONTACT, keys)]).await?;
    let rows = loaded.iter().flat_map(|loaded| &loaded.rows);
    let read = rows.map(|row| {
        let unreadable = || Error::Damaged("a contact's row cannot be read".into());
        contact_standing(row)
            .map(|(_, id, standing)| (id, standing))
            .ok_or_else(unreadable)
    });
    read.collect()
}
