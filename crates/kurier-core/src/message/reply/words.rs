//! Where there is no code, words are all there is.

use crate::message::Blame::{self, Channel, Recipient};
use crate::message::Category::{self, Permanent, Retryable, Temporary};

/// Read from the top; `_` stands for a space, a dash or itself.
#[rustfmt::skip]
pub(super) const WORDS: &[(&str, Category, Blame)] = &[
    ("invalid_phone", Permanent, Recipient),
    ("invalid_email", Permanent, Recipient),
    ("bounced", Permanent, Recipient),
    ("network_error", Retryable, Channel),
    ("provider_error", Retryable, Channel),
    ("timeout", Temporary, Channel),
    ("rate_limit", Temporary, Channel),
    ("server_error", Temporary, Channel),
];

const POLICY: &[&str] = &[
    "spam",
    "block",
    "blacklist",
    "denylist",
    "policy",
    "reputation",
    "content",
    "virus",
    "relay",
    "denied",
    "dmarc",
    "spf",
    "dkim",
];

pub(super) fn by_words(text: &str) -> Option<(Category, Blame)> {
    let text = text.to_lowercase().replace([' ', '-'], "_");
    let found = WORDS.iter().find(|(word, ..)| text.contains(word));
    found.map(|(_, category, blame)| (*category, *blame))
}

pub(super) fn speaks_of_policy(text: &str) -> bool {
    let text = text.to_lowercase();
    POLICY.iter().any(|word| text.contains(word))
}
