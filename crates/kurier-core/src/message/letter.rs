//! What a channel is handed.

use serde::{Deserialize, Serialize};

use crate::id::MessageId;
use crate::time::Timestamp;

/// What a template became for one recipient. Which parts there are depends on the template.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rendered {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// A JSON document: a webhook's data, or Slack's blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json: Option<String>,
}

/// A message at the moment it is handed to its channel. The same message is handed over with
/// the same id however often it is tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    pub message: MessageId,
    /// From 1.
    pub attempt: u32,
    pub at: Timestamp,
    /// The recipient's address; a webhook has none of its own.
    pub to: Option<String>,
    pub rendered: Rendered,
    /// Where one POST unsubscribes the recipient from what this is about; only for messages
    /// with a topic.
    pub unsubscribe: Option<String>,
    /// The template's name, for the recipient's machines.
    pub template: Option<String>,
    pub topic: Option<String>,
}
