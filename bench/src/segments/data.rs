//! The generated contacts and events (bench/peers/segments/data.py), as the log would hold them.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Lines, Read as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use kurier_core::accept::{Reception, accept};
use kurier_core::event::{Event, Position, Recorded};
use kurier_core::id::{ContactId, EventId, IdentityKey, WorkspaceId};
use kurier_core::time::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

/// One event of events.bin: time, amount, contact, sku, page, name, and room.
const ROW_BYTES: usize = 32;
const NONE: u16 = u16::MAX;

/// The words that the rows' codes stand for.
#[derive(Deserialize)]
pub struct Words {
    names: Vec<String>,
    skus: Vec<String>,
    pages: Vec<String>,
    /// The instant that queries look from, in seconds.
    now: i64,
}

pub struct Data {
    folder: PathBuf,
    words: Words,
}

/// One row of events.bin.
#[derive(Clone, Copy)]
pub struct Row {
    time: i64,
    amount: f64,
    pub contact: u32,
    sku: u16,
    page: u16,
    name: u32,
}

impl Row {
    fn of(bytes: &[u8; ROW_BYTES]) -> Self {
        let part = |at: usize| bytes[at..at + 4].try_into().map_or(0, u32::from_le_bytes);
        let long = |at: usize| u64::from(part(at)) | u64::from(part(at + 4)) << 32;
        Self {
            time: long(0).cast_signed(),
            amount: f64::from_bits(long(8)),
            contact: part(16),
            sku: (part(20) & 0xFFFF) as u16,
            page: (part(20) >> 16) as u16,
            name: part(24),
        }
    }

    /// It has an amount and a sku.
    pub fn has_two_properties(&self) -> bool {
        self.sku != NONE && !self.amount.is_nan()
    }
}

#[derive(Deserialize)]
struct ContactLine<'a> {
    id: u32,
    signup: i64,
    #[serde(borrow)]
    traits: &'a RawValue,
}

impl Data {
    pub fn open(folder: &Path) -> anyhow::Result<Self> {
        let folder = folder.join("plain");
        let words = std::fs::read_to_string(folder.join("names.json"))
            .with_context(|| format!("no data in {}", folder.display()))?;
        Ok(Self {
            words: serde_json::from_str(&words)?,
            folder,
        })
    }

    pub fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.words.now * 1_000_000)
    }

    pub fn contacts(&self) -> anyhow::Result<Lines<BufReader<File>>> {
        let file = File::open(self.folder.join("contacts.ndjson"))?;
        Ok(BufReader::new(file).lines())
    }

    pub fn rows(&self) -> anyhow::Result<impl Iterator<Item = Row>> {
        let mut file =
            BufReader::with_capacity(1 << 20, File::open(self.folder.join("events.bin"))?);
        let mut bytes = [0; ROW_BYTES];
        Ok(std::iter::from_fn(move || {
            file.read_exact(&mut bytes).ok()?;
            Some(Row::of(&bytes))
        }))
    }
}

/// Makes events of rows the way ingest does: by `accept`, from what a client would send.
pub struct Maker {
    key: IdentityKey,
    raw: String,
    made: u64,
}

impl Maker {
    pub fn new(key: IdentityKey) -> Self {
        Self {
            key,
            raw: String::new(),
            made: 0,
        }
    }

    pub fn contact_id(&self, contact: u32) -> ContactId {
        self.key.contact_of_user(&format!("user-{contact}"))
    }

    /// An identify with all that is known of a contact, at its signup.
    pub fn contact(&mut self, line: &str) -> anyhow::Result<Event> {
        let contact: ContactLine<'_> = serde_json::from_str(line)?;
        let at = Timestamp::from_micros(contact.signup * 1_000_000);
        let (number, traits) = (contact.id, contact.traits);
        self.raw = format!(
            r#"{{"type":"identify","messageId":"c-{number}","userId":"user-{number}","timestamp":"{at}","traits":{traits}}}"#
        );
        self.accepted(at)
    }

    pub fn event(&mut self, row: &Row, data: &Data) -> anyhow::Result<Event> {
        let at = Timestamp::from_micros(row.time * 1_000_000);
        let words = &data.words;
        let mut properties = Vec::with_capacity(2);
        if !row.amount.is_nan() {
            properties.push(format!(r#""amount":{}"#, row.amount));
        }
        if row.sku != NONE {
            properties.push(format!(r#""sku":"{}""#, words.skus[usize::from(row.sku)]));
        }
        if row.page != NONE {
            properties.push(format!(
                r#""page":"{}""#,
                words.pages[usize::from(row.page)]
            ));
        }
        self.raw = format!(
            r#"{{"type":"track","messageId":"e-{}","userId":"user-{}","event":"{}","timestamp":"{at}","properties":{{{}}}}}"#,
            self.made,
            row.contact,
            words.names[row.name as usize],
            properties.join(",")
        );
        self.accepted(at)
    }

    fn accepted(&mut self, received_at: Timestamp) -> anyhow::Result<Event> {
        self.made += 1;
        let reception = Reception {
            key: &self.key,
            received_at,
            sent_at: None,
            kind: None,
            fresh_id: &|| EventId::of_message("never needed"),
        };
        accept(&self.raw, &reception)
            .map_err(|problems| anyhow::anyhow!("{}: {problems:?}", self.raw))
    }
}

/// As the log would hand it to the reactor.
pub fn recorded(position: i64, event: Event) -> Recorded {
    Recorded {
        position: Position(position),
        workspace: WorkspaceId::from_bytes([7; 16]),
        event: event.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_as_they_are_written() {
        let mut bytes = [0u8; ROW_BYTES];
        bytes[..8].copy_from_slice(&1_767_000_000i64.to_le_bytes());
        bytes[8..16].copy_from_slice(&12.25f64.to_le_bytes());
        bytes[16..20].copy_from_slice(&70_000u32.to_le_bytes());
        bytes[20..22].copy_from_slice(&4_999u16.to_le_bytes());
        bytes[22..24].copy_from_slice(&NONE.to_le_bytes());
        bytes[24..28].copy_from_slice(&29u32.to_le_bytes());
        let row = Row::of(&bytes);
        assert_eq!((row.time, row.amount), (1_767_000_000, 12.25));
        assert_eq!((row.contact, row.name), (70_000, 29));
        assert_eq!((row.sku, row.page), (4_999, NONE));
        assert!(row.has_two_properties());
    }
}
