//! Hashes. Bitcoin's are SHA-256 twice and are read backwards by people; ours are SHA-256
//! once and are read as they stand. Two types, so that neither is taken for the other.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest as _, Sha256};

/// SHA-256 of SHA-256: a block, a transaction, or a node between them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Hash256(pub [u8; 32]);

/// SHA-256: a version, its content, or a node of a batch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Digest(pub [u8; 32]);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("64 hexadecimal digits in lower case are wanted")]
pub struct HexError;

#[cfg(test)]
thread_local! {
    /// How many pairs were hashed: what a proof costs, whatever the machine.
    pub(super) static PAIRS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

impl Hash256 {
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(Sha256::digest(bytes)).into())
    }

    /// The parent of two nodes of a block's tree.
    pub fn of_pair(left: &Self, right: &Self) -> Self {
        #[cfg(test)]
        PAIRS.with(|pairs| pairs.set(pairs.get() + 1));
        let mut both = [0; 64];
        both[..32].copy_from_slice(&left.0);
        both[32..].copy_from_slice(&right.0);
        Self::of(&both)
    }
}

impl Digest {
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    pub fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        parts.iter().for_each(|part| hasher.update(part));
        Self(hasher.finalize().into())
    }
}

/// Upper case is refused: one hash has one text, or texts could not be compared.
fn parse_hex(text: &str) -> Result<[u8; 32], HexError> {
    let mut bytes = [0; 32];
    let lower = !text.bytes().any(|byte| byte.is_ascii_uppercase());
    match hex::decode_to_slice(text, &mut bytes) {
        Ok(()) if lower => Ok(bytes),
        _ => Err(HexError),
    }
}

impl fmt::Display for Hash256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = self.0;
        shown.reverse();
        f.write_str(&hex::encode(shown))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for Hash256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for Hash256 {
    type Err = HexError;

    fn from_str(text: &str) -> Result<Self, HexError> {
        let mut bytes = parse_hex(text)?;
        bytes.reverse();
        Ok(Self(bytes))
    }
}

impl FromStr for Digest {
    type Err = HexError;

    fn from_str(text: &str) -> Result<Self, HexError> {
        parse_hex(text).map(Self)
    }
}

impl Serialize for Hash256 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash256 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}
