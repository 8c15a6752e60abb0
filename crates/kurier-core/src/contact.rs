//! Contacts, and how events change them.
//!
//! A contact is known by a userId, by anonymousIds, or both. Its id is derived from the
//! first of them, so an event knows its contact without a look-up. Who turns out to be the
//! same person is *joined*:
//! * An anonymous contact joins the first user it is seen with: its attributes and history
//!   become the user's. Seen later with another user, it follows that one from then on, but
//!   takes no history along: two people who share a device are not one person.
//! * An alias joins two contacts whatever they were.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::event::{Kind, Position, Recorded, Said};
use crate::id::ContactId;
use crate::time::Timestamp;
use crate::value::{self, Object, Value};

/// So many other identifiers and groups are kept per contact.
pub const IDENTIFIERS_MAX: usize = 100;

/// What there is at a contact's id.
#[derive(Debug, Clone, PartialEq)]
pub enum Standing {
    Live(Box<Contact>),
    /// It is part of another contact now.
    Merged {
        into: ContactId,
    },
    /// It was erased and has not come back.
    Erased {
        at: Timestamp,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contact {
    pub id: ContactId,
    pub user_id: Option<String>,
    pub anonymous_ids: BTreeSet<String>,
    /// User ids of contacts that were merged into this one.
    pub former_user_ids: BTreeSet<String>,
    pub groups: BTreeSet<String>,
    pub attributes: Object,
    /// Contacts whose history is now part of this one's.
    pub absorbed: BTreeSet<ContactId>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// When it last did something, by the clients' clocks.
    #[serde(with = "crate::time::micros")]
    pub last_seen_at: Timestamp,
    pub event_count: i64,
    /// Set when this contact, or its address, had been erased before.
    pub erased_before: Option<Timestamp>,
    /// The position of the last event that changed it.
    pub revision: Position,
}

impl Contact {
    pub fn new(id: ContactId, at: Timestamp) -> Self {
        Self {
            id,
            user_id: None,
            anonymous_ids: BTreeSet::new(),
            former_user_ids: BTreeSet::new(),
            groups: BTreeSet::new(),
            attributes: Object::new(),
            absorbed: BTreeSet::new(),
            created_at: at,
            updated_at: at,
            last_seen_at: Timestamp::from_micros(i64::MIN),
            event_count: 0,
            erased_before: None,
            revision: Position(0),
        }
    }

    /// Lets an event of this contact change it.
    pub fn apply(&mut self, recorded: &Recorded, said: &Said<'_>) -> Result<(), serde_json::Error> {
        if recorded.event.kind == Kind::Identify {
            self.learn(said)?;
        }
        if let Some(group) = said
            .group_id
            .as_deref()
            .filter(|_| recorded.event.kind == Kind::Group)
        {
            remember(&mut self.groups, group);
        }
        self.know_as(said);
        self.event_count += 1;
        self.last_seen_at = self.last_seen_at.max(recorded.event.occurred_at);
        self.touch(recorded);
        Ok(())
    }

    pub fn touch(&mut self, recorded: &Recorded) {
        self.updated_at = recorded.event.recorded_at;
        self.revision = recorded.position;
    }

    /// Merges what an identify says: the traits in `context` first, then its own.
    fn learn(&mut self, said: &Said<'_>) -> Result<(), serde_json::Error> {
        if let Some(Value::Object(traits)) = context_traits(said.context)? {
            value::merge(&mut self.attributes, traits);
        }
        if let Some(traits) = said.traits {
            value::merge(&mut self.attributes, serde_json::from_str(traits.get())?);
        }
        Ok(())
    }

    /// Learns the ids an event gives.
    pub fn know_as(&mut self, said: &Said<'_>) {
        match said.user_id.as_deref() {
            Some(user_id) if self.user_id.is_none() => self.user_id = Some(user_id.to_owned()),
            Some(user_id) if self.user_id.as_deref() != Some(user_id) => {
                remember(&mut self.former_user_ids, user_id);
            }
            _ => {}
        }
        if let Some(anonymous_id) = said.anonymous_id.as_deref() {
            remember(&mut self.anonymous_ids, anonymous_id);
        }
    }

    /// Takes another contact in. What this one says of itself wins.
    pub fn absorb(&mut self, other: Self) {
        let own = std::mem::take(&mut self.attributes);
        self.attributes = other.attributes;
        value::merge(&mut self.attributes, own);
        match (&self.user_id, other.user_id) {
            (None, theirs) => self.user_id = theirs,
            (Some(_), Some(theirs)) => remember(&mut self.former_user_ids, &theirs),
            (Some(_), None) => {}
        }
        other
            .anonymous_ids
            .iter()
            .for_each(|id| remember(&mut self.anonymous_ids, id));
        other
            .former_user_ids
            .iter()
            .for_each(|id| remember(&mut self.former_user_ids, id));
        other
            .groups
            .iter()
            .for_each(|id| remember(&mut self.groups, id));
        self.absorbed.extend(other.absorbed);
        self.absorbed.insert(other.id);
        self.created_at = self.created_at.min(other.created_at);
        self.last_seen_at = self.last_seen_at.max(other.last_seen_at);
        self.event_count += other.event_count;
        self.erased_before = self.erased_before.max(other.erased_before);
    }

    /// The e-mail address in its normal form, if the attribute is one.
    pub fn email(&self) -> Option<String> {
        normal_email(self.attributes.get("email")?.as_text()?)
    }

    pub fn phone(&self) -> Option<&str> {
        Some(self.attributes.get("phone")?.as_text()?.trim()).filter(|phone| !phone.is_empty())
    }

    /// The contact and every one merged into it.
    pub fn ids(&self) -> Vec<ContactId> {
        std::iter::once(self.id)
            .chain(self.absorbed.iter().copied())
            .collect()
    }
}

fn context_traits(context: Option<&RawValue>) -> Result<Option<Value>, serde_json::Error> {
    let traits = context.and_then(|context| value::member(context.get(), "traits"));
    traits
        .map(|traits| serde_json::from_str(traits.get()))
        .transpose()
}

fn remember(known: &mut BTreeSet<String>, name: &str) {
    if known.len() < IDENTIFIERS_MAX && !known.contains(name) {
        known.insert(name.to_owned());
    }
}

/// An address as we compare it: trimmed, lower case, with something on both sides of an @.
pub fn normal_email(text: &str) -> Option<String> {
    let email = text.trim().to_lowercase();
    let (local, domain) = email.rsplit_once('@')?;
    let plausible = !local.is_empty() && !domain.is_empty() && !email.contains(char::is_whitespace);
    (plausible && email.len() <= 320).then_some(email)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_one_form() {
        assert_eq!(
            normal_email(" Ann@Example.COM "),
            Some("ann@example.com".into())
        );
        for bad in ["ann", "@example.com", "ann@", "a b@c.d", ""] {
            assert_eq!(normal_email(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_a_contact_says_of_itself_wins_over_what_it_absorbs() {
        let id = |n| ContactId::new(Timestamp::from_millis(n), [0; 10]);
        let mut user = Contact::new(id(1), Timestamp::from_millis(20));
        user.user_id = Some("u".into());
        user.attributes
            .insert("plan".into(), Value::Text("pro".into()));
        let mut guest = Contact::new(id(2), Timestamp::from_millis(10));
        guest.anonymous_ids.insert("a".into());
        guest
            .attributes
            .insert("plan".into(), Value::Text("free".into()));
        guest
            .attributes
            .insert("city".into(), Value::Text("Bonn".into()));
        user.absorb(guest);
        assert_eq!(
            serde_json::to_string(&user.attributes).expect("JSON"),
            r#"{"city":"Bonn","plan":"pro"}"#
        );
        assert_eq!(
            (user.created_at, user.ids()),
            (Timestamp::from_millis(10), vec![id(1), id(2)])
        );
    }

    #[test]
    fn identifiers_are_bounded() {
        let mut known = BTreeSet::new();
        (0..500).for_each(|n| remember(&mut known, &n.to_string()));
        assert_eq!(known.len(), IDENTIFIERS_MAX);
    }
}
