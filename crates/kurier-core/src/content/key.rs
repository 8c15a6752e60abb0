//! Keys: `{type}:{identifier}:{number}`. A key is given once and stays with its node for life.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Error;
use super::identifier::Identifier;

/// A counter gives this many numbers, as three digits allow; then the identifier rolls on.
pub const NUMBERS_MAX: u16 = 999;

/// What a node is: a document, a heading of level 1 to 3, or what stands below headings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeType {
    Doc,
    Ch,
    Para,
    Subpara,
    Chunk,
}

impl NodeType {
    pub const ALL: [Self; 5] = [Self::Doc, Self::Ch, Self::Para, Self::Subpara, Self::Chunk];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Doc => "doc",
            Self::Ch => "ch",
            Self::Para => "para",
            Self::Subpara => "subpara",
            Self::Chunk => "chunk",
        }
    }

    /// The type of a heading; those below the third level are content.
    pub(super) const fn of_heading(level: u8) -> Option<Self> {
        match level {
            1 => Some(Self::Ch),
            2 => Some(Self::Para),
            3 => Some(Self::Subpara),
            _ => None,
        }
    }
}

impl FromStr for NodeType {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|kind| kind.as_str() == text);
        found.ok_or_else(|| Error::Type(text.chars().take(80).collect()))
    }
}

/// What a counter counts: the uses of an identifier by nodes of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Name {
    pub node_type: NodeType,
    pub identifier: Identifier,
}

/// `ch:risk_management:001`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Key {
    pub name: Name,
    number: u16,
}

impl Key {
    /// The number is at most 999.
    pub(super) fn new(name: Name, number: u16) -> Self {
        debug_assert!(number <= NUMBERS_MAX);
        Self { name, number }
    }

    pub const fn node_type(&self) -> NodeType {
        self.name.node_type
    }

    pub const fn number(&self) -> u16 {
        self.number
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Name {
            node_type,
            identifier,
        } = self.name;
        write!(f, "{}:{identifier}:{:03}", node_type.as_str(), self.number)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Key {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        parsed(text).ok_or_else(|| Error::Key(text.chars().take(80).collect()))
    }
}

fn parsed(text: &str) -> Option<Key> {
    let mut parts = text.split(':');
    let (node_type, identifier) = (parts.next()?, parts.next()?);
    let number = parts.next()?;
    let is_number = number.len() == 3 && number.bytes().all(|byte| byte.is_ascii_digit());
    if parts.next().is_some() || !is_number {
        return None;
    }
    let name = Name {
        node_type: node_type.parse().ok()?,
        identifier: identifier.parse().ok()?,
    };
    Some(Key::new(name, number.parse().ok()?))
}

impl TryFrom<String> for Key {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<Key> for String {
    fn from(key: Key) -> Self {
        key.to_string()
    }
}
