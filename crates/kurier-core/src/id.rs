//! Ids. What Kurier names itself is a uuid v7 made from a time and random bytes that the
//! caller brings; what a client names is a hash of that name, so that the same name is the
//! same id in every process without asking a database.

use std::fmt;
use std::str::FromStr;

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::time::Timestamp;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            pub const fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Uuid::from_bytes(bytes))
            }

            pub const fn as_uuid(self) -> Uuid {
                self.0
            }

            /// A new id: uuid v7 of the given time and randomness.
            pub fn new(now: Timestamp, random: [u8; 10]) -> Self {
                let millis = u64::try_from(now.as_millis()).unwrap_or(0);
                Self(uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, uuid::Error> {
                text.parse().map(Self)
            }
        }
    };
}

id!(
    /// A workspace: the wall around everything one company sees.
    WorkspaceId
);
id!(
    /// An API key's public half: what lists and logs show.
    ApiKeyId
);
id!(
    /// A person who signs in.
    UserId
);
id!(
    /// A contact. Derived from the first identifier it was known by; see [`IdentityKey`].
    ContactId
);
id!(
    /// An event, unique within its workspace: the log drops the second one.
    EventId
);
id!(
    /// A segment.
    SegmentId
);
id!(
    /// A journey, through all its versions.
    JourneyId
);
id!(
    /// One run of a contact through a journey.
    InstanceId
);
id!(
    /// A message: a row of the queue.
    MessageId
);
id!(
    /// A template, through all its versions.
    TemplateId
);
id!(
    /// A Slack workspace that messages may be sent to.
    SlackWorkspaceId
);
id!(
    /// A document of content, through all its imports.
    DocumentId
);
id!(
    /// An address as a keyed hash: enough to notice it coming back, not to read it.
    AddressKey
);

impl EventId {
    /// The id of what a client calls `message_id`.
    pub fn of_message(message_id: &str) -> Self {
        Self::hashed(&[b"message", message_id.as_bytes()])
    }

    /// The id of the `ordinal`th event that `reactor` appends because of `cause`: doing it
    /// twice gives the same id, so the second append is dropped.
    pub fn derived(reactor: &str, cause: Self, ordinal: u32) -> Self {
        Self::hashed(&[
            reactor.as_bytes(),
            cause.0.as_bytes(),
            &ordinal.to_be_bytes(),
        ])
    }

    fn hashed(parts: &[&[u8]]) -> Self {
        Self(hashed(parts))
    }
}

impl SegmentId {
    /// The id that stands for a name where no segment has been made yet: in simulations.
    pub fn of_name(name: &str) -> Self {
        Self(hashed(&[b"segment", name.as_bytes()]))
    }
}

impl JourneyId {
    /// The id that stands for a name where no journey has been made yet: in simulations.
    pub fn of_name(name: &str) -> Self {
        Self(hashed(&[b"journey", name.as_bytes()]))
    }
}

impl TemplateId {
    /// A template goes by its name.
    pub fn of_name(name: &str) -> Self {
        Self(hashed(&[b"template", name.as_bytes()]))
    }
}

impl DocumentId {
    /// A document goes by its source: a path, or what a client calls it.
    pub fn of_source(source_id: &str) -> Self {
        Self(hashed(&[b"content", source_id.as_bytes()]))
    }
}

impl InstanceId {
    /// The run that a cause begins: one cause begins one run of a contact in a journey.
    pub fn begun(journey: JourneyId, contact: ContactId, cause: EventId) -> Self {
        let parts = [
            journey.0.as_bytes(),
            contact.0.as_bytes(),
            cause.0.as_bytes(),
        ];
        Self(hashed(&parts.map(|part| part.as_slice())))
    }
}

impl MessageId {
    /// The message of a visit to a node: the same visit is the same message.
    pub fn of_visit(instance: InstanceId, node: &str, visit: u32) -> Self {
        Self(hashed(&[
            b"send",
            instance.0.as_bytes(),
            node.as_bytes(),
            &visit.to_be_bytes(),
        ]))
    }
}

fn hashed(parts: &[&[u8]]) -> Uuid {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    uuid_of(&hash.finalize())
}

/// A workspace's secret for turning identifiers into ids. Keyed, so that the ids that stay
/// behind after a contact is erased cannot be guessed back into addresses.
#[derive(Clone)]
pub struct IdentityKey {
    mac: Hmac<Sha256>,
    secret: [u8; 32],
}

impl IdentityKey {
    pub fn new(secret: [u8; 32]) -> Self {
        let mac = Hmac::new_from_slice(&secret).expect("HMAC takes a key of any length");
        Self { mac, secret }
    }

    pub const fn secret(&self) -> &[u8; 32] {
        &self.secret
    }

    pub fn contact_of_user(&self, user_id: &str) -> ContactId {
        ContactId(self.uuid(b'u', user_id))
    }

    pub fn contact_of_anonymous(&self, anonymous_id: &str) -> ContactId {
        ContactId(self.uuid(b'a', anonymous_id))
    }

    /// Expects an address in its normal form, see [`crate::contact::normal_email`].
    pub fn address(&self, email: &str) -> AddressKey {
        AddressKey(self.uuid(b'e', email))
    }

    /// Expects a number in its normal form, see [`crate::message::Address`].
    pub fn phone(&self, number: &str) -> AddressKey {
        AddressKey(self.uuid(b'p', number))
    }

    /// An address that is neither e-mail nor phone number, in its normal form.
    pub fn other_address(&self, text: &str) -> AddressKey {
        AddressKey(self.uuid(b'o', text))
    }

    /// A tag that only this workspace can make, for what strangers carry and nobody may guess.
    pub fn seal(&self, bytes: &[u8]) -> [u8; 32] {
        self.sealing(bytes).finalize().into_bytes().into()
    }

    /// Whether a tag is the one for these bytes. Takes as long whichever byte is wrong.
    pub fn is_seal(&self, bytes: &[u8], tag: &[u8]) -> bool {
        self.sealing(bytes).verify_slice(tag).is_ok()
    }

    fn sealing(&self, bytes: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.mac.clone();
        mac.update(b"t");
        mac.update(bytes);
        mac
    }

    /// A tag that only this workspace can make, for values that clients carry for us.
    pub fn sign(&self, bytes: &[u8]) -> [u8; 8] {
        let mut mac = self.mac.clone();
        mac.update(b"s");
        mac.update(bytes);
        let full = mac.finalize().into_bytes();
        full[..8].try_into().expect("a SHA-256 tag has 32 bytes")
    }

    fn uuid(&self, space: u8, text: &str) -> Uuid {
        let mut mac = self.mac.clone();
        mac.update(&[space]);
        mac.update(text.as_bytes());
        uuid_of(&mac.finalize().into_bytes())
    }
}

impl fmt::Debug for IdentityKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IdentityKey(secret)")
    }
}

/// The first 16 bytes of a hash as a uuid v8, the version for ids of one's own making.
fn uuid_of(hash: &[u8]) -> Uuid {
    let bytes: [u8; 16] = hash[..16].try_into().expect("a SHA-256 hash has 32 bytes");
    uuid::Builder::from_custom_bytes(bytes).into_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_id_carries_its_time() {
        let id = WorkspaceId::new(Timestamp::from_millis(1_700_000_000_123), [7; 10]);
        assert_eq!(id.as_uuid().get_version_num(), 7);
        assert!(id.to_string().starts_with("018bcfe5-687b-7"), "{id}");
    }

    #[test]
    fn one_name_is_one_id_and_spaces_do_not_mix() {
        let (ours, theirs) = (IdentityKey::new([1; 32]), IdentityKey::new([2; 32]));
        assert_eq!(ours.contact_of_user("u1"), ours.contact_of_user("u1"));
        assert_ne!(ours.contact_of_user("u1"), ours.contact_of_anonymous("u1"));
        assert_ne!(ours.contact_of_user("u1"), theirs.contact_of_user("u1"));
        let (email, phone) = (ours.address("1"), ours.phone("1"));
        assert_ne!(email, phone);
        assert!(![email, phone].contains(&ours.other_address("1")));
        assert_ne!(phone, theirs.phone("1"));
    }

    #[test]
    fn derived_ids_depend_on_every_part() {
        let cause = EventId::of_message("m");
        let id = EventId::derived("segments", cause, 0);
        assert_eq!(id, EventId::derived("segments", cause, 0));
        assert_ne!(id, EventId::derived("segments", cause, 1));
        assert_ne!(id, EventId::derived("journeys", cause, 0));
        assert_ne!(
            id,
            EventId::derived("segments", EventId::of_message("n"), 0)
        );
    }

    #[test]
    fn a_seal_is_whole_and_of_its_own() {
        let (ours, theirs) = (IdentityKey::new([1; 32]), IdentityKey::new([2; 32]));
        let tag = ours.seal(b"bytes");
        assert!(ours.is_seal(b"bytes", &tag));
        assert!(!ours.is_seal(b"other", &tag));
        assert!(!theirs.is_seal(b"bytes", &tag));
        assert!(!ours.is_seal(b"bytes", &tag[..31]));
        assert!(!ours.is_seal(b"bytes", &[]));
        assert_ne!(tag[..8], ours.sign(b"bytes"));
    }

    #[test]
    fn a_secret_is_never_printed() {
        assert_eq!(
            format!("{:?}", IdentityKey::new([9; 32])),
            "IdentityKey(secret)"
        );
    }
}
