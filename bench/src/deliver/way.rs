//! The ways out: the outbox, a mail server and an endpoint, the last two being sinks.

use serde_json::{Value, json};

use super::Args;
use super::sink::{Protocol, Sink};
use crate::plan::Database;

const SIGNING_SECRET: &str = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";

pub enum Way {
    Outbox,
    Email(Sink),
    Webhook(Sink),
}

impl Way {
    pub fn all() -> anyhow::Result<[Self; 3]> {
        Ok([
            Self::Outbox,
            Self::Email(Sink::start(Protocol::Smtp)?),
            Self::Webhook(Sink::start(Protocol::Http)?),
        ])
    }

    pub const fn name(&self) -> &'static str {
        match self {
            Self::Outbox => "outbox",
            Self::Email(_) => "email",
            Self::Webhook(_) => "webhook",
        }
    }

    /// What the results call it.
    pub fn side(&self, database: Database) -> String {
        format!("Kurier, {}, {}", database.name(), self.name())
    }

    /// How many messages go this way.
    pub const fn count(&self, args: &Args) -> usize {
        match self {
            Self::Outbox => args.messages,
            Self::Email(_) | Self::Webhook(_) => args.letters,
        }
    }

    /// How many letters came to the sink.
    pub fn came(&self) -> Option<usize> {
        match self {
            Self::Outbox => None,
            Self::Email(sink) | Self::Webhook(sink) => Some(sink.count()),
        }
    }

    pub fn setup(&self, enabled: bool) -> Value {
        match self {
            Self::Outbox => json!({"kind": "outbox", "enabled": enabled}),
            Self::Email(sink) => json!({
                "kind": "email",
                "enabled": enabled,
                "settings": {
                    "host": sink.address.ip(),
                    "port": sink.address.port(),
                    "security": "none",
                    "from": {"address": "hello@example.com"},
                },
            }),
            Self::Webhook(sink) => json!({
                "kind": "webhook",
                "enabled": enabled,
                "settings": {"url": format!("http://{}/", sink.address)},
                "secrets": {"signing_secret": SIGNING_SECRET},
            }),
        }
    }
}
