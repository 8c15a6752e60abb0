//! A realm written down and read again: its segments in frames with checksums, and then its
//! world as `columns` writes it.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use super::changes::Changes;
use super::{Live, Realm};
use crate::columns::{Bitmap, Sink, SnapshotError, Source, World};
use crate::expr::{Checked, Place};
use crate::id::SegmentId;
use crate::time::Timestamp;

impl Realm {
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut sink = Sink::new(out);
        self.write_segments(&mut sink)?;
        sink.finish()?;
        self.world.write(out)
    }

    pub(crate) fn read(from: &mut impl Read) -> Result<Self, SnapshotError> {
        let mut source = Source::new(from);
        let segments = Segments::read(&mut source)?;
        source.finish()?;
        Ok(segments.of_world(World::read(from)?))
    }

    fn write_segments(&self, sink: &mut Sink<'_>) -> io::Result<()> {
        sink.one(self.now.as_micros())?;
        sink.number(self.segments.len())?;
        for (segment, live) in &self.segments {
            sink.one(segment.as_uuid().into_bytes())?;
            sink.number(usize::from(live.dynamic.is_some()))?;
            let expression = live.dynamic.as_ref().map(|d| d.checked.canonical());
            sink.text(&expression.unwrap_or_default())?;
            sink.one(live.due.as_micros())?;
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
        let now = Timestamp::from_micros(source.one()?);
        let mut all = Vec::new();
        for _ in 0..source.number()? {
            let segment = SegmentId::from_bytes(source.one()?);
            let (is_dynamic, text) = (source.number()? != 0, source.text()?);
            let checked = is_dynamic.then(|| Checked::new(&text, Place::SEGMENT));
            let checked = checked.transpose().map_err(|_| SnapshotError::Damaged)?;
            let due = Timestamp::from_micros(source.one()?);
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
