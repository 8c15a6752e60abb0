//! What a reactor makes of a stretch of the log, in portions that can be committed.

use super::{Engine, Engines};
use crate::event::{Event, Kind, Position, Recorded};
use crate::id::WorkspaceId;
use crate::realm::Role;
use crate::time::Timestamp;

/// So many instances move at a time.
const MOVES_MAX: usize = if cfg!(test) { 3 } else { 1_000 };

/// A portion: these events are to be appended, and everything up to `to` is decided with
/// them.
///
/// A portion of at most `max` events is to be committed in one transaction. A larger one has
/// one cause alone, an event or the time, and may be committed in [`Self::parts`], of which
/// some may be all that is left of a reactor. Who comes after it recalls the crossings among
/// them: one cause moves a contact across a segment's border once at most. An event it
/// decides again as if nothing had been told of it; the time moves an instance once at most,
/// so what it has moved is recalled and the rest is decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    pub to: Position,
    pub events: Vec<(WorkspaceId, Event)>,
}

impl Decision {
    /// What is to be committed at once, of about `max` events: whoever finds a run's update
    /// or its beginning finds the record that goes with it.
    pub fn parts(&self, max: usize) -> impl Iterator<Item = &[(WorkspaceId, Event)]> {
        let mut rest = self.events.as_slice();
        std::iter::from_fn(move || {
            let mut end = max.min(rest.len());
            while end < rest.len() && is_one(&rest[end - 1].1, &rest[end].1) {
                end += 1;
            }
            let part = rest.split_off(..end)?;
            (!part.is_empty()).then_some(part)
        })
    }
}

/// Whether one event says by half what the next says as a whole.
const fn is_one(first: &Event, second: &Event) -> bool {
    match first.kind {
        Kind::ContactUpdated => true,
        Kind::JourneyEntered => matches!(second.kind, Kind::JourneyFinished),
        _ => false,
    }
}

/// How far the clock has come for a stretch of the log.
#[derive(Debug, Clone, Copy)]
pub struct Tide {
    pub now: Timestamp,
    /// Up to here everything that was accepted is in the log: instances move up to here, so
    /// that a timeout does not overtake what is on its way.
    pub settled: Timestamp,
    /// There is more in the log: it is not yet now, but when the last event was recorded.
    pub is_behind: bool,
}

/// Folds a batch that follows `from` and lets time pass. The last portion says how far it
/// came: a batch that decides too much is not folded to its end.
pub fn decide(
    engines: &mut Engines,
    (from, batch): (Position, &[Recorded]),
    tide: Tide,
    max: usize,
) -> Vec<Decision> {
    let mut portions = Portions::new(from, max);
    for recorded in batch {
        let engine = engines.entry(recorded.workspace).or_default();
        if !portions.fold(engine, recorded) {
            return portions.finish();
        }
    }
    let last = batch.last().map(|recorded| recorded.event.recorded_at);
    let now = match last.filter(|_| tide.is_behind) {
        Some(recorded_at) => recorded_at.min(tide.now),
        None => tide.now,
    };
    portions.pass(engines, |engine| engine.tick_segments(now));
    // While there are events, they bring the time along.
    if batch.is_empty() {
        portions.pass(engines, |engine| {
            engine.tick_journeys(tide.settled, MOVES_MAX)
        });
    }
    portions.finish()
}

struct Portions {
    done: Vec<Decision>,
    current: Decision,
    max: usize,
}

impl Portions {
    const fn new(from: Position, max: usize) -> Self {
        let current = Decision {
            to: from,
            events: Vec::new(),
        };
        Self {
            done: Vec::new(),
            current,
            max,
        }
    }

    /// Folds an event, after what its time has brought; false if that is enough for now.
    fn fold(&mut self, engine: &mut Engine, recorded: &Recorded) -> bool {
        let owned = |event| (recorded.workspace, event);
        while engine.is_due_before(recorded) {
            let moved = engine.tick_before(recorded, MOVES_MAX);
            let to = self.current.to;
            if !self.add(to, moved.into_iter().map(owned).collect()) {
                return false;
            }
        }
        let decided = engine.fold(recorded, Role::Lead).into_iter().map(owned);
        self.add(recorded.position, decided.collect())
    }

    /// Lets time pass for every workspace.
    fn pass(&mut self, engines: &mut Engines, tick: impl Fn(&mut Engine) -> Vec<Event>) {
        let mut decided = Vec::new();
        for (workspace, engine) in engines {
            let events = tick(engine).into_iter();
            decided.extend(events.map(|event| (*workspace, event)));
        }
        let to = self.current.to;
        self.add(to, decided);
    }

    /// Adds what one cause decided; false if it became a portion of its own.
    fn add(&mut self, to: Position, events: Vec<(WorkspaceId, Event)>) -> bool {
        let fits = events.is_empty() || self.current.events.len() + events.len() <= self.max;
        if fits {
            self.current.to = to;
            self.current.events.extend(events);
            return true;
        }
        let own = Decision { to, events };
        self.done.push(std::mem::replace(&mut self.current, own));
        false
    }

    fn finish(mut self) -> Vec<Decision> {
        self.done.push(self.current);
        self.done
    }
}
