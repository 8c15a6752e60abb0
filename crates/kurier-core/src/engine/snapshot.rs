//! All engines at one position of the log, written down and read again. Each part is in frames
//! with checksums.

use std::io::{self, Read, Write};

use super::{Engine, Engines};
use crate::columns::{Sink, SnapshotError, Source, read_head, write_head};
use crate::event::Position;
use crate::id::{EventId, WorkspaceId};
use crate::journey::Journeys;
use crate::realm::Realm;

/// Changes whenever the same engines would be written differently.
const VERSION: u32 = 4;
const MAGIC: &[u8; 8] = b"KURREALM";

/// The engines as they were when everything up to a position was folded, and everything
/// decided by then was written.
#[derive(Debug)]
pub struct Snapshot {
    pub position: Position,
    /// The event at that position: in another log it is another.
    pub event: EventId,
    parts: Vec<Part>,
}

/// One workspace. A realm is cheap to copy; instances are many and small, so their copy is
/// what is written.
#[derive(Debug)]
struct Part {
    workspace: WorkspaceId,
    realm: Realm,
    journeys: Vec<u8>,
}

impl Snapshot {
    /// `known`: every decision that stands up to there is known to the engines. Who leads has
    /// made them all; who follows has read them up to its position.
    pub fn of(
        (position, event): (Position, EventId),
        known: Position,
        engines: &Engines,
    ) -> io::Result<Self> {
        let mut engines: Vec<_> = engines.iter().collect();
        engines.sort_unstable_by_key(|(workspace, _)| **workspace);
        let part = |(workspace, engine): (&WorkspaceId, &Engine)| {
            let mut journeys = Vec::new();
            engine.journeys.write(known, &mut journeys)?;
            Ok(Part {
                workspace: *workspace,
                realm: engine.realm.clone(),
                journeys,
            })
        };
        Ok(Self {
            position,
            event,
            parts: engines.into_iter().map(part).collect::<io::Result<_>>()?,
        })
    }

    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        write_head(out, MAGIC, VERSION)?;
        let mut sink = Sink::new(out);
        sink.one(self.position.0)?;
        sink.one(self.event.as_uuid().into_bytes())?;
        sink.number(self.parts.len())?;
        for part in &self.parts {
            sink.one(part.workspace.as_uuid().into_bytes())?;
        }
        sink.finish()?;
        for part in &self.parts {
            part.realm.write(out)?;
            out.write_all(&part.journeys)?;
        }
        Ok(())
    }

    /// Reads engines that were written down; any damage is noticed. Answers where they stood,
    /// and at which event.
    pub fn read(from: &mut impl Read) -> Result<(Position, EventId, Engines), SnapshotError> {
        read_head(from, MAGIC, VERSION)?;
        let mut source = Source::new(from);
        let position = Position(source.one()?);
        let event = EventId::from_bytes(source.one()?);
        let mut workspaces = Vec::new();
        for _ in 0..source.number()? {
            workspaces.push(WorkspaceId::from_bytes(source.one()?));
        }
        source.finish()?;
        let mut engines = Engines::new();
        for workspace in workspaces {
            let realm = Realm::read(from)?;
            let journeys = Journeys::read(from)?;
            engines.insert(workspace, Engine { realm, journeys });
        }
        match from.read(&mut [0])? {
            0 => Ok((position, event, engines)),
            _ => Err(SnapshotError::Damaged),
        }
    }
}
