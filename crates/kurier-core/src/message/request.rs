//! `message.requested`: what is to be sent.

use serde::{Deserialize, Serialize};

use super::Rendered;
use crate::id::{InstanceId, JourneyId, MessageId};
use crate::time::Timestamp;
use crate::value::Object;

/// What a channel is to send. Its event's id is the message's. All that a template needs is
/// in `inputs`, so what was sent can be shown again from the log alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    pub message: MessageId,
    /// The run that asked for it; without one, a program did.
    #[serde(flatten)]
    pub origin: Option<Origin>,
    pub channel: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// The version of it that was current when it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template_version: Option<u32>,
    /// What it says, where no template is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Rendered>,
    /// The address, as it was known when it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// What it is about; a recipient may have opted out of it. Without one it always goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// The values the template reads, by their paths.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub inputs: Object,
    pub priority: u8,
    /// Not before this; at once if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduled_at: Option<Timestamp>,
}

impl Request {
    /// The template's name; empty where the body was given.
    pub fn template_name(&self) -> &str {
        self.template.as_deref().unwrap_or_default()
    }
}

/// The place in a journey that asked for a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    pub journey: JourneyId,
    pub version: u32,
    pub instance: InstanceId,
    pub node: String,
}
