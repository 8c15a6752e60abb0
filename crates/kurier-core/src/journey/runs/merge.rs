//! Contacts that become part of others, or nobody: what is theirs follows them.
//!
//! Who leads lets that happen when it reads of it. Who follows reads of it before it reads
//! what was decided before it: so it waits, and lets it happen where the leader did.

use super::super::{Ending, Policy};
use super::Journeys;
use super::decide::Cause;
use crate::columns::World;
use crate::event::{Erasure, Event, Kind, Position, Recorded};

/// A contact became part of another, or was erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Merge {
    pub position: Position,
    pub from: u32,
    pub to: Option<u32>,
}

/// Who became part of whom by an event, in order.
pub fn merges(recorded: &Recorded, world: &World) -> Vec<Merge> {
    if recorded.event.kind == Kind::ContactErased {
        return erasures(recorded, world);
    }
    let joins = recorded.said().map(|said| said.joins).unwrap_or_default();
    let mut merges = Vec::new();
    for join in &joins {
        let Some(to) = world.number(*join) else {
            continue;
        };
        let mut next = world.number_of(*join);
        while let Some(from) = next.filter(|number| *number != to) {
            merges.push(Merge {
                position: recorded.position,
                from,
                to: Some(to),
            });
            next = world.part_of(from);
        }
    }
    merges
}

fn erasures(recorded: &Recorded, world: &World) -> Vec<Merge> {
    let erasure = serde_json::from_str::<Erasure>(&recorded.event.payload);
    let ids = erasure.map(|erasure| erasure.contacts).unwrap_or_default();
    let contacts = ids.iter().filter_map(|id| world.number_of(*id));
    contacts
        .map(|from| Merge {
            position: recorded.position,
            from,
            to: None,
        })
        .collect()
}

impl Journeys {
    /// Lets merges happen and ends the runs that they leave no place for.
    pub(super) fn merge(&mut self, merges: &[Merge], cause: Cause, world: &World) -> Vec<Event> {
        let mut events = Vec::new();
        for merge in merges {
            let ending = match merge.to {
                Some(_) => Ending::Merged,
                None => Ending::Erased,
            };
            for slot in self.rehome(*merge) {
                events.extend(self.end(slot, ending, cause, world));
            }
        }
        events
    }

    /// Lets happen, while following, what happened up to where a decision was made.
    pub(super) fn merge_up_to(&mut self, position: Position) {
        while let Some(merge) = self.merges.front().copied() {
            if merge.position > position {
                break;
            }
            self.merges.pop_front();
            self.rehome(merge);
            // What was looked at in between is not in the log.
            for slot in merge
                .to
                .map_or_else(Vec::new, |to| self.shelf.of_contact(to))
            {
                self.look_soon(slot);
            }
        }
    }

    /// Gives what is a contact's to another. Answers the instances for which there is no
    /// place.
    fn rehome(&mut self, merge: Merge) -> Vec<u32> {
        let slots = self.shelf.of_contact(merge.from);
        let Some(to) = merge.to else {
            self.forget_parked(merge.from);
            return slots;
        };
        let mut homeless = Vec::new();
        for slot in slots {
            let policy = self.shelf.get(slot).map(|kept| {
                let definition = &self.versions[kept.instance.version as usize];
                definition.reentry.policy
            });
            let is_unique = policy != Some(Policy::Parallel);
            if !self.shelf.rehome(slot, to, is_unique) {
                homeless.push(slot);
            }
        }
        self.rehome_parked(merge.from, to);
        homeless
    }
}
