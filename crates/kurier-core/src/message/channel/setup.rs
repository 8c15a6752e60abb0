//! What each kind of channel speaks to.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ChannelKind;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Setup {
    Email(Box<Email>),
    Webhook(Webhook),
    Slack(Slack),
    Sms(Sms),
    Outbox,
}

/// How a connection to a mail server is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Security {
    /// Not at all.
    None,
    /// From the command STARTTLS on; without it nothing is sent.
    #[default]
    Starttls,
    /// From the first byte.
    Tls,
}

/// Whom a mail is from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sender {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub address: String,
}

/// Whose signature stands in a mail; the key is the secret `dkim_private_key`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dkim {
    pub domain: String,
    pub selector: String,
}

/// A mail server. Secrets: `password`, `dkim_private_key`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Email {
    pub host: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    #[serde(default)]
    pub security: Security,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    pub from: Sender,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<Sender>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dkim: Option<Dkim>,
    /// Beside the web page, where one can unsubscribe by mail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsubscribe_mailto: Option<String>,
    /// A certificate in PEM that is trusted instead of the public ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_certificate: Option<String>,
    #[serde(default = "pool_size")]
    pub pool_size: u32,
    #[serde(default = "email_timeout")]
    pub timeout_seconds: u32,
}

const fn pool_size() -> u32 {
    16
}

const fn email_timeout() -> u32 {
    60
}

impl Email {
    pub fn port(&self) -> u16 {
        self.port.unwrap_or(match self.security {
            Security::None => 25,
            Security::Starttls => 587,
            Security::Tls => 465,
        })
    }
}

/// An endpoint that is posted to. Secret: `signing_secret`; several, with spaces between,
/// sign together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    pub url: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_certificate: Option<String>,
    #[serde(default = "webhook_concurrency")]
    pub concurrency: u32,
    #[serde(default = "http_timeout")]
    pub timeout_seconds: u32,
}

const fn webhook_concurrency() -> u32 {
    64
}

const fn http_timeout() -> u32 {
    15
}

/// A Slack workspace. Secret: `token` of a bot, or the `webhook_url` of one channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slack {
    /// Where a message goes that names no recipient.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    #[serde(default = "slack_api")]
    pub api_url: String,
    #[serde(default = "slack_concurrency")]
    pub concurrency: u32,
    #[serde(default = "http_timeout")]
    pub timeout_seconds: u32,
}

fn slack_api() -> String {
    "https://slack.com/api".to_owned()
}

const fn slack_concurrency() -> u32 {
    4
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "provider", rename_all = "snake_case")]
pub enum Sms {
    Twilio(Twilio),
    Http(Generic),
}

/// Twilio, or what looks like it. Secret: `auth_token`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Twilio {
    pub account_sid: String,
    /// The number or name it is from; or else a messaging service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messaging_service_sid: Option<String>,
    #[serde(default = "twilio_api")]
    pub base_url: String,
    #[serde(default = "sms_concurrency")]
    pub concurrency: u32,
    #[serde(default = "http_timeout")]
    pub timeout_seconds: u32,
}

fn twilio_api() -> String {
    "https://api.twilio.com".to_owned()
}

const fn sms_concurrency() -> u32 {
    16
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    #[default]
    Post,
    Put,
}

/// Any provider that takes a message in one request. Secret: `authorization`, the value of
/// that header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generic {
    pub url: String,
    #[serde(default)]
    pub method: Method,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    #[serde(default = "json")]
    pub content_type: String,
    /// The request's body, in which `{to}`, `{text}` and `{id}` are filled in, written as its
    /// content type needs it.
    #[serde(default = "sms_body")]
    pub body: String,
    #[serde(default = "sms_concurrency")]
    pub concurrency: u32,
    #[serde(default = "http_timeout")]
    pub timeout_seconds: u32,
}

fn json() -> String {
    "application/json".to_owned()
}

fn sms_body() -> String {
    r#"{"to": "{to}", "text": "{text}", "id": "{id}"}"#.to_owned()
}

impl Setup {
    pub const fn kind(&self) -> ChannelKind {
        match self {
            Self::Email(_) => ChannelKind::Email,
            Self::Webhook(_) => ChannelKind::Webhook,
            Self::Slack(_) => ChannelKind::Slack,
            Self::Sms(_) => ChannelKind::Sms,
            Self::Outbox => ChannelKind::Outbox,
        }
    }

    /// The secrets that it can have.
    pub const fn secrets(&self) -> &'static [&'static str] {
        match self {
            Self::Email(_) => &["password", "dkim_private_key"],
            Self::Webhook(_) => &["signing_secret"],
            Self::Slack(_) => &["token", "webhook_url"],
            Self::Sms(Sms::Twilio(_)) => &["auth_token"],
            Self::Sms(Sms::Http(_)) => &["authorization"],
            Self::Outbox => &[],
        }
    }

    /// Whom secrets are told to, and how one knows that it is they. Whoever changes that does
    /// not take along what was told in confidence to another.
    pub fn confidant(&self) -> Option<(&[&'static str], [&str; 2])> {
        match self {
            Self::Email(it) => {
                let certificate = it.ca_certificate.as_deref().unwrap_or_default();
                Some((&["password"], [&it.host, certificate]))
            }
            Self::Slack(it) => Some((&["token"], [&it.api_url, ""])),
            Self::Sms(Sms::Twilio(it)) => Some((&["auth_token"], [&it.base_url, ""])),
            Self::Sms(Sms::Http(it)) => Some((&["authorization"], [&it.url, ""])),
            Self::Webhook(_) | Self::Outbox => None,
        }
    }

    pub(super) fn read(kind: ChannelKind, written: Value) -> serde_json::Result<Self> {
        fn of<T: DeserializeOwned>(written: Value) -> serde_json::Result<T> {
            serde_json::from_value(written)
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Nothing {}
        Ok(match kind {
            ChannelKind::Email => Self::Email(of(written)?),
            ChannelKind::Webhook => Self::Webhook(of(written)?),
            ChannelKind::Slack => Self::Slack(of(written)?),
            ChannelKind::Sms => Self::Sms(of(written)?),
            ChannelKind::Outbox => {
                of::<Nothing>(written)?;
                Self::Outbox
            }
        })
    }

    pub(super) fn written(&self) -> Value {
        let written = match self {
            Self::Email(email) => serde_json::to_value(email),
            Self::Webhook(webhook) => serde_json::to_value(webhook),
            Self::Slack(slack) => serde_json::to_value(slack),
            Self::Sms(sms) => serde_json::to_value(sms),
            Self::Outbox => Ok(Value::Object(serde_json::Map::new())),
        };
        written.expect("settings have only keys that are text")
    }
}
