//! All realms at one position of the log, written down and read again. Each part is in frames
//! with checksums; a world is written as `columns` writes it.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read, Write};

use super::changes::Changes;
use super::{Live, Realm};
use crate::columns::{Bitmap, Sink, SnapshotError, Source, World, read_head, write_head};
use crate::event::Position;
use crate::expr::{Checked, Place};
use crate::id::{EventId, SegmentId, WorkspaceId};
use crate::time::Timestamp;

pub type Realms = HashMap<WorkspaceId, Realm>;

/// Changes whenever the same realms would be written differently.
const VERSION: u32 = 1;
const MAGIC: &[u8; 8] = b"KURREALM";

/// The realms as they were when everything up to a position was folded, and everything
/// decided by then was written.
#[derive(Debug)]
pub struct Snapshot {
    pub position: Position,
    /// The event at that position: in another log it is another.
    pub event: EventId,
    pub realms: Realms,
}

impl Snapshot {
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        write_head(out, MAGIC, VERSION)?;
        let mut realms: Vec<_> = self.realms.iter().collect();
        realms.sort_unstable_by_key(|(workspace, _)| **workspace);
        let mut sink = Sink::new(out);
        sink.values(&[self.position.0])?;
        sink.values(self.event.as_uuid().as_bytes())?;
        sink.number(realms.len())?;
        for (workspace, realm) in &realms {
            sink.values(workspace.as_uuid().as_bytes())?;
            realm.write_segments(&mut sink)?;
        }
        sink.finish()?;
        for (_, realm) in &realms {
            realm.world.write(out)?;
        }
        Ok(())
    }

    /// Reads realms that were written down; any damage is noticed.
    pub fn read(from: &mut impl Read) -> Result<Self, SnapshotError> {
        read_head(from, MAGIC, VERSION)?;
        let mut source = Source::new(from);
        let position = Position(one(&mut source)?);
        let event = EventId::from_bytes(id(&mut source)?);
        let mut known = Vec::new();
        for _ in 0..source.number()? {
            let workspace = WorkspaceId::from_bytes(id(&mut source)?);
            known.push((workspace, Segments::read(&mut source)?));
        }
        source.finish()?;
        let mut realms = Realms::new();
        for (workspace, segments) in known {
            realms.insert(workspace, segments.of_world(World::read(from)?));
        }
        match from.read(&mut [0])? {
            0 => Ok(Self {
                position,
                event,
                realms,
            }),
            _ => Err(SnapshotError::Damaged),
        }
    }
}

fn one(source: &mut Source<'_>) -> Result<i64, SnapshotError> {
    let values: Vec<i64> = source.values()?;
    values.first().copied().ok_or(SnapshotError::Damaged)
}

fn id(source: &mut Source<'_>) -> Result<[u8; 16], SnapshotError> {
    let bytes: Vec<u8> = source.values()?;
    bytes.try_into().map_err(|_| SnapshotError::Damaged)
}

impl Realm {
    fn write_segments(&self, sink: &mut Sink<'_>) -> io::Result<()> {
        sink.values(&[self.now.as_micros()])?;
        sink.number(self.segments.len())?;
        for (segment, live) in &self.segments {
            sink.values(segment.as_uuid().as_bytes())?;
            sink.number(usize::from(live.dynamic.is_some()))?;
            let expression = live.dynamic.as_ref().map(|d| d.checked.canonical());
            sink.text(&expression.unwrap_or_default())?;
            sink.values(&[live.due.as_micros()])?;
            sink.values(live.members.words())?;
        }
        Ok(())
    }
}

/// A realm's segments while its world is still to be read.
struct Segments {
    now: Timestamp,
    all: Vec<(SegmentId, Option<Checked>, Timestamp, Bitmap)>,
}

impl Segments {
    fn read(source: &mut Source<'_>) -> Result<Self, SnapshotError> {
        let now = Timestamp::from_micros(one(source)?);
        let mut all = Vec::new();
        for _ in 0..source.number()? {
            let segment = SegmentId::from_bytes(id(source)?);
            let (is_dynamic, text) = (source.number()? != 0, source.text()?);
            let checked = is_dynamic.then(|| Checked::new(&text, Place::SEGMENT));
            let checked = checked.transpose().map_err(|_| SnapshotError::Damaged)?;
            let due = Timestamp::from_micros(one(source)?);
            all.push((segment, checked, due, Bitmap::from_words(source.values()?)));
        }
        Ok(Self { now, all })
    }

    fn of_world(self, world: World) -> Realm {
        let live = |(segment, checked, due, members)| {
            let live = Live::new(&world, checked, members);
            (segment, Live { due, ..live })
        };
        Realm {
            segments: self.all.into_iter().map(live).collect(),
            recalled: BTreeMap::new(),
            changes: Changes::default(),
            now: self.now,
            world,
        }
    }
}
