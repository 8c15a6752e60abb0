//! What a channel answers when it is handed a letter.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It was taken; the receipt is what the provider calls it.
    Sent { receipt: Option<String> },
    /// It was certainly not taken.
    Refused(Refusal),
    /// It was handed over and the answer was lost: it may have been taken.
    Unknown { detail: String },
}

/// Why a letter was not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    pub category: Category,
    pub blame: Blame,
    /// What a machine may tell it by: `smtp 550 5.1.1`, `http 503`, `timeout`, `template`.
    pub code: String,
    /// What a person is told. Never a secret, and at most a few hundred characters.
    pub detail: String,
    /// So many seconds the provider wants to be left alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
}

/// Whether trying again may help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// Busy, limited, or not now: it is tried again.
    Temporary,
    /// It will be refused whenever it is tried.
    Permanent,
    /// The way there failed: it is tried again.
    Retryable,
}

/// Whose fault it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Blame {
    /// The address: a permanent refusal suppresses it.
    Recipient,
    /// The letter itself.
    Message,
    /// The channel or the way to it: it counts for the breaker. A permanent one (a wrong
    /// password) opens the breaker at once, and costs the message no attempt.
    Channel,
}

impl Category {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Temporary => "temporary",
            Self::Permanent => "permanent",
            Self::Retryable => "retryable",
        }
    }
}
