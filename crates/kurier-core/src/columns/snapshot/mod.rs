//! The world written down and read again. What is written is in frames, each with a checksum
//! that is verified before anything in it is believed.

mod frame;
mod recode;

pub use frame::{Sink, Source};
pub use recode::{PathCodes, Recode, TypeCodes};

use std::io::{self, Read, Write};
use std::sync::Arc;

use super::World;
use super::block::Block;
use super::event_types::EventTypes;
use super::limits::{Limits, Unkept};
use super::people::People;
use super::pool::Pool;
use super::schema::Paths;
use crate::event::Position;

/// Changes whenever the same world would be written differently.
const VERSION: u32 = 2;
const MAGIC: &[u8; 8] = b"KURWORLD";

#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    #[error("it cannot be read: {0}")]
    Io(io::Error),
    #[error("this is not a snapshot")]
    Foreign,
    #[error("it is of version {0}, which this program does not read")]
    Version(u32),
    #[error("it is damaged")]
    Damaged,
}

impl From<io::Error> for SnapshotError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Damaged,
            _ => Self::Io(error),
        }
    }
}

/// Writes what a kind of snapshot begins with.
pub fn write_head(out: &mut dyn Write, magic: &[u8; 8], version: u32) -> io::Result<()> {
    out.write_all(magic)?;
    out.write_all(&version.to_le_bytes())
}

pub fn read_head(from: &mut dyn Read, magic: &[u8; 8], version: u32) -> Result<(), SnapshotError> {
    let mut head = [0; 12];
    from.read_exact(&mut head)?;
    let (found, of_version) = head.split_at(8);
    if found != magic {
        return Err(SnapshotError::Foreign);
    }
    let found = u32::from_le_bytes([of_version[0], of_version[1], of_version[2], of_version[3]]);
    (found == version)
        .then_some(())
        .ok_or(SnapshotError::Version(found))
}

impl World {
    /// Writes the world down. Texts that nobody has any more are left out: what was erased
    /// is not in a snapshot.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        write_head(out, MAGIC, VERSION)?;
        let mut sink = Sink::new(out);
        sink.values(&[self.position.0, i64::from(self.arrivals), self.shape as i64])?;
        let Unkept {
            attributes,
            properties,
            event_types,
        } = self.unkept;
        sink.values(&[attributes, properties, event_types])?;
        self.people.write(&mut sink)?;
        let user_ids = Recode::of(
            &self.user_ids,
            self.blocks.iter().filter_map(|block| block.user_ids()),
        );
        self.user_ids.write(&user_ids, &mut sink)?;
        let user_ids = PathCodes::one(user_ids);
        let of_attribute = |path| {
            self.blocks
                .iter()
                .filter_map(move |block| block.attributes(path))
        };
        let attributes = self.attributes.write(of_attribute, &mut sink)?;
        let sets = |number| self.blocks.iter().filter_map(move |b| b.set(number));
        let is_used = |number| sets(number).any(|set| set.len() > 0);
        let of_property = |number, path| sets(number).filter_map(move |set| set.property(path));
        let types = self.types.write(is_used, of_property, &mut sink)?;
        sink.number(self.blocks.len())?;
        for block in &self.blocks {
            block.write(&user_ids, &attributes, &types, &mut sink)?;
        }
        sink.finish()
    }

    /// Reads a world that was written down; any damage is noticed. Numbers may have changed:
    /// what was prepared for the world that was written does not fit this one.
    pub fn read(from: &mut impl Read) -> Result<Self, SnapshotError> {
        read_head(from, MAGIC, VERSION)?;
        let mut source = Source::new(from);
        let numbers: Vec<i64> = source.values()?;
        let [position, arrivals, shape] = numbers[..] else {
            return Err(SnapshotError::Damaged);
        };
        let unkept: Vec<u64> = source.values()?;
        let [of_attributes, of_properties, of_types] = unkept[..] else {
            return Err(SnapshotError::Damaged);
        };
        let people = People::read(&mut source)?;
        let user_ids = Pool::read(&mut source)?;
        let attributes = Paths::read(&mut source)?;
        let types = EventTypes::read(&mut source)?;
        let blocks = source.number()?;
        let blocks = (0..blocks).map(|_| Block::read(&mut source).map(Arc::new));
        let blocks = blocks.collect::<Result<_, _>>()?;
        source.finish()?;
        Ok(Self {
            people,
            blocks,
            attributes,
            types,
            user_ids,
            arrivals: u32::try_from(arrivals).map_err(|_| SnapshotError::Damaged)?,
            shape: shape as u64,
            position: Position(position),
            limits: Limits::default(),
            unkept: Unkept {
                attributes: of_attributes,
                properties: of_properties,
                event_types: of_types,
            },
        })
    }
}
