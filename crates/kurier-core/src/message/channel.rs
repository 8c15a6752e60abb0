//! How a channel is set up: what it speaks to, and within which limits. Secrets are named
//! here and kept elsewhere.

mod check;
mod setup;

pub use setup::{
    Dkim, Email, Generic, Method, Security, Sender, Setup, Slack, Sms, Twilio, Webhook,
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{BreakerLimits, ContactLimit, OnUnknown, RETRIES_DEFAULT};

pub const NAME_CHARS_MAX: usize = 64;

/// What a channel is. The names are also those of the channels that there are without any
/// being set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChannelKind {
    Email,
    Webhook,
    Slack,
    Sms,
    /// Hands nothing on: messages are kept to look at.
    Outbox,
}

impl ChannelKind {
    pub const ALL: &[Self] = &[
        Self::Email,
        Self::Webhook,
        Self::Slack,
        Self::Sms,
        Self::Outbox,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Webhook => "webhook",
            Self::Slack => "slack",
            Self::Sms => "sms",
            Self::Outbox => "outbox",
        }
    }

    /// The attribute that holds a contact's address.
    pub const fn attribute(self) -> Option<&'static str> {
        match self {
            Self::Email => Some("email"),
            Self::Sms => Some("phone"),
            Self::Slack => Some("slack"),
            Self::Webhook | Self::Outbox => None,
        }
    }

    pub fn of(name: &str) -> Option<Self> {
        let mut all = Self::ALL.iter();
        all.find(|kind| kind.as_str() == name).copied()
    }

    /// Where the provider can tell a repeat by its id, or a second one does little harm, what
    /// may have arrived is sent again.
    const fn on_unknown(self) -> OnUnknown {
        match self {
            Self::Email | Self::Webhook | Self::Outbox => OnUnknown::Resend,
            Self::Slack | Self::Sms => OnUnknown::Ask,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Form", into = "Form")]
pub struct ChannelSettings {
    pub setup: Setup,
    pub enabled: bool,
    pub rate_limit_per_minute: Option<u32>,
    pub contact_limit: Option<ContactLimit>,
    pub max_retries: u32,
    pub on_unknown: OnUnknown,
    pub breaker: BreakerLimits,
}

/// One thing that is wrong with settings, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{pointer}: {detail}")]
pub struct Problem {
    /// A JSON pointer into the settings.
    pub pointer: String,
    pub detail: String,
}

impl Problem {
    pub fn new(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            pointer: pointer.into(),
            detail: detail.into(),
        }
    }
}

/// Settings as they are written.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    kind: ChannelKind,
    #[serde(default = "nothing")]
    settings: Value,
    #[serde(default = "yes")]
    enabled: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rate_limit_per_minute: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    contact_limit: Option<ContactLimit>,
    #[serde(default = "max_retries")]
    max_retries: u32,
    #[serde(default)]
    on_unknown: Option<OnUnknown>,
    #[serde(default)]
    breaker: BreakerLimits,
}

fn nothing() -> Value {
    Value::Object(serde_json::Map::new())
}

const fn yes() -> bool {
    true
}

const fn max_retries() -> u32 {
    RETRIES_DEFAULT
}

impl ChannelSettings {
    /// The settings of a channel that nobody set up.
    pub fn of(setup: Setup) -> Self {
        Self {
            on_unknown: setup.kind().on_unknown(),
            setup,
            enabled: true,
            rate_limit_per_minute: None,
            contact_limit: None,
            max_retries: RETRIES_DEFAULT,
            breaker: BreakerLimits::default(),
        }
    }

    /// Reads and checks what someone wrote; all faults at once, where it can be read at all.
    pub fn read(written: Value) -> Result<Self, Vec<Problem>> {
        let form: Form =
            serde_json::from_value(written).map_err(|e| vec![Problem::new("", e.to_string())])?;
        let settings = Self::try_from(form).map_err(|problem| vec![problem])?;
        let problems = settings.check();
        if problems.is_empty() {
            Ok(settings)
        } else {
            Err(problems)
        }
    }

    pub const fn kind(&self) -> ChannelKind {
        self.setup.kind()
    }
}

impl TryFrom<Form> for ChannelSettings {
    type Error = Problem;

    fn try_from(form: Form) -> Result<Self, Problem> {
        let setup = Setup::read(form.kind, form.settings)
            .map_err(|e| Problem::new("/settings", e.to_string()))?;
        Ok(Self {
            setup,
            enabled: form.enabled,
            rate_limit_per_minute: form.rate_limit_per_minute,
            contact_limit: form.contact_limit,
            max_retries: form.max_retries,
            on_unknown: form.on_unknown.unwrap_or(form.kind.on_unknown()),
            breaker: form.breaker,
        })
    }
}

impl From<ChannelSettings> for Form {
    fn from(settings: ChannelSettings) -> Self {
        Self {
            kind: settings.kind(),
            settings: settings.setup.written(),
            enabled: settings.enabled,
            rate_limit_per_minute: settings.rate_limit_per_minute,
            contact_limit: settings.contact_limit,
            max_retries: settings.max_retries,
            on_unknown: Some(settings.on_unknown),
            breaker: settings.breaker,
        }
    }
}

/// Why a name cannot be a channel's.
pub fn check_name(name: &str) -> Result<(), Problem> {
    let fits = (1..=NAME_CHARS_MAX).contains(&name.len());
    let begins = name.starts_with(|c: char| c.is_ascii_lowercase());
    let mut bytes = name.bytes();
    let plain = bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_.".contains(&b));
    if fits && begins && plain {
        return Ok(());
    }
    let detail = format!(
        "a name begins with a small letter and has up to {NAME_CHARS_MAX} of a-z, 0-9, `-`, `_` and `.`"
    );
    Err(Problem::new("/name", detail))
}

#[cfg(test)]
mod tests;
