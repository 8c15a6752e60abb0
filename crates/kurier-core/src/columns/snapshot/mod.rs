//! The world written down and read again. What is written is in frames, each with a checksum
//! that is verified before anything in it is believed.

mod frame;
mod recode;

pub use frame::{Sink, Source};
pub use recode::Recode;

use std::io::{self, Read, Write};

use super::World;
use super::block::Block;
use super::people::People;
use super::pool::Pool;
use super::schema::{EventTypes, Paths};
use crate::event::Position;

/// Changes whenever the same world would be written differently.
const VERSION: u32 = 1;
const MAGIC: &[u8; 8] = b"KURWORLD";

#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    #[error("the snapshot cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("this is not a snapshot of a world")]
    Foreign,
    #[error("the snapshot is of version {0}, and this program reads version {VERSION}")]
    Version(u32),
    #[error("the snapshot is damaged")]
    Damaged,
}

impl World {
    /// Writes the world down. Texts that nobody has any more are left out: what was erased
    /// is not in a snapshot.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        let mut sink = Sink::new(out);
        sink.values(&[self.position.0, i64::from(self.arrivals), self.shape as i64])?;
        self.people.write(&mut sink)?;
        let user_ids = Recode::of(
            &self.user_ids,
            self.blocks.iter().filter_map(Block::user_ids),
        );
        self.user_ids.write(&user_ids, &mut sink)?;
        let of_attribute = |path| {
            self.blocks
                .iter()
                .filter_map(move |block| block.attributes(path))
        };
        let attributes = self.attributes.write(of_attribute, &mut sink)?;
        let types = self.types.write(
            |number, path| {
                let sets = self
                    .blocks
                    .iter()
                    .filter_map(move |block| block.set(number));
                sets.filter_map(move |set| set.property(path))
            },
            &mut sink,
        )?;
        sink.number(self.blocks.len())?;
        for block in &self.blocks {
            block.write(&user_ids, &attributes, &types, &mut sink)?;
        }
        sink.finish()
    }

    /// Reads a world that was written down; any damage is noticed.
    pub fn read(from: &mut impl Read) -> Result<Self, SnapshotError> {
        let mut head = [0; 12];
        from.read_exact(&mut head)?;
        if &head[..8] != MAGIC {
            return Err(SnapshotError::Foreign);
        }
        let version = u32::from_le_bytes([head[8], head[9], head[10], head[11]]);
        if version != VERSION {
            return Err(SnapshotError::Version(version));
        }
        let mut source = Source::new(from);
        let numbers: Vec<i64> = source.values()?;
        let [position, arrivals, shape] = numbers[..] else {
            return Err(SnapshotError::Damaged);
        };
        let people = People::read(&mut source)?;
        let user_ids = Pool::read(&mut source)?;
        let attributes = Paths::read(&mut source)?;
        let types = EventTypes::read(&mut source)?;
        let blocks = source.number()?;
        let blocks = (0..blocks).map(|_| Block::read(&mut source));
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
        })
    }
}
