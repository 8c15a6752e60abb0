//! Decisions taken from the log, instead of made.
//!
//! Who begins to lead finds decisions behind the checkpoint. Most followed from what stands
//! before it, or from time alone: they are recalled. But a reactor may have died between the
//! parts of what the first event behind the checkpoint decided. That event is decided again,
//! and gives the same events with the same ids if it is decided from the same knowledge: so
//! what it has told already is left out.

use super::super::record::{Course, Parking};
use super::{Journeys, is_decision};
use crate::columns::World;
use crate::event::{Kind, Position, Recorded};
use crate::id::EventId;

/// The first event behind the checkpoint.
#[derive(Debug, Clone, Copy)]
pub struct Next {
    id: EventId,
    /// Where the first of its decisions stands, if it was decided in part. Until it is
    /// decided as a whole, nothing else is.
    told: Option<Position>,
}

impl Journeys {
    /// Takes an event that stands behind the checkpoint, before leading from there.
    pub fn recall(&mut self, recorded: &Recorded, world: &World) {
        let id = recorded.event.id;
        let next = self.next.get_or_insert(Next { id, told: None });
        if !is_decision(recorded.event.kind) {
            return;
        }
        if next.told.is_none() && follows(recorded, next.id) {
            next.told = Some(recorded.position);
        }
        if next.told.is_none() {
            self.take(recorded, world);
        }
    }

    /// Takes a decision as it was made.
    pub(super) fn take(&mut self, recorded: &Recorded, world: &World) {
        if recorded.position <= self.known {
            return;
        }
        match recorded.event.kind {
            Kind::JourneyParked => self.recall_parking(recorded, world),
            _ => self.recall_record(recorded, world),
        }
    }

    /// Up to where every decision is known, of those that stand up to a position.
    pub(super) fn known_up_to(&self, position: Position) -> Position {
        let known = position.max(self.known);
        let told = self.next.and_then(|next| next.told);
        told.map_or(known, |told| known.min(Position(told.0 - 1)))
    }
}

/// Whether a decision followed from an event: its id tells.
fn follows(recorded: &Recorded, cause: EventId) -> bool {
    let event = &recorded.event;
    let expected = match event.kind {
        Kind::JourneyParked => {
            let parking = serde_json::from_str::<Parking>(&event.payload).ok();
            parking
                .zip(event.contact)
                .map(|(parking, contact)| parking.event_id(contact, cause))
        }
        _ => Course::of(&event.payload).map(|run| run.event_id(cause)),
    };
    expected == Some(event.id)
}
