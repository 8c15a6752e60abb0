//! Which contacts a stretch of the log changed, for the processes that did not fold it.

use super::{Key, Lifetime};
use crate::event::Position;
use crate::id::WorkspaceId;

/// As long as what is remembered of contacts: later nobody has anything left to forget.
const LIFETIME_SECONDS: u64 = 600;

/// Up to where the stretch goes, whom it changed, and of whom only the timeline: bytes, see
/// [`Changed::encode`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    pub to: Position,
    pub contacts: Vec<[u8; 32]>,
    pub timelines: Vec<[u8; 32]>,
}

/// `contacts:INSTALLATION:changes:FROM`. The installation is known by its first workspace: two of
/// them may share a Redis, and their positions mean different events.
pub fn contacts(installation: WorkspaceId, from: Position) -> Key<Changed> {
    let lifetime = Lifetime::seconds(LIFETIME_SECONDS).unwrap_or(Lifetime::FOREVER);
    Key::new(format!("contacts:{installation}:changes:{from}"), lifetime)
}

impl Changed {
    pub fn encode(&self) -> Vec<u8> {
        let (to, count) = (self.to.0.to_be_bytes(), self.contacts.len() as u64);
        let all = self.contacts.iter().chain(&self.timelines);
        to.into_iter()
            .chain(count.to_be_bytes())
            .chain(all.flatten().copied())
            .collect()
    }

    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (to, rest) = bytes.split_first_chunk::<8>()?;
        let (count, rest) = rest.split_first_chunk::<8>()?;
        let (all, rest) = rest.as_chunks::<32>();
        let count = usize::try_from(u64::from_be_bytes(*count)).ok()?;
        let (contacts, timelines) = all.split_at_checked(count)?;
        rest.is_empty().then(|| Self {
            to: Position(i64::from_be_bytes(*to)),
            contacts: contacts.to_vec(),
            timelines: timelines.to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let changed = Changed {
            to: Position(9),
            contacts: vec![[1; 32], [2; 32]],
            timelines: vec![[3; 32]],
        };
        assert_eq!(Changed::decode(&changed.encode()), Some(changed.clone()));
        assert_eq!(Changed::decode(&changed.encode()[..50]), None);
        let key = contacts(WorkspaceId::from_bytes([1; 16]), Position(4));
        assert_eq!(
            key.text(),
            "contacts:01010101-0101-0101-0101-010101010101:changes:4"
        );
    }
}
