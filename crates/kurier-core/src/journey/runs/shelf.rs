//! Where instances are kept, and the ways to find them. Slots are numbers that are used
//! again; every index holds numbers only.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

use sha2::{Digest, Sha256};

use super::super::Instance;
use crate::id::InstanceId;

const NONE: u32 = u32::MAX;

/// What only one active run may have: the unique key of re-entry. The contact comes first,
/// so that a contact's keys stand together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunKey {
    pub contact: u32,
    pub journey: u32,
    /// A hash of the key's text; zero without one.
    pub key: u64,
}

impl RunKey {
    pub fn new(journey: u32, contact: u32, key: Option<&str>) -> Self {
        let hashed = |key: &str| {
            let hash = Sha256::digest(key.as_bytes());
            let bytes = hash[..8].try_into().expect("a SHA-256 hash has 32 bytes");
            u64::from_be_bytes(bytes) | 1
        };
        Self {
            contact,
            journey,
            key: key.map_or(0, hashed),
        }
    }
}

#[derive(Debug)]
pub struct Slot {
    pub instance: Instance,
    pub journey: u32,
    /// The type of the event it waits for, as a number.
    awaits: u32,
}

impl Slot {
    pub const fn awaits(&self) -> u32 {
        self.awaits
    }

    /// The key that its run has, if it is to be the only one.
    pub fn run(&self) -> RunKey {
        let instance = &self.instance;
        RunKey::new(self.journey, instance.contact, instance.key.as_deref())
    }
}

#[derive(Debug, Default)]
pub struct Shelf {
    slots: Vec<Option<Slot>>,
    free: Vec<u32>,
    by_id: HashMap<InstanceId, u32>,
    by_run: HashMap<RunKey, u32>,
    by_contact: Chains<u32>,
    by_event: Chains<(u32, u32)>,
}

impl Shelf {
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    pub fn get(&self, slot: u32) -> Option<&Slot> {
        self.slots.get(slot as usize)?.as_ref()
    }

    pub fn instances(&self) -> impl Iterator<Item = &Instance> {
        self.slots.iter().flatten().map(|slot| &slot.instance)
    }

    /// All instances with their slots.
    pub fn slots(&self) -> impl Iterator<Item = (u32, &Slot)> {
        let slots = self.slots.iter().enumerate();
        slots.filter_map(|(at, slot)| Some((at as u32, slot.as_ref()?)))
    }

    pub fn find(&self, id: InstanceId) -> Option<u32> {
        self.by_id.get(&id).copied()
    }

    /// The active run that has a key.
    pub fn holder(&self, run: RunKey) -> Option<u32> {
        self.by_run.get(&run).copied()
    }

    /// A contact's instances, in an order that does not depend on how they came here.
    pub fn of_contact(&self, contact: u32) -> Vec<u32> {
        self.ordered(self.by_contact.all(contact))
    }

    pub fn has_contact(&self, contact: u32) -> bool {
        self.by_contact.heads.contains_key(&contact)
    }

    /// A contact's instances that wait for a type of event.
    pub fn awaiting(&self, contact: u32, event_type: u32) -> Vec<u32> {
        self.ordered(self.by_event.all((contact, event_type)))
    }

    fn ordered(&self, mut slots: Vec<u32>) -> Vec<u32> {
        if slots.len() > 1 {
            slots.sort_unstable_by_key(|slot| self.get(*slot).map(|slot| slot.instance.id));
        }
        slots
    }

    pub fn insert(&mut self, instance: Instance, journey: u32) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() as u32 - 1
        });
        self.by_id.insert(instance.id, slot);
        self.by_contact.link(instance.contact, slot);
        self.slots[slot as usize] = Some(Slot {
            instance,
            journey,
            awaits: NONE,
        });
        slot
    }

    /// Gives the slot its run's key; false if another has it.
    pub fn claim(&mut self, run: RunKey, slot: u32) -> bool {
        match self.by_run.entry(run) {
            Entry::Occupied(_) => false,
            Entry::Vacant(entry) => {
                entry.insert(slot);
                true
            }
        }
    }

    pub fn change(&mut self, slot: u32, change: impl FnOnce(&mut Instance)) {
        if let Some(Some(kept)) = self.slots.get_mut(slot as usize) {
            change(&mut kept.instance);
        }
    }

    /// Says what the instance waits for, in place of what it waited for.
    pub fn await_event(&mut self, slot: u32, event_type: Option<u32>) {
        let Some(Some(kept)) = self.slots.get_mut(slot as usize) else {
            return;
        };
        let contact = kept.instance.contact;
        let before = std::mem::replace(&mut kept.awaits, event_type.unwrap_or(NONE));
        if before != NONE {
            self.by_event.unlink((contact, before), slot);
        }
        if let Some(event_type) = event_type {
            self.by_event.link((contact, event_type), slot);
        }
    }

    fn disclaim(&mut self, slot: u32, run: RunKey) {
        if self.by_run.get(&run) == Some(&slot) {
            self.by_run.remove(&run);
        }
    }

    pub fn remove(&mut self, slot: u32) -> Option<Slot> {
        self.await_event(slot, None);
        let kept = self.slots.get_mut(slot as usize)?.take()?;
        self.disclaim(slot, kept.run());
        self.by_contact.unlink(kept.instance.contact, slot);
        self.by_id.remove(&kept.instance.id);
        self.free.push(slot);
        Some(kept)
    }

    /// Gives an instance to another contact; false if that one has such a run already.
    pub fn rehome(&mut self, slot: u32, to: u32, is_unique: bool) -> bool {
        let Some(kept) = self.get(slot) else {
            return true;
        };
        let (from, run, awaits) = (kept.instance.contact, kept.run(), kept.awaits);
        self.await_event(slot, None);
        self.disclaim(slot, run);
        self.by_contact.unlink(from, slot);
        self.change(slot, |instance| instance.contact = to);
        self.by_contact.link(to, slot);
        self.await_event(slot, (awaits != NONE).then_some(awaits));
        !is_unique || self.claim(RunKey { contact: to, ..run }, slot)
    }

    pub fn bytes(&self) -> usize {
        let heap: usize = self.instances().map(Instance::heap_bytes).sum();
        // A hash table has room for an eighth more, and a byte for each place.
        let table = |room: usize, entry: usize| room * 8 / 7 * (entry + 1);
        self.slots.capacity() * size_of::<Option<Slot>>()
            + self.free.capacity() * 4
            + table(self.by_id.capacity(), size_of::<(InstanceId, u32)>())
            + table(self.by_run.capacity(), size_of::<(RunKey, u32)>())
            + table(self.by_contact.heads.capacity(), 8)
            + table(self.by_event.heads.capacity(), 12)
            + (self.by_contact.next.capacity() + self.by_event.next.capacity()) * 4
            + heap
    }
}

/// Lists of slots by key, linked through the slots: a list of one costs no allocation.
#[derive(Debug)]
struct Chains<K> {
    heads: HashMap<K, u32>,
    next: Vec<u32>,
}

impl<K> Default for Chains<K> {
    fn default() -> Self {
        Self {
            heads: HashMap::new(),
            next: Vec::new(),
        }
    }
}

impl<K: Hash + Eq + Copy> Chains<K> {
    fn all(&self, key: K) -> Vec<u32> {
        let mut found = Vec::new();
        let mut at = self.heads.get(&key).copied().unwrap_or(NONE);
        while at != NONE {
            found.push(at);
            at = self.next[at as usize];
        }
        found
    }

    fn link(&mut self, key: K, slot: u32) {
        let head = self.heads.insert(key, slot).unwrap_or(NONE);
        if self.next.len() <= slot as usize {
            self.next.resize(slot as usize + 1, NONE);
        }
        self.next[slot as usize] = head;
    }

    fn unlink(&mut self, key: K, slot: u32) {
        let after = self.next[slot as usize];
        let Some(head) = self.heads.get_mut(&key) else {
            return;
        };
        if *head == slot {
            match after {
                NONE => drop(self.heads.remove(&key)),
                after => *head = after,
            }
            return;
        }
        let mut at = *head;
        while at != NONE && self.next[at as usize] != slot {
            at = self.next[at as usize];
        }
        if at != NONE {
            self.next[at as usize] = after;
        }
    }
}
