//! What a recipient does not want, and whether a message may go to them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::event::{Event, Kind};
use crate::id::{AddressKey, ContactId, EventId, MessageId};
use crate::time::Timestamp;

const TOPIC_CHARS_MAX: usize = 100;

/// What messages are about. A topic has one form: capitals and spaces around it say nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Topic(String);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a topic has 1 to {TOPIC_CHARS_MAX} characters, is not * and has no control characters")]
pub struct BadTopic;

impl Topic {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Topic {
    type Err = BadTopic;

    fn from_str(text: &str) -> Result<Self, BadTopic> {
        let topic = text.trim().to_lowercase();
        let is_plain = !topic.contains(char::is_control) && topic != EVERY_TOPIC;
        let is_one = is_plain && (1..=TOPIC_CHARS_MAX).contains(&topic.chars().count());
        is_one.then_some(Self(topic)).ok_or(BadTopic)
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

const EVERY_TOPIC: &str = "*";

/// How much an address is kept from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reach {
    /// Nothing may go there: written as no topic at all.
    Everything,
    /// Nothing that has a topic: written `*`. What has none (a receipt) still goes.
    EveryTopic,
    Topic(Topic),
}

impl Reach {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Everything => "",
            Self::EveryTopic => EVERY_TOPIC,
            Self::Topic(topic) => topic.as_str(),
        }
    }

    /// Whether a message about this is kept back.
    fn covers(&self, topic: Option<&Topic>) -> bool {
        match self {
            Self::Everything => true,
            Self::EveryTopic => topic.is_some(),
            Self::Topic(own) => topic == Some(own),
        }
    }
}

impl FromStr for Reach {
    type Err = BadTopic;

    fn from_str(text: &str) -> Result<Self, BadTopic> {
        match text.trim() {
            "" => Ok(Self::Everything),
            EVERY_TOPIC => Ok(Self::EveryTopic),
            topic => topic.parse().map(Self::Topic),
        }
    }
}

impl Serialize for Reach {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Reach {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Why a message is kept from its recipient, as the ledger shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// Nothing may go to the address.
    Suppressed,
    /// The recipient does not want what it is about.
    OptedOut,
}

impl SkipReason {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Suppressed => "suppressed",
            Self::OptedOut => "opted_out",
        }
    }
}

/// Whether a message about `topic` is kept from an address that is kept from `all` these.
pub fn verdict<'a>(
    all: impl IntoIterator<Item = &'a Reach>,
    topic: Option<&Topic>,
) -> Option<SkipReason> {
    let covering = all.into_iter().filter(|reach| reach.covers(topic));
    let reasons = covering.map(|reach| match reach {
        Reach::Everything => SkipReason::Suppressed,
        Reach::EveryTopic | Reach::Topic(_) => SkipReason::OptedOut,
    });
    reasons.reduce(|one, other| match (one, other) {
        (SkipReason::OptedOut, other) => other,
        (suppressed, _) => suppressed,
    })
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$own:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum $name { $($(#[$own])* #[serde(rename = $text)] $variant,)* }

        impl $name {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            pub fn of(text: &str) -> Option<Self> {
                Self::ALL.iter().find(|one| one.as_str() == text).copied()
            }
        }
    };
}

words!(
    /// Why an address is kept from something. The list is closed, so nothing personal gets in.
    SuppressionReason {
        /// The recipient said so.
        Unsubscribed = "unsubscribed",
        /// The address does not exist, or refuses for good.
        Bounced = "bounced",
        /// The recipient reported a message as spam.
        Complained = "complained",
        /// An operator decided it.
        Manual = "manual",
    }
);

words!(
    /// By which way it was said.
    SuppressionSource {
        /// A mail program, with one click (RFC 8058).
        OneClick = "one_click",
        /// The page behind a message's unsubscribe link.
        Page = "page",
        Api = "api",
        Cli = "cli",
        Import = "import",
        /// A channel's answer to a message.
        Delivery = "delivery",
    }
);

/// The payload of [`Kind::AddressSuppressed`] and [`Kind::AddressReleased`]. It holds hashes
/// and words of closed lists, and so nothing that would have to be erased.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suppression {
    pub address_key: AddressKey,
    pub topic: Reach,
    pub reason: SuppressionReason,
    pub source: SuppressionSource,
    /// The message that was answered so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageId>,
}

impl Suppression {
    pub fn event(&self, kind: Kind, id: EventId, of: Option<ContactId>, now: Timestamp) -> Event {
        Event {
            id,
            kind,
            contact: of,
            occurred_at: now,
            recorded_at: now,
            payload: serde_json::to_string(self).expect("ids and words serialise"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(reaches: &[&str], topic: Option<&str>, expected: Option<SkipReason>) {
        let all = reaches.iter().map(|text| text.parse().expect("a reach"));
        let all: Vec<Reach> = all.collect();
        let topic = topic.map(|topic| topic.parse().expect("a topic"));
        assert_eq!(
            verdict(&all, topic.as_ref()),
            expected,
            "{reaches:?} {topic:?}"
        );
        let backwards = all.iter().rev();
        assert_eq!(verdict(backwards, topic.as_ref()), expected);
    }

    #[test]
    fn a_suppression_is_absolute_and_an_opt_out_is_not() {
        let (suppressed, opted_out) = (Some(SkipReason::Suppressed), Some(SkipReason::OptedOut));
        check(&[], Some("news"), None);
        check(&[], None, None);
        check(&[""], None, suppressed);
        check(&[""], Some("news"), suppressed);
        check(&["*"], Some("news"), opted_out);
        check(&["*"], None, None);
        check(&["news"], Some("News "), opted_out);
        check(&["news"], Some("offers"), None);
        check(&["news"], None, None);
        check(&["news", ""], Some("news"), suppressed);
        check(&["news", "*"], Some("news"), opted_out);
    }

    #[test]
    fn topics_have_one_form() {
        assert_eq!(
            "  Produkt-Neuheiten "
                .parse::<Topic>()
                .expect("one")
                .as_str(),
            "produkt-neuheiten"
        );
        for bad in ["", " ", "*", "a\nb", "a\0", &"x".repeat(101)] {
            assert_eq!(bad.parse::<Topic>(), Err(BadTopic), "{bad:?}");
        }
    }

    #[test]
    fn words_round_trip_and_nothing_else_is_one() {
        for reason in SuppressionReason::ALL {
            let json = serde_json::to_string(reason).expect("JSON");
            assert_eq!(json, format!("\"{}\"", reason.as_str()));
            assert_eq!(SuppressionReason::of(reason.as_str()), Some(*reason));
        }
        for source in SuppressionSource::ALL {
            assert_eq!(SuppressionSource::of(source.as_str()), Some(*source));
        }
        assert_eq!(
            SuppressionReason::of("because ann@example.com said so"),
            None
        );
    }
}
