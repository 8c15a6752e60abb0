//! How far a message has come.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageState {
    /// A channel is to take it.
    Queued,
    /// It is being handed to its channel.
    Sending,
    /// A channel has taken it.
    Sent,
    /// It was refused for now and is tried again.
    Retrying,
    /// It was refused for good, or too often.
    Failed,
    /// A guard kept it back, and the reason says which.
    Skipped,
    /// It was handed over and the answer was lost: it may have arrived.
    Unknown,
}

impl MessageState {
    pub const ALL: &[Self] = &[
        Self::Queued,
        Self::Sending,
        Self::Sent,
        Self::Retrying,
        Self::Failed,
        Self::Skipped,
        Self::Unknown,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Sending => "sending",
            Self::Sent => "sent",
            Self::Retrying => "retrying",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Unknown => "unknown",
        }
    }

    pub fn of(text: &str) -> Option<Self> {
        let mut all = Self::ALL.iter();
        all.find(|state| state.as_str() == text).copied()
    }
}
