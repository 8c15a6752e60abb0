//! How long what is kept: defaults, and what an environment says instead.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// The longest time to live: a hundred years. More is a mistake in units.
pub const TTL_SECONDS_MAX: u64 = 100 * 365 * 24 * 60 * 60;

/// How long a key is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetime(Option<u64>);

impl Lifetime {
    /// Until someone removes it.
    pub const FOREVER: Self = Self(None);

    /// At least a second, at most [`TTL_SECONDS_MAX`].
    pub const fn seconds(seconds: u64) -> Option<Self> {
        match seconds {
            1..=TTL_SECONDS_MAX => Some(Self(Some(seconds))),
            _ => None,
        }
    }

    const fn minutes(minutes: u64) -> Self {
        Self(Some(minutes * 60))
    }

    const fn hours(hours: u64) -> Self {
        Self::minutes(hours * 60)
    }

    pub const fn ttl_ms(self) -> Option<u64> {
        match self.0 {
            Some(seconds) => Some(seconds * 1_000),
            None => None,
        }
    }
}

/// How long what is kept. The defaults are those the keys were designed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ttls {
    /// Up to which revision an entity was projected.
    pub version_hint: Lifetime,
    /// That an event was projected.
    pub dedup: Lifetime,
    /// That an entity was deleted.
    pub delete: Lifetime,
    pub contact: Lifetime,
    /// The newest events of a contact. Not for ever: they are personal, and a Redis that took
    /// another's place may have missed that they were erased.
    pub events: Lifetime,
    pub template: Lifetime,
    pub segment_metadata: Lifetime,
    pub journey: Lifetime,
}

impl Default for Ttls {
    fn default() -> Self {
        Self {
            version_hint: Lifetime::hours(7 * 24),
            dedup: Lifetime::hours(48),
            delete: Lifetime::hours(30 * 24),
            contact: Lifetime::minutes(5),
            events: Lifetime::minutes(1),
            template: Lifetime::minutes(30),
            segment_metadata: Lifetime::minutes(10),
            journey: Lifetime::minutes(10),
        }
    }
}

/// What a settings file says instead of a default. A number, or for ever: `null`, or `"none"`
/// where there is no `null`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TtlOverrides {
    #[serde(deserialize_with = "seconds")]
    pub version_hint_ttl_seconds: Option<Lifetime>,
    #[serde(deserialize_with = "hours")]
    pub dedup_ttl_hours: Option<Lifetime>,
    #[serde(deserialize_with = "seconds")]
    pub delete_ttl_seconds: Option<Lifetime>,
    #[serde(deserialize_with = "seconds")]
    pub contact_ttl_seconds: Option<Lifetime>,
    #[serde(deserialize_with = "bounded")]
    pub events_ttl_seconds: Option<Lifetime>,
    #[serde(deserialize_with = "seconds")]
    pub template_ttl_seconds: Option<Lifetime>,
    #[serde(deserialize_with = "seconds")]
    pub segment_metadata_ttl_seconds: Option<Lifetime>,
    #[serde(deserialize_with = "seconds")]
    pub journey_ttl_seconds: Option<Lifetime>,
}

impl Ttls {
    /// With what an environment says instead.
    #[must_use]
    pub fn overridden(self, by: &TtlOverrides) -> Self {
        Self {
            version_hint: by.version_hint_ttl_seconds.unwrap_or(self.version_hint),
            dedup: by.dedup_ttl_hours.unwrap_or(self.dedup),
            delete: by.delete_ttl_seconds.unwrap_or(self.delete),
            contact: by.contact_ttl_seconds.unwrap_or(self.contact),
            events: by.events_ttl_seconds.unwrap_or(self.events),
            template: by.template_ttl_seconds.unwrap_or(self.template),
            segment_metadata: by
                .segment_metadata_ttl_seconds
                .unwrap_or(self.segment_metadata),
            journey: by.journey_ttl_seconds.unwrap_or(self.journey),
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Said {
    Number(u64),
    Word(String),
    Null,
}

fn seconds<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Lifetime>, D::Error> {
    times(1, from)
}

/// Seconds, and not for ever.
fn bounded<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Lifetime>, D::Error> {
    let lifetime = seconds(from)?;
    match lifetime {
        Some(Lifetime::FOREVER) => Err(D::Error::custom(
            "events are personal and are remembered for a time only: a number from 1 on",
        )),
        _ => Ok(lifetime),
    }
}

fn hours<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Lifetime>, D::Error> {
    times(60 * 60, from)
}

fn times<'de, D: Deserializer<'de>>(unit: u64, from: D) -> Result<Option<Lifetime>, D::Error> {
    let wrong =
        || D::Error::custom("a time to live is a number from 1 to a hundred years, or none");
    match Said::deserialize(from).map_err(|_| wrong())? {
        Said::Null => Ok(Some(Lifetime::FOREVER)),
        Said::Word(word) if word == "none" => Ok(Some(Lifetime::FOREVER)),
        Said::Word(_) => Err(wrong()),
        Said::Number(number) => {
            let lifetime = number.checked_mul(unit).and_then(Lifetime::seconds);
            lifetime.map(Some).ok_or_else(wrong)
        }
    }
}
