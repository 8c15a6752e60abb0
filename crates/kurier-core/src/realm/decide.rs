//! What a reactor makes of a stretch of the log, in portions that can be committed.

use super::{Realms, Role};
use crate::event::{Event, Position, Recorded};
use crate::id::WorkspaceId;
use crate::time::Timestamp;

/// A portion: these events are to be appended, and everything up to `to` is decided with
/// them.
///
/// A portion of at most `max` events is to be committed in one transaction. A larger one has
/// one cause alone, an event or the time, and may be committed in parts: one cause moves a
/// contact across a segment's border once at most, so who recalls some parts and decides
/// again decides just the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    pub to: Position,
    pub events: Vec<(WorkspaceId, Event)>,
}

/// How far the clock has come for a stretch of the log.
#[derive(Debug, Clone, Copy)]
pub struct Tide {
    pub now: Timestamp,
    /// There is more in the log: it is not yet now, but when the last event was recorded.
    pub is_behind: bool,
}

/// Folds a batch that follows `from` and lets time pass. The last portion says how far it
/// came: a batch that decides too much is not folded to its end.
pub fn decide(
    realms: &mut Realms,
    (from, batch): (Position, &[Recorded]),
    tide: Tide,
    max: usize,
) -> Vec<Decision> {
    let mut portions = Portions::new(from, max);
    for recorded in batch {
        let workspace = recorded.workspace;
        let realm = realms.entry(workspace).or_default();
        let crossings = realm.fold(recorded, Role::Lead);
        let crossings = crossings.into_iter().map(|event| (workspace, event));
        if !portions.add(recorded.position, crossings.collect()) {
            return portions.finish();
        }
    }
    let last = batch.last().map(|recorded| recorded.event.recorded_at);
    let now = match last.filter(|_| tide.is_behind) {
        Some(recorded_at) => recorded_at.min(tide.now),
        None => tide.now,
    };
    let mut crossings = Vec::new();
    for (workspace, realm) in realms.iter_mut().filter(|(_, realm)| realm.due() <= now) {
        crossings.extend(realm.tick(now).into_iter().map(|event| (*workspace, event)));
    }
    let to = portions.current.to;
    portions.add(to, crossings);
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
