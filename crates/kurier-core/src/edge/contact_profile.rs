//! Contacts at the edge: those that were changed or read lately.

use uuid::Uuid;

use super::{Kept, Module, Standing};
use crate::contact::{self, Contact};
use crate::event::{Erasure, Kind, Recorded};
use crate::keys::{CONTACT_PROFILE, Lifetime, Namespace, Ttls};
use crate::projection::{CONTACT, Contacts, Projection as _, Row, Table, contact_standing};

pub struct ContactProfile;

impl Module for ContactProfile {
    type Value = Contact;

    const NAMESPACE: Namespace = CONTACT_PROFILE;
    const GROUP: &'static str = "contact-projection";
    const TABLE: &'static Table = &CONTACT;
    const KEPT: Kept = Kept::Warm;

    fn touched(recorded: &Recorded) -> Vec<Uuid> {
        let needs = Contacts.needs(std::slice::from_ref(recorded));
        let keys = needs.into_iter().filter(|need| need.table == &CONTACT);
        let keys = keys.flat_map(|need| need.keys);
        let named = keys.filter_map(|key| key.get(1)?.as_id());
        named.chain(erased(recorded)).collect()
    }

    fn standing(row: &Row) -> Option<Standing<Contact>> {
        let (_, _, standing) = contact_standing(row)?;
        Some(match standing {
            contact::Standing::Live(contact) => Standing::Live {
                revision: contact.revision,
                value: *contact,
            },
            contact::Standing::Merged { into } => Standing::Moved {
                into: into.as_uuid(),
            },
            contact::Standing::Erased { .. } => Standing::Gone,
        })
    }

    fn indexed(_: &Contact) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn lifetime(ttls: &Ttls) -> Lifetime {
        ttls.contact
    }
}

/// An erasure is about more contacts than the one whose event it is.
fn erased(recorded: &Recorded) -> Vec<Uuid> {
    if recorded.event.kind != Kind::ContactErased {
        return Vec::new();
    }
    let erasure = serde_json::from_str::<Erasure>(&recorded.event.payload);
    let contacts = erasure.map(|erasure| erasure.contacts).unwrap_or_default();
    contacts.into_iter().map(|id| id.as_uuid()).collect()
}
