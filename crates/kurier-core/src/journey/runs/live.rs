//! Journeys as they stand: which version is current, whether they are paused, what begins
//! them, and their timers.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::sync::Arc;

use super::super::node::TriggerKind;
use super::super::record::{Publication, Standing as Said};
use super::super::{Definition, Known, Node, check_value};
use super::Journeys;
use super::shelf::RunKey;
use crate::columns::{Sink, SnapshotError, Source};
use crate::event::{Kind, Position, Recorded};
use crate::expr::FOREVER;
use crate::id::{InstanceId, JourneyId, SegmentId};
use crate::time::Timestamp;

#[derive(Debug)]
pub struct Live {
    pub id: JourneyId,
    /// The current version's number among all versions.
    pub version: u32,
    /// The numbers of all its versions.
    versions: HashMap<u32, u32>,
    pub is_paused: bool,
    pub is_retired: bool,
    /// Where it was last retired: what was parked before is not.
    pub retired_at: Position,
    timers: BTreeSet<Alarm>,
    /// Parked triggers whose turn has come, and since when: it was paused then, or who let
    /// the run before them end is gone.
    ready: BTreeMap<RunKey, Timestamp>,
}

/// When an instance is due: first by time, then by its id, which is the same wherever it is
/// kept. A part of the id will do.
type Alarm = (Timestamp, u32, u32);

#[derive(Debug, Clone, Copy)]
pub enum Timer {
    Ready(RunKey, Timestamp),
    Due(Timestamp, u32),
}

#[derive(Debug, Default)]
pub struct Lives {
    all: Vec<Live>,
    numbers: HashMap<JourneyId, u32>,
    /// The journey of every version.
    of_version: Vec<u32>,
    by_event: HashMap<String, Vec<u32>>,
    by_segment: HashMap<(SegmentId, bool), Vec<u32>>,
}

impl Lives {
    pub fn find(&self, journey: JourneyId) -> Option<u32> {
        self.numbers.get(&journey).copied()
    }

    pub fn get(&self, live: u32) -> &Live {
        &self.all[live as usize]
    }

    pub fn version(&self, live: u32, version: u32) -> Option<u32> {
        self.get(live).versions.get(&version).copied()
    }

    /// The journey that a version is of.
    pub fn of_version(&self, version: u32) -> u32 {
        self.of_version[version as usize]
    }

    /// Journeys that events of a type may begin.
    pub fn begun_by(&self, event_type: &str) -> Vec<u32> {
        self.by_event.get(event_type).cloned().unwrap_or_default()
    }

    pub fn begun_by_segment(&self, segment: SegmentId, entered: bool) -> Vec<u32> {
        let found = self.by_segment.get(&(segment, entered));
        found.cloned().unwrap_or_default()
    }

    fn add(&mut self, id: JourneyId, number: u32, version: u32) {
        let next = self.all.len() as u32;
        let live = *self.numbers.entry(id).or_insert(next);
        if live == next {
            self.all.push(Live {
                id,
                version,
                versions: HashMap::new(),
                is_paused: false,
                is_retired: false,
                retired_at: Position(0),
                timers: BTreeSet::new(),
                ready: BTreeMap::new(),
            });
        }
        self.of_version.push(live);
        let live = &mut self.all[live as usize];
        live.versions.insert(number, version);
        live.version = version;
        live.is_retired = false;
    }

    /// Finds anew what begins which journey, in the order of their ids.
    fn index(&mut self, versions: &[Arc<Definition>]) {
        self.by_event.clear();
        self.by_segment.clear();
        let mut order: Vec<u32> = (0..self.all.len() as u32).collect();
        order.sort_by_key(|live| self.get(*live).id);
        for live in order {
            let definition = &versions[self.get(live).version as usize];
            let Some(Node::Trigger(trigger)) = definition.node(definition.start) else {
                continue;
            };
            match &trigger.kind {
                TriggerKind::Event { event_type, .. } => {
                    self.by_event
                        .entry(event_type.clone())
                        .or_default()
                        .push(live);
                }
                TriggerKind::Segment { segment, entered } => {
                    let key = (*segment, *entered);
                    self.by_segment.entry(key).or_default().push(live);
                }
                TriggerKind::Manual => {}
            }
        }
    }

    pub fn arm(
        &mut self,
        live: u32,
        (slot, id): (u32, InstanceId),
        (before, due): (Timestamp, Timestamp),
    ) {
        let order = id.as_uuid().as_fields().0;
        let timers = &mut self.all[live as usize].timers;
        timers.remove(&(before, order, slot));
        if due != FOREVER {
            timers.insert((due, order, slot));
        }
    }

    pub fn make_ready(&mut self, run: RunKey, since: Timestamp) {
        self.all[run.journey as usize].ready.insert(run, since);
    }

    pub fn take_ready(&mut self, run: RunKey) -> Option<Timestamp> {
        self.all[run.journey as usize].ready.remove(&run)
    }

    pub fn due(&self) -> Timestamp {
        let running = self.all.iter().filter(|live| !live.is_paused);
        running.map(Live::due).min().unwrap_or(FOREVER)
    }

    /// Takes the first timer that is due.
    pub fn take_due(&mut self, to: Timestamp) -> Option<Timer> {
        let running = self.all.iter_mut().filter(|live| !live.is_paused);
        let first = running.min_by_key(|live| live.due())?;
        if first.due() > to {
            return None;
        }
        if let Some((run, since)) = first.ready.pop_first() {
            return Some(Timer::Ready(run, since));
        }
        let (due, _, slot) = first.timers.pop_first()?;
        Some(Timer::Due(due, slot))
    }

    pub fn write(&self, sink: &mut Sink<'_>) -> io::Result<()> {
        sink.number(self.all.len())?;
        for live in &self.all {
            let flags = u32::from(live.is_paused) | (u32::from(live.is_retired) << 1);
            sink.one(flags)?;
            sink.one(live.retired_at.0)?;
            sink.number(live.ready.len())?;
            for (run, since) in &live.ready {
                run.write(sink)?;
                sink.one(since.as_micros())?;
            }
        }
        Ok(())
    }

    /// Has all journeys stand as they stood.
    pub fn restore(&mut self, standings: Vec<Standing>) -> Result<(), SnapshotError> {
        if standings.len() != self.all.len() {
            return Err(SnapshotError::Damaged);
        }
        for (live, standing) in self.all.iter_mut().zip(standings) {
            live.is_paused = standing.is_paused;
            live.is_retired = standing.is_retired;
            live.retired_at = standing.retired_at;
            live.ready = standing.ready;
        }
        Ok(())
    }

    pub fn bytes(&self) -> usize {
        let timers: usize = self.all.iter().map(|live| live.timers.len()).sum();
        // A B-tree's leaves are two thirds full.
        timers * size_of::<Alarm>() * 3 / 2
    }
}

/// How a journey stands, beside its versions and timers.
pub struct Standing {
    is_paused: bool,
    is_retired: bool,
    retired_at: Position,
    ready: BTreeMap<RunKey, Timestamp>,
}

impl Standing {
    pub fn read_all(source: &mut Source<'_>) -> Result<Vec<Self>, SnapshotError> {
        let mut all = Vec::new();
        for _ in 0..source.number()? {
            let flags: u32 = source.one()?;
            let retired_at = Position(source.one()?);
            let ready = (0..source.number()?).map(|_| {
                let run = RunKey::read(source)?;
                Ok((run, Timestamp::from_micros(source.one()?)))
            });
            all.push(Self {
                is_paused: flags & 1 != 0,
                is_retired: flags & 2 != 0,
                retired_at,
                ready: ready.collect::<Result<_, SnapshotError>>()?,
            });
        }
        Ok(all)
    }
}

impl Live {
    fn due(&self) -> Timestamp {
        if !self.ready.is_empty() {
            return Timestamp::from_micros(i64::MIN);
        }
        self.timers.first().map_or(FOREVER, |(due, _, _)| *due)
    }

    pub const fn admits(&self) -> bool {
        !self.is_paused && !self.is_retired
    }
}

impl Journeys {
    /// What cannot be read or run changes nothing: whoever published it was told.
    pub(super) fn publish(&mut self, payload: &str) {
        let Ok(publication) = serde_json::from_str::<Publication>(payload) else {
            return;
        };
        let live = self.lives.find(publication.journey);
        let is_known = live.is_some_and(|live| {
            let versions = &self.lives.get(live).versions;
            versions.contains_key(&publication.version)
        });
        if is_known {
            return;
        }
        let segments = Some(publication.segments).filter(|segments| !segments.is_empty());
        let known = Known {
            segments,
            ..Known::default()
        };
        let number = publication.version;
        let Some(definition) = check_value(publication.definition, number, &known).definition
        else {
            return;
        };
        let version = self.versions.len() as u32;
        self.versions.push(Arc::new(definition));
        self.publications.push(payload.into());
        self.lives.add(publication.journey, number, version);
        self.lives.index(&self.versions);
    }

    pub(super) fn stand(&mut self, recorded: &Recorded) {
        let Ok(Said { journey }) = serde_json::from_str(&recorded.event.payload) else {
            return;
        };
        let Some(number) = self.lives.find(journey) else {
            return;
        };
        let live = &mut self.lives.all[number as usize];
        match recorded.event.kind {
            Kind::JourneyPaused => live.is_paused = true,
            Kind::JourneyResumed => live.is_paused = false,
            _ => {
                live.is_retired = true;
                live.retired_at = recorded.position;
                live.ready.clear();
                self.parked.retain(|run, _| run.journey != number);
            }
        }
    }
}
