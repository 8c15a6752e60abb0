//! Evidence of what became of messages and of who asked not to get any: many events of the log
//! as one root. Of an event's payload only the hash is in it, so it gives nobody away, and still
//! holds when the payload was erased; whoever has the payload can show that it was there.

use serde::{Deserialize, Serialize};

use super::batch::{BATCH_MAX, Batch};
use super::hash::Digest;
use crate::event::{Kind, Position, Recorded};
use crate::id::EventId;
use crate::time::Timestamp;

const ENTRY_TAG: &[u8] = b"kurier.event.v1\0";

/// An event as it is gathered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Entry {
    pub position: Position,
    pub id: EventId,
    pub kind: String,
    pub recorded_at: Timestamp,
    /// Of the payload as it stands in the log.
    pub payload_sha256: Digest,
}

/// All events of a time that are evidence, in the order of the log: what is kept, to show
/// something with it later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Gathered {
    pub from: Timestamp,
    /// Not included.
    pub to: Timestamp,
    pub entries: Vec<Entry>,
}

/// `evidence.gathered`: what a version commits to. The root stands for every entry; who gathered
/// it stands beside it in the event, and not in here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    pub from: Timestamp,
    pub to: Timestamp,
    pub count: u32,
    pub root: Digest,
}

impl Entry {
    /// None if an event is evidence of nothing.
    pub fn of(recorded: &Recorded) -> Option<Self> {
        let event = &recorded.event;
        let is_evidence = event.kind.is_of_message() || event.kind.is_of_consent();
        is_evidence.then(|| Self {
            position: recorded.position,
            id: event.id,
            kind: event.kind.as_str().to_owned(),
            recorded_at: event.recorded_at,
            payload_sha256: Digest::of(event.payload.as_bytes()),
        })
    }

    /// All parts but one have a length of their own, so they cannot run into each other.
    fn leaf(&self) -> Digest {
        Digest::of_parts(&[
            ENTRY_TAG,
            &self.position.0.to_be_bytes(),
            self.id.as_uuid().as_bytes(),
            &self.recorded_at.as_micros().to_be_bytes(),
            &self.payload_sha256.0,
            self.kind.as_bytes(),
        ])
    }
}

impl Gathered {
    /// None of no events, or of more than a batch holds.
    pub fn summary(&self) -> Option<Summary> {
        let leaves: Vec<Digest> = self.entries.iter().map(Entry::leaf).collect();
        let root = Batch::new(&leaves)?.root();
        Some(Summary {
            from: self.from,
            to: self.to,
            count: u32::try_from(leaves.len()).ok()?,
            root,
        })
    }

    /// Whether it is more than a batch holds.
    pub fn is_too_large(&self) -> bool {
        self.entries.len() > BATCH_MAX
    }
}

impl Summary {
    /// The name of its version.
    pub fn title(&self) -> String {
        format!("evidence/{}/{}@1", self.from, self.to)
    }

    /// JSON without spaces, the fields in the order of this struct.
    pub fn canonical(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("times, a number and a digest are JSON")
    }
}

impl Kind {
    /// Whether it says who does not want messages, or wants them again.
    pub const fn is_of_consent(self) -> bool {
        matches!(self, Self::AddressSuppressed | Self::AddressReleased)
    }
}
