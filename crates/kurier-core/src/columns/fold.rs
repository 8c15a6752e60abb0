//! How an event changes the world. Who is who follows the rules of `contact.rs`, exactly as
//! the projection of contacts folds them.

use std::sync::Arc;

use super::World;
use super::cell::Cell;
use super::fact::{event_type, properties};
use super::limits::Room;
use super::people::Standing;
use super::set::EventRow;
use crate::event::{Erasure, Kind, Recorded, Said};
use crate::id::ContactId;
use crate::time::Timestamp;
use crate::value::{Object, Value};

/// What an event changed: only segments that read it can have changed, and only for these
/// contacts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Touched {
    /// The contacts that changed, by number.
    pub contacts: Vec<u32>,
    /// Attributes that changed, by their first name; `user_id` and `created_at` among them.
    pub attributes: Vec<Arc<str>>,
    /// The type of the event that was added.
    pub event_type: Option<Arc<str>>,
    /// A contact came, went or became part of another: all segments are concerned.
    pub is_whole: bool,
}

impl Touched {
    fn contact(&mut self, number: u32) {
        if !self.contacts.contains(&number) {
            self.contacts.push(number);
        }
    }

    fn whole(&mut self, number: u32) {
        self.contact(number);
        self.is_whole = true;
    }

    fn attribute(&mut self, name: &Arc<str>) {
        if !self.attributes.contains(name) {
            self.attributes.push(name.clone());
        }
    }
}

impl World {
    /// Lets an event of the log change the world.
    pub fn fold(&mut self, recorded: &Recorded) -> Touched {
        let mut touched = Touched::default();
        // What cannot be read changes nothing: the projection sets it aside and says so.
        let _unreadable = match recorded.event.kind {
            Kind::ContactErased => self.erased(recorded, &mut touched),
            Kind::ContactUpdated => self.updated(recorded, &mut touched),
            kind if kind.is_from_client() => self.client_event(recorded, &mut touched),
            _ => Ok(()),
        };
        self.position = recorded.position;
        touched
    }

    fn client_event(
        &mut self,
        recorded: &Recorded,
        touched: &mut Touched,
    ) -> Result<(), serde_json::Error> {
        let (Some(contact), said) = (recorded.event.contact, recorded.said()?) else {
            return Ok(());
        };
        if said.erased && said.joins.is_empty() {
            return Ok(());
        }
        let number = self.people.add(contact);
        let root = self.people.root(number);
        for join in &said.joins {
            self.join((*join, root), recorded, &said, touched);
        }
        if said.erased {
            return Ok(());
        }
        let traits = Traits::read(recorded.event.kind, &said)?;
        let properties = properties(recorded.event.kind, &said)?;
        self.live_from(root, recorded.event.recorded_at, touched);
        touched.contact(root);
        for traits in traits.0 {
            self.learn(root, &traits, touched);
        }
        if let Some(user_id) = said.user_id.as_deref() {
            self.know_as(root, user_id, touched);
        }
        self.add_event(root, recorded, &said, &properties, touched);
        Ok(())
    }

    /// Kurier's own changes are changes, not something the contact did.
    fn updated(
        &mut self,
        recorded: &Recorded,
        touched: &mut Touched,
    ) -> Result<(), serde_json::Error> {
        #[derive(serde::Deserialize)]
        struct Updated {
            #[serde(default)]
            traits: Object,
        }
        let Updated { traits } = serde_json::from_str(&recorded.event.payload)?;
        if let Some(root) = recorded.event.contact.and_then(|id| self.number(id)) {
            touched.contact(root);
            self.learn(root, &traits, touched);
        }
        Ok(())
    }

    /// Makes a contact live if it is not: new, or back after it was erased.
    fn live_from(&mut self, root: u32, at: Timestamp, touched: &mut Touched) {
        if self.is_live(root) {
            return;
        }
        self.people.stand(root, Standing::Live);
        let (block, slot) = self.block_mut(root);
        block.set_live(slot, true);
        block.set_created(slot, at.as_micros());
        touched.whole(root);
    }

    fn learn(&mut self, root: u32, traits: &Object, touched: &mut Touched) {
        let mut cells = Vec::new();
        let paths = self.attributes.len();
        let mut room = Room::new(self.limits.attributes);
        for (name, value) in traits {
            let known = self.attributes.top(name);
            if known.is_none() && *value == Value::Null {
                continue;
            }
            let Some(path) = self.attributes.add(None, name, &mut room) else {
                continue;
            };
            cells.clear();
            self.attributes.cells(path, value, &mut cells, &mut room);
            let cell = cells.first().map_or(Cell::MISSING, |(_, cell)| *cell);
            let (block, slot) = self.block(root);
            let old = block.map_or(Cell::MISSING, |block| block.attribute(path, slot));
            if old == cell && cell != Cell::OBJECT {
                continue;
            }
            self.forget(root, path);
            let (block, slot) = self.block_mut(root);
            for (path, cell) in &cells {
                block.set_attribute(*path, slot, *cell);
            }
            touched.attribute(self.attributes.name(path));
        }
        self.shape += (self.attributes.len() - paths) as u64;
        self.unkept.attributes += room.unkept;
    }

    /// Removes an attribute with everything in it.
    fn forget(&mut self, number: u32, path: u32) {
        let (block, slot) = super::place(number);
        let mut paths = vec![path];
        while let Some(path) = paths.pop() {
            if self.blocks[block].attribute(path, slot) == Cell::OBJECT {
                paths.extend(self.attributes.children(path));
            }
            self.block_at(block)
                .set_attribute(path, slot, Cell::MISSING);
        }
    }

    /// The first user id stays.
    fn know_as(&mut self, root: u32, user_id: &str, touched: &mut Touched) {
        let (block, slot) = super::place(root);
        if self.blocks[block].user_id(slot).is_missing() {
            let cell = self.user_ids.text_cell(user_id);
            self.block_at(block).set_user_id(slot, cell);
            touched.attribute(&"user_id".into());
        }
    }

    fn add_event(
        &mut self,
        root: u32,
        recorded: &Recorded,
        said: &Said<'_>,
        properties: &Object,
        touched: &mut Touched,
    ) {
        let name = event_type(recorded.event.kind, said);
        let types = self.types.len();
        let number = self.types.add(name, self.limits.event_types);
        let news = self.types.len() - types;
        let is_rest = self.types.is_rest(number);
        let event_type = self.types.get_mut(number);
        let paths = event_type.properties.len();
        // The name is kept once, unless it is not kept.
        touched.event_type = Some(match is_rest {
            true => name.into(),
            false => event_type.name.clone(),
        });
        let mut event = EventRow {
            arrival: self.arrivals,
            time: recorded.event.occurred_at.as_micros(),
            properties: Vec::new(),
        };
        // Of an event whose type is not kept, nothing is known but its time.
        let mut room = Room::new(if is_rest { 0 } else { self.limits.properties });
        event_type
            .properties
            .object_cells(None, properties, &mut event.properties, &mut room);
        self.shape += (news + event_type.properties.len() - paths) as u64;
        self.unkept.event_types += u64::from(is_rest);
        self.unkept.properties += room.unkept;
        self.arrivals = self.arrivals.saturating_add(1);
        let (block, slot) = self.block_mut(root);
        block.set_mut(number).push(slot, &event);
    }

    /// Joins `from` to `root`. Its history comes along unless it was someone else's already.
    fn join(
        &mut self,
        (from, root): (ContactId, u32),
        recorded: &Recorded,
        said: &Said<'_>,
        touched: &mut Touched,
    ) {
        let from = self.people.add(from);
        let source = match recorded.event.kind {
            Kind::Alias => self.people.root(from),
            _ => from,
        };
        if source == root {
            return;
        }
        let was_live = self.is_live(source);
        self.people.stand(source, Standing::Merged { into: root });
        if was_live {
            self.live_from(root, recorded.event.recorded_at, touched);
            // The id it goes by now, before it takes in the one it went by.
            if let Some(user_id) = said.user_id.as_deref() {
                self.know_as(root, user_id, touched);
            }
            self.absorb(root, source, touched);
        }
    }

    /// What `root` says of itself wins over what it takes in.
    fn absorb(&mut self, root: u32, source: u32, touched: &mut Touched) {
        touched.whole(root);
        touched.whole(source);
        self.absorb_attributes(root, source);
        let ((ours, our_slot), (theirs, their_slot)) = (super::place(root), super::place(source));
        let user_id = self.blocks[theirs].user_id(their_slot);
        if self.blocks[ours].user_id(our_slot).is_missing() {
            self.block_at(ours).set_user_id(our_slot, user_id);
        }
        let created = self.blocks[theirs].created()[usize::from(their_slot)];
        let created = created.min(self.blocks[ours].created()[usize::from(our_slot)]);
        self.block_at(ours).set_created(our_slot, created);
        self.absorb_events(root, source);
        self.clear(source);
    }

    fn absorb_attributes(&mut self, root: u32, source: u32) {
        let ((ours, our_slot), (theirs, their_slot)) = (super::place(root), super::place(source));
        for top in 0..self.attributes.len() as u32 {
            let is_top = self.attributes.nodes()[top as usize].parent.is_none();
            if !is_top || !self.blocks[ours].attribute(top, our_slot).is_missing() {
                continue;
            }
            let mut paths = vec![top];
            while let Some(path) = paths.pop() {
                let cell = self.blocks[theirs].attribute(path, their_slot);
                if cell == Cell::OBJECT {
                    paths.extend(self.attributes.children(path));
                }
                self.block_at(ours).set_attribute(path, our_slot, cell);
            }
        }
    }

    fn absorb_events(&mut self, root: u32, source: u32) {
        let ((ours, our_slot), (theirs, their_slot)) = (super::place(root), super::place(source));
        let types: Vec<u32> = self.blocks[theirs]
            .sets()
            .map(|(number, _)| number)
            .collect();
        for event_type in types {
            let mut events = self.block_at(theirs).set_mut(event_type).take(their_slot);
            if events.is_empty() {
                continue;
            }
            let set = self.block_at(ours).set_mut(event_type);
            events.extend(set.take(our_slot));
            events.sort_by_key(|event| event.arrival);
            set.put(our_slot, &events);
        }
    }

    fn erased(
        &mut self,
        recorded: &Recorded,
        touched: &mut Touched,
    ) -> Result<(), serde_json::Error> {
        let erasure: Erasure = serde_json::from_str(&recorded.event.payload)?;
        for contact in erasure.contacts {
            let Some(number) = self.people.find(contact) else {
                continue;
            };
            if self.is_live(number) {
                self.clear(number);
            }
            touched.whole(number);
            self.people.stand(number, Standing::Nobody);
        }
        Ok(())
    }

    /// Leaves nothing of a contact under its number.
    fn clear(&mut self, number: u32) {
        let paths = self.attributes.len() as u32;
        let (block, slot) = self.block_mut(number);
        block.set_live(slot, false);
        block.set_created(slot, i64::MAX);
        block.set_user_id(slot, Cell::MISSING);
        (0..paths).for_each(|path| block.set_attribute(path, slot, Cell::MISSING));
        let types: Vec<u32> = block.sets().map(|(number, _)| number).collect();
        for event_type in types {
            block.set_mut(event_type).take(slot);
        }
    }
}

/// What an identify says, in the order in which it is to be learnt.
struct Traits(Vec<Object>);

impl Traits {
    fn read(kind: Kind, said: &Said<'_>) -> Result<Self, serde_json::Error> {
        #[derive(serde::Deserialize)]
        struct Context {
            traits: Option<Value>,
        }
        let mut all = Vec::new();
        if kind != Kind::Identify {
            return Ok(Self(all));
        }
        if let Some(context) = said.context {
            let context: Context = serde_json::from_str(context.get())?;
            if let Some(Value::Object(traits)) = context.traits {
                all.push(traits);
            }
        }
        if let Some(traits) = said.traits {
            all.push(serde_json::from_str(traits.get())?);
        }
        Ok(Self(all))
    }
}
