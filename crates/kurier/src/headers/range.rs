//! What a source answers, in the shapes that sources have, and why one is not believed.

use kurier_core::bundle::Hash256;
use kurier_core::bundle::chain::{HEADER_BYTES, Header, RefusedAt, Tip};
use serde::Deserialize;

#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error("{0}")]
    Unreachable(String),
    #[error("its answer cannot be read: {0}")]
    Unreadable(String),
    #[error("it has no headers")]
    Empty,
    #[error("it begins above height {0}")]
    Before(u32),
    #[error("its headers at {0} are not those that were asked for")]
    Other(u32),
    #[error("it tells a block at height {told} that stands at {known}")]
    FalseHeight { told: u32, known: u32 },
    #[error("it tells a tip and no headers, so nothing can be proven with it")]
    TipOnly,
    #[error("it tells a tip and no headers, so nothing can be proven with it")]
    OnlyTip(Tip),
    #[error("it is refused: {0}")]
    Refused(RefusedAt),
    #[error("it has none of our headers, not even the first")]
    Strange,
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Self {
        Self::Unreachable(error.to_string())
    }
}

/// What JSON tells: headers, or a tip alone.
pub enum Told {
    Tip(Tip),
    Headers(Listed),
}

/// A contiguous run of headers.
pub struct Listed {
    pub start: u32,
    pub bytes: Vec<u8>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Text {
    Tip(TipText),
    Headers(Vec<Entry>),
}

/// Some put the hash into a `header` of its own.
#[derive(Deserialize)]
#[serde(untagged)]
enum TipText {
    Plain { height: u32, hash: Hash256 },
    Inner { height: u32, header: Inner },
}

#[derive(Deserialize)]
struct Inner {
    hash: Hash256,
}

#[derive(Deserialize)]
struct Entry {
    height: u32,
    header: String,
}

impl Told {
    pub fn parse(json: &[u8]) -> Result<Self, Fault> {
        let read = serde_json::from_slice(json);
        match read.map_err(|error| Fault::Unreadable(error.to_string()))? {
            Text::Tip(TipText::Plain { height, hash }) => Ok(Self::Tip(Tip { height, hash })),
            Text::Tip(TipText::Inner { height, header }) => Ok(Self::Tip(Tip {
                height,
                hash: header.hash,
            })),
            Text::Headers(entries) => Listed::of(entries).map(Self::Headers),
        }
    }
}

impl Listed {
    fn of(entries: Vec<Entry>) -> Result<Self, Fault> {
        let start = entries.first().ok_or(Fault::Empty)?.height;
        let mut bytes = Vec::with_capacity(entries.len() * HEADER_BYTES);
        for (entry, height) in entries.iter().zip(start..) {
            let header = hex::decode(&entry.header).unwrap_or_default();
            if entry.height != height || header.len() != HEADER_BYTES {
                return Err(Fault::Other(entry.height));
            }
            bytes.extend(header);
        }
        Ok(Self { start, bytes })
    }

    pub fn tip(&self) -> Result<Tip, Fault> {
        let count = self.bytes.len() / HEADER_BYTES;
        let last = count.checked_sub(1).ok_or(Fault::Empty)?;
        let header = Header::parse(&self.bytes[last * HEADER_BYTES..]);
        Ok(Tip {
            height: self.start + last as u32,
            hash: header.map_err(|_| Fault::Empty)?.hash(),
        })
    }

    pub fn range(&self, from: u32, count: u32) -> Result<Vec<u8>, Fault> {
        let first = from.checked_sub(self.start).ok_or(Fault::Before(from))? as usize;
        let from = (first * HEADER_BYTES).min(self.bytes.len());
        let to = (from + count as usize * HEADER_BYTES).min(self.bytes.len());
        Ok(self.bytes[from..to].to_vec())
    }
}

/// Headers as a server answers a range: as they are, or as JSON.
pub fn read_range(body: Vec<u8>, from: u32) -> Result<Vec<u8>, Fault> {
    let is_json = !body.len().is_multiple_of(HEADER_BYTES) || body.starts_with(b"[{");
    if !is_json {
        return Ok(body);
    }
    match Told::parse(&body)? {
        Told::Headers(listed) if listed.start == from => Ok(listed.bytes),
        _ => Err(Fault::Other(from)),
    }
}
