//! Contacts that become part of others, or nobody: what is theirs follows them.

use super::super::Policy;
use super::Journeys;
use crate::columns::World;
use crate::event::{Erasure, Position, Recorded};

/// A contact became part of another, or was erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Merge {
    position: Position,
    from: u32,
    to: Option<u32>,
}

impl Journeys {
    /// Lets instances follow. Answers who became part of whom, and the instances that have a
    /// run's key no more.
    pub(super) fn rehome(&mut self, recorded: &Recorded, world: &World) -> (Vec<Merge>, Vec<u32>) {
        let joins = recorded.said().map(|said| said.joins).unwrap_or_default();
        let (mut merges, mut conflicts) = (Vec::new(), Vec::new());
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
                conflicts.extend(self.rehome_all(from, to));
                next = world.part_of(from);
            }
        }
        (merges, conflicts)
    }

    fn rehome_all(&mut self, from: u32, to: u32) -> Vec<u32> {
        let mut conflicts = Vec::new();
        for slot in self.shelf.of_contact(from) {
            let policy = self.shelf.get(slot).map(|kept| {
                let definition = &self.versions[kept.instance.version as usize];
                definition.reentry.policy
            });
            let is_unique = policy != Some(Policy::Parallel);
            if !self.shelf.rehome(slot, to, is_unique) {
                conflicts.push(slot);
            }
        }
        self.rehome_parked(from, to);
        conflicts
    }

    /// The contacts that an event erased.
    pub(super) fn erase(&mut self, recorded: &Recorded, world: &World) -> Vec<Merge> {
        let erasure = serde_json::from_str::<Erasure>(&recorded.event.payload);
        let ids = erasure.map(|erasure| erasure.contacts).unwrap_or_default();
        let contacts = ids.iter().filter_map(|id| world.number_of(*id));
        let erased: Vec<Merge> = contacts
            .map(|from| Merge {
                position: recorded.position,
                from,
                to: None,
            })
            .collect();
        erased.iter().for_each(|it| self.forget_parked(it.from));
        erased
    }

    /// Who a contact has become since a decision about it was made; nobody, if it was
    /// erased.
    pub(super) fn merged(&mut self, contact: u32, since: Position) -> Option<u32> {
        // Decisions stand in the log in the order of what they follow from.
        while self
            .merges
            .front()
            .is_some_and(|merge| merge.position <= since)
        {
            self.merges.pop_front();
        }
        let step = |contact, merge: &Merge| match merge.from == contact {
            true => merge.to,
            false => Some(contact),
        };
        self.merges.iter().try_fold(contact, step)
    }
}

impl Merge {
    pub const fn from(self) -> u32 {
        self.from
    }
}
