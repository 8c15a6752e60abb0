//! The middle part of a key: what a text is called.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Error;

pub const IDENTIFIER_BYTES_MAX: usize = 30;

/// `[a-z][a-z0-9_]{1,29}`, without `__` and without `_` at its end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Identifier {
    bytes: [u8; IDENTIFIER_BYTES_MAX],
    length: u8,
}

impl Identifier {
    pub fn as_str(&self) -> &str {
        let bytes = &self.bytes[..usize::from(self.length)];
        str::from_utf8(bytes).expect("an identifier is ASCII")
    }

    /// As much of a cleaned text as fits, hard cut; of nothing, nothing.
    pub(super) fn cut(text: &[u8]) -> Option<Self> {
        let fitting = &text[..text.len().min(IDENTIFIER_BYTES_MAX)];
        let kept = fitting.iter().rposition(|byte| *byte != b'_')? + 1;
        let mut bytes = [0; IDENTIFIER_BYTES_MAX];
        bytes[..kept].copy_from_slice(&fitting[..kept]);
        let length = u8::try_from(kept).ok()?;
        Some(Self { bytes, length })
    }

    /// The name of a further page of numbers: `whats_next` has 999, then `whats_next_2` begins.
    pub(super) fn rolled(&self, page: u32) -> Self {
        let ending = format!("_{page}");
        let room = IDENTIFIER_BYTES_MAX - ending.len();
        let kept = &self.as_str()[..self.as_str().len().min(room)];
        let rolled = format!("{}{ending}", kept.trim_end_matches('_'));
        Self::cut(rolled.as_bytes()).expect("what begins with a letter is not empty")
    }
}

/// Whether a text is an identifier. Stricter than the pattern: no `__`, no `_` at the end.
pub(super) fn is_identifier(text: &str) -> bool {
    let bytes = text.as_bytes();
    (2..=IDENTIFIER_BYTES_MAX).contains(&bytes.len())
        && bytes[0].is_ascii_lowercase()
        && bytes
            .iter()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
        && !text.ends_with('_')
        && !text.contains("__")
}

impl FromStr for Identifier {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let identifier = is_identifier(text).then(|| Self::cut(text.as_bytes()));
        let refused = || Error::Identifier(text.chars().take(80).collect());
        identifier.flatten().ok_or_else(refused)
    }
}

impl TryFrom<String> for Identifier {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<Identifier> for String {
    fn from(identifier: Identifier) -> Self {
        identifier.as_str().to_owned()
    }
}

impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
