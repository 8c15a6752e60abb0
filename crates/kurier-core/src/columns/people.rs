//! Who is who: contacts have dense numbers in the order of first sight, and a number stands
//! for a live contact, for a part of another, or for nobody (any more).

use std::io;

use super::pool::Index;
use super::snapshot::{Sink, SnapshotError, Source};
use crate::id::ContactId;

/// Merges may be chained; nobody is merged this often.
const HOPS_MAX: usize = 1_000;

const NOBODY: u32 = u32::MAX;
const LIVE: u32 = u32::MAX - 1;

#[derive(Debug, Default, Clone)]
pub struct People {
    ids: Vec<ContactId>,
    /// [`LIVE`], [`NOBODY`], or the number of the contact it is part of.
    standings: Vec<u32>,
    index: Index,
    live: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Nobody,
    Live,
    Merged { into: u32 },
}

impl People {
    /// How many numbers were given.
    pub fn numbers(&self) -> usize {
        self.ids.len()
    }

    pub const fn live(&self) -> usize {
        self.live
    }

    pub fn id(&self, number: u32) -> ContactId {
        self.ids[number as usize]
    }

    pub fn standing(&self, number: u32) -> Standing {
        match self.standings.get(number as usize) {
            None | Some(&NOBODY) => Standing::Nobody,
            Some(&LIVE) => Standing::Live,
            Some(&into) => Standing::Merged { into },
        }
    }

    pub fn stand(&mut self, number: u32, standing: Standing) {
        let was_live = self.standing(number) == Standing::Live;
        self.live -= usize::from(was_live);
        self.live += usize::from(standing == Standing::Live);
        self.standings[number as usize] = match standing {
            Standing::Nobody => NOBODY,
            Standing::Live => LIVE,
            Standing::Merged { into } => into,
        };
    }

    pub fn find(&self, id: ContactId) -> Option<u32> {
        let found = self
            .index
            .find(hash(id), |code| self.ids[code as usize - 1] == id);
        found.map(|code| code - 1)
    }

    /// The number of an id, given now if it is new.
    pub fn add(&mut self, id: ContactId) -> u32 {
        if let Some(number) = self.find(id) {
            return number;
        }
        let number = self.ids.len() as u32;
        super::column::push(&mut self.ids, id);
        super::column::push(&mut self.standings, NOBODY);
        let ids = &self.ids;
        self.index
            .insert(hash(id), number + 1, |code| hash(ids[code as usize - 1]));
        number
    }

    /// The contact that `number` is part of by now.
    pub fn root(&self, mut number: u32) -> u32 {
        for _ in 0..HOPS_MAX {
            match self.standing(number) {
                Standing::Merged { into } => number = into,
                _ => break,
            }
        }
        number
    }

    pub fn write(&self, sink: &mut Sink<'_>) -> io::Result<()> {
        sink.values(&self.ids)?;
        sink.values(&self.standings)
    }

    pub fn read(source: &mut Source<'_>) -> Result<Self, SnapshotError> {
        let (ids, standings): (Vec<ContactId>, Vec<u32>) = (source.values()?, source.values()?);
        if ids.len() != standings.len() {
            return Err(SnapshotError::Damaged);
        }
        let live = standings.iter().filter(|standing| **standing == LIVE);
        let mut people = Self {
            live: live.count(),
            standings,
            index: Index::with_room(ids.len()),
            ids,
        };
        for (number, id) in people.ids.iter().enumerate() {
            people.index.place_new(hash(*id), number as u32 + 1);
        }
        Ok(people)
    }

    pub fn bytes(&self) -> usize {
        self.ids.capacity() * 16 + self.standings.capacity() * 4 + self.index.bytes()
    }
}

/// Contact ids are hashes already; the version's bits stand in the middle.
fn hash(id: ContactId) -> u64 {
    let bits = id.as_uuid().as_u128();
    ((bits >> 64) as u64).rotate_left(32) ^ bits as u64
}
