//! A contact as the API shows it.

use std::collections::BTreeMap;

use kurier_core::contact::Contact;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::identify::Profile;

/// A contact and what is known of it.
#[derive(Debug, Serialize, ToSchema)]
pub struct ContactView {
    #[schema(example = "7c9e6679-7425-80de-944b-e07fc1f90ae7")]
    id: String,
    user_id: Option<String>,
    #[schema(example = json!(["a-1f6f0c"]))]
    anonymous_ids: Vec<String>,
    /// User ids of contacts that were merged into this one.
    #[schema(example = json!(["u0"]))]
    former_user_ids: Vec<String>,
    /// The attribute `email` in its normal form, if it is an address.
    #[schema(example = "ann@example.com")]
    email: Option<String>,
    #[schema(example = "+49228123456")]
    phone: Option<String>,
    #[schema(value_type = BTreeMap<String, serde_json::Value>)]
    attributes: BTreeMap<String, kurier_core::value::Value>,
    #[schema(example = json!(["acme"]))]
    groups: Vec<String>,
    /// When we first heard of it.
    #[schema(example = "2026-11-15T12:00:00Z")]
    created_at: String,
    updated_at: String,
    /// When it last did something, by the clients' clocks.
    last_seen_at: String,
    event_count: i64,
    /// When this contact or its address was erased before it came back.
    #[schema(example = "2026-11-19T09:30:00.000Z")]
    erased_before: Option<String>,
    /// The position in the log of the last event that changed it.
    revision: i64,
}

impl From<Contact> for ContactView {
    fn from(contact: Contact) -> Self {
        Self {
            id: contact.id.to_string(),
            email: contact.email(),
            phone: contact.phone().map(str::to_owned),
            user_id: contact.user_id,
            anonymous_ids: contact.anonymous_ids.into_iter().collect(),
            former_user_ids: contact.former_user_ids.into_iter().collect(),
            attributes: contact.attributes,
            groups: contact.groups.into_iter().collect(),
            created_at: contact.created_at.to_string(),
            updated_at: contact.updated_at.to_string(),
            last_seen_at: contact.last_seen_at.to_string(),
            event_count: contact.event_count,
            erased_before: contact.erased_before.map(|at| at.to_string()),
            revision: contact.revision.0,
        }
    }
}

/// What is to be known of a contact. It needs a user id, an anonymous id or an e-mail address.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ContactInput {
    user_id: Option<String>,
    anonymous_id: Option<String>,
    /// Short for the attribute `email`. Without a user id, the address is the user id.
    #[schema(example = "ann@example.com")]
    email: Option<String>,
    /// Merged with what is known: `null` removes, what is not named stays.
    #[serde(default)]
    #[schema(example = json!({"plan": "pro"}))]
    attributes: serde_json::Map<String, serde_json::Value>,
}

impl ContactInput {
    pub fn profile(self) -> Profile {
        Profile {
            user_id: self.user_id,
            anonymous_id: self.anonymous_id,
            email: self.email,
            attributes: self.attributes,
        }
    }
}
