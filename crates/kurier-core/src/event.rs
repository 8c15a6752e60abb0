//! The event envelope: what stands in the log, and nothing else changes anything.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::id::{AddressKey, ContactId, EventId, WorkspaceId};
use crate::journey::Course;
use crate::message::channel_in;
use crate::time::Timestamp;

/// An operator's name is no longer than this.
const OPERATOR_MAX: usize = 64;

/// Contacts are spread over this many lanes; order is promised within one.
pub const LANES: u8 = 64;

/// An event's place in the log: from 1, without gap, in commit order.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Position(pub i64);

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// What happened. The list is closed: a reader that meets another word refuses it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind { $($(#[$doc])* $name,)* }

        impl Kind {
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }

        impl FromStr for Kind {
            type Err = UnknownKind;

            fn from_str(text: &str) -> Result<Self, UnknownKind> {
                match text {
                    $($text => Ok(Self::$name),)*
                    other => Err(UnknownKind(other.to_owned())),
                }
            }
        }
    };
}

kinds! {
    /// A client says who a contact is and what is known of it.
    Identify = "identify",
    /// A client says that a contact did something, named by `event`.
    Track = "track",
    /// A client says that a contact saw a page.
    Page = "page",
    /// A client says that a contact saw a screen.
    Screen = "screen",
    /// A client says that a contact belongs to a group.
    Group = "group",
    /// A client says that two contacts are one.
    Alias = "alias",
    /// An operator erased a contact: what was known of it is gone.
    ContactErased = "contact.erased",
    /// Kurier itself changed a contact's attributes: a journey did.
    ContactUpdated = "contact.updated",
    SegmentCreated = "segment.created",
    SegmentChanged = "segment.changed",
    SegmentDeleted = "segment.deleted",
    /// An operator gave members to a static segment, or took them from it.
    SegmentEdited = "segment.edited",
    /// A contact became a member of a segment.
    SegmentEntered = "segment.entered",
    /// A contact ceased to be a member of a segment.
    SegmentLeft = "segment.left",
    /// A journey's draft was saved; it may have faults, and nobody enters it.
    JourneyDrafted = "journey.drafted",
    /// A version of a journey was published: who enters from now on enters it.
    JourneyPublished = "journey.published",
    /// Nobody enters a journey and nobody in it moves on, until it is resumed.
    JourneyPaused = "journey.paused",
    JourneyResumed = "journey.resumed",
    /// Nobody enters a journey any more; who is in it goes on to its end.
    JourneyRetired = "journey.retired",
    /// An operator or a program sends a contact into a journey.
    JourneyTriggered = "journey.triggered",
    /// An operator takes a contact's run out of a journey.
    JourneyCancelled = "journey.cancelled",
    /// A contact began a run.
    JourneyEntered = "journey.entered",
    /// A trigger waits for the run before it to end.
    JourneyParked = "journey.parked",
    /// A run moved on to another node.
    JourneyMoved = "journey.moved",
    /// A run ended.
    JourneyFinished = "journey.finished",
    /// A message is to be sent.
    MessageRequested = "message.requested",
    /// A message is being handed to its channel.
    MessageSending = "message.sending",
    /// A channel has taken a message.
    MessageSent = "message.sent",
    /// A message was refused for now and is tried again.
    MessageRetried = "message.retried",
    /// A guard lets a message wait.
    MessageHeld = "message.held",
    /// A guard kept a message back.
    MessageSkipped = "message.skipped",
    /// A message was refused for good, or too often: it is a dead letter.
    MessageFailed = "message.failed",
    /// A message was handed over and the answer was lost.
    MessageUnknown = "message.unknown",
    /// An operator queued a message again that had come to an end.
    MessageRedriven = "message.redriven",
    /// An operator put a message away for good that had come to an end.
    MessageDiscarded = "message.discarded",
    /// A version of a template was published: what is asked for from now on uses it.
    TemplatePublished = "template.published",
    TemplateRetired = "template.retired",
    /// A transaction that commits to versions was shown, perhaps with the proof of its block.
    VersionProven = "version.proven",
    /// What became of messages, and who wants none, was gathered into one root for a time.
    EvidenceGathered = "evidence.gathered",
    /// A channel was set up, or set up otherwise.
    ChannelConfigured = "channel.configured",
    ChannelRemoved = "channel.removed",
    SlackWorkspaceCreated = "slack_workspace.created",
    SlackWorkspaceUpdated = "slack_workspace.updated",
    /// A Slack workspace is no longer used; what was known of it stays, but for its secrets.
    SlackWorkspaceArchived = "slack_workspace.archived",
    /// Documents came in, or came in anew: their parts have keys, given here once and for all.
    ContentImported = "content.imported",
    /// A document was taken away: its keys are gone for ever.
    ContentWithdrawn = "content.withdrawn",
    /// Nothing is sent to an address any more, or nothing on one topic.
    AddressSuppressed = "address.suppressed",
    /// An address may be sent to again.
    AddressReleased = "address.released",
    WorkspaceCreated = "workspace.created",
    ApiKeyCreated = "api_key.created",
    ApiKeyRevoked = "api_key.revoked",
    /// Somebody may sign in.
    UserCreated = "user.created",
    UserChanged = "user.changed",
    UserDeleted = "user.deleted",
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a kind of event this version knows")]
pub struct UnknownKind(pub String);

impl Kind {
    /// Whether it says what became of a message.
    pub const fn is_of_message(self) -> bool {
        use Kind::{
            MessageDiscarded, MessageFailed, MessageHeld, MessageRedriven, MessageRequested,
            MessageRetried, MessageSending, MessageSent, MessageSkipped, MessageUnknown,
        };
        let asked = matches!(self, MessageRequested | MessageRedriven | MessageDiscarded);
        let tried = matches!(
            self,
            MessageSending | MessageSent | MessageRetried | MessageHeld
        );
        asked || tried || matches!(self, MessageSkipped | MessageFailed | MessageUnknown)
    }

    /// Whether it says what an operator did.
    pub const fn is_of_operator(self) -> bool {
        use Kind as K;
        let is_setting_up = matches!(
            self,
            K::SegmentCreated
                | K::SegmentChanged
                | K::SegmentDeleted
                | K::SegmentEdited
                | K::JourneyDrafted
                | K::JourneyPublished
                | K::TemplatePublished
                | K::TemplateRetired
                | K::VersionProven
                | K::EvidenceGathered
                | K::ChannelConfigured
                | K::SlackWorkspaceCreated
                | K::SlackWorkspaceUpdated
                | K::SlackWorkspaceArchived
                | K::ChannelRemoved
                | K::ContentImported
                | K::ContentWithdrawn
        );
        let is_running = matches!(
            self,
            K::JourneyPaused
                | K::JourneyResumed
                | K::JourneyRetired
                | K::JourneyTriggered
                | K::JourneyCancelled
                | K::MessageRedriven
                | K::MessageDiscarded
                | K::AddressSuppressed
                | K::AddressReleased
                | K::ContactErased
        );
        let is_access = matches!(
            self,
            K::WorkspaceCreated
                | K::ApiKeyCreated
                | K::ApiKeyRevoked
                | K::UserCreated
                | K::UserChanged
                | K::UserDeleted
        );
        is_setting_up || is_running || is_access
    }

    /// Whether clients may send it; the rest is Kurier's own to say.
    pub const fn is_from_client(self) -> bool {
        use Kind::{Alias, Group, Identify, Page, Screen, Track};
        matches!(self, Identify | Track | Page | Screen | Group | Alias)
    }
}

/// An event that is not in the log yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub id: EventId,
    pub kind: Kind,
    pub contact: Option<ContactId>,
    /// When it happened, by the client's clock corrected for its skew.
    pub occurred_at: Timestamp,
    /// When we accepted it, by our clock.
    pub recorded_at: Timestamp,
    /// A JSON object, known to parse.
    pub payload: String,
}

impl Event {
    /// Says in the payload who did it.
    #[must_use]
    pub fn by(mut self, operator: &str) -> Self {
        let name = serde_json::to_string(operator).expect("text serialises");
        let rest = self.payload.trim_start().trim_start_matches('{');
        let comma = if rest.trim_start().starts_with('}') {
            ""
        } else {
            ","
        };
        self.payload = format!("{{\"by\":{name}{comma}{rest}");
        self
    }
}

/// What a payload says of who did it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Signed {
    pub by: Option<String>,
}

/// An event in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    pub position: Position,
    pub workspace: WorkspaceId,
    /// Shared: whoever follows the log reads the same one.
    pub event: Arc<Event>,
}

/// The lane of a contact's events; events of no contact share lane 0.
pub fn lane(workspace: WorkspaceId, contact: Option<ContactId>) -> u8 {
    let Some(contact) = contact else { return 0 };
    // Contact ids are keyed hashes, so any byte is spread evenly; the workspace is in the hash.
    (contact.as_uuid().as_bytes()[15] ^ workspace.as_uuid().as_bytes()[15]) % LANES
}

/// What stands in place of an erased event's payload. Of what it said only this stays, and none
/// of it is about the person. The joins: they are keyed hashes, and without them a rebuild
/// would no longer know who is who. Where a journey's run went, the channel of a message, and
/// which operator did something: without them a rebuild would count fewer than there were.
pub fn tombstone(payload: &str) -> String {
    #[derive(Serialize)]
    struct Tombstone {
        erased: bool,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        joins: Vec<ContactId>,
        #[serde(flatten)]
        stays: Stays,
    }
    let joins = serde_json::from_str::<Said<'_>>(payload).map(|said| said.joins);
    let tombstone = Tombstone {
        erased: true,
        joins: joins.unwrap_or_default(),
        stays: Stays::of(payload),
    };
    serde_json::to_string(&tombstone).expect("a list of ids serialises")
}

/// What of Kurier's own events stays.
#[derive(Serialize)]
struct Stays {
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<Course>,
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
}

impl Stays {
    fn of(payload: &str) -> Self {
        #[derive(Deserialize)]
        struct Moved {
            run: Course,
        }
        let moved = serde_json::from_str::<Moved>(payload).ok();
        let signed = serde_json::from_str::<Signed>(payload).unwrap_or_default();
        Self {
            run: moved.map(|moved| moved.run),
            channel: channel_in(payload),
            by: signed.by.filter(|by| by.len() <= OPERATOR_MAX),
        }
    }
}

/// The payload of a client's event, read without copying.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Said<'a> {
    #[serde(borrow)]
    pub message_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub user_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub anonymous_id: Option<Cow<'a, str>>,
    /// The name of a tracked event.
    #[serde(borrow)]
    pub event: Option<Cow<'a, str>>,
    /// The name of a page or screen.
    #[serde(borrow)]
    pub name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub category: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub group_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub previous_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub properties: Option<&'a RawValue>,
    #[serde(borrow)]
    pub traits: Option<&'a RawValue>,
    #[serde(borrow)]
    pub context: Option<&'a RawValue>,
    /// The client's own time, as it was sent.
    #[serde(borrow)]
    pub timestamp: Option<Cow<'a, str>>,
    /// Contacts that this event joins to its own: see `contact.rs`.
    pub joins: Vec<ContactId>,
    pub address: Option<AddressKey>,
    pub erased: bool,
}

impl Recorded {
    pub fn said(&self) -> Result<Said<'_>, serde_json::Error> {
        serde_json::from_str(&self.event.payload)
    }
}

impl Said<'_> {
    /// What a person would call this event.
    pub fn title(&self) -> Option<&str> {
        self.event.as_deref().or(self.name.as_deref())
    }
}

/// The payload of [`Kind::ContactErased`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erasure {
    /// The contact and all that were merged into it.
    pub contacts: Vec<ContactId>,
    pub addresses: Vec<AddressKey>,
    /// Where the events stand whose payloads go, as far as was known at `seen`.
    #[serde(default)]
    pub positions: Vec<Position>,
    #[serde(default)]
    pub seen: Position,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_round_trip() {
        for kind in Kind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(*kind));
        }
        assert_eq!(
            "tracked".parse::<Kind>(),
            Err(UnknownKind("tracked".into()))
        );
    }

    #[test]
    fn lanes_are_used_evenly() {
        let key = crate::id::IdentityKey::new([3; 32]);
        let workspace = WorkspaceId::new(Timestamp::default(), [1; 10]);
        let mut used = [0u32; LANES as usize];
        for n in 0..6_400 {
            used[lane(workspace, Some(key.contact_of_user(&n.to_string()))) as usize] += 1;
        }
        assert!(used.iter().all(|&n| (50..160).contains(&n)), "{used:?}");
    }
}
